"""The page of `answer`: its examples are a case through every stage."""

from typing import Final

from counterpoint.core.docket import Docket
from counterpoint.core.values import Decision
from tests.answer_case import TREE, Play
from tests.need import ROOT
from tests.page_examples import examples_in

PAGE: Final = ROOT / "docs/protocols/answer.md"


def test_the_examples_are_a_case_through_every_stage() -> None:
    """One after the other, through the real `parse` and `admit` (SPEC D-26, D-28)."""
    first, compared, confirmed = examples_in(PAGE)
    case = Play(docket=Docket(question="Is the cache safe to share between threads?", tree=TREE))
    case.answer("ada", first)
    case.answer("bob", case.said("bob", "Yes."))
    case.settle()
    case.answer("ada", compared)
    case.answer("bob", case.said("bob", compared["answer"], why="I did not see the timer."))
    case.settle()
    assert [each.target for each in case.state.held_in(2)[0].objections] == ["bob"]
    for seat in ("ada", "bob"):
        case.answer(seat, confirmed)
    case.settle()
    assert case.outcome.decision is Decision.APPROVED


def test_the_reason_stands_before_the_verdict() -> None:
    """In schema and example a peer reasons before it agrees, changes or approves (DESIGN 7.8)."""
    for example, last in zip(examples_in(PAGE), ("answer", "answer", "approved"), strict=True):
        keys = list(example)
        assert (keys[0], keys[-1]) == ("reasoning", last)
