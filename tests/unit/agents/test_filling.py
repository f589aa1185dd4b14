"""The form that a person fills in: what it asks and what not, going back, keeping answers, long texts."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterpoint.agents.base import Workspace
from counterpoint.agents.filling import Editor
from counterpoint.agents.human import HumanAgent
from counterpoint.agents.terminal import Terminal
from counterpoint.core.briefs import Brief
from counterpoint.errors import NeedsPerson
from tests.persons import DEADLINE, SMALL, TURN, Asked
from tests.processes import finish

NARROWED: Mapping[str, Any] = {
    "type": "object",
    "required": ["version", "rulings", "with_whom", "city", "text"],
    "properties": {
        "version": {"const": 3},
        "rulings": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {"type": "object"},
            "prefixItems": [
                {
                    "type": "object",
                    "title": point,
                    "description": f"says: {says}",
                    "required": ["point", "weight"],
                    "properties": {"point": {"const": point}, "weight": {"enum": ["small", "big"]}},
                }
                for point, says in (("P1", "too long"), ("P2", "too short"))
            ],
        },
        "with_whom": {"type": "array", "items": {"type": "string", "enum": ["peer-1", "peer-2"]}},
        "nobody": {"type": "array", "items": {"type": "string", "enum": []}},
        "city": {"enum": ["Paris, which is the capital of France", "Lyons, which is not the capital of it"] * 2},
        "text": {"type": "string", "default": "As it was.\nAll of it.\n", "maxLength": 30},
    },
}
FILLED = {
    "version": 3,
    "rulings": [{"point": "P1", "weight": "small"}, {"point": "P2", "weight": "big"}],
    "with_whom": ["peer-2", "peer-1"],
    "nobody": [],
    "city": "Paris, which is the capital of France",
    "text": "As it was.\nAll of it.\n",
}


def test_what_is_decided_is_not_asked_and_what_is_due_is_asked_by_name(tmp_path: Path) -> None:
    """Newcomer 24, 26: no echo to confirm, no id to type, no choice that counts for nothing, no item too few."""
    asked = Asked(tmp_path, ["1", "b", "2, peer-1,", "3", ""])
    asked.narrowed = NARROWED
    with pytest.raises(NeedsPerson):
        asked.answer(NARROWED)
    assert "expected one of" not in asked.shown
    for said in (
        "rulings 1 of 2: P1\n    says: too long\n",
        "  weight (1 small, 2 big): ",
        "  with_whom (1 peer-1, 2 peer-2; several with commas; Enter for none): ",
        "  1. Paris, which is the capital of France\n",
        "  city (1 to 4, or how it begins): ",
        "  text (Enter keeps it as it is): ",
    ):
        assert said in asked.shown
    assert "Add one?" not in asked.shown
    assert "version" not in asked.shown
    again = Asked(tmp_path, ["", ""])
    again.narrowed = NARROWED
    assert again.answer(NARROWED) == FILLED


def test_a_choice_has_to_be_clear(tmp_path: Path) -> None:
    """Newcomer 24: a number or the beginning of the word; what is neither, or both of two, is asked again."""
    schema = {
        "type": "object",
        "required": ["vote"],
        "properties": {"vote": {"enum": ["Approved", "Approved with reservations", "Rejected"]}},
    }
    asked = Asked(tmp_path, ["a", "0", "4", "", "2", ""])
    assert asked.answer(schema) == {"vote": "Approved with reservations"}
    said = "That does not fit: expected one of Approved, Approved with reservations, Rejected, or its number"
    assert asked.shown.count(said) == 4


def test_one_goes_back_question_by_question(tmp_path: Path) -> None:
    """Newcomer 25: a slip costs one answer, from a question, from the summary, and not from the first question."""
    asked = Asked(tmp_path, ["<", "wrong", "<", "right", "y", "<", "n", ""])
    assert asked.answer() == {"summary": "right", "approved": False}
    assert "This is the first question." in asked.shown


@pytest.mark.parametrize(
    ("typed", "summary"), [(["2", "<", "n"], "one"), (["1", "n"], "one"), (["7", "0", "new", "n"], "new")]
)
def test_a_person_says_how_many_answers_stay(tmp_path: Path, typed: list[str], summary: str) -> None:
    """Newcomer 25: "no" to what was kept need not lose all of it."""
    with pytest.raises(NeedsPerson):
        Asked(tmp_path, ["one", "y"]).answer()
    asked = Asked(tmp_path, [*typed, ""])
    assert asked.answer() == {"summary": summary, "approved": False}
    assert "  1. summary: one\n  2. approved (y/n): y\n" in asked.shown


def test_a_long_text_comes_from_a_file(tmp_path: Path) -> None:
    """Newcomer 25: with its lines; what cannot be read is said, and a text may begin with @ all the same."""
    (tmp_path / "text.md").write_bytes("# T\r\n\nAll \u2713.\n\n".encode())
    (tmp_path / "binary").write_bytes(b"\xff")
    (tmp_path / "large").write_bytes(b"x" * ((1 << 20) + 1))
    asked = Asked(tmp_path, [*(f"@{tmp_path}/{name}" for name in ("none", "binary", "large", "text.md")), "y", ""])
    assert asked.answer()["summary"] == "# T\n\nAll \u2713."
    for said in ("cannot be read: No such file", "is not UTF-8 text", "has more than 1048576 bytes"):
        assert said in asked.shown
    assert "summary:\n  | # T\n  | \n  | All \u2713.\n" in asked.shown
    assert Asked(tmp_path / ".", ["0", "@@ada", "y", ""]).answer()["summary"] == "@ada"


def test_a_text_that_is_too_long_says_by_how_much(tmp_path: Path) -> None:
    """Two values that disagree (STYLE 5)."""
    schema = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 3}}}
    asked = Asked(tmp_path, ["four", "one", ""])
    assert asked.answer(schema) == {"text": "one"}
    assert "it has 4 characters; at most 3 fit" in asked.shown


def edited(line: tuple[Terminal, int], folder: Path, editor: Sequence[str], typed: bytes) -> Any:
    terminal, master = line
    os.write(master, typed)
    agent = HumanAgent(terminal, resume="x", editor=Editor(argv=editor, env=os.environ))
    workspace = Workspace(tree=folder, scratch=folder, turn=TURN)
    schema = {"type": "object", "properties": {"text": {"type": "string", "default": "one\ntwo\n"}}}
    brief = Brief(instructions="Write.", payload={}, schema=SMALL, shown_paths=(), narrowed=schema)
    brief = replace(brief, schema=schema)
    call = agent.ask(brief, workspace=workspace, deadline=DEADLINE, on_progress=lambda _line: None)
    return json.loads(finish(call).content)


def test_a_long_text_is_written_in_the_persons_editor(line: tuple[Terminal, int], tmp_path: Path) -> None:
    """Newcomer 25: it begins with what stands there, has the terminal, and leaves no file."""
    editor = ["sh", "-c", 'test -t 0 && test -t 1 && sed -i s/two/three/ "$1" && ls "$1" > seen', "sh"]
    editor[2] = editor[2].replace("seen", str(tmp_path / "seen"))
    assert edited(line, tmp_path, editor, b"e\ny\n") == {"text": "one\nthree"}
    assert not Path((tmp_path / "seen").read_text().strip()).exists()


def test_an_editor_that_fails_is_said_and_the_question_stays(line: tuple[Terminal, int], tmp_path: Path) -> None:
    """Newcomer 25: no answer is lost by it, and none is made up."""
    for editor in ([], ["false"], [str(tmp_path / "none")]):
        assert edited(line, tmp_path, editor, b"e\ntyped\ny\n") == {"text": "typed"}
        (kept,) = tmp_path.glob("*.draft")
        kept.unlink()


def test_a_person_reads_plain_words_and_no_json(tmp_path: Path) -> None:
    """Newcomer 24: the protocol's words for people, and the payload without brackets; what is empty is left out."""
    asked = Asked(tmp_path, ["fine", "y", ""])
    asked.words = "Say what you think."
    payload = {
        "files": True,
        "context": "",
        "none": [],
        "others": [
            {"peer": "peer-1", "keyPoints": ["one", "two\nlines"]},
            {"peer": "peer-2", "more": {"a": 1, "b": {}}},
        ],
    }
    asked.answer(payload=payload)
    shown = asked.shown.partition("===\n\n")[2].partition("\n\nYour answer")[0]
    assert shown == (
        "Say what you think.\n\nfiles: yes\nothers:\n"
        "  - peer: peer-1\n    keyPoints:\n      - one\n      -\n        | two\n        | lines\n"
        "  - peer: peer-2\n    more:\n      a: 1"
    )


