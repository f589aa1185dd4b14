"""The record in words, on a terminal."""

import json

import pytest

from counterpoint.core.canonical import HIDDEN
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Block
from counterpoint.views.transcript import block_of, render_entry, render_transcript, transcript_of
from tests.example_cases import EXAMPLES, play


def _blocks(example: str) -> tuple[Block, ...]:
    store = MemoryStore()
    return store.read(play(example, store))


def _marked(text: str, what: str) -> str:
    return f"<{what[0]}>{text}</>"


@pytest.mark.parametrize("width", [60, 72, 100])
@pytest.mark.parametrize("example", EXAMPLES)
def test_no_line_is_wider_than_asked(example: str, width: int) -> None:
    """Whatever a seat wrote, also one word of a thousand letters."""
    assert max(len(line) for line in render_transcript(_blocks(example), width=width).split("\n")) <= width


@pytest.mark.parametrize("example", EXAMPLES)
def test_nothing_in_a_transcript_can_act_on_a_terminal(example: str) -> None:
    """No control, bidirectional or invisible character is left but tab and line end (SECURITY T1)."""
    blocks = _blocks(example)
    assert not HIDDEN.search(render_transcript(blocks, width=100))
    assert not any(HIDDEN.search(render_entry(block)) for block in blocks)


def test_every_entry_has_its_line_with_number_stamp_and_type() -> None:
    """In order, the genesis first."""
    blocks = _blocks("rejected")
    titles = [line for line in render_transcript(blocks, width=100).split("\n") if line.startswith("MSG-")]
    assert titles == [f"MSG-{block.n}  {block.stamp}  {block.type}" for block in blocks]


def test_painting_is_the_callers_and_changes_no_word() -> None:
    """Quotations, numbers, types and bold words are painted; unpainted, the text is the same."""
    blocks = _blocks("rejected")
    painted = render_transcript(blocks, width=100, paint=_marked)
    for mark in ("<n>MSG-13</>", "<t>finding-raised</>", "<s>critic-F1</>", "<q>> The comparison is off by one.</>"):
        assert mark in painted
    for mark in ("<n>", "<t>", "<s>", "<q>", "</>"):
        painted = painted.replace(mark, "")
    assert painted == render_transcript(blocks, width=100)


def test_a_quotation_keeps_its_blanks() -> None:
    """Indented code of a seat is shown indented, also where its line is wrapped."""
    block = Block(
        n=1,
        stamp="2026-11-30T10:15:00+00:00",
        sender="counterpoint",
        type="note-added",
        thread="case",
        refs="-",
        text="owner notes:\n\n>     if a:\n>\n>     return " + "b" * 60,
        fields=None,
        signed=True,
        digest="0" * 64,
    )
    assert render_transcript((block,), width=60).split("\n")[2:6] == [
        "  >     if a:",
        "  >",
        "  >     return " + "b" * 45,
        "  >     " + "b" * 15,
    ]


def test_what_a_shared_channel_holds_raw_is_written_out() -> None:
    """There the public tool's entries may hold any character (SECURITY T1)."""
    block = Block(
        n=1,
        stamp="2026-07-06T14:07:48+00:00",
        sender="glm",
        type="info",
        thread="t\x1b]0;x\x07",
        refs="\x9b31m",
        text="\x1b[2J\u202egone",
        fields=None,
        signed=False,
        digest="0" * 64,
    )
    assert "\\u{1b}[2J\\u{202e}gone" in render_transcript((block,), width=100)
    for shown in (render_transcript((block,), width=100), render_entry(block)):
        assert not HIDDEN.search(shown)


def test_one_entry_is_shown_whole_with_its_typed_fields() -> None:
    """Header, words as they stand, and the object that decisions come from."""
    block = _blocks("approved")[2]
    shown = render_entry(block)
    words, _, typed = shown.partition("\n\n{")
    assert json.loads("{" + typed) == block.fields
    assert words.startswith(f"MSG-2  {block.stamp}  submission-sealed\nsender  counterpoint\n")
    assert f"digest  {block.digest}" in words
    assert block.text in words


def test_an_entry_without_typed_fields_is_shown_by_its_words() -> None:
    """As an entry of the public tool is."""
    block = Block(
        n=1,
        stamp="s",
        sender="glm",
        type="info",
        thread="t",
        refs="-",
        text="hello",
        fields=None,
        signed=False,
        digest="",
    )
    assert render_entry(block).endswith("\n\nhello\n")


def test_a_transcript_for_programs_has_every_entry_whole() -> None:
    """One object with a list, in order; each entry with its digest and its typed fields."""
    blocks = _blocks("rejected")
    shown = transcript_of("name", blocks)
    assert shown["case"] == "name"
    assert shown["entries"] == [block_of(block) for block in blocks]
    assert json.loads(json.dumps(shown["entries"][5]["fields"])) == blocks[5].fields
