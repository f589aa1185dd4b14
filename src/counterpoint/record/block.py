"""An entry as bytes, and back (DESIGN section 5).

A block is header, blank line, text, blank line, typed fence (if any), blank line, trailer; no line end after it.

- One byte form: `render(parse(x)) == x` and `parse(render(x)) == x`. What has another form is `Corrupt`.
- `body` in the trailer is the SHA-256 of everything between the header's blank line and the trailer's;
  `prev` that of the previous block by number; `sig` signs the block up to ` sig=`.
- A block without trailer is plain: an entry of the public tool, legal in shared channels only.
- Whether the blocks of a file follow each other is left to `verify`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from counterpoint.core.canonical import NotCanonical, digest
from counterpoint.errors import Corrupt, Refused
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

__all__ = ["ZEROS", "Sign", "Trailer", "parse", "read_trailer", "render", "render_plain", "scan"]

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


def parse(block: bytes, *, channel: str, strict: bool) -> Block:
    """Return the entry in `block`.

    Raises:
        Corrupt: `block` is not in the one byte form of an entry of this mode, or its text is not its `body`.
    """
    header, end = _split_header(block, channel)
    if header.n < 0:
        raise Corrupt(channel, header.n, f"a number beyond {MAX_NUMBER}")
    trailer = read_trailer(block, header.n)
    if trailer is None:
        if strict:
            raise Corrupt(channel, header.n, "it has no trailer of its own; every entry of a strict channel has one")
        return _parse_plain(block, header, end, channel)
    if not is_stamp(header.stamp):
        raise Corrupt(channel, header.n, f"its stamp {header.stamp!r} is not of the form 2026-07-06T14:07:48+00:00")
    content = _content(block, header, trailer, end, channel)
    try:
        text, fields = _split_content(content)
        check_header(header, strict=strict)
        check_text(text, strict=strict, has_fields=fields is not None)
    except (NotCanonical, Refused) as error:
        raise Corrupt(channel, header.n, f"not as we write it: {error}") from None
    return Block(
        n=header.n,
        stamp=header.stamp,
        sender=header.sender,
        type=header.type,
        thread=header.thread,
        refs=header.refs,
        text=text,
        fields=fields,
        signed=True,
        digest=digest(block),
        batch=trailer.batch,
    )


def read_trailer(block: bytes, n: int) -> Trailer | None:
    """Return the trailer of entry `n` that ends `block`; `None` where its last line is none of that entry's."""
    return trailer_at(block, block.rfind(b"\n") + 1, len(block), n)


def _header(draft: Draft, n: int) -> Header:
    return Header(
        n=n, stamp=draft.stamp, sender=draft.sender, type=draft.type, thread=draft.thread, refs=draft.refs or "-"
    )


def _split_header(block: bytes, channel: str) -> tuple[Header, int]:
    end, _ = line_end(block, 0)
    header = read_header(block[:end])
    if header is None:
        raise Corrupt(channel, -1, f"no header: {block[:80]!r}")
    return header, end


def _parse_plain(block: bytes, header: Header, end: int, channel: str) -> Block:
    try:
        text = block[end:].decode().strip()
    except UnicodeDecodeError as error:
        raise Corrupt(channel, header.n, f"not UTF-8 at byte {end + error.start} of the block") from None
    if any(reads_as_header(line) for line in text.splitlines()):
        raise Corrupt(channel, header.n, "a second header in one block")
    return Block(
        n=header.n,
        stamp=header.stamp,
        sender=header.sender,
        type=header.type,
        thread=header.thread,
        refs=header.refs,
        text=text,
        fields=None,
        signed=False,
        digest=digest(block),
    )


def _content(block: bytes, header: Header, trailer: Trailer, end: int, channel: str) -> bytes:
    at = block.rfind(b"\n") + 1
    if bytes(header) + _GAP != block[: end + 2] or block[at - 2 : at] != _GAP or at - 2 < end + 2:
        raise Corrupt(
            channel, header.n, "not in the one form of an entry: header, blank line, text, blank line, trailer"
        )
    content = block[end + 2 : at - 2]
    if digest(content) != trailer.body:
        raise Corrupt(channel, header.n, f"the text hashes to {digest(content)}; the trailer says {trailer.body}")
    return content


def _split_content(content: bytes) -> tuple[str, Mapping[str, Any] | None]:
    line = ends_like_fence(content)
    if line is None:
        return _decode(content), None
    text = content[: -len(FENCE + line + CLOSE)]
    if text and (text == _GAP or not text.endswith(_GAP)):
        raise NotCanonical("no blank line before the typed object")
    return _decode(text.removesuffix(_GAP)), read_fields(line)


def _decode(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise NotCanonical(f"not UTF-8 at byte {error.start} of the text") from None
