"""The page of `propose`: its examples are a case to agreement."""

from counterpoint.core.values import Decision
from counterpoint.protocols.propose import PROPOSE
from counterpoint.protocols.propose.wire import DECISIONS, CaseStatus, Ended
from tests.propose_case import Play
from tests.protocol_pages import examples_in, page_of


def test_the_examples_are_a_case_to_agreement() -> None:
    """One after the other, through the real `parse` and `admit` (SPEC 1.1)."""
    proposal, scan, review, revision, again = examples_in("propose")
    case = Play()
    case.all_answer(proposal, scan)
    case.all_answer(review)
    case.all_answer(revision)
    case.all_answer(again)
    assert case.outcome.decision is Decision.APPROVED
    assert PROPOSE.exit_code(case.outcome) == 0


def test_the_page_has_every_word_of_the_report() -> None:
    """Stop reasons, statuses and decisions (SPEC A-24, A-34, A-35)."""
    page = page_of("propose").read_text("utf-8")
    assert [word for word in (*Ended, *CaseStatus, *DECISIONS.values()) if f"`{word}`" not in page] == []
