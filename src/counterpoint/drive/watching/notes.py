"""What only our watcher keeps, beside its state: `<state>.own`. Lost, it costs one full look at the record.

- the name of the channel, which the shared state does not tell: two channels of one folder would take turns in one
  memory, and one's message would stand in for the other's (SPEC C-145);
- what the files were when the record was last found to add up, so that a tick in which nothing moved reads nothing;
- the mark of the command that runs now, by which the next watcher ends it if this one is killed.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from counterpoint.core.canonical import digest
from counterpoint.drive.watching.state import read_beside, write_beside
from counterpoint.record.bell import read_object
from counterpoint.record.fs import Files
from counterpoint.record.names import ARCHIVE, bell_file, channel_file, month_files

__all__ = ["Notes", "notes_path", "read_notes", "seen_files", "write_notes"]

_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    channel: str | None = None
    """`None`: nobody has watched with this state yet."""
    verified: str = ""
    """`seen_files` of the last look after which everything added up."""
    running: str = ""
    """The mark of the command that was started and has not been seen to end."""


def notes_path(state_path: str) -> str:
    return f"{state_path}.own"


def read_notes(fs: Files, state_path: str) -> Notes:
    """Return what is noted; what cannot be read counts as nothing."""
    content = read_beside(fs, notes_path(state_path), max_bytes=_MAX)
    match read_object(content) if content is not None else None:
        case {"channel": str(channel), "verified": str(verified), "running": str(running)}:
            return Notes(channel=channel, verified=verified, running=running)
        case _:
            return Notes()


def write_notes(fs: Files, state_path: str, notes: Notes) -> None:
    fields = {"channel": notes.channel, "verified": notes.verified, "running": notes.running}
    write_beside(fs, notes_path(state_path), json.dumps(fields, indent=2).encode())


def seen_files(root: str, channel: str, bell: bytes | None) -> str:
    """Return a digest of what the channel's files are now: inode, size and times of each, and the doorbell's bytes.

    Only the kernel sets the time of change, so an entry that was edited in place shows too.
    """
    seen = [
        channel_file(channel),
        _look(f"{root}/{channel_file(channel)}"),
        "no doorbell" if bell is None else digest(bell),
    ]
    if bell is None:
        seen.append(bell_file(channel))
    month = month_files(channel)
    with suppress(FileNotFoundError, NotADirectoryError):
        with os.scandir(f"{root}/{ARCHIVE}") as found:
            names = sorted(entry.name for entry in found if month.fullmatch(entry.name))
        seen += [f"{name} {_look(f'{root}/{ARCHIVE}/{name}')}" for name in names]
    return digest("\n".join(seen).encode("utf-8", "surrogateescape"))


def _look(path: str) -> str:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return "missing"
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
