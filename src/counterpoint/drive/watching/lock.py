"""Who watches: a flock on the state's path with `.lock` behind it, shared with the public tool (SPEC C-061).

The kernel gives it back when its holder ends, however that ends. The file is never unlinked; its three lines (pid,
stamp, folder of the channel) are for people and decide nothing.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from counterpoint.drive.lockfile import LockFile
from counterpoint.errors import CounterpointError

__all__ = ["Holder", "WatcherHeld", "current_holder", "hold_watcher", "lock_path"]


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
    path = lock_path(state_path)

    def refusal(note: bytes) -> CounterpointError:
        return WatcherHeld(path, _read_note(note))

    with _file(path).held(refusal, sleep=sleep) as descriptor:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n{stamp}\n{root}\n".encode("utf-8", "surrogateescape"), 0)
        yield


def current_holder(state_path: str) -> Holder | None:
    """Return who watches now, or `None`. The kernel is asked: a note that was left behind says nothing.

    Raises:
        RecordError: the lock file cannot be read, or is no plain file.
    """
    note = _file(lock_path(state_path)).note()
    return None if note is None else _read_note(note)


def _file(path: str) -> LockFile:
    return LockFile(path=path, what="the watcher's lock", elsewhere="name a state_path on a local file system")


def _read_note(note: bytes) -> Holder:
    lines = note.decode("utf-8", "replace").splitlines()
    pid, since, channel = [*lines, "", "", ""][:3]
    number = int(pid) if pid.isascii() and pid.isdecimal() else None
    return Holder(pid=number, since=since.strip(), channel=channel.strip(), cwd=_cwd_of(number))


def _cwd_of(pid: int | None) -> str:
    if pid is None or sys.platform != "linux":
        return ""
    link = f"/proc/{pid}/cwd"
    found = os.path.realpath(link)
    return "" if found == link else found
