"""Who may sit in a ballot: a person, a file, a tape, a model behind an API (issue 6)."""

import hashlib
import json
from pathlib import Path
from typing import Final

import pytest

from tests.agents.fake_api import Answerer, FakeApi
from tests.agents.fake_script import Answer, Question
from tests.balloting import reply_to
from tests.ballots import TEXT, WHO, document, text_in, timeless
from tests.planned_seats import add_model, plan
from tests.reviewing import Project


def test_a_person_votes_at_the_terminal(votes: Project) -> None:
    """SPEC B-15, B-16: a person in the roster votes as every voter does; nobody types a digest."""
    steps = (
        ("reason (why you vote so; first think, then vote): ", "Reads well.\n"),
        ("reservations: 0 so far. Add one? [y/N] ", "\n"),
        ("vote (1 Approved, 2 Approved with reservations, 3 Rejected): ", "1\n"),
        ("Send this? [Y/n] ", "\n"),
    )
    with votes.sit("ballot", "DOC.md", "--orchestrator", "chief", "--voters", "ann,me") as terminal:
        for question, keys in steps:
            assert "JSON" not in terminal.wait_for(question)
            terminal.type(keys)
        code, shown = terminal.end()
    assert code == 0, shown
    assert "### `me`\n\n- Agent: `human`, party `me`" in document(votes)
    assert "Reads well." in document(votes)


def test_a_person_orchestrates_with_their_own_editor(votes: Project) -> None:
    """SPEC B-01: the text to revise is there, under the person's own hands; nobody types it or an id anew."""
    plan(votes, ann={"voting.1": "no"}, ben={"voting.1": "no", "voting.2": "but"})
    editor = votes.bin / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/Friday/Monday,\\nbecause the fair opens/" "$1"\n')
    editor.chmod(0o755)
    steps = (
        ("q skips -- ", "q\n"),
        ("answer (what you changed for it, or why not): ", "Monday it is.\n"),
        ("answer (what you changed for it, or why not): ", "The same.\n"),
        ("text (the whole new text in Markdown, without title or debate; Enter keeps it as it is): ", "e\n"),
        ("Send this? [Y/n] ", "\n"),
        ("q skips -- ", "q\n"),
        ("reason: ", "A comma.\n"),
        ("weight (1 cosmetic, 2 blocking): ", "1\n"),
        ("Send this? [Y/n] ", "\n"),
    )
    who = ("--orchestrator", "me", "--voters", "ann,ben")
    with votes.sit("ballot", "DOC.md", *who, VISUAL=str(editor)) as terminal:
        for question, keys in steps:
            terminal.wait_for(question)
            terminal.type(keys)
        code, shown = terminal.end()
    assert code == 0, shown
    assert text_in(document(votes)) == "\nWe ship on Monday,\nbecause the fair opens.\n\n"
    assert document(votes).count("Monday it is.") == document(votes).count("The same.") == 1
    assert "`v2-R1` is cosmetic:" in document(votes)


def test_scripted_seats_vote_out_of_a_file(votes: Project) -> None:
    """Issue 6: end to end without any program, from a folder below the top."""
    text = "\nWe ship on Friday.\n\n"
    given = {"reason": "Read.", "reservations": [], "version": 1, "vote": "Approved"}
    answer = given | {"candidate": hashlib.sha256(text.encode()).hexdigest()}
    (votes.config / "seats.json").write_text(json.dumps({"reply": [{"phase": "voting", "answer": answer}]}))
    names = ("first", "second", "third")
    votes.configure("".join(f'[agents.{name}]\nkind = "scripted"\nfile = "seats.json"\n' for name in names))
    below = votes.top / "below"
    below.mkdir()
    (below / "DOC.md").write_text(text)
    called = votes.call("ballot", below / "DOC.md", "--orchestrator", "first", "--voters", "second,third,first")
    assert called.code == 0, called
    assert "- Roster: `second`, `third`, `first-2`\n" in (below / "DOC.md").read_text()
    assert "document: below/DOC.md" in called.out


def test_a_recorded_ballot_is_played_again_without_asking_anybody(votes: Project, tmp_path: Path) -> None:
    """Issue 5: the same votes on the same text; the seats' programs are gone."""
    plan(votes, ann={"voting.1": "no"})
    tape = tmp_path / "tape"
    assert votes.call("ballot", "DOC.md", *WHO, "--record", tape).code == 0
    first = timeless(document(votes))
    for name in ("chief", "ann", "ben"):
        (votes.bin / name).unlink()
    (votes.top / "DOC.md").write_bytes(TEXT.encode())
    called = votes.call("ballot", "DOC.md", *WHO, "--replay", tape)
    assert called.code == 0, called
    assert timeless(document(votes)) == first


STAGES: Final = {"objections": "revising", "reservations": "classifying", "classified": "challenging"}
"""By a key of the brief: the stage that it is for."""


def _answers(question: Question) -> Answer:
    """Answer as a model would, from the brief in its prompt."""
    brief = question.brief_with("version")
    stage = next((phase for key, phase in STAGES.items() if key in brief), "voting")
    return Answer(text=json.dumps(reply_to(stage, brief, "yes")))


@pytest.fixture
def answers() -> Answerer:
    return _answers


@pytest.fixture
def model(votes: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set up a model behind an API and return its name."""
    return add_model(votes, api, monkeypatch)


def test_a_model_behind_an_api_votes(votes: Project, api: FakeApi, model: str) -> None:
    """Issue 6: end to end over the wire, with a program beside it."""
    called = votes.call("ballot", "DOC.md", "--orchestrator", "chief", "--voters", f"ann,{model}", "--json")
    assert (called.code, called.json["decision"]) == (0, "approved"), called
    assert "party `model`" in document(votes)
    assert len(api.requests) == 1


def test_a_model_behind_an_api_orchestrates(votes: Project, api: FakeApi, model: str) -> None:
    """Issue 6: it writes the second version, classifies a reservation of it, and has no vote."""
    plan(votes, ann={"voting.1": "no"}, ben={"voting.2": "but"})
    called = votes.call("ballot", "DOC.md", "--orchestrator", model, "--voters", "ann,ben", "--json")
    assert (called.code, called.json["decision"], called.json["version"]) == (0, "approved", 2), called
    assert "Version 2 of the text." in document(votes)
    assert len(api.requests) == 2
