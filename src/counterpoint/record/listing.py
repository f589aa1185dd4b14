"""The entries of one file in a row, as little of each as numbering, turns and caps need."""

from collections.abc import Iterator
from typing import NamedTuple

from counterpoint.record.header import line_end, read_header
from counterpoint.record.scan import Place, places

__all__ = ["Listed", "Listing", "first_stamp", "list_entries"]


class Listed(NamedTuple):
    n: int
    at: int
    end: int
    """Where its block ends."""
    stop: int
    """Where the next entry begins, or the file ends."""
    stamp: str
    sender: str
    type: str
    thread: str
    is_ours: bool
    """It has a trailer."""


class Listing:
    """The entries of a file, taken down while somebody else goes through its places: one scan serves both."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._rows: list[Listed] = []
        self._rest = _taken_down(content, self._rows)
        self._is_begun = False

    def places(self) -> Iterator[Place]:
        """Return the places of the file; what the first caller goes through is taken down."""
        if self._is_begun:
            return places(self._content)
        self._is_begun = True
        return self._rest

    def rows(self) -> list[Listed]:
        """Return the entries in the order of the file, those too that nobody has come to."""
        self._is_begun = True
        for _ in self._rest:
            pass
        return self._rows


def list_entries(content: bytes) -> list[Listed]:
    """Return the entries of a file in its order."""
    return Listing(content).rows()


def first_stamp(content: bytes) -> str:
    """Return the stamp of a file's first entry; "" where there is none."""
    first = next(places(content), None)
    header = read_header(content[first[1] : line_end(content, first[1])[0]]) if first else None
    return header.stamp if header else ""


def _taken_down(content: bytes, rows: list[Listed]) -> Iterator[Place]:
    known: dict[bytes, str] = {}
    for place in places(content):
        n, at, end, head, foot, stop = place
        if head is not None:
            _, stamp, _, sender, kind, thread = head.groups()
            fields = (
                stamp.decode(),
                known.get(sender) or known.setdefault(sender, sender.decode()),
                known.get(kind) or known.setdefault(kind, kind.decode()),
                known.get(thread) or known.setdefault(thread, thread.decode()),
            )
        else:
            fields = _fields(content, at)
        rows.append(Listed._make((n, at, end, stop, *fields, foot is not None)))
        yield place


def _fields(content: bytes, at: int) -> tuple[str, str, str, str]:
    """Return stamp, sender, type and thread."""
    header = read_header(content[at : line_end(content, at)[0]])
    assert header is not None, "a place begins with a header"
    return header.stamp, header.sender, header.type, header.thread
