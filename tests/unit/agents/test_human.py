"""A person at a terminal: the form that follows the schema, what is kept, and when nobody is there."""

import asyncio
import io
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from counterpoint.agents.base import Workspace
from counterpoint.agents.human import HumanAgent
from counterpoint.agents.terminal import Terminal
from counterpoint.core.briefs import Brief
from counterpoint.core.docket import SeatKind
from counterpoint.errors import NeedsPerson
from counterpoint.protocols.review.codec import schema_for
from tests.persons import DEADLINE, SMALL, TURN, Asked
from tests.processes import finish

VERDICT = schema_for(SeatKind.OPINION)


def test_a_verdict_is_asked_for_one_question_at_a_time(tmp_path: Path) -> None:
    """SPEC D-11: summary, each finding with its severity and place, the rebuttal, and the approval last."""
    finding = ["F1", "src/a.py:3", "", "It is wrong.", "Mend it.", "bl", "", "1"]
    typed = ["One defect.", "y", *finding, "n", "n", "", "", "n", "y"]
    asked = Asked(tmp_path, typed)
    assert asked.answer(VERDICT) == {
        "summary": "One defect.",
        "findings": [
            {
                "id": "F1",
                "location": "src/a.py:3",
                "issue": "It is wrong.",
                "suggestion": "Mend it.",
                "severity": "blocking",
                "status": "open",
            }
        ],
        "responseToRebuttal": "",
        "approved": False,
    }
    assert "severity (1 blocking, 2 major, 3 minor, 4 nit): " in asked.shown
    assert "location (path:line, a path, or words): " in asked.shown


def test_the_brief_is_shown_without_hidden_characters(tmp_path: Path) -> None:
    """SECURITY T1: what is under review cannot steer the terminal."""
    asked = Asked(tmp_path, ["fine", "y", "y"])
    asked.answer(payload={"change": "+\x1b[2J\u202e\n", "seat": "owner"})
    assert "Judge it." in asked.shown
    assert "  | +\\u{1b}[2J\\u{202e}\n" in asked.shown
    assert not re.search("[\x1b\u202e]", asked.shown)


@pytest.mark.parametrize(("keys", "lines_shown"), [(["", ""], 30), (["q"], 12)])
def test_a_long_brief_is_shown_a_screen_at_a_time(tmp_path: Path, keys: list[str], lines_shown: int) -> None:
    """Issue 2 point 5: paged, and whoever has read enough goes on to the questions."""
    asked = Asked(tmp_path, [*keys, "fine", "y", "y"], page=15)
    assert asked.answer(payload={"change": "".join(f"+{number}\n" for number in range(30))})["approved"] is True
    assert len(re.findall(r"\+\d+\n", asked.shown)) == lines_shown
    assert "-- 18 lines more: Enter goes on, q skips -- " in asked.shown


def test_an_answer_that_does_not_fit_is_asked_for_again(tmp_path: Path) -> None:
    """Issue 2 point 5: each answer is held to its part of the schema at once."""
    asked = Asked(tmp_path, ["", "fine", "perhaps", "Y", "maybe", ""])
    assert asked.answer() == {"summary": "fine", "approved": True}
    assert "That does not fit: this may not be empty" in asked.shown
    assert "That does not fit: expected y or n" in asked.shown


def test_a_line_that_ends_in_a_backslash_goes_on(tmp_path: Path) -> None:
    """Ours: one answer may take several lines."""
    assert Asked(tmp_path, ["one \\", "two\\", "three", "y", ""]).answer()["summary"] == "one two three"


def test_whoever_does_not_send_begins_anew(tmp_path: Path) -> None:
    """Ours: nothing is sent that the person has not seen whole."""
    asked = Asked(tmp_path, ["wrong", "n", "no", "n", "right", "y", "yes"])
    assert asked.answer() == {"summary": "right", "approved": True}
    assert "\nsummary: wrong\napproved: no\n" in asked.shown


EVERYTHING: Mapping[str, Any] = {
    "type": "object",
    "required": ["version", "count", "who", "words", "any", "part"],
    "minProperties": 6,
    "properties": {
        "version": {"const": 2},
        "count": {"type": "integer", "minimum": -1},
        "who": {"enum": ["a", "ab", "b"], "description": "whose turn"},
        "words": {"type": "array", "items": {"type": "string"}},
        "any": {"anyOf": [{"type": "null"}, {"type": "array"}]},
        "part": {"$ref": "#/$defs/part"},
        "maybe": {"type": "boolean"},
    },
    "$defs": {"part": {"type": "object", "properties": {"note": {"type": "string"}}}},
}


def test_every_shape_of_a_schema_has_its_question(tmp_path: Path) -> None:
    """Ours: one form serves every protocol; what it does not know is typed as JSON."""
    typed = ["1.5", "-1", "c", "4", "a", "y", "one", "y", "two", "", "[1", "[1, null]", "hello", "", ""]
    asked = Asked(tmp_path, typed)
    assert asked.answer(EVERYTHING) == {
        "version": 2,
        "count": -1,
        "who": "a",
        "words": ["one", "two"],
        "any": [1, None],
        "part": {"note": "hello"},
    }
    for said in ("a whole number", "expected one of a, ab, b", "not JSON", "who (whose turn; 1 a, 2 ab, 3 b): "):
        assert said in asked.shown


