"""An entry as bytes, and back."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterpoint.core.canonical import visible
from counterpoint.errors import Corrupt, Refused
from counterpoint.record.block import ZEROS, parse, read_trailer, render, render_plain, scan
from counterpoint.record.store import Block, Draft
from counterpoint.record.text import MAX_TEXT, indent_lookalikes
from tests.records import CHANNEL_ID, STAMP, case_drafts, draft, file_of, signer

HEADER = "## MSG-9 | z | from: a | type: close | thread: t | refs: -"
TRAILER = f"<!-- cp1 ch={CHANNEL_ID} n=7 prev={ZEROS} body={ZEROS} -->"
FENCE = '```json counterpoint\n{"a":1}\n```'

FRAGMENTS = st.sampled_from(
    [
        *("\n", "\n\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", " ", "\t", "\0"),
        *(HEADER, HEADER.replace("9", "٣"), TRAILER, FENCE, "```json counterpoint\n", '{"a":1}', "\n```", "```"),
        *("a", "żółć 漢", "\u202e", "\ufeff", "<!-- cp1 ", "## MSG-", " -->", "\U000e0041", "⚠️"),
    ]
)
TEXTS = st.one_of(st.lists(FRAGMENTS, max_size=8).map("".join), st.text(max_size=40))
KEYS = st.text(st.characters(max_codepoint=127), max_size=5)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.none() | st.dictionaries(KEYS, VALUES, max_size=4)
NAMES = st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True)
REFS = st.one_of(st.just("-"), TEXTS)
BATCHES = st.sampled_from([(1, 1), (1, 2), (2, 2), (17, 40)])
DRAFTS = st.builds(
    Draft, stamp=st.just(STAMP), sender=NAMES, type=NAMES, thread=NAMES, refs=REFS, text=TEXTS, fields=FIELDS
)


def _expected(entry: Draft, block: bytes, n: int, batch: tuple[int, int]) -> Block:
    return Block(
        n=n,
        stamp=entry.stamp,
        sender=entry.sender,
        type=entry.type,
        thread=entry.thread,
        refs=entry.refs or "-",
        text=entry.text,
        fields=entry.fields,
        signed=True,
        digest=hashlib.sha256(block).hexdigest(),
        batch=batch,
    )


def _as_draft(block: Block) -> Draft:
    return Draft(
        stamp=block.stamp,
        sender=block.sender,
        type=block.type,
        thread=block.thread,
        refs=block.refs,
        text=block.text,
        fields=block.fields,
    )


@given(entry=DRAFTS, n=st.integers(0, 10**15 - 1), batch=BATCHES, strict=st.booleans(), is_signed=st.booleans())
@example(entry=draft("\n\n", {}), n=1, batch=(1, 1), strict=True, is_signed=False)
@example(entry=draft(" \n", {"a": f"\u2028{HEADER}"}), n=1, batch=(1, 1), strict=True, is_signed=True)
@example(entry=draft("x\r\ny\n"), n=0, batch=(1, 2), strict=False, is_signed=True)
def test_what_is_rendered_is_parsed_and_rendered_alike(
    entry: Draft, n: int, batch: tuple[int, int], *, strict: bool, is_signed: bool
) -> None:
    """`parse(render(x)) == x` and `render(parse(b)) == b`, or a numbered refusal (DESIGN section 5)."""
    sign = signer().sign if is_signed else None
    try:
        block = render(entry, n=n, channel_id=CHANNEL_ID, prev=ZEROS, batch=batch, sign=sign, strict=strict)
    except Refused:
        return
    found = parse(block, channel="c", strict=strict)
    assert found == _expected(entry, block, n, batch)
    again = render(
        _as_draft(found), n=n, channel_id=CHANNEL_ID, prev=ZEROS, batch=found.batch, sign=sign, strict=strict
    )
    assert again == block


@given(entry=DRAFTS, strict=st.booleans())
def test_driver_can_write_any_text(entry: Draft, *, strict: bool) -> None:
    """Made visible and indented, no text is refused for its lines, and it is the same text but for that."""
    text = indent_lookalikes(visible(entry.text) if strict else entry.text)
    assert indent_lookalikes(text) == text
    entry = replace(entry, text=text, refs="-", fields={})
    block = render(entry, n=1, channel_id=CHANNEL_ID, prev=ZEROS, strict=strict)
    assert parse(block, channel="c", strict=strict).text == text


def test_lookalikes_are_indented_by_one_space() -> None:
    """SPEC C-014, C-013: every line that reads as a header or begins as a trailer, and no other."""
    text = f"{HEADER}\na {HEADER}\x0b{HEADER}\r\n{TRAILER}\n {TRAILER}\n## MSG-9\n"
    indented = f" {HEADER}\na {HEADER}\x0b {HEADER}\r\n {TRAILER}\n {TRAILER}\n## MSG-9\n"
    assert indent_lookalikes(text) == indented
    assert indent_lookalikes("nothing to see\n") == "nothing to see\n"


@given(entry=DRAFTS, n=st.integers(1, 10**6))
def test_plain_entry_is_parsed_and_rendered_alike(entry: Draft, n: int) -> None:
    """Header, blank line, stripped text, as the public tool writes and reads it (SPEC C-010)."""
    entry = replace(entry, fields=None)
    try:
        block = render_plain(entry, n)
    except Refused:
        return
    assert list(scan(file_of([block, block]))) == [(1, len(block)), (len(block) + 3, len(block))]
    found = parse(block, channel="c", strict=False)
    assert not found.signed
    assert found.text == entry.text.strip()
    assert render_plain(_as_draft(found), n) == block


def test_plain_entry_is_the_public_tools_bytes() -> None:
    """SPEC C-010 to C-012, byte for byte as the tool wrote it."""
    entry = draft("\n  trailing spaces kept?   \n\n\n\nend\n", sender="b-2", type="close", thread="uni", refs="")
    assert render_plain(entry, 4) == (
        b"## MSG-4 | 2026-07-06T14:07:48+00:00 | from: b-2 | type: close | thread: uni | refs: -\n"
        b"\ntrailing spaces kept?   \n\n\n\nend"
    )


@pytest.mark.parametrize("entry", case_drafts())
def test_block_reads_as_the_format_page_says(entry: Draft) -> None:
    """Header, blank line, text, blank line, typed fence, blank line, trailer (DESIGN section 5)."""
    block = render(entry, n=3, channel_id=CHANNEL_ID, prev="ab" * 32, batch=(1, 2))
    head, rest = block.decode().split("\n\n", 1)
    content, trailer = rest.rsplit("\n\n", 1)
    body = hashlib.sha256(content.encode()).hexdigest()
    assert head == (
        f"## MSG-3 | {STAMP} | from: counterpoint | type: {entry.type} | thread: case | refs: {entry.refs}"
    )
    assert trailer == f"<!-- cp1 ch={CHANNEL_ID} n=3 batch=1/2 prev={'ab' * 32} body={body} -->"
    if entry.fields is not None:
        content, _, typed = content.rpartition("```json counterpoint\n")
        line = json.dumps(entry.fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert typed == f"{line}\n```"
        content = content.removesuffix("\n\n")
    assert content == entry.text


def test_hidden_characters_of_the_typed_object_are_escaped() -> None:
    """No string in it can begin a line for a reader by `str.splitlines`, and none is lost (SPEC C-013)."""
    fields = {"a": f"x\u2028{HEADER}\x85\u202e\U000e0041\x7f\r\n", "z": "漢"}
    block = render(draft("x", fields), n=1, channel_id=CHANNEL_ID, prev=ZEROS)
    assert visible(block.decode()) == block.decode()
    assert '"z":"漢"'.encode() in block
    assert parse(block, channel="c", strict=True).fields == fields


GOOD = render(draft("text", {"a": 1}), n=7, channel_id=CHANNEL_ID, prev=ZEROS)
ALONE = render(draft("text"), n=7, channel_id=CHANNEL_ID, prev=ZEROS)


def _with_body(content: bytes) -> bytes:
    """Return an entry with this content and its right digest, as somebody without scruples would write it."""
    head, _ = ALONE.split(b"\n\n", 1)
    body = hashlib.sha256(content).hexdigest()
    trailer = f"<!-- cp1 ch={CHANNEL_ID} n=7 prev={ZEROS} body={body} -->"
    return head + b"\n\n" + content + b"\n\n" + trailer.encode()


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (b"", "no header"),
        (b"## MSG-7", "no header"),
        (b"\n" + GOOD, "no header"),
        (b"\xef\xbb\xbf" + GOOD, "no header"),
        (GOOD.replace(b"MSG-7 ", b"MSG-1234567890123456 "), "beyond"),
        (GOOD.replace(b"MSG-7 ", b"MSG-8 "), "no trailer"),
        (GOOD.replace(b"MSG-7 ", b"MSG-07 "), "header"),
        (GOOD.replace(b"T14:", b"T24:"), "header"),
        (GOOD.replace(b"2026-07-06", b"2026-02-30"), "header"),
        (GOOD.replace(b"+00:00", b"+00:01"), "header"),
        (GOOD.replace(b"+00:00", b"Z"), "header"),
        (GOOD.replace(b"refs: -", b"refs: - "), "header"),
        (GOOD.replace(b"refs: -", b"refs: "), "header"),
        (GOOD.replace(b"thread: case", b"thread:  case"), "header"),
        (GOOD.replace(b"thread: case", b"thread: Case"), "NAME-1"),
        (GOOD.replace(b"thread: case", b"thread: con"), "NAME-1"),
        (GOOD.replace(b"\n", b"\r\n"), "header"),
        (GOOD.replace(b"-\n\n", b"-\n"), "header"),
        (GOOD.replace(b"\n\n<!--", b"\n<!--"), "no blank line"),
        (GOOD + b" ", "no trailer"),
        (GOOD + b"\n", "no trailer"),
        (GOOD.replace(b" -->", b""), "no trailer"),
        (GOOD.replace(b"n=7", b"n=7 batch=1/1"), "no trailer"),
        (GOOD.replace(b"n=7", b"n=7 batch=3/2"), "no trailer"),
        (GOOD.replace(b"n=7", b"n=7 batch=0/2"), "no trailer"),
        (GOOD.replace(b"body=", b"body=A"), "no trailer"),
        (GOOD.replace(b"text", b"texu"), "hashes"),
        (ALONE.replace(b"\n\ntext", b""), "no blank line"),
        (_with_body(b""), "TEXT-3"),
        (_with_body(b"\n"), "TEXT-3"),
        (_with_body(b"a\xff"), "UTF-8"),
        (_with_body("a\u202e".encode()), "TEXT-5"),
        (_with_body(HEADER.encode()), "TEXT-1"),
        (_with_body(TRAILER.encode()), "TEXT-2"),
        (_with_body(b"x" * (MAX_TEXT + 1)), "TEXT-6"),
        (_with_body(b"\n\n" + FENCE.encode()), "before its typed"),
        (_with_body(b"x\n" + FENCE.encode()), "before its typed"),
        (_with_body(FENCE.replace('{"a":1}', '{"a": 1}').encode()), "typed object"),
        (_with_body(FENCE.replace('{"a":1}', '{"a":1,"a":1}').encode()), "typed object"),
        (_with_body(FENCE.replace('{"a":1}', '{"b":1,"a":1}').encode()), "typed object"),
        (_with_body(FENCE.replace('{"a":1}', '{"a":1.0}').encode()), "typed object"),
        (_with_body(FENCE.replace('{"a":1}', '{"a":"\\u0061"}').encode()), "typed object"),
        (_with_body(FENCE.replace('{"a":1}', "[1]").encode()), "typed object"),
        (_with_body(FENCE.replace('{"a":1}', "").encode()), "typed object"),
        (_with_body(FENCE.replace('{"a":1}', "[" * 10_000).encode()), "typed object"),
    ],
)
def test_other_form_of_an_entry_is_refused(block: bytes, reason: str) -> None:
    """One byte form per entry: what `render` would not write is `Corrupt` (SECURITY B.1 (1), R17 to R19, S4)."""
    with pytest.raises(Corrupt, match=reason) as caught:
        parse(block, channel="c", strict=True)
    assert caught.value.channel == "c"


def test_shared_mode_reads_plain_entries_as_the_public_tool_does() -> None:
    """SPEC C-010 to C-013: CR LF, Unicode digits, odd stamps and threads; the text stripped, not rewritten."""
    block = "## MSG-٣ |  Z  | from: Äx | type: t_1 | thread: a b  | refs:  x | y \r\n\r\n a\r\nb \r\n".encode()
    assert parse(block, channel="c", strict=False) == Block(
        n=3,
        stamp="Z",
        sender="Äx",
        type="t_1",
        thread="a b",
        refs="x | y",
        text="a\r\nb",
        fields=None,
        signed=False,
        digest=hashlib.sha256(block).hexdigest(),
    )


@pytest.mark.parametrize(
    "block",
    [
        b"## MSG-1 | z | from: a | type: b | thread: c | refs: \xff\n\ntext",
        b"## MSG-1 | z | from: a | type: b | thread: c | refs: -\n\n\xff",
        f"{HEADER}\n\ntext\x0b{HEADER}\n\ntext".encode(),
    ],
)
def test_damaged_plain_entry_is_refused(block: bytes) -> None:
    """Not UTF-8, or two entries in one: a typed error, where the public tool ends in a traceback (SPEC C-144)."""
    with pytest.raises(Corrupt):
        parse(block, channel="c", strict=False)


def test_plain_entry_may_begin_with_an_indented_header() -> None:
    """SPEC C-014: a leading space makes it text, though the text is shown without it; the public tool agrees."""
    block = f"## MSG-8 | {STAMP} | from: a | type: info | thread: t | refs: -\n\n {HEADER}".encode()
    assert parse(block, channel="c", strict=False).text == HEADER


def test_plain_entry_may_quote_a_trailer() -> None:
    """A line is a trailer only with the entry's own number: talk about the format breaks no channel."""
    block = f"## MSG-8 | {STAMP} | from: a | type: info | thread: t | refs: -\n\nlook:\n{TRAILER}".encode()
    assert read_trailer(block, 8) is None
    assert parse(block, channel="c", strict=False).text == f"look:\n{TRAILER}"


def test_trailer_can_be_had_apart() -> None:
    """`read_trailer` returns what the last line says, and `bytes` of it is that line."""
    trailer = read_trailer(GOOD, 7)
    assert trailer is not None
    assert bytes(trailer) == GOOD.rsplit(b"\n", 1)[1]
    assert (trailer.channel_id, trailer.prev, trailer.batch, trailer.sig) == (CHANNEL_ID, ZEROS, (1, 1), None)
