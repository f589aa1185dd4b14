"""Where the last whole batch of a file ends, for whoever has to cut a torn tail.

Pure over bytes; it decides nothing. A tail may be cut only where it lies beyond both the doorbell's number and the
remembered head (DESIGN section 5), and that is the writer's to know.
"""

from counterpoint.errors import Corrupt
from counterpoint.frozen import dataclass
from counterpoint.record.header import MARK, line_end
from counterpoint.record.scan import Place, places
from counterpoint.record.seal import Seal, seal

__all__ = ["Whole", "last_whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    end: int
    """Offset behind the line end of the last whole batch; what lies from here on is torn, or blank."""
    n: int
    """The newest entry before `end`; -1: there is none from the start on."""
    digest: str


def last_whole(content: bytes, start: int = 0, *, channel: str, strict: bool) -> Whole:
    """Return where the last whole batch ends in `content`, looking from `start`, a line that follows a whole batch.

    A block is whole if it is in its one form and its line has an end; a batch, if all its blocks are there. In a
    shared channel an entry of ours that was torn off between two lines reads as a plain one.
    """
    whole = Whole(end=start, n=-1, digest="")
    content = content[: _fragment(content, start)]
    due = (1, 0)
    for place in places(content, start):
        found = _whole(content, place, channel=channel, strict=strict)
        if found is None or (found.batch[0] != 1 if due[1] == 0 else found.batch != due):
            break
        part, total = found.batch
        due = (1, 0) if part == total else (part + 1, total)
        if part == total:
            whole = Whole(end=line_end(content, found.end)[1], n=found.n, digest=found.digest)
    return whole


def _whole(content: bytes, place: Place, *, channel: str, strict: bool) -> Seal | None:
    _, at, end, _, foot, _ = place
    if line_end(content, end)[1] == end or (foot is None and line_end(content, at)[0] == end):
        return None
    try:
        return seal(content, place, channel=channel, strict=strict)
    except Corrupt:
        return None


def _fragment(content: bytes, start: int) -> int:
    """Return where a last line without end begins, if it is the beginning of a header or never reached the disk."""
    written = len(content.rstrip(b"\0"))
    line = content.rfind(b"\n", start, written) + 1
    begun = content[max(line, start) : written]
    return max(line, start) if MARK.startswith(begun[: len(MARK)]) else len(content)
