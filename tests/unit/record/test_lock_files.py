"""The public tool's lock file: waited for, broken when its holder is dead, and lost under us (SPEC C-034)."""

import errno
import os
from pathlib import Path

import pytest

from counterpoint.errors import LockBusy, RecordError
from counterpoint.record.files import Layout
from counterpoint.record.fs import Folder, RealFiles
from tests.channels import SHARED, begin, draft, file_store, texts
from tests.disk import Disk
from tests.places import Place, add, plain_entry, ring


def test_the_public_tools_lock_is_waited_for_and_broken_when_its_holder_is_dead(shared: Place) -> None:
    """Five seconds of patience, thirty of age, told by the file system's clock (SPEC C-034)."""
    lock = shared.path("lock")
    slept: list[float] = []
    store = file_store(str(shared.root), Layout.SHARED, heads=shared.heads, sleep=slept.append)
    lock.touch()
    with pytest.raises(LockBusy) as caught:
        store.append(shared.channel, [draft("three")], expected=None)
    assert caught.value.path == str(lock)
    assert 5 <= sum(slept) <= 5.1
    assert set(slept) == {0.05}
    assert lock.exists()
    os.utime(lock, (1, 1))
    shared.say("three")
    assert (shared.texts()[-1], lock.exists()) == ("three", False)


class Contested(RealFiles):
    """Somebody else breaks the stale lock, and takes it, between our two looks at it."""

    def __init__(self, lock: Path) -> None:
        super().__init__()
        self._lock = lock

    def touch(self, fd: int) -> None:
        super().touch(fd)
        self._lock.unlink()
        self._lock.touch()


def test_a_lock_that_is_no_longer_the_stale_one_is_not_broken(shared: Place) -> None:
    """Looking, then removing, would remove the lock of whoever was faster (SECURITY C.2)."""
    lock = shared.path("lock")
    lock.touch()
    os.utime(lock, (1, 1))
    store = file_store(str(shared.root), Layout.SHARED, heads=shared.heads, fs=Contested(lock))
    with pytest.raises(LockBusy):
        store.append(shared.channel, [draft("three")], expected=None)
    assert lock.exists()


def test_a_lock_that_was_broken_under_us_stops_the_append(shared: Place) -> None:
    """The public tool breaks a lock after 30 s whoever holds it: nothing is written then (SECURITY C.2)."""
    with shared.store.hold(shared.channel) as held:
        shared.path("lock").unlink()
        shared.path("lock").touch()
        with pytest.raises(LockBusy):
            held.append([draft("three")])
    assert shared.path("lock").exists()
    assert shared.texts() == ["one", "two"]


def test_what_somebody_wrote_who_broke_our_lock_is_not_cut(shared: Place) -> None:
    """The append stops, and takes back nothing: what lies behind our view now is another's (SECURITY C.1)."""
    with shared.store.hold(shared.channel) as held:
        shared.path("lock").unlink()
        add(shared.record, plain_entry(3, "theirs").encode())
        shared.path("signal.json").write_bytes(ring(3))
        with pytest.raises(LockBusy):
            held.append([draft("three")])
    assert shared.texts() == ["one", "two", "theirs"]
    shared.say("four")
    assert shared.texts() == ["one", "two", "theirs", "four"]


class Overtaken(Disk):
    """The channel file's sync fails, and meanwhile somebody broke our lock, or wrote behind us without one."""

    is_overtaken = False
    written = b""

    def sync(self, opened: int | Folder) -> None:
        if self.is_overtaken and not isinstance(opened, Folder):
            channel_file = self.find(f"/root/{SHARED}.channel.md")
            if self.stat(opened).inode[1] == channel_file.inode:
                if not self.written:
                    self.put(f"/root/{SHARED}.lock", b"")
                channel_file.content.extend(self.written)
                raise OSError(errno.EIO, "no more")
        super().sync(opened)


@pytest.mark.parametrize("written", ["", plain_entry(2, "theirs")])
def test_a_failed_write_is_not_cut_off_once_somebody_else_is_at_work(written: str) -> None:
    """Somebody else is writing now: what lies behind our view, or will in a moment, is not ours to cut."""
    disk = Overtaken()
    disk.make_folder(disk.folder("/"), "root", 0o755)
    store = file_store("/root", Layout.SHARED, fs=disk)
    begin(store, Layout.SHARED)
    disk.is_overtaken, disk.written = True, written.encode()
    with pytest.raises(RecordError, match="no more"):
        store.append(SHARED, [draft("one")], expected=None)
    left = disk.settled()
    left.put(f"/root/{SHARED}.signal.json", ring(2 if written else 1))
    assert texts(file_store("/root", Layout.SHARED, fs=left), SHARED) == (["one", "theirs"] if written else ["one"])
