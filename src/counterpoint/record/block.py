"""An entry as bytes, and back (DESIGN section 5).

A block is header, blank line, text, blank line, typed fence (if any), blank line, trailer; no line end after it.

- One byte form: `render(parse(x)) == x` and `parse(render(x)) == x`. What has another form is `Corrupt`.
- `body` in the trailer is the SHA-256 of everything between the header's blank line and the trailer's;
  `prev` that of the previous block by number; `sig` signs the block up to ` sig=`.
- A block without trailer is plain: an entry of the public tool, legal in shared channels only.
- Whether the blocks of a file follow each other is left to `verify`.
"""

from collections.abc import Callable
from typing import Final

from counterpoint.core.canonical import NotCanonical, digest
from counterpoint.errors import Corrupt, Refused
from counterpoint.frozen import dataclass
from counterpoint.record.header import (
    MAX_NUMBER,
    Header,
    check_header,
    is_stamp,
    line_end,
    read_header,
    reads_as_header,
)
from counterpoint.record.scan import scan
from counterpoint.record.store import Block, Draft
from counterpoint.record.text import check_text
from counterpoint.record.trailer import Trailer, trailer_at
from counterpoint.record.typed import CLOSE, FENCE, ends_like_fence, read_fields, write_fields

__all__ = [
    "ZEROS",
    "Parts",
    "Sign",
    "Trailer",
    "parse",
    "read_trailer",
    "render",
    "render_plain",
    "rendered",
    "scan",
    "take_apart",
]

ZEROS: Final = "0" * 64
"""`prev` of the genesis entry."""

Sign = Callable[[bytes], str]
"""Given the bytes to sign, the signature as base64 of the SSHSIG blob."""

_GAP = b"\n\n"


def render(
    draft: Draft,
    *,
    n: int,
    channel_id: str,
    prev: str,
    batch: tuple[int, int] = (1, 1),
    sign: Sign | None = None,
    strict: bool = True,
) -> bytes:
    """Return the block of `draft` as entry `n`.

    Raises:
        Refused: NAME, REFS, TEXT or FIELDS: the draft has no place in a channel of this mode.
    """
    assert 0 <= n <= MAX_NUMBER, n
    assert 1 <= batch[0] <= batch[1], batch
    header = _header(draft, n)
    assert is_stamp(header.stamp), header.stamp
    check_header(header, strict=strict)
    check_text(draft.text, strict=strict, has_fields=draft.fields is not None)
    content = draft.text.encode()
    if draft.fields is not None:
        content += (_GAP if content else b"") + write_fields(draft.fields)
    trailer = Trailer(channel_id=channel_id, n=n, batch=batch, prev=prev, body=digest(content), sig=None)
    head = bytes(header) + _GAP + content + _GAP
    signed = head + trailer.unsigned().encode()
    return signed + (f" sig={sign(signed)} -->" if sign else " -->").encode()


def rendered(draft: Draft, content: bytes, *, n: int, batch: tuple[int, int]) -> Block:
    """Return the entry that `render` made into `content`, without reading it again: one is the other's inverse."""
    return Block(
        n=n,
        stamp=draft.stamp,
        sender=draft.sender,
        type=draft.type,
        thread=draft.thread,
        refs=draft.refs or "-",
        text=draft.text,
        fields=draft.fields,
        signed=True,
        digest=digest(content),
        batch=batch,
    )


def render_plain(draft: Draft, n: int) -> bytes:
    """Return the block of `draft` as the public tool writes it: no typed object, no trailer, text stripped.

    Raises:
        Refused: NAME, REFS or TEXT.
    """
    assert draft.fields is None, "a plain entry has no typed object"
    header = _header(draft, n)
    assert is_stamp(header.stamp), header.stamp
    check_header(header, strict=False)
    text = draft.text.strip()
    check_text(text, strict=False, has_fields=False)
    return bytes(header) + _GAP + text.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A block taken apart, everything checked but the JSON of its typed object."""

    header: Header
    text: str
    typed: bytes | None
    """The typed object's line."""
    trailer: Trailer | None


