"""The entries of one file in a row, as little of each as numbering, turns and caps need."""

from typing import NamedTuple

from counterpoint.record.header import line_end, read_header
from counterpoint.record.scan import Match, places

__all__ = ["Listed", "list_entries"]


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


def list_entries(content: bytes) -> list[Listed]:
    """Return the entries of a file in its order."""
    found = list(places(content))
    stops = [at for _, at, _, _, _ in found[1:]]
    stops.append(len(content))
    return [
        Listed(n, at, end, stop, *_fields(content, at, head), foot is not None)
        for (n, at, end, head, foot), stop in zip(found, stops, strict=False)
    ]


def _fields(content: bytes, at: int, head: Match | None) -> tuple[str, str, str, str]:
    """Return stamp, sender, type and thread."""
    if head is not None:
        stamp, sender, kind, thread = head.group(2, 4, 5, 6)
        return stamp.decode(), sender.decode(), kind.decode(), thread.decode()
    header = read_header(content[at : line_end(content, at)[0]])
    assert header is not None, "a place begins with a header"
    return header.stamp, header.sender, header.type, header.thread
