"""A file of the record that was swapped for something else is refused, and nothing is written (SECURITY R21)."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import RecordError, UnsafeFile
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.heads import Heads
from counterpoint.record.keys import load_or_make_key
from tests.channels import SHARED, begin, draft, file_store, texts
from tests.disk import Disk

KEY: Final = "machine-key"

Swap = Callable[[Path, Path], None]


def symlink(path: Path, elsewhere: Path) -> None:
    elsewhere.write_bytes(path.read_bytes() if path.exists() else b"")
    path.unlink(missing_ok=True)
    path.symlink_to(elsewhere)


def hard_link(path: Path, elsewhere: Path) -> None:
    elsewhere.write_bytes(path.read_bytes() if path.exists() else b"")
    path.unlink(missing_ok=True)
    os.link(elsewhere, path)


def named_pipe(path: Path, _elsewhere: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def folder(path: Path, _elsewhere: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


SWAPS: Final = [symlink, hard_link, named_pipe, folder]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def store(root: Path, tmp_path: Path) -> FileStore:
    (tmp_path / "state").mkdir()
    store = file_store(str(root), Layout.SHARED, heads=Heads(RealFiles(), str(tmp_path / "state" / "heads")))
    begin(store, Layout.SHARED)
    store.append(SHARED, [draft("one")], expected=0)
    return store


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("suffix", ["channel.md", "flock", "index", "signal.json", "debate.json"])
def test_a_swapped_file_is_refused(store: FileStore, root: Path, tmp_path: Path, suffix: str, swap: Swap) -> None:
    """Record, lock, index, doorbell and settings: neither a link nor anything but a plain file is used."""
    elsewhere = tmp_path / "elsewhere"
    swap(root / f"{SHARED}.{suffix}", elsewhere)
    before = elsewhere.read_bytes() if elsewhere.exists() else b""
    with pytest.raises(UnsafeFile) as caught:
        store.settings(SHARED) if suffix == "debate.json" else store.append(SHARED, [draft("two")], expected=None)
    assert caught.value.path.endswith(suffix)
    assert not elsewhere.exists() or elsewhere.read_bytes() == before


@pytest.mark.parametrize("swap", [symlink, named_pipe, folder])
def test_the_public_tools_lock_as_something_else_is_refused_at_once(
    store: FileStore, root: Path, tmp_path: Path, swap: Swap
) -> None:
    """A lock that nobody can hold is not waited for, and not removed either."""
    swap(root / f"{SHARED}.lock", tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        store.append(SHARED, [draft("two")], expected=None)
    assert os.path.lexists(root / f"{SHARED}.lock")
    assert texts(store, SHARED) == ["one"]


@pytest.mark.parametrize("swap", [symlink, hard_link, named_pipe])
def test_a_temporary_file_that_stands_in_the_way_is_removed_and_not_written_through(
    store: FileStore, root: Path, tmp_path: Path, swap: Swap
) -> None:
    """The temporary name is ours under the lock: what stands there goes, and what it points to stays as it is."""
    elsewhere = tmp_path / "elsewhere"
    swap(root / f"{SHARED}.signal.json.new", elsewhere)
    before = elsewhere.read_bytes() if elsewhere.exists() else b""
    store.append(SHARED, [draft("two")], expected=None)
    assert not elsewhere.exists() or elsewhere.read_bytes() == before
    assert not (root / f"{SHARED}.signal.json").is_symlink()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_swapped_archive_folder_is_refused(store: FileStore, root: Path, tmp_path: Path, kind: str) -> None:
    """Archives are read from a folder inside the root alone."""
    (root / f"{SHARED}.index").unlink()
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        (root / "archive").symlink_to(tmp_path / "elsewhere")
    else:
        (root / "archive").write_bytes(b"")
    with pytest.raises(UnsafeFile):
        store.append(SHARED, [draft("two")], expected=None)


def test_a_swapped_archive_file_is_refused(store: FileStore, root: Path, tmp_path: Path) -> None:
    """An archive is a plain file with one name."""
    (root / f"{SHARED}.index").unlink()
    (root / "archive").mkdir()
    symlink(root / "archive" / f"{SHARED}-2026-07.md", tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        store.read(SHARED)


def test_a_case_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """A case lies in a folder of its own inside the root, not behind a link."""
    (tmp_path / "root").mkdir()
    store = file_store(str(tmp_path / "root"), Layout.CASES)
    channel = begin(store, Layout.CASES)
    (tmp_path / "root" / channel).rename(tmp_path / "elsewhere")
    (tmp_path / "root" / channel).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        store.read(channel)
    assert store.list_open() == ()


def test_a_vault_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """Sealed replies do not leave the case."""
    (tmp_path / "root").mkdir()
    (tmp_path / "elsewhere").mkdir()
    store = file_store(str(tmp_path / "root"), Layout.CASES)
    channel = begin(store, Layout.CASES)
    (tmp_path / "root" / channel / "vault").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        store.vault(channel).put("reply-a.1", b"yes")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("swap", SWAPS)
def test_a_swapped_memory_of_heads_is_refused(store: FileStore, tmp_path: Path, swap: Swap) -> None:
    """The memory that finds rollbacks is not read through a link."""
    (memory,) = (tmp_path / "state" / "heads").iterdir()
    swap(memory, tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        store.append(SHARED, [draft("two")], expected=None)


def test_a_folder_swapped_while_it_is_held_changes_nothing(store: FileStore, root: Path, tmp_path: Path) -> None:
    """Names are looked up in the folder that was opened, not in what stands under its path now."""
    with store.hold(SHARED) as held:
        root.rename(tmp_path / "moved")
        (tmp_path / "trap").mkdir()
        root.symlink_to(tmp_path / "trap")
        held.append([draft("two")])
    assert list((tmp_path / "trap").iterdir()) == []
    assert texts(file_store(str(tmp_path / "moved"), Layout.SHARED), SHARED) == ["one", "two"]


def test_files_of_somebody_else_are_read_and_not_written() -> None:
    """The owner counts where we write; reading a record is everybody's."""
    disk = Disk()
    disk.make_folder(disk.folder("/"), "root", 0o755)
    begin(file_store("/root", Layout.SHARED, fs=disk), Layout.SHARED)
    theirs = disk.settled()
    for node in theirs.nodes.values():
        node.owner = 7
    store = file_store("/root", Layout.SHARED, fs=theirs)
    assert texts(store, SHARED) == []
    with pytest.raises(UnsafeFile, match="belongs to uid 7"):
        store.append(SHARED, [draft("one")], expected=None)


