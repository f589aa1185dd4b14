"""What a case of `propose` may be opened with: one accepted and one refused example for each rule."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.checks import Purpose
from counterpoint.core.docket import ChangedPath, PathState, ProjectCommand, Seat, SeatKind
from tests.propose_case import CRITIC, DOCKET, LIMITS, PROPOSER, SECOND, opening, refused

_CHECKS = Seat(name="checks", party="checks", kind=SeatKind.CHECKS, agent="checks")


def test_a_proposer_and_critics_are_accepted() -> None:
    """CRITIC-1: one proposes, one or more criticise (SPEC A-06)."""
    assert opening(PROPOSER, CRITIC).judges == (CRITIC,)
    assert opening(CRITIC, PROPOSER, SECOND).author == PROPOSER


@pytest.mark.parametrize(
    ("roster", "reason"),
    [
        ((CRITIC,), "nobody proposes; exactly one seat does"),
        ((PROPOSER, replace(PROPOSER, name="too"), CRITIC), "proposer and too proposes; exactly one seat does"),
        ((PROPOSER,), "'proposer' proposes, and nobody criticises"),
        ((PROPOSER, CRITIC, _CHECKS), "'checks' runs commands; a proposal has none to run"),
    ],
)
def test_another_roster_is_refused(roster: tuple[Seat, ...], reason: str) -> None:
    """CRITIC-1 (SPEC A-06, A-28)."""
    with refused("CRITIC-1", reason):
        opening(*roster)


def test_a_quorum_of_every_critic_is_accepted() -> None:
    """CRITIC-2: nothing is agreed without one of them (SPEC A-20)."""
    assert opening(PROPOSER, CRITIC, SECOND, quorum=2).quorum == 2


def test_a_quorum_of_some_critics_is_refused() -> None:
    """CRITIC-2."""
    with refused("CRITIC-2", "a quorum of 1 with 2 critics; all of them count"):
        opening(PROPOSER, CRITIC, SECOND, quorum=1)


def test_one_to_twelve_rounds_are_accepted() -> None:
    """ROUNDS-1: the range of A-02; a stall may also not be looked for."""
    for most in (1, 12):
        limits = replace(LIMITS, max_rounds=most, min_rounds=most, stall_rounds=most)
        assert opening(PROPOSER, CRITIC, limits=limits).limits == limits
    assert opening(PROPOSER, CRITIC, limits=replace(LIMITS, stall_rounds=0)).limits.stall_rounds == 0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"max_rounds": 13}, "max_rounds is 13; 1 to 12 are possible"),
        ({"max_rounds": 0}, "max_rounds is 0; 1 to 12 are possible"),
        ({"min_rounds": 0}, "min_rounds is 0; 1 to 12 are possible"),
        ({"stall_rounds": 13}, "stall_rounds is 13; at most 12"),
    ],
)
def test_more_rounds_or_none_are_refused(changes: dict[str, Any], reason: str) -> None:
    """ROUNDS-1 (SPEC A-02)."""
    with refused("ROUNDS-1", reason):
        opening(PROPOSER, CRITIC, limits=replace(LIMITS, **changes))


def test_one_question_a_turn_is_accepted() -> None:
    """ASKS-1."""
    assert opening(PROPOSER, CRITIC).limits.max_asks == 1


def test_a_second_question_for_a_turn_is_refused() -> None:
    """ASKS-1: there is no retry (SPEC A-27)."""
    with refused("ASKS-1", "max_asks is 2; an answer that is not taken is not asked for again here"):
        opening(PROPOSER, CRITIC, limits=replace(LIMITS, max_asks=2))


def test_a_requirement_in_words_is_accepted_also_a_blank_one() -> None:
    """REQUIREMENT-1: a blank one ends the case with a question and no call (SPEC A-22)."""
    for question in ("Let users export their data.", "", "  "):
        assert opening(PROPOSER, CRITIC, docket=replace(DOCKET, question=question)).docket.question == question


@pytest.mark.parametrize(
    "changes",
    [
        {"base": "b" * 40},
        {"text": "A text.\n"},
        {"paths": (ChangedPath(path="a.py", state=PathState.TEXT),)},
        {"commands": (ProjectCommand(argv=("pytest",), purpose=Purpose.TEST, why="found"),)},
    ],
)
def test_a_change_or_a_text_to_judge_is_refused(changes: dict[str, Any]) -> None:
    """REQUIREMENT-1."""
    (name,) = changes
    with refused("REQUIREMENT-1", f"the docket has {name}; a requirement is a question and its context"):
        opening(PROPOSER, CRITIC, docket=replace(DOCKET, **changes))
