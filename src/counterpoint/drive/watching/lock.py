"""Who watches: a flock on the state's path with `.lock` behind it, shared with the public tool (SPEC C-061).

The kernel gives it back when its holder ends, however that ends. The file is never unlinked; its three lines (pid,
stamp, folder of the channel) are for people and decide nothing.
"""

import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from counterpoint.errors import CounterpointError, RecordError

__all__ = ["Holder", "WatcherHeld", "current_holder", "hold_watcher", "lock_path"]

_MAX_NOTE: Final = 8192
_TRIES: Final = 5
_PAUSE_S: Final = 0.01
"""Between two tries. Whoever asks for the holder locks for an instant too, and is no other watcher."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who watches now, as far as the lock's note tells."""

    pid: int | None
    since: str
    channel: str
    cwd: str
    """Where it runs; empty where the system does not tell."""

    @property
    def note(self) -> str:
        where = self.cwd or "cwd unavailable on this platform"
        serving = self.channel or "channel unknown (pre-2026-08 lock)"
        return f"[tick lock held by pid {self.pid} since {self.since}, {where}, serving {serving}]"


class WatcherHeld(CounterpointError):
    """Another live watcher drives this channel."""

    code = "watcher.held"

    def __init__(self, path: str, holder: Holder) -> None:
        pid = "unknown (holder was rewriting its note)" if holder.pid is None else holder.pid
        where = f", cwd {holder.cwd}" if holder.cwd else ""
        serving = f", serving channel {holder.channel}" if holder.channel else ""
        since = holder.since or "unknown"
        super().__init__(
            f"refused: another watcher is driving {path} - pid {pid} since {since}{where}{serving}",
            hint="let one of them drive: a scheduler with `watch-once`, or a `watch` that stays; "
            "`watch-status` says which it is",
        )
        self.path = path
        self.pid = holder.pid
        self.since = holder.since
        self.channel = holder.channel


def lock_path(state_path: str) -> str:
    return f"{state_path}.lock"


@contextmanager
def hold_watcher(
    state_path: str, *, root: str, stamp: str, sleep: Callable[[float], None] = time.sleep
) -> Iterator[None]:
    """Be the one watcher of this state for the length of the block.

    Args:
        state_path: of the watcher's memory.
        root: the folder of the channel, for people.
        stamp: of this moment, for people.
        sleep: how to wait for whoever only asks.

    Raises:
        WatcherHeld: another live watcher is.
        RecordError: the lock file cannot be made or locked, or is no plain file.
    """
    descriptor = _take(lock_path(state_path), sleep)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n{stamp}\n{root}\n".encode("utf-8", "surrogateescape"), 0)
        yield
    finally:
        # Unlocked by name and not only by closing: a fork without exec still has the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def current_holder(state_path: str) -> Holder | None:
    """Return who watches now, or `None`. The kernel is asked: a note that was left behind says nothing.

    Raises:
        RecordError: the lock file cannot be read, or is no plain file.
    """
    path = lock_path(state_path)
    try:
        descriptor = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return None if _try_flock(descriptor, fcntl.LOCK_SH, path) else _read_note(descriptor)
    finally:
        os.close(descriptor)


def _take(path: str, sleep: Callable[[float], None]) -> int:
    holder = Holder(pid=None, since="", channel="", cwd="")
    for attempt in range(_TRIES):
        if attempt:
            sleep(_PAUSE_S)
        descriptor = _open(path, os.O_RDWR | os.O_CREAT)
        try:
            if not _try_flock(descriptor, fcntl.LOCK_EX, path):
                holder = _read_note(descriptor)
            elif _is_at(descriptor, path):
                kept, descriptor = descriptor, -1
                return kept
        finally:
            if descriptor >= 0:
                os.close(descriptor)
    raise WatcherHeld(path, holder)


def _open(path: str, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        why = "is a link" if error.errno == errno.ELOOP else f"cannot be opened: {error.strerror}"
        raise RecordError(f"{path} {why}; the watcher's lock is a plain file", hint=f"look at {path}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"{path} is no plain file; the watcher's lock is one", hint=f"look at {path}")
    return descriptor


def _try_flock(descriptor: int, kind: int, path: str) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise RecordError(
            f"{path} cannot be locked: {error.strerror}", hint="name a state_path on a local file system"
        ) from None
    return True


def _is_at(descriptor: int, path: str) -> bool:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)


def _read_note(descriptor: int) -> Holder:
    """Return who says to hold the lock; a note may be read while it is written."""
    lines = os.pread(descriptor, _MAX_NOTE, 0).decode("utf-8", "replace").splitlines()
    pid, since, channel = [*lines, "", "", ""][:3]
    number = int(pid) if pid.isascii() and pid.isdecimal() else None
    return Holder(pid=number, since=since.strip(), channel=channel.strip(), cwd=_cwd_of(number))


def _cwd_of(pid: int | None) -> str:
    if pid is None or sys.platform != "linux":
        return ""
    link = f"/proc/{pid}/cwd"
    found = os.path.realpath(link)
    return "" if found == link else found