def the_key(folder: Path, *, seed: bytes = b"\x01" * 32) -> str:
    return load_or_make_key(RealFiles(), str(folder / KEY), seed=seed, sleep=time.sleep).public


def test_those_who_need_the_key_at_once_make_one(tmp_path: Path) -> None:
    """Whoever holds the lock first makes it; the file is the owner's alone (DESIGN 5, signing)."""
    start = threading.Barrier(8)

    def make(number: int) -> str:
        start.wait(5)
        return the_key(tmp_path, seed=bytes([number]) * 32)

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(make, range(8)))
    assert made == {the_key(tmp_path)}
    assert (tmp_path / KEY).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    """A private key that was open to others may be known to them."""
    the_key(tmp_path)
    (tmp_path / KEY).chmod(mode)
    with pytest.raises(UnsafeFile, match="0600"):
        the_key(tmp_path)


@pytest.mark.parametrize("swap", SWAPS)
def test_a_swapped_key_is_refused(tmp_path: Path, swap: Swap) -> None:
    """The key file is a plain file with one name."""
    (tmp_path / "state").mkdir()
    the_key(tmp_path / "state")
    swap(tmp_path / "state" / KEY, tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        the_key(tmp_path / "state")


def test_a_key_without_a_folder_is_a_typed_error(tmp_path: Path) -> None:
    """The state folder is the driver's to make."""
    with pytest.raises(RecordError, match="No such file"):
        the_key(tmp_path / "missing")
