"""Looking at an export after somebody used it: what changed in it, and one file's own bytes.

An agent gets an export of its own. Nothing stops the owner of files from changing them, so what is read back is
compared with what was written.

Sources: FIELD-FAULTS F30, SECURITY S1, S2.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import digest
from counterpoint.isolation.export import ExportedFile, ExportReport
from counterpoint.isolation.names import visible_path

__all__ = ["MAX_DIFFERENCES", "Difference", "DifferenceKind", "differences", "read_exported"]

MAX_DIFFERENCES: Final = 1000
"""How many are named; one more says that there are more."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Looking must not leave the trace that `evidence.coverage` reads.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOATIME", 0)


class DifferenceKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CONTENT = "content"
    MODE = "mode"
    KIND = "kind"
    """A file became a folder, a link, a pipe, or the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    path: str
    kind: DifferenceKind


def differences(out: Path, report: ExportReport) -> tuple[Difference, ...]:
    """Return what differs below `out` from what `report` says was written there, by path."""
    found = []
    for difference in _Comparison(report).run(out):
        found.append(difference)
        if len(found) > MAX_DIFFERENCES:
            break
    return tuple(sorted(found, key=lambda difference: difference.path))


def read_exported(out: Path, file: ExportedFile) -> bytes | None:
    """Return the content of an exported file; `None` when it is no longer what was exported."""
    *folders, name = file.raw.split(b"/")
    with ExitStack() as opened:
        try:
            inside = _opened(opened, out)
            for folder in folders:
                inside = _opened(opened, folder, dir_fd=inside)
            return _content(inside, name, file)
        except OSError:
            return None


def _opened(opened: ExitStack, folder: Path | bytes, *, dir_fd: int | None = None) -> int:
    descriptor = os.open(folder, _FOLDER, dir_fd=dir_fd)
    opened.callback(os.close, descriptor)
    return descriptor


def _content(folder: int, name: bytes, file: ExportedFile) -> bytes | None:
    with os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb") as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size != file.size:
            return None
        content = opened.read(file.size + 1)
    return content if digest(content) == file.sha256 else None


class _Comparison:
    """One pass over the folders that the report knows; an added folder is one difference and is not entered."""

    def __init__(self, report: ExportReport) -> None:
        self._files = {file.raw: file for file in report.files.values()}
        self._folders = report.folders
        self._write_bit = stat.S_IWUSR if report.is_writable else 0
        self._met: set[bytes] = set()
        self._entered = {b""}

    def run(self, out: Path) -> Iterator[Difference]:
        for folder in (b"", *sorted(self._folders)):
            if folder not in self._entered:
                continue
            try:
                yield from self._folder(out / os.fsdecode(folder), folder)
            except OSError:
                yield _difference(folder or b".", DifferenceKind.MODE)
        for path in (self._files.keys() | self._folders) - self._met:
            yield _difference(path, DifferenceKind.REMOVED)

    def _folder(self, place: Path, folder: bytes) -> Iterator[Difference]:
        descriptor = os.open(place, _FOLDER)
        try:
            if stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o555 | self._write_bit:
                yield _difference(folder or b".", DifferenceKind.MODE)
            with os.scandir(descriptor) as entries:
                names = sorted(os.fsencode(entry.name) for entry in entries)
            for name in names:
                path = folder + b"/" + name if folder else name
                kind = self._entry(descriptor, name, path)
                if kind:
                    yield _difference(path, kind)
        finally:
            os.close(descriptor)

    def _entry(self, folder: int, name: bytes, path: bytes) -> DifferenceKind | None:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        file = self._files.get(path)
        if file is None and path not in self._folders:
            return DifferenceKind.ADDED
        self._met.add(path)
        is_expected = stat.S_ISREG if file else stat.S_ISDIR
        if not is_expected(found.st_mode):
            return DifferenceKind.KIND
        if file is None:
            self._entered.add(path)
            return None
        if stat.S_IMODE(found.st_mode) != (0o555 if file.is_executable else 0o444) | self._write_bit:
            return DifferenceKind.MODE
        try:
            return None if _content(folder, name, file) is not None else DifferenceKind.CONTENT
        except OSError:
            return DifferenceKind.CONTENT


def _difference(path: bytes, kind: DifferenceKind) -> Difference:
    return Difference(path=visible_path(path), kind=kind)
