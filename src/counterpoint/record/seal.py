"""What the chain has to know of a block, checked as `block.take_apart` checks it, at a fraction of the cost.

`seal` knows the common block (names and stamp in ASCII, no hidden character) by a few passes of compiled code over
its bytes. Whatever that does not accept, `take_apart` decides.
"""

from datetime import date
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from counterpoint.core.canonical import HIDDEN, digest
from counterpoint.record.block import take_apart
from counterpoint.record.scan import Match, Place
from counterpoint.record.text import MAX_TEXT
from counterpoint.record.typed import CLOSE, FENCE, ends_like_fence

__all__ = ["Seal", "seal"]

_GAP = b"\n\n"
_SHOWN = bytes(range(0x20, 0x7F)) + b"\t\n"
_HIGH = bytes(range(0x80, 0x100))
_ALONE = (1, 1)


class Seal(NamedTuple):
    n: int
    at: int
    end: int
    stamp: str
    digest: str
    channel_id: str | None
    """`None`: the block is plain."""
    batch: tuple[int, int]
    prev: str
    sig: str | None


def seal(content: bytes, place: Place, *, channel: str, strict: bool) -> Seal:
    """Return the seal of the block at this place of `content`.

    Raises:
        Corrupt: as `block.take_apart`.
    """
    n, at, end, head, foot, _ = place
    if head and foot and (quick := _quick(content, n, at, head, foot)):
        return quick
    content = content[at:end]
    parts = take_apart(content, channel=channel, strict=strict)
    stamp, trailer = parts.header.stamp, parts.trailer
    if trailer is None:
        return Seal(n, at, end, stamp, digest(content), None, (1, 1), "", None)
    return Seal(n, at, end, stamp, digest(content), trailer.channel_id, trailer.batch, trailer.prev, trailer.sig)


def _quick(content: bytes, n: int, at: int, head: Match, foot: Match) -> Seal | None:
    line, end = foot.span()
    body = content[head.end() : line - 2]
    channel_id, _, part, total, prev, said, sig = foot.groups()
    if (
        content[line - 2 : line] != _GAP
        or sha256(body).hexdigest().encode() != said
        or not _is_date(head[3])
        or not _is_simple(body)
    ):
        return None
    batch = (int(part), int(total)) if part else _ALONE
    if batch[0] > batch[1]:
        return None
    own = sha256(content[at:end]).hexdigest()
    signature = sig.decode() if sig else None
    return Seal(n, at, end, head[2].decode(), own, channel_id.decode(), batch, prev.decode(), signature)


@lru_cache(maxsize=256)
def _is_date(text: bytes) -> bool:
    try:
        date.fromisoformat(text.decode())
    except ValueError:
        return False
    return True


def _is_simple(body: bytes) -> bool:
    """Say whether this is a text that every mode takes, if nothing in it begins like a trailer."""
    if len(body) > MAX_TEXT or not _is_visible(body):
        return False
    typed = ends_like_fence(body)
    if typed is None:
        return bool(body) and not body.isspace()
    text = body[: -len(FENCE) - len(typed) - len(CLOSE)]
    return not text or (text != _GAP and text.endswith(_GAP))


def _is_visible(body: bytes) -> bool:
    left = body.translate(None, _SHOWN)
    if not left:
        return True
    if left.translate(None, _HIGH):
        return False
    try:
        body.decode()
        return HIDDEN.search(left.decode()) is None
    except UnicodeDecodeError:
        return False
