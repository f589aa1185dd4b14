"""Which changed files were read while a command ran, told by access times and by nothing else.

What a command line names was not thereby opened (FIELD-FAULTS F25). Before the command each file's access time is set
far back; a file whose access time has moved was read by somebody. Where the file system does not keep access times
(`noatime`, some network file systems, a read-only mount), a first file that is read on purpose shows it, and the
answer is that nobody can tell.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from counterpoint.isolation.export import STAMP_NS, ExportReport

__all__ = ["ReadWatch", "watch_reads"]

_Mark = tuple[int, int]
"""Inode and access time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWatch:
    """The marks set before a command ran."""

    tree: Path
    raw: Mapping[str, bytes]
    marks: Mapping[str, _Mark]

    def unread(self) -> tuple[str, ...]:
        """Return the watched paths that nothing shows to have been read; a replaced file shows nothing."""
        return tuple(path for path, mark in sorted(self.marks.items()) if not self._was_read(path, mark))

    def _was_read(self, path: str, mark: _Mark) -> bool:
        try:
            inode, accessed = _mark_of(_place(self.tree, self.raw[path]))
        except OSError:
            return False
        return inode == mark[0] and accessed != mark[1]


def watch_reads(
    tree: Path, report: ExportReport, paths: Iterable[str], *, read: Callable[[Path], object] = Path.read_bytes
) -> ReadWatch | None:
    """Mark those of `paths` that are in the export at `tree`; `None` where reading cannot be told.

    Args:
        tree: the export; its files are the caller's own.
        report: what it holds.
        paths: the changed paths, in their visible form.
        read: reads one file the way the command will; a command in a box sees another mount.
    """
    raw = {path: report.files[path].raw for path in paths if path in report.files}
    places = {path: _place(tree, name) for path, name in raw.items()}
    try:
        marks = {path: _set_back(place) for path, place in places.items()}
        for path, place in list(places.items())[:1]:
            read(place)
            if _mark_of(place) == marks[path]:
                return None
            marks[path] = _set_back(place)
    except OSError:
        return None
    return ReadWatch(tree=tree, raw=raw, marks=marks)


def _place(tree: Path, raw: bytes) -> Path:
    return tree / os.fsdecode(raw)


def _set_back(place: Path) -> _Mark:
    modified = place.stat(follow_symlinks=False).st_mtime_ns
    os.utime(place, ns=(STAMP_NS, modified), follow_symlinks=False)
    return _mark_of(place)


def _mark_of(place: Path) -> _Mark:
    found = place.stat(follow_symlinks=False)
    return found.st_ino, found.st_atime_ns
