"""Line diffs of bytes that were handed in, made by git in an empty folder of its own.

The contents are stored under numbers for names and compared as two flat trees. So git sees no name, attribute,
setting or object of the repository, and its output needs no guessing: a line of content never begins with `d`.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from counterpoint.isolation.git import Git, Place
from counterpoint.isolation.objects import hash_object
from counterpoint.isolation.repository import furnish

__all__ = ["Hunks", "LineDiffs"]

_TIMEOUT_S = 600.0
_SECTION = b"diff --git a/"
_OPTIONS = (
    "--patch",
    "--text",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunks:
    """The hunks of one pair."""

    number: int
    """Its place in the sequence of pairs."""
    content: bytes | None
    """From the first `@@` on; `None` if it is longer than was asked for."""
    size: int
    added_lines: int
    deleted_lines: int


class LineDiffs:
    """A folder that contents are put into and compared in."""

    def __init__(self, git: Git, folder: Path, *, object_format: str) -> None:
        folder.mkdir(mode=0o700)
        furnish(folder, object_format=object_format)
        self._git = git
        self._folder = folder
        self._object_format = object_format

    def put(self, content: bytes, *, kind: str = "blob") -> str:
        """Store a content and return its id."""
        oid = hash_object(self._object_format, kind, content)
        path = self._folder / "objects" / oid[:2] / oid[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            header = b"%s %d\0" % (kind.encode("ascii"), len(content))
            path.write_bytes(zlib.compress(header + content, 1))
        return oid

    def compare(self, pairs: Sequence[tuple[str | None, str | None]], *, max_size: int) -> Iterator[Hunks]:
        """Return the hunks of each pair whose sides differ, in order; `None` is a side that is not there."""
        if not pairs:
            return
        old, new = (
            self.put(b"".join(_entry(number, oid) for number, oid in enumerate(side) if oid), kind="tree")
            for side in zip(*pairs, strict=True)
        )
        place = Place(cwd=self._folder, variables={"GIT_DIR": str(self._folder)})
        with self._git.stream("diff-tree", *_OPTIONS, old, new, place=place, timeout_s=_TIMEOUT_S) as output:
            yield from _sections(output, max_size=max_size)


def _entry(number: int, oid: str) -> bytes:
    return b"100644 %08d\0" % number + bytes.fromhex(oid)


def _sections(output: IO[bytes], *, max_size: int) -> Iterator[Hunks]:
    line = output.readline()
    while line:
        assert line.startswith(_SECTION)
        section = _Section(int(line[len(_SECTION) : len(_SECTION) + 8]), max_size)
        while (line := output.readline()) and not line.startswith(_SECTION):
            section.add(line)
        yield section.hunks()


class _Section:
    """What has been read of one pair."""

    def __init__(self, number: int, max_size: int) -> None:
        self._number = number
        self._max_size = max_size
        self._lines: list[bytes] = []
        self._size = self._added = self._deleted = 0

    def add(self, line: bytes) -> None:
        first = line[:1]
        if not self._size and first != b"@":
            return  # a header line
        self._size += len(line)
        self._added += first == b"+"
        self._deleted += first == b"-"
        if self._size <= self._max_size:
            self._lines.append(line)
        else:
            self._lines.clear()

    def hunks(self) -> Hunks:
        return Hunks(
            number=self._number,
            content=b"".join(self._lines) if self._size <= self._max_size else None,
            size=self._size,
            added_lines=self._added,
            deleted_lines=self._deleted,
        )
