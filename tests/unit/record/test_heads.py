"""The memory of heads outlives torn writes and two writers, and finds what contradicts it (DESIGN 5, SECURITY R9)."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import Corrupt
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.heads import Heads, Kept
from tests.channels import CASE, SHARED, STAMP, begin, draft, file_store, genesis, key, texts
from tests.disk import Disk

ID: Final = "0123456789abcdef0123456789abcdef"
GENESIS: Final = "a" * 64


def kept(n: int, head: str = "") -> Kept:
    return Kept(genesis=GENESIS, n=n, head=head or f"{n:064x}")


@pytest.fixture
def disk() -> Disk:
    disk = Disk()
    disk.make_folder(disk.folder("/"), "state", 0o700)
    return disk


def memory(disk: Disk) -> Heads:
    return Heads(disk, "/state/heads")


def test_the_newest_head_is_remembered(disk: Disk) -> None:
    """One file for each channel id, made when the first head is remembered."""
    assert memory(disk).get(ID) is None
    for n in (0, 3, 4, 9):
        memory(disk).remember("c", ID, kept(n))
        assert memory(disk).get(ID) == kept(n)
    assert disk.listing("/state/heads") == [ID]
    assert memory(disk).get("f" * 32) is None


def test_an_older_head_does_not_replace_a_newer_one(disk: Disk) -> None:
    """Two processes that come late in the other order leave the newer head."""
    memory(disk).remember("c", ID, kept(4))
    memory(disk).remember("c", ID, kept(3))
    assert memory(disk).get(ID) == kept(4)


def test_another_genesis_or_another_entry_of_a_number_is_corrupt(disk: Disk) -> None:
    """A fork, or a channel begun anew under the same id (SECURITY R9, R11)."""
    memory(disk).remember("c", ID, kept(4))
    with pytest.raises(Corrupt) as caught:
        memory(disk).remember("c", ID, kept(4, "b" * 64))
    assert caught.value.entry == 4
    with pytest.raises(Corrupt) as caught:
        memory(disk).remember("c", ID, Kept(genesis="c" * 64, n=5, head="b" * 64))
    assert caught.value.entry == 0


def test_a_torn_slot_leaves_the_other(disk: Disk) -> None:
    """Whatever part of the newest slot is lost or changed, the head before it is still known."""
    path = f"/state/heads/{ID}"
    for n in (1, 2, 3):
        memory(disk).remember("c", ID, kept(n))
    whole = disk.get(path)
    for at in range(len(whole) // 2):
        torn = disk.settled()
        torn.put(path, whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        assert memory(torn).get(ID) == kept(2), at
        memory(torn).remember("c", ID, kept(4))
        assert memory(torn).get(ID) == kept(4)
        torn.put(path, whole[:at])
        assert memory(torn).get(ID) is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    (tmp_path / "root").mkdir()
    begin(store_in(tmp_path), Layout.SHARED)
    return tmp_path


def store_in(folder: Path, root: str = "root") -> FileStore:
    heads = Heads(RealFiles(), str(folder / "state" / "heads"))
    return file_store(str(folder / root), Layout.SHARED, heads=heads)


def say(folder: Path, text: str, root: str = "root") -> None:
    store_in(folder, root).append(SHARED, [draft(text)], expected=None)


def copied(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "root").iterdir()}


def put_back(folder: Path, files: dict[str, bytes], root: str = "root") -> None:
    (folder / root).mkdir(exist_ok=True)
    for path in (folder / root).iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / root / name).write_bytes(content)


def test_a_record_rolled_back_is_found(folder: Path) -> None:
    """All files put back as they were: the chain holds, the memory does not (SECURITY R6)."""
    say(folder, "one")
    before = copied(folder)
    say(folder, "two")
    put_back(folder, before)
    for step in (lambda: say(folder, "three"), lambda: texts(store_in(folder), SHARED)):
        with pytest.raises(Corrupt) as caught:
            step()
        assert (caught.value.entry, "MSG-2" in caught.value.reason) == (2, True)


def test_a_fork_is_found(folder: Path) -> None:
    """Two copies of a channel that both go on: whoever writes second is refused and nothing is written (R9)."""
    say(folder, "one")
    put_back(folder, copied(folder), "clone")
    say(folder, "two")
    with pytest.raises(Corrupt):
        say(folder, "another two", "clone")
    assert "another two" not in (folder / "clone" / f"{SHARED}.channel.md").read_text()


def test_a_fork_that_has_gone_further_is_found(folder: Path) -> None:
    """The entry under the remembered number is another one, however many follow it (R9)."""
    say(folder, "one")
    put_back(folder, copied(folder), "clone")
    say(folder, "two")
    forgetful = file_store(str(folder / "clone"), Layout.SHARED)
    for text in ("another two", "three"):
        forgetful.append(SHARED, [draft(text)], expected=None)
    with pytest.raises(Corrupt) as caught:
        say(folder, "four", "clone")
    assert caught.value.entry == 2


def test_a_channel_from_elsewhere_is_new_here(folder: Path) -> None:
    """On another machine there is nothing to compare with (DESIGN 5: first seen here)."""
    say(folder, "one")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "state").mkdir()
    put_back(elsewhere, copied(folder))
    assert next(finding.code for finding in store_in(elsewhere).verify(SHARED).findings) == "first-seen"
    say(elsewhere, "two")
    assert texts(store_in(elsewhere), SHARED) == ["one", "two"]


def test_another_record_does_not_pass_for_a_case_under_its_name(tmp_path: Path) -> None:
    """SECURITY R11: a whole case with other keys and another id, put where one that this machine knows lay."""
    stores = []
    for name, channel_id in (("mine", "c" * 32), ("theirs", "d" * 32)):
        (tmp_path / name).mkdir()
        heads = Heads(RealFiles(), str(tmp_path / f"state-{name}" / "heads"))
        store = FileStore(str(tmp_path / name), Layout.CASES, signer=key, heads=heads)
        whole = replace(genesis(Layout.CASES), channel_id=channel_id)
        store.create(CASE, whole, stamp=STAMP, sender="counterpoint", settings={})
        store.append(CASE, [draft("one", typed=True)], expected=0)
        stores.append(store)
    assert stores[0].verify(CASE).is_clean
    (tmp_path / "mine" / CASE).rename(tmp_path / "gone")
    (tmp_path / "theirs" / CASE).rename(tmp_path / "mine" / CASE)
    for look in (stores[0].verify, stores[0].read):
        with pytest.raises(Corrupt) as caught:
            look(CASE)
        assert caught.value.entry == 0
