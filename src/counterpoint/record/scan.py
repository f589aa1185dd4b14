"""Where the blocks of a file lie.

A block begins with a header at the start of a line, by the grammar of the public tool. It ends with its trailer or,
where it has none, with its last line that is not blank; the line end is no part of it. What stands before the first
header is preamble. Which bytes may stand between blocks is a matter of the mode, and left to `verify`.
"""

import re
from collections.abc import Iterator

from counterpoint.record.header import MARK, QUICK, line_end, read_header, starts_line
from counterpoint.record.trailer import TRAILER, TRAILER_MARK

__all__ = ["Place", "places", "scan"]

Match = re.Match[bytes]
Place = tuple[int, int, int, Match | None, Match | None, int]
"""Number, offset and end of a block; its header where it is in its common form; its trailer; where the next begins.

A number of -1 is one beyond `MAX_NUMBER`. Where header and trailer are both there, nothing between them begins like
a trailer.
"""

_TRAILER_MARK = TRAILER_MARK.encode()
_TRAILER_LINE = b"\n" + _TRAILER_MARK
_NEWLINE = ord("\n")
_BLANK = ord(" ")
_DELETE = 0x7F


def scan(content: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield offset and length of each block in `content` from `start` on, which must begin a line."""
    for _, at, end, _, _, _ in places(content, start):
        yield at, end - at


def places(content: bytes, start: int = 0) -> Iterator[Place]:
    """Yield the place of each block in `content` from `start` on, which must begin a line."""
    n, at, head = _next_header(content, start)
    while at >= 0:
        next_n, next_at, next_head = _next_header(content, at + len(MARK))
        stop = len(content) if next_at < 0 else next_at
        foot, mark = None, content.find(_TRAILER_MARK, at, stop)
        if mark >= 0:
            foot = TRAILER.match(content, mark, stop) if head and content[mark - 1] == _NEWLINE else None
            if not foot or not head or foot[2] != head[1] or not _ends_line(content, foot.end(), stop):
                head, foot = None, _trailer(content, at, stop, n)
        yield n, at, foot.end() if foot else _trimmed(content, at, stop), head, foot, stop
        n, at, head = next_n, next_at, next_head


def _next_header(content: bytes, at: int) -> tuple[int, int, Match | None]:
    while (at := content.find(MARK, at)) >= 0:
        if starts_line(content, at):
            if found := QUICK.match(content, at):
                return int(found[1]), at, found
            if header := read_header(content[at : line_end(content, at)[0]]):
                return header.n, at, None
        at += len(MARK)
    return -1, -1, None


def _trailer(content: bytes, at: int, stop: int, n: int) -> Match | None:
    while (at := content.find(_TRAILER_LINE, at, stop) + 1) > 0:
        found = TRAILER.match(content, at, stop)
        if found and int(found[2]) == n and _ends_line(content, found.end(), stop):
            return found
    return None


def _ends_line(content: bytes, end: int, stop: int) -> bool:
    return end == stop or content[end] == _NEWLINE


def _trimmed(content: bytes, at: int, stop: int) -> int:
    end = stop
    while content[end - 1] == _NEWLINE:
        end -= 1
    if _BLANK < content[end - 1] < _DELETE:  # as almost every block ends
        return end
    lines = content[at:stop].decode("utf-8", "surrogateescape").splitlines(keepends=True)
    while not lines[-1].strip():
        del lines[-1]
    lines[-1] = lines[-1].splitlines()[0]
    return at + len("".join(lines).encode("utf-8", "surrogateescape"))