def test_an_answer_that_is_wrong_as_a_whole_is_not_sent(tmp_path: Path) -> None:
    """Ours: a rule over several keys shows only at the end."""
    schema = {**SMALL, "not": {"properties": {"summary": {"const": "x"}, "approved": {"const": True}}}}
    asked = Asked(tmp_path, ["x", "y", "1", "n", ""])
    assert asked.answer(schema) == {"summary": "x", "approved": False}
    assert "That does not fit: the reply: expected not" in asked.shown


def test_what_was_typed_is_there_after_an_interruption(tmp_path: Path) -> None:
    """Issue 2 point 5: Ctrl-C keeps everything; the end of the input does too."""
    with pytest.raises(NeedsPerson, match="the input ended before the answer was whole"):
        Asked(tmp_path, ["typed before"]).answer()
    again = Asked(tmp_path, ["", "y", ""])
    assert again.answer() == {"summary": "typed before", "approved": True}
    assert "Answers kept from before: 1.\n  1. summary: typed before\n" in again.shown


def test_what_was_typed_can_be_left_behind(tmp_path: Path) -> None:
    """Ours."""
    with pytest.raises(NeedsPerson):
        Asked(tmp_path, ["typed before"]).answer()
    assert Asked(tmp_path, ["n", "new", "y", ""]).answer()["summary"] == "new"


def test_another_question_does_not_get_an_old_answer(tmp_path: Path) -> None:
    """DESIGN 4: a verdict is bound to what was judged."""
    with pytest.raises(NeedsPerson):
        Asked(tmp_path, ["of the old change"]).answer()
    assert Asked(tmp_path, ["new", "y", ""]).answer(payload={"change": "+b\n"})["summary"] == "new"


@pytest.mark.parametrize("typed", [[], ["fine"], ["fine", "y"]])
def test_the_end_of_input_is_nobodys_answer(tmp_path: Path, typed: list[str]) -> None:
    """DESIGN 8: exit 4, with the command that goes on; FIELD-FAULTS F7."""
    with pytest.raises(NeedsPerson) as refused:
        Asked(tmp_path, typed).answer()
    assert refused.value.hint == "run `counterpoint resume review-1` at a terminal"


def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    """DESIGN 8: a person is needed; a pipe is none."""
    asked = Asked(tmp_path, ["fine", "y", "y"], interactive=False)
    with pytest.raises(NeedsPerson, match="seat 'owner' is a person's, and there is no terminal"):
        asked.answer()
    assert asked.shown == ""


SHORT = Brief(instructions="Judge it.", payload={}, schema=SMALL, shown_paths=())


async def put(terminal: Terminal, folder: Path) -> bytes:
    agent = HumanAgent(terminal, resume="x")
    workspace = Workspace(tree=folder, scratch=folder, turn=TURN)
    reply = await agent.ask(SHORT, workspace=workspace, deadline=DEADLINE, on_progress=lambda _line: None)
    return reply.content


def test_lines_typed_ahead_at_a_real_terminal_are_all_read(line: tuple[Terminal, int], tmp_path: Path) -> None:
    """Ours: pasted lines arrive in one read."""
    terminal, master = line
    assert terminal.is_interactive
    os.write(master, "fine \u2713\ny\ny\n".encode())
    assert json.loads(finish(put(terminal, tmp_path))) == {"approved": True, "summary": "fine \u2713"}


def test_the_end_key_at_a_real_terminal_is_the_end_of_input(line: tuple[Terminal, int], tmp_path: Path) -> None:
    """DESIGN 8: Ctrl-D is nobody's answer."""
    terminal, master = line
    os.write(master, b"fine\n\x04")
    with pytest.raises(NeedsPerson):
        finish(put(terminal, tmp_path))


def test_waiting_for_a_person_neither_blocks_nor_outlives_its_cancellation(
    line: tuple[Terminal, int], tmp_path: Path
) -> None:
    """Issue 2 point 5: other seats go on meanwhile; Ctrl-C ends the waiting, and the next line is not swallowed."""
    terminal, master = line

    async def cancel() -> bytes:
        first = asyncio.create_task(put(terminal, tmp_path))
        while not terminal.lock.locked():  # noqa: ASYNC110 - the agent tells nobody that it waits
            await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert not asyncio.get_running_loop().remove_reader(terminal._reads.fileno())
        os.write(master, b"later\nn\ny\n")
        return await put(terminal, tmp_path)

    assert json.loads(finish(cancel())) == {"approved": False, "summary": "later"}


def test_two_people_at_one_terminal_are_asked_one_after_the_other(line: tuple[Terminal, int], tmp_path: Path) -> None:
    """DESIGN 4: blind seats are asked side by side; one terminal holds one question."""
    terminal, master = line
    os.write(master, b"first\ny\ny\nsecond\ny\ny\n")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()

    async def both() -> tuple[bytes, bytes]:
        return await asyncio.gather(put(terminal, tmp_path / "a"), put(terminal, tmp_path / "b"))

    assert [json.loads(content)["summary"] for content in finish(both())] == ["first", "second"]


def test_a_plain_file_makes_nobody_wait(tmp_path: Path) -> None:
    """Ours: the event loop cannot watch a plain file, and need not."""
    (tmp_path / "typed").write_text("fine\ny\ny")
    with (tmp_path / "typed").open() as reads:
        terminal = Terminal(reads, io.StringIO(), interactive=True)
        assert json.loads(finish(put(terminal, tmp_path)))["summary"] == "fine"
