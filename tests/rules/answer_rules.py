"""The rules of `answer`, each with where it comes from and its two examples."""

from typing import Final

from tests.rules.rule import Rule

__all__ = ["ANSWER"]

_TESTS: Final = "tests/rules/test_answer.py"

ANSWER: Final = (
    Rule(
        id="PEER-1",
        source="DESIGN 2, issue 6",
        accepted=f"{_TESTS}::test_two_peers_and_more_are_accepted",
        refused=f"{_TESTS}::test_a_peer_alone_and_seats_of_another_kind_are_refused",
    ),
    Rule(
        id="PEER-2",
        source="SPEC D-28, D-32",
        accepted=f"{_TESTS}::test_a_quorum_of_all_peers_is_accepted",
        refused=f"{_TESTS}::test_a_quorum_of_fewer_than_all_peers_is_refused",
    ),
    Rule(
        id="PEER-3",
        source='SPEC D-26, D-27, DESIGN 4 "Anonymity and order"',
        accepted=f"{_TESTS}::test_the_labels_that_a_peer_was_shown_are_accepted",
        refused=f"{_TESTS}::test_a_label_of_nobody_and_a_seats_own_name_are_refused",
    ),
    Rule(
        id="PEER-4",
        source="SPEC D-26",
        accepted=f"{_TESTS}::test_the_labels_that_a_peer_was_shown_are_accepted",
        refused=f"{_TESTS}::test_the_same_agreement_twice_is_refused",
    ),
    Rule(
        id="POSITION-1",
        source="SPEC D-02",
        accepted=f"{_TESTS}::test_two_peers_and_more_are_accepted",
        refused=f"{_TESTS}::test_an_empty_question_is_refused",
    ),
    Rule(
        id="POSITION-2",
        source="DESIGN 7.1, issue 6",
        accepted=f"{_TESTS}::test_options_that_can_be_told_apart_are_accepted",
        refused=f"{_TESTS}::test_options_that_cannot_be_told_apart_or_decide_nothing_are_refused",
    ),
    Rule(
        id="CONFIRM-1",
        source='SPEC D-28, D-29, DESIGN 4 "Binding"',
        accepted=f"{_TESTS}::test_the_digest_and_the_text_itself_are_accepted",
        refused=f"{_TESTS}::test_anything_but_the_digest_or_the_text_is_refused",
    ),
    Rule(
        id="CONFIRM-2",
        source="SPEC D-28, D-29",
        accepted=f"{_TESTS}::test_an_approval_without_and_a_disapproval_with_an_objection_are_accepted",
        refused=f"{_TESTS}::test_an_approval_with_and_a_disapproval_without_an_objection_are_refused",
    ),
)
