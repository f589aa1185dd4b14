"""The entries of one file in a row, as little of each as numbering, turns and caps need."""

from typing import NamedTuple

from counterpoint.record.header import line_end, read_header
from counterpoint.record.scan import places

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
    found: list[Listed] = []
    size = len(content)
    for n, at, end, _, foot in places(content):
        header = read_header(content[at : line_end(content, at)[0]])
        assert header is not None, "a place begins with a header"
        if found:
            found[-1] = found[-1]._replace(stop=at)
        row = Listed(n, at, end, size, header.stamp, header.sender, header.type, header.thread, foot is not None)
        found.append(row)
    return found
