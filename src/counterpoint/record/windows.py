"""A file of any size in pieces of bounded size, each of whole entries."""

from collections.abc import Iterator
from typing import Final

from counterpoint.record.fs import Files
from counterpoint.record.header import MARK, line_end, read_header, starts_line

__all__ = ["windows"]

SIZE: Final = 1 << 20


def windows(fs: Files, fd: int, *, size: int = SIZE) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of one piece after the other; all but the first begin with a header.

    An entry that is longer than `size` makes its piece longer.
    """
    offset, piece = 0, b""
    while True:
        # Twice as much each time, so that one long entry is not copied over and over.
        part = fs.read(fd, max(size, len(piece)), offset + len(piece))
        piece += part
        if not part:
            yield offset, piece
            return
        cut = _last_header(piece)
        if cut > 0:
            yield offset, piece[:cut]
            offset, piece = offset + cut, piece[cut:]


def _last_header(piece: bytes) -> int:
    """Return where the last header in this piece begins; 0 where there is none behind the start."""
    at = piece.rfind(MARK)
    while at > 0:
        # A header whose line goes on behind the piece is a header all the same: refs may be anything.
        if starts_line(piece, at) and read_header(piece[at : line_end(piece, at)[0]]) is not None:
            return at
        at = piece.rfind(MARK, 0, at)
    return 0
