"""Where the blocks of a file lie.

A block begins with a header at the start of a line, by the grammar of the public tool. It ends with its trailer or,
where it has none, with its last line that is not blank; the line end is no part of it. What stands before the first
header is preamble. Which bytes may stand between blocks is a matter of the mode, and left to `verify`.
"""

from collections.abc import Iterator

from counterpoint.record.header import MARK, QUICK, line_end, read_header, starts_line
from counterpoint.record.trailer import TRAILER, TRAILER_MARK

__all__ = ["places", "scan"]

_TRAILER_LINE = b"\n" + TRAILER_MARK.encode()


def scan(content: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield offset and length of each block in `content` from `start` on, which must begin a line."""
    for _, at, length in places(content, start):
        yield at, length


def places(content: bytes, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield number, offset and length of each block; -1 stands for a number beyond `MAX_NUMBER`."""
    n, at = _next_header(content, start)
    while at >= 0:
        next_n, next_at = _next_header(content, at + len(MARK))
        yield n, at, _length(content, at, len(content) if next_at < 0 else next_at, n)
        n, at = next_n, next_at


def _next_header(content: bytes, at: int) -> tuple[int, int]:
    while (at := content.find(MARK, at)) >= 0:
        if starts_line(content, at):
            if found := QUICK.match(content, at):
                return int(found[1]), at
            if header := read_header(content[at : line_end(content, at)[0]]):
                return header.n, at
        at += len(MARK)
    return -1, -1


def _length(content: bytes, at: int, stop: int, n: int) -> int:
    line = at
    while (line := content.find(_TRAILER_LINE, line, stop) + 1) > 0:
        found = TRAILER.match(content, line, stop)
        if found and int(found[2]) == n and found.end() in {stop, content.find(b"\n", line, stop)}:
            return found.end() - at
    return _trimmed(content, at, stop)


def _trimmed(content: bytes, at: int, stop: int) -> int:
    lines = content[at:stop].decode("utf-8", "surrogateescape").splitlines(keepends=True)
    while not lines[-1].strip():
        del lines[-1]
    lines[-1] = lines[-1].splitlines()[0]
    return len("".join(lines).encode("utf-8", "surrogateescape"))
