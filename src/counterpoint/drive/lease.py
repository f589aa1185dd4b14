"""The exclusive right to drive one case: the lock on `lease` in the case's folder.

A case driven by a process that was killed is free at once (FIELD-FAULTS F43). The text in the file (pid, host, start)
is for people.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import NotCanonical, parse_json, visible
from counterpoint.drive.clock import format_stamp
from counterpoint.drive.lockfile import LockFile
from counterpoint.errors import CounterpointError, LeaseHeld

__all__ = ["Holder", "current_holder", "hold_lease"]

_MAX_TEXT: Final = 4096


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

    def refusal(note: bytes) -> CounterpointError:
        holder = _read(note)
        return LeaseHeld(case, holder=holder.name, since=holder.since)

    with _file(folder).held(refusal) as descriptor:
        _write(descriptor, {"pid": os.getpid(), "host": os.uname().nodename, "start": format_stamp(now)})
        try:
            yield
        finally:
            _write(descriptor, None)


def current_holder(folder: Path) -> Holder | None:
    """Return who drives the case in `folder` now, or None: a killed driver holds nothing.

    Raises:
        RecordError: the lease file is not a plain file, or cannot be read.
    """
    note = _file(folder).note()
    return None if note is None else _read(note)


def _file(folder: Path) -> LockFile:
    return LockFile(path=str(folder / "lease"), what="a lease", elsewhere="keep cases on a local file system")


def _write(descriptor: int, text: dict[str, object] | None) -> None:
    content = b"" if text is None else json.dumps(text).encode() + b"\n"
    try:
        os.pwrite(descriptor, content, 0)
        os.ftruncate(descriptor, len(content))
    except OSError:
        # The text is for people; a full disk must not end a case whose lease is held.
        return


def _read(note: bytes) -> Holder:
    try:
        found = parse_json(note, max_bytes=_MAX_TEXT)
    except NotCanonical:
        return _UNKNOWN
    match found:
        case {"pid": int(pid), "host": str(host), "start": str(start)}:
            return Holder(name=f"pid {pid} on {visible(host)}", since=visible(start))
        case _:
            return _UNKNOWN
