"""The exclusive right to drive one case.

The lease is a flock on `lease` in the case's folder. The kernel gives it back the moment the holder ends, however
it ends, so a case driven by a process that was killed is free at once (FIELD-FAULTS F43). From the measurements in
SECURITY C.2:

- the descriptor is closed on exec: an inherited one keeps the lock after the holder died;
- flock, not `fcntl.lockf`, which is lost when the process closes any other descriptor of the file;
- the file is never unlinked, and its inode is compared with the path's after locking: two files are two leases;
- the text in the file (pid, host, start) is for people and decides nothing.

On a network file system the lease holds on one machine only.
"""

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import NotCanonical, parse_json, visible
from counterpoint.drive.clock import format_stamp
from counterpoint.errors import LeaseHeld, RecordError

__all__ = ["Holder", "current_holder", "hold_lease"]

_MAX_TEXT: Final = 4096
_TRIES: Final = 5
_PAUSE_S: Final = 0.01
"""Between two tries. `current_holder` locks for an instant too; a driver must not take that for another driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who drives a case, as far as the lease file tells."""

    name: str
    """`pid 4711 on host`."""
    since: str
    """Stamp, or `unknown`."""


_UNKNOWN: Final = Holder(name="a process that left no name", since="unknown")


@contextmanager
def hold_lease(folder: Path, *, case: str, now: datetime) -> Iterator[None]:
    """Hold the lease of the case in `folder` for the length of the block.

    Raises:
        LeaseHeld: another live driver holds it.
        RecordError: the lease file cannot be made or locked, or is not a plain file.
    """
    path = folder / "lease"
    descriptor = _lock(path, case=case)
    try:
        _write(descriptor, {"pid": os.getpid(), "host": os.uname().nodename, "start": format_stamp(now)})
        yield
    finally:
        _write(descriptor, None)
        # Unlocked by name and not only by closing: a fork without exec still has the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def current_holder(folder: Path) -> Holder | None:
    """Return who drives the case in `folder` now, or None: a killed driver holds nothing.

    Raises:
        RecordError: the lease file is not a plain file, or cannot be read.
    """
    try:
        descriptor = _open(folder / "lease", os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return None if _try_flock(descriptor, fcntl.LOCK_SH, folder / "lease") else _read(descriptor)
    finally:
        os.close(descriptor)


def _lock(path: Path, *, case: str) -> int:
    holder = _UNKNOWN
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE_S)
        try:
            descriptor = _open(path, os.O_RDWR | os.O_CREAT)
        except FileNotFoundError:
            raise RecordError(f"{path.parent} is not there; a lease needs the case's folder") from None
        try:
            if not _try_flock(descriptor, fcntl.LOCK_EX, path):
                holder = _read(descriptor)
            elif _is_at(descriptor, path):
                kept, descriptor = descriptor, -1
                return kept
        finally:
            if descriptor >= 0:
                os.close(descriptor)
    raise LeaseHeld(case, holder=holder.name, since=holder.since)


def _open(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        why = "is a symbolic link" if error.errno == errno.ELOOP else f"cannot be opened: {error.strerror}"
        raise RecordError(f"{path} {why}; a lease is a plain file", hint=f"look at {path} and remove it") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"{path} is not a plain file; a lease is one", hint=f"look at {path} and remove it")
    return descriptor


def _try_flock(descriptor: int, kind: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise RecordError(
            f"{path} cannot be locked: {error.strerror}", hint="keep cases on a local file system"
        ) from None
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _write(descriptor: int, text: dict[str, object] | None) -> None:
    content = b"" if text is None else json.dumps(text).encode() + b"\n"
    try:
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))
    except OSError:
        # The text is for people; a full disk must not end a case whose lease is held.
        return


def _read(descriptor: int) -> Holder:
    try:
        found = parse_json(os.pread(descriptor, _MAX_TEXT, 0), max_bytes=_MAX_TEXT)
    except (OSError, NotCanonical):
        return _UNKNOWN
    match found:
        case {"pid": int(pid), "host": str(host), "start": str(start)}:
            return Holder(name=f"pid {pid} on {visible(host)}", since=visible(start))
        case _:
            return _UNKNOWN
