"""The page of `ballot`: its examples are a case through every stage."""

from typing import Final

from counterpoint.core.entries import RoundOpened
from counterpoint.core.limits import Limits
from counterpoint.core.values import StopReason
from counterpoint.protocols.ballot import Needs, Vote, Weight, debate_heading, version_heading
from tests.ballot_case import Play, docket_of, vote, weights
from tests.need import ROOT
from tests.page_examples import examples_in

PAGE: Final = ROOT / "docs/protocols/ballot.md"


def test_the_examples_are_a_case_through_every_stage() -> None:
    """One after the other, through the real `parse` and `admit` (SPEC B-04, B-09)."""
    given, classification, revision, challenge = examples_in(PAGE)
    case = Play(limits=Limits(max_rounds=2), docket=docket_of())
    case.all_answer(given, vote(case, "yes"))
    assert isinstance(case.all_answer(classification), RoundOpened)
    case.all_answer(revision)
    case.all_answer(vote(case, "but", "a comma"), vote(case, "yes"))
    case.all_answer(weights(v2_R1="cosmetic"))
    case.all_answer(challenge, {"challenges": []})
    assert case.outcome.stop_reason is StopReason.NEEDS_INPUT


def test_the_page_has_every_word_and_both_headings() -> None:
    """A voter's script can be written from the page alone."""
    page = PAGE.read_text("utf-8")
    words = (*(f"`{word}`" for word in (*Needs, *Weight)), *Vote, version_heading(2), debate_heading(1))
    assert [word for word in words if word not in page] == []


def test_the_reason_stands_before_the_vote() -> None:
    """In schema and example a voter reasons before it votes (DESIGN 7.8)."""
    voted, classified, *_ = examples_in(PAGE)
    assert list(voted) == ["reason", "reservations", "version", "candidate", "vote"]
    assert list(classified["classifications"][0]) == ["reservation", "reason", "weight"]