def test_a_file_of_kept_answers_that_was_cut_gives_its_whole_lines(tmp_path: Path) -> None:
    """A crash while it is written costs the answer that was being written, and no other."""
    with pytest.raises(NeedsPerson):
        Asked(tmp_path, ["one", "y"]).answer()
    (kept,) = tmp_path.glob("*.draft")
    kept.write_bytes(kept.read_bytes()[:-4] + b"\n")
    assert Asked(tmp_path, ["", "n", ""]).answer() == {"summary": "one", "approved": False}


def test_what_an_answer_repeats_of_its_brief_is_there_at_enter(tmp_path: Path) -> None:
    """Ours: a required value that the payload shows under the same key, where the protocol says nothing of it."""
    parts = {"version": {"type": "integer"}, "candidate": {"type": "string"}, "text": {"type": "string"}}
    schema = {"type": "object", "required": list(parts), "properties": parts}
    asked = Asked(tmp_path, ["", "", "mine", ""])
    assert asked.answer(schema, {"version": 2, "candidate": "c" * 64, "text": "one\ntwo"}) == {
        "version": 2,
        "candidate": "c" * 64,
        "text": "mine",
    }
    assert "version (Enter for 2): " in asked.shown
    assert "candidate (Enter for cccccccccccccccccccc…): " in asked.shown


def test_no_more_items_are_asked_for_than_fit(tmp_path: Path) -> None:
    """Newcomer 24: the form takes no list that is refused afterwards."""
    words = {"type": "array", "items": {"type": "string"}, "maxItems": 2, "minItems": 1}
    asked = Asked(tmp_path, ["one", "y", "two", ""])
    assert asked.answer({"type": "object", "properties": {"words": words}}) == {"words": ["one", "two"]}
    assert asked.shown.count("Add one?") == 1


def test_a_yes_or_no_is_asked_again_where_it_is_neither(tmp_path: Path) -> None:
    """What is typed by mistake adds no item."""
    words = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "required": ["words"], "properties": {"words": words}}
    asked = Asked(tmp_path, ["perhaps", "n", "later", "yes"])
    assert asked.answer(schema) == {"words": []}


@pytest.mark.parametrize(("typed", "words"), [(["", ""], ["one", "two"]), (["n", "y", "three", "n", ""], ["three"])])
def test_a_list_that_was_there_before_is_kept_or_given_anew(
    tmp_path: Path, typed: list[str], words: list[str]
) -> None:
    """Newcomer 25: whoever revises retypes nothing that stays."""
    part = {"type": "array", "items": {"type": "string"}, "default": ["one", "two"]}
    asked = Asked(tmp_path, typed)
    assert asked.answer({"type": "object", "properties": {"words": part}}) == {"words": words}
    assert "words: 2 as before. Keep them? [Y/n] " in asked.shown
