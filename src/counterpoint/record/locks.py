"""Who may write a channel: one process at a time.

- `<id>.flock`: ours. A flock ends with its holder, however that ends. The file is never unlinked, and after
  locking its inode is compared with the path's, because two files are two locks (SECURITY C.2).
- `<id>.lock`: the public tool's, on shared channels, taken second. It exists while it is held; one older than 30 s
  is a dead holder's and is broken, only by whoever holds the flock (SPEC C-034).

Age is told by the file system's own clock, and waiting is counted by the sleeps: there is no clock here.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from counterpoint.errors import LockBusy, UnsafeFile
from counterpoint.record.fs import SHARED, Access, Files, Folder
from counterpoint.record.names import own_file, shared_lock
from counterpoint.record.safe import open_own

__all__ = ["MAX_WAIT_S", "Lock", "hold"]

MAX_WAIT_S: Final = 5.0
STALE_S: Final = 30
_OWN_PAUSE_S: Final = 0.001
_MAX_OWN_PAUSE_S: Final = 0.016
_SHARED_PAUSE_S: Final = 0.05

Sleep = Callable[[float], None]


class _Patience:
    """What is left of the time we are willing to wait."""

    def __init__(self, path: str, sleep: Sleep) -> None:
        self.path = path
        self.sleep = sleep
        self.waited_s = 0.0

    def wait(self, seconds: float) -> None:
        if self.waited_s >= MAX_WAIT_S:
            raise LockBusy(self.path, self.waited_s)
        self.sleep(seconds)
        self.waited_s += seconds


class Lock(NamedTuple):
    """Held locks of one channel."""

    fs: Files
    folder: Folder
    shared: str
    """The name of the public tool's lock file, empty where there is none."""
    inode: tuple[int, int] | None

    def is_ours(self) -> bool:
        """Say whether we still hold it all: the public tool breaks its lock after 30 s, whoever holds it."""
        found = self.fs.look(self.folder, self.shared) if self.shared else None
        return not self.shared or (found is not None and found.inode == self.inode)

    def check(self) -> None:
        if not self.is_ours():
            raise LockBusy(self.folder.of(self.shared), 0)


@contextmanager
def hold(fs: Files, folder: Folder, channel: str, *, shared: bool, sleep: Sleep) -> Generator[Lock]:
    """Hold a channel's locks for the length of the block.

    Raises:
        LockBusy: another writer held one for five seconds.
        UnsafeFile: a lock is no plain file of ours.
    """
    own = _take_own(fs, folder, own_file(channel, "flock"), sleep)
    try:
        if shared:
            with _hold_shared(fs, folder, shared_lock(channel), own, sleep) as lock:
                yield lock
        else:
            yield Lock(fs, folder, "", None)
    finally:
        fs.close(own)


def _take_own(fs: Files, folder: Folder, name: str, sleep: Sleep) -> int:
    patience = _Patience(folder.of(name), sleep)
    pause = _OWN_PAUSE_S
    while True:
        fd = open_own(fs, folder, name, Access.KEEP, SHARED)
        try:
            while not fs.lock(fd):
                patience.wait(pause)
                pause = min(2 * pause, _MAX_OWN_PAUSE_S)
            found = fs.look(folder, name)
            if found is not None and found.inode == fs.stat(fd).inode:
                kept, fd = fd, -1
                return kept
        finally:
            if fd >= 0:
                fs.close(fd)
        patience.wait(pause)


@contextmanager
def _hold_shared(fs: Files, folder: Folder, name: str, own: int, sleep: Sleep) -> Generator[Lock]:
    fd = _take_shared(fs, folder, name, own, sleep)
    # Open as long as it is held: no other file can have its inode meanwhile.
    try:
        lock = Lock(fs, folder, name, fs.stat(fd).inode)
        try:
            yield lock
        finally:
            if lock.is_ours():
                fs.unlink(folder, name)
    finally:
        fs.close(fd)


def _take_shared(fs: Files, folder: Folder, name: str, own: int, sleep: Sleep) -> int:
    patience = _Patience(folder.of(name), sleep)
    while True:
        try:
            return fs.open(folder, name, Access.NEW, SHARED)
        except FileExistsError:
            if not _break_stale(fs, folder, name, own):
                patience.wait(_SHARED_PAUSE_S)


def _break_stale(fs: Files, folder: Folder, name: str, own: int) -> bool:
    """Remove the lock of a dead holder; return whether it is worth trying again at once."""
    found = fs.look(folder, name)
    if found is None:
        return True
    if not found.is_file:
        raise UnsafeFile(folder.of(name), "is no plain file")
    fs.touch(own)
    if fs.stat(own).modified_ns - found.modified_ns <= STALE_S * 10**9:
        return False
    if fs.look(folder, name) == found:
        fs.unlink(folder, name)
    return True
