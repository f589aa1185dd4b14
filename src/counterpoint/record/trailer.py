"""The trailer: the last line of a block that Counterpoint wrote.

`<!-- cp1 ch=<32 hex> n=13 batch=1/2 prev=<64 hex> body=<64 hex> sig=<base64> -->`

It has one spelling: `batch` stands there where the batch has more than one entry, `sig` where the channel is signed.
A line is the trailer of a block where it has that spelling and the block's number; any other line is text.
"""

import re
from typing import Final

from counterpoint.frozen import dataclass

__all__ = ["TRAILER", "TRAILER_MARK", "Trailer", "trailer_at"]

TRAILER_MARK: Final = "<!-- cp1 "

TRAILER: Final = re.compile(
    rb"<!-- cp1 ch=([0-9a-f]{32}) n=(0|[1-9][0-9]{0,14})"
    rb"(?: batch=([1-9][0-9]{0,5})/((?!1 )[1-9][0-9]{0,5}))? prev=([0-9a-f]{64}) body=([0-9a-f]{64})"
    rb"(?: sig=([A-Za-z0-9+/]{4,4096}={0,2}))? -->"
)
"""Its groups: channel, number, part, total, prev, body, sig."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trailer:
    channel_id: str
    n: int
    batch: tuple[int, int]
    """Which of how many entries that were appended together."""
    prev: str
    body: str
    sig: str | None

    def __bytes__(self) -> bytes:
        sig = "" if self.sig is None else f" sig={self.sig}"
        return f"{self.unsigned()}{sig} -->".encode()

    def unsigned(self) -> str:
        """Return the trailer up to ` sig=`, which is what a signature covers of it."""
        part, total = self.batch
        batch = f" batch={part}/{total}" if total > 1 else ""
        return f"{TRAILER_MARK}ch={self.channel_id} n={self.n}{batch} prev={self.prev} body={self.body}"


def trailer_at(content: bytes, line: int, end: int, n: int) -> Trailer | None:
    """Return the trailer of entry `n` in the bytes from `line` to `end`; `None` where they are none."""
    found = TRAILER.fullmatch(content, line, end)
    if found is None or int(found[2]) != n:
        return None
    part, total = (int(found[3]), int(found[4])) if found[3] else (1, 1)
    if part > total:
        return None
    return Trailer(
        channel_id=found[1].decode(),
        n=n,
        batch=(part, total),
        prev=found[5].decode(),
        body=found[6].decode(),
        sig=found[7].decode() if found[7] else None,
    )