def take_apart(block: bytes, *, channel: str, strict: bool) -> Parts:
    """Return the parts of `block`, all that `verify` looks at.

    Raises:
        Corrupt: `block` is not in the one byte form of an entry of this mode, or its text is not its `body`.
    """
    end, _ = line_end(block, 0)
    header = read_header(block[:end])
    if header is None:
        raise Corrupt(channel, -1, f"no header where an entry should begin: {block[:80]!r}")
    if header.n < 0:
        raise Corrupt(channel, -1, f"its number is beyond {MAX_NUMBER}")
    trailer = read_trailer(block, header.n)
    if trailer is None and strict:
        raise Corrupt(channel, header.n, "no trailer of its own; every entry of a strict channel has one")
    try:
        block.decode()
        if trailer is None:
            return Parts(header=header, text=_plain_text(block[end:]), typed=None, trailer=None)
        text, typed = _split_content(_content(block, header, trailer, end))
        check_header(header, strict=strict)
        check_text(text, strict=strict, has_fields=typed is not None)
    except UnicodeDecodeError as error:
        raise Corrupt(channel, header.n, f"not UTF-8 at byte {error.start} of its block") from None
    except (_Misshapen, Refused) as error:
        raise Corrupt(channel, header.n, str(error)) from None
    return Parts(header=header, text=text, typed=typed, trailer=trailer)


def parse(block: bytes, *, channel: str, strict: bool) -> Block:
    """Return the entry in `block`.

    Raises:
        Corrupt: as `take_apart`, or the typed object is not in its one form.
    """
    parts = take_apart(block, channel=channel, strict=strict)
    header = parts.header
    try:
        fields = None if parts.typed is None else read_fields(parts.typed)
    except NotCanonical as error:
        raise Corrupt(channel, header.n, f"its typed object: {error}") from None
    return Block(
        n=header.n,
        stamp=header.stamp,
        sender=header.sender,
        type=header.type,
        thread=header.thread,
        refs=header.refs,
        text=parts.text,
        fields=fields,
        signed=parts.trailer is not None,
        digest=digest(block),
        batch=parts.trailer.batch if parts.trailer else (1, 1),
    )


def read_trailer(block: bytes, n: int) -> Trailer | None:
    """Return the trailer of entry `n` that ends `block`; `None` where its last line is none of that entry's."""
    return trailer_at(block, block.rfind(b"\n") + 1, len(block), n)


def _header(draft: Draft, n: int) -> Header:
    return Header(
        n=n, stamp=draft.stamp, sender=draft.sender, type=draft.type, thread=draft.thread, refs=draft.refs or "-"
    )


class _Misshapen(Exception):
    """Why a block is not in its one form."""


def _content(block: bytes, header: Header, trailer: Trailer, end: int) -> bytes:
    """Return what `body` covers: all between the header's blank line and the trailer's."""
    at = block.rfind(b"\n") + 1
    if bytes(header) + _GAP != block[: end + 2] or not is_stamp(header.stamp):
        raise _Misshapen(f"its header is not in the form we write: {block[: end + 2]!r}")
    if block[at - 2 : at] != _GAP or at - 2 < end + 2:
        raise _Misshapen("no blank line before its trailer")
    content = block[end + 2 : at - 2]
    if digest(content) != trailer.body:
        raise _Misshapen(f"its text hashes to {digest(content)}; its trailer says {trailer.body}")
    return content


def _split_content(content: bytes) -> tuple[str, bytes | None]:
    typed = ends_like_fence(content)
    if typed is None:
        return content.decode(), None
    text = content[: -len(FENCE + typed + CLOSE)]
    if text and (text == _GAP or not text.endswith(_GAP)):
        raise _Misshapen("no blank line, or no text, before its typed object")
    return text.removesuffix(_GAP).decode(), typed


def _plain_text(content: bytes) -> str:
    text = content.decode()
    if any(reads_as_header(line) for line in text.splitlines()):
        raise _Misshapen("a second header in one block")
    return text.strip()
