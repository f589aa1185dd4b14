"""What a person among the peers is told and asked: nothing that is decided, and no choice that counts for none."""

from collections.abc import Mapping
from typing import Any

from counterpoint.core.briefs import Brief
from counterpoint.core.docket import Terms
from counterpoint.protocols.answer import ANSWER
from tests.answer_case import ADA, BOB, NOW, Play


def brief_of(case: Play) -> Brief:
    brief = ANSWER.brief(case.state, ANSWER.due(case.state, NOW)[0], case.materials("ada"))
    assert "JSON" in brief.instructions
    assert brief.words
    assert "JSON" not in brief.words
    return brief


def part(brief: Brief, key: str) -> Mapping[str, Any]:
    found = brief.narrowed["properties"][key]
    assert isinstance(found, Mapping)
    return found


def test_a_person_votes_for_one_of_the_options() -> None:
    """Newcomer 26: other text counts for none, so none is taken; without options the answer is free."""
    brief = brief_of(Play(ADA, BOB, terms=Terms(vote_only=True, options=("Paris", "Lyons"))))
    assert part(brief, "answer")["enum"] == ["Paris", "Lyons"]
    assert "enum" not in part(brief_of(Play(ADA, BOB)), "answer")


def test_a_person_who_compares_chooses_peers_and_may_keep_their_answer() -> None:
    """Newcomer 24: no label is typed, and Enter keeps an answer word for word."""
    case = Play(ADA, BOB)
    case.all_say(ada="Paris", bob="Lyons")
    brief = brief_of(case)
    assert part(brief, "agreesWith")["items"]["enum"] == ["peer-1"]
    assert part(brief, "objections")["items"]["properties"]["peer"]["enum"] == ["peer-1"]
    assert part(brief, "answer")["default"] == "Paris"


def test_a_person_who_confirms_types_no_digest() -> None:
    """Newcomer 24: the candidate is filled in."""
    case = Play(ADA, BOB)
    case.all_say(ada="Paris", bob="Paris")
    assert part(brief_of(case), "candidate")["const"] == case.state.docket.candidate
