"""The end of a channel file: what a crash may leave there, told from what somebody acknowledged.

`tail` says where the last whole batch ends. What lies behind it was never finished and may be cut only where
everything acknowledged (the doorbell's number, the remembered head) is among the whole entries.

A plain entry shows less of itself than one with a trailer. It counts as unfinished where the index says that another
entry was begun in its place, or, where the index says nothing, if zeros follow; and then only while nothing
acknowledges it.
"""

from typing import NamedTuple

from counterpoint.core.canonical import digest
from counterpoint.record.header import line_end, read_header
from counterpoint.record.index import IndexDamaged, Span
from counterpoint.record.scan import Match, Place, places
from counterpoint.record.tail import last_whole
from counterpoint.record.trailer import TRAILER

__all__ = ["Ending", "Part", "batch_of", "find_ending", "has_trailer"]


class Part(NamedTuple):
    """The bytes of a channel file from `offset` to its end: all of it, or what follows a whole entry's last line."""

    content: bytes
    offset: int
    channel: str
    strict: bool
    """Every byte counts and every entry has its trailer."""
    chained: bool
    """The channel has a genesis entry."""
    acknowledged: int
    """The highest number that the doorbell or our memory knows."""
    unfinished: int | None = None
    """Where the index says that an entry was begun and not finished."""


class Ending(NamedTuple):
    spans: tuple[Span, ...]
    """The whole entries, in their order."""
    torn: int | None
    """Where in the file the unfinished rest begins; `None` where there is none."""


def find_ending(part: Part) -> Ending:
    """Tell the whole entries in `part` from an unfinished rest.

    Raises:
        IndexDamaged: text was put behind the entry before `part`, so that it is another entry now.
    """
    if part.offset and not part.content:
        return Ending((), None)
    # Zeros are what a file grew by and never got: they are no part of the last line's entry.
    found = list(places(part.content.rstrip(b"\0")))
    before = part.content[: found[0][1]] if found else part.content
    if part.offset and found and before.strip(b"\0 \t\r\n"):
        raise IndexDamaged
    if not found and not part.offset:
        return Ending((), None if part.unfinished is None else max(0, part.unfinished - 1))
    if found and _lost_its_line_end(part, found[-1][0]):
        part = part._replace(content=part.content + b"\n")
    return _split(part, found)


def _lost_its_line_end(part: Part, n: int) -> bool:
    """Say whether an editor may have taken the end of the last line: the next entry begins with one."""
    is_ours_to_judge = part.chained or part.unfinished is not None or n > part.acknowledged
    return not is_ours_to_judge and not part.content.endswith((b"\n", b"\0"))


def _split(part: Part, found: list[Place]) -> Ending:
    start = _last_batch(part, found)
    whole = last_whole(part.content, start, channel=part.channel, strict=part.strict)
    kept = [place for place in found if place[2] <= whole.end]
    # What stands before the first entry of a file is no entry, and not torn either.
    end = whole.end if kept or part.offset else max(0, found[0][1] - 1)
    rest = part.content[end:]
    torn = end if rest.strip() or (part.strict and rest) else None
    if kept and _is_unfinished(part, kept[-1], rest):
        at = kept.pop()[1]
        # An entry is written with a line end before it; the one before that is the last entry's own.
        torn = max(at - 1, kept[-1][2] + 1 if kept else 0) if part.content[at - 1 : at] == b"\n" else at
    return Ending(tuple(_span(part, place) for place in kept), None if torn is None else part.offset + torn)


def _last_batch(part: Part, found: list[Place]) -> int:
    """Return the line behind which alone something can be torn: the last batch, and the one before, are behind it."""
    number = len(found) - 2
    while number > 0 and batch_of(part.content[found[number][1] : found[number][2]])[0] != 1:
        number -= 1
    return line_end(part.content, found[number - 1][2])[1] if number > 0 else 0


def _is_unfinished(part: Part, place: Place, rest: bytes) -> bool:
    n, at, end, _, _, _ = place
    if n <= part.acknowledged or has_trailer(part.content[at:end]):
        return False
    if part.unfinished is None:
        return rest.startswith(b"\0")
    return part.unfinished == part.offset + at


def _span(part: Part, place: Place) -> Span:
    n, at, end, _, _, _ = place
    header = read_header(part.content[at : line_end(part.content, at)[0]])
    assert header is not None, "a place begins with a header"
    block = part.content[at:end]
    return Span(n=n, thread=header.thread, offset=part.offset + at, length=end - at, digest=digest(block))


def batch_of(block: bytes) -> tuple[int, int]:
    """Return which of how many entries of a batch this block is; (1, 1) for a plain one."""
    found = _trailer(block)
    return (int(found[3]), int(found[4])) if found and found[3] else (1, 1)


def has_trailer(block: bytes) -> bool:
    return _trailer(block) is not None


def _trailer(block: bytes) -> Match | None:
    return TRAILER.fullmatch(block, block.rfind(b"\n") + 1)
