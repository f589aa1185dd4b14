"""What a hostile seat cannot do, line by line of issue 6, and the test of each protocol that it applies to."""

from collections.abc import Mapping
from typing import Final

import pytest

from tests.need import ROOT

_NO_LEDGER: Final = "no ledger: a peer objects or does not, and an objection is there for one round"
_NO_HASH: Final = "a review names a number; the record binds it to the digest (test_no_version_is_offered)"

LINES: Final[Mapping[str, Mapping[str, str]]] = {
    "change a severity": {
        "propose": "test_a_proposer_has_no_words_to_change_a_severity",
        "ballot": "test_the_orchestrator_does_not_classify_what_needs_verification_as_cosmetic",
        "answer": _NO_LEDGER,
    },
    "close its own issue": {
        "propose": "test_a_proposer_does_not_close_its_own_issue",
        "ballot": "test_the_orchestrator_does_not_classify_a_rejection_away",
        "answer": _NO_LEDGER,
    },
    "omit an issue into silence": {
        "propose": "test_no_issue_is_left_out_into_silence",
        "ballot": "test_the_orchestrator_passes_over_nothing_in_silence",
        "answer": _NO_LEDGER,
    },
    "approve an old version": {
        "propose": "test_an_old_version_is_not_approved",
        "ballot": "test_a_vote_on_the_version_before_is_missing",
        "answer": "test_a_confirmation_of_the_candidate_before_is_none",
    },
    "vote twice": {
        "propose": "test_a_seat_does_not_answer_anothers_turn_nor_twice",
        "ballot": "test_a_seat_does_not_vote_twice",
        "answer": "test_answering_twice_is_refused",
    },
    "vote on another hash": {
        "propose": _NO_HASH,
        "ballot": "test_a_vote_on_another_digest_is_missing",
        "answer": "test_the_confirmation_of_another_text_and_of_other_bytes_is_none",
    },
    "vote after the deadline": {
        "propose": "test_a_review_after_the_deadline_is_too_late",
        "ballot": "test_a_vote_after_the_deadline_is_missing",
        "answer": "test_answering_after_the_deadline_is_too_late",
    },
    "speak as another seat through quoted text": {
        "propose": "test_nobody_speaks_as_another_through_quoted_text",
        "ballot": "test_quoted_text_is_nobodys_voice",
        "answer": "test_speaking_as_another_seat_through_quoted_text_is_text",
    },
    "get a verdict out of prose": {
        "propose": "test_no_verdict_is_read_out_of_prose",
        "ballot": "test_a_vote_in_prose_is_none",
        "answer": "test_agreement_in_prose_is_none",
    },
}


@pytest.mark.parametrize("line", LINES)
def test_each_line_has_a_test_for_each_protocol_or_says_why_not(line: str) -> None:
    """Issue 6, "a hostile seat cannot"."""
    assert LINES[line].keys() == {"propose", "ballot", "answer"}
    for protocol, said in LINES[line].items():
        if said.startswith("test_"):
            assert f"def {said}(" in (ROOT / f"tests/hostile/test_{protocol}.py").read_text("utf-8"), said
        else:
            assert said in {_NO_LEDGER, _NO_HASH}
