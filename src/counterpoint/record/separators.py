"""The blocks of one file in turn, and what may stand between them.

| | before the first | between two | after the last |
| --- | --- | --- | --- |
| strict | one line end | two line ends | one line end |
| strict, compacted | the banner of `compact`, line ends | two or more line ends | one or more line ends |
| shared | anything but a header | blank lines | a line end, blank lines |
"""

from collections.abc import Iterator
from typing import Final

from counterpoint.errors import Corrupt
from counterpoint.frozen import dataclass
from counterpoint.record.findings import Torn
from counterpoint.record.header import line_end
from counterpoint.record.listing import Listing
from counterpoint.record.names import index_page
from counterpoint.record.scan import Place, places
from counterpoint.record.seal import Seal, seal
from counterpoint.record.tail import last_whole

__all__ = ["Source", "banner"]

_BETWEEN: Final = b"\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file of a channel, or what follows a place of it."""

    channel: str
    content: bytes
    strict: bool
    compacted: bool = False
    """Whether the channel has archives."""
    archive: str = ""
    """The name of this file if it is an archive."""
    base: int | None = None
    """Where in its file `content` begins, which is where the block before it ends; `None`: it is the whole file."""
    after: int = -1
    """The number of that block."""
    listing: Listing | None = None
    """What takes the entries down on the way."""

    def seals(self) -> Iterator[Seal]:
        """Yield the seal of each block.

        Raises:
            Torn: the channel file ends in something that is no whole entry.
            Corrupt: a block, or what stands between two, is not in its form.
        """
        content, channel, strict = self.content, self.channel, self.strict
        n, end = self.after, 0
        for place in self.listing.places() if self.listing else places(content):
            gap = content[end : place[1]]
            if (gap != _BETWEEN or not end) and not self._may_precede(gap, is_first=not end and self.base is None):
                raise Corrupt(channel, n + 1, f"it begins with, or has before it, {gap[:80]!r}")
            try:
                found = seal(content, place, channel=channel, strict=strict)
            except Corrupt as error:
                raise self._broken(place, n + 1, error) from None
            yield found
            n, end = found.n, found.end
        self._check_tail(n, content[end:])

    def _may_precede(self, gap: bytes, *, is_first: bool) -> bool:
        if not self.strict:
            return is_first or _is_blank(gap)
        if not self.compacted:
            return gap == (b"\n" if is_first else _BETWEEN)
        if is_first and not self.archive:
            gap = gap.removeprefix(banner(self.channel))
        return len(gap) >= (0 if is_first else len(_BETWEEN)) and not gap.strip(b"\n")

    def _check_tail(self, n: int, tail: bytes) -> None:
        if n < 0 and self.base is None:
            if not self._may_precede(tail, is_first=True):
                raise Corrupt(self.channel, 0, f"no entry, but {tail[:80]!r}")
            return
        if tail == b"\n" or (tail and self._may_follow(tail)):
            return
        if tail:
            raise self.torn(n + 1, f"what follows MSG-{n} is no whole entry: {tail[:80]!r}")
        raise self.torn(n, "its last line has no end")

    def _may_follow(self, tail: bytes) -> bool:
        if self.strict:
            return self.compacted and not tail.strip(b"\n")
        return _is_blank(tail) and line_end(tail, 0)[0] == 0

    def _broken(self, place: Place, due: int, error: Corrupt) -> Corrupt:
        """Return what to raise for a block that is not in its form: `Torn` where its trailer is what is missing."""
        n, at, _, _, trailer, _ = place
        reason = error.reason
        if n != due and self.strict and not self.compacted:
            n, reason = due, f"{reason}; its header says MSG-{n}"
        if trailer is None and not any(following[1] > at for following in places(self.content, at + 1)):
            return self.torn(n, f"it breaks off: {reason}")
        return Corrupt(self.channel, n, reason)

    def torn(self, n: int, reason: str) -> Corrupt:
        """Return what to raise where the file ends before entry `n`, or its batch, is whole."""
        if self.archive:
            return Corrupt(self.channel, n, f"in {self.archive}, {reason}")
        start = 0 if self.base is None else line_end(self.content, 0)[1]
        whole = last_whole(self.content, start, channel=self.channel, strict=self.strict)
        return Torn(self.channel, n, reason, keep=(self.base or 0) + whole.end)


def _is_blank(gap: bytes) -> bool:
    try:
        return not gap.decode().strip()
    except UnicodeDecodeError:
        return False


def banner(channel: str) -> bytes:
    """Return the line that the public tool's `compact` puts on top of a channel file."""
    return (
        f"> Older closed threads relocate verbatim to archive/ (see archive/{index_page(channel)}). "
        "Entries are never edited - `debate compact` only moves them.\n"
    ).encode()
