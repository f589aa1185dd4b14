"""The page of `propose`: its examples are a case to agreement."""

from typing import Final

from counterpoint.core.values import Decision
from counterpoint.protocols.propose import PROPOSE
from counterpoint.protocols.propose.wire import DECISIONS, CaseStatus, Ended
from tests.need import ROOT
from tests.page_examples import examples_in
from tests.propose_case import Play

PAGE: Final = ROOT / "docs/protocols/propose.md"


def test_the_examples_are_a_case_to_agreement() -> None:
    """One after the other, through the real `parse` and `admit` (SPEC 1.1)."""
    proposal, scan, review, revision, again = examples_in(PAGE)
    case = Play()
    case.all_answer(proposal, scan)
    case.all_answer(review)
    case.all_answer(revision)
    case.all_answer(again)
    assert case.outcome.decision is Decision.APPROVED
    assert PROPOSE.exit_code(case.outcome) == 0


def test_the_page_has_every_word_of_the_report() -> None:
    """Stop reasons, statuses and decisions (SPEC A-24, A-34, A-35)."""
    page = PAGE.read_text("utf-8")
    assert [word for word in (*Ended, *CaseStatus, *DECISIONS.values()) if f"`{word}`" not in page] == []
