"""Writable copies of exports."""

import os
import threading
from pathlib import Path

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.copies import copy_tree

OLD = 946_684_800 * 10**9


@pytest.fixture
def export(tmp_path: Path) -> Path:
    folder = tmp_path / "export"
    (folder / "a" / "b").mkdir(parents=True)
    for name, mode in (("a/b/deep", 0o444), ("run", 0o555), ("caf\udce9", 0o444)):
        (folder / name).write_bytes(b"x" * 100_000)
        (folder / name).chmod(mode)
        os.utime(folder / name, ns=(OLD, OLD))
    for place in (folder / "a" / "b", folder / "a", folder):
        place.chmod(0o555)
    return folder


@pytest.mark.parametrize("shared", [True, False])
def test_a_copy_is_writable_and_its_times_tell_what_is_read(
    export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, shared: bool
) -> None:
    """FIELD-FAULTS F25, F30: same bytes, access times at the modification times, the original untouched."""
    if not shared and hasattr(os, "copy_file_range"):
        monkeypatch.delattr(os, "copy_file_range")
    copy = tmp_path / "copy"
    copy_tree(export, copy)
    assert sorted(os.fsencode(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()) == [
        b"a/b/deep",
        b"caf\xe9",
        b"run",
    ]
    assert [(copy / name).stat().st_mode & 0o777 for name in ("run", "a/b/deep", "a")] == [0o755, 0o644, 0o755]
    found = (copy / "run").stat()
    assert (found.st_atime_ns, found.st_mtime_ns, found.st_nlink) == (OLD, OLD, 1)
    (copy / "run").write_bytes(b"y")
    assert (export / "run").read_bytes() == b"x" * 100_000


def test_reading_a_file_for_the_copy_does_not_count_as_reading_the_export(export: Path, tmp_path: Path) -> None:
    """FIELD-FAULTS F25: an access time of the export tells what an agent read."""
    copy_tree(export, tmp_path / "copy")
    assert (export / "run").stat().st_atime_ns == OLD


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    """SECURITY B.5: an export holds no link and no pipe; a copy of one would lead out of it."""
    for name in ("linked", "piped"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked" / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "piped" / "pipe")
    with pytest.raises(SourceError, match="cannot be copied"):
        copy_tree(tmp_path / "linked", tmp_path / "one")
    with pytest.raises(SourceError, match="is not a plain file"):
        copy_tree(tmp_path / "piped", tmp_path / "two")


def test_a_stop_ends_the_copying(export: Path, tmp_path: Path) -> None:
    """Ours: a cancelled driver does not wait for a large tree."""
    stop = threading.Event()
    stop.set()
    copy_tree(export, tmp_path / "copy", stop=stop)
    assert list((tmp_path / "copy").iterdir()) == []
