"""An entry as bytes, and back (DESIGN section 5).

A block is header, blank line, text, blank line, typed fence (if any), blank line, trailer; no line end after it.

- One byte form: `render(parse(x)) == x` and `parse(render(x)) == x`. What has another form is `Corrupt`.
- `body` in the trailer is the SHA-256 of everything between the header's blank line and the trailer's;
  `prev` that of the previous block by number; `sig` signs the block up to ` sig=`.
- A block without trailer is plain: an entry of the public tool, legal in shared channels only.
- A file is a run of blocks. `scan` finds them, whatever stands between; which separators are legal is a
  matter of the mode and left to `verify`, as is the chain.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from counterpoint.core.canonical import NotCanonical, digest
from counterpoint.errors import Corrupt, Refused
from counterpoint.record.header import (
    MARK,
    MAX_NUMBER,
    Header,
    check_header,
    line_end,
    read_header,
    reads_as_header,
    starts_line,
)
from counterpoint.record.store import Block, Draft
from counterpoint.record.text import TRAILER_MARK, check_text
from counterpoint.record.typed import CLOSE, FENCE, ends_like_fence, read_fields, write_fields

__all__ = ["ZEROS", "Trailer", "parse", "read_trailer", "render", "render_plain", "scan"]

ZEROS: Final = "0" * 64
"""`prev` of the genesis entry."""

Sign = Callable[[bytes], str]
"""Given the bytes to sign, the signature as base64 of the SSHSIG blob."""

_GAP = b"\n\n"
_TRAILER = re.compile(
    rb"<!-- cp1 ch=([0-9a-f]{32}) n=(0|[1-9][0-9]{0,14})(?: batch=([1-9][0-9]{0,5})/([1-9][0-9]{0,5}))?"
    rb" prev=([0-9a-f]{64}) body=([0-9a-f]{64})(?: sig=([A-Za-z0-9+/]{4,4096}={0,2}))? -->"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trailer:
    """The last line of a block that Counterpoint wrote."""

    channel_id: str
    n: int
    batch: tuple[int, int]
    prev: str
    body: str
    sig: str | None

    def __bytes__(self) -> bytes:
        sig = "" if self.sig is None else f" sig={self.sig}"
        return f"{self.unsigned()}{sig} -->".encode()

    def unsigned(self) -> str:
        """Return the trailer up to ` sig=`."""
        part, total = self.batch
        batch = f" batch={part}/{total}" if total > 1 else ""
        return f"{TRAILER_MARK}ch={self.channel_id} n={self.n}{batch} prev={self.prev} body={self.body}"


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
        Refused: NAME, STAMP, REFS, TEXT or FIELDS: the draft has no place in a channel of this mode.
    """
    assert 0 <= n <= MAX_NUMBER, n
    assert 1 <= batch[0] <= batch[1], batch
    header = _header(draft, n)
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
        Refused: NAME, STAMP, REFS or TEXT.
    """
    assert draft.fields is None, "a plain entry has no typed object"
    header = _header(draft, n)
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
    trailer = read_trailer(block, channel=channel, n=header.n)
    if trailer is None:
        if strict:
            raise Corrupt(channel, header.n, "no trailer; every entry of a strict channel has one")
        return _parse_plain(block, header, end, channel)
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


def read_trailer(block: bytes, *, channel: str, n: int) -> Trailer | None:
    """Return the trailer that ends `block`, `None` for a plain one.

    Raises:
        Corrupt: the last line begins as a trailer and is none.
    """
    at = block.rfind(b"\n") + 1
    if not block.startswith(TRAILER_MARK.encode(), at):
        return None
    found = _TRAILER.fullmatch(block, at)
    if found is None:
        raise Corrupt(channel, n, "the trailer is damaged")
    text = block[at:].decode("ascii")
    part, total = found[3], found[4]
    trailer = Trailer(
        channel_id=found[1].decode(),
        n=int(found[2]),
        batch=(int(part), int(total)) if part else (1, 1),
        prev=found[5].decode(),
        body=found[6].decode(),
        sig=found[7].decode() if found[7] else None,
    )
    if trailer.n != n or trailer.batch[0] > trailer.batch[1] or bytes(trailer).decode() != text:
        raise Corrupt(channel, n, f"its trailer is none of MSG-{n}: {text[:80]!r}")
    return trailer


def scan(content: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield offset and length of each block in `content` from `start` on, which must begin a line.

    What stands before the first header is preamble and passed over.
    """
    at = _next_header(content, start)
    while at >= 0:
        following = _next_header(content, at + len(MARK))
        stop = len(content) if following < 0 else following
        yield at, _trimmed(content, at, stop)
        at = following


def _next_header(content: bytes, at: int) -> int:
    while (at := content.find(MARK, at)) >= 0:
        if starts_line(content, at) and read_header(content[at : line_end(content, at)[0]]) is not None:
            return at
        at += len(MARK)
    return -1


def _trimmed(content: bytes, at: int, stop: int) -> int:
    """Return the length of the block: up to its last line that is not blank, without that line's end."""
    lines = content[at:stop].decode("utf-8", "surrogateescape").splitlines(keepends=True)
    while not lines[-1].strip():
        del lines[-1]
    lines[-1] = lines[-1].splitlines()[0]
    return len("".join(lines).encode("utf-8", "surrogateescape"))


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


def _split_content(content: bytes) -> tuple[str, dict[str, object] | None]:
    line = ends_like_fence(content)
    if line is None:
        return _decode(content), None
    text = content[: -len(FENCE + line + CLOSE)]
    if text and (text == _GAP or not text.endswith(_GAP)):
        raise NotCanonical("no blank line before the typed object")
    return _decode(text.removesuffix(_GAP)), dict(read_fields(line))


def _decode(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise NotCanonical(f"not UTF-8 at byte {error.start} of the text") from None
