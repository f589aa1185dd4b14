"""The rules of `ballot`, each with where it comes from and its two examples."""

from typing import Final

from tests.rules.rule import Rule

__all__ = ["BALLOT"]

BALLOT: Final = (
    Rule(
        id="BALLOT-1",
        source="SPEC B-01, B-16",
        accepted="tests/rules/test_ballot_opening.py::test_one_orchestrator_and_some_who_vote_are_accepted",
        refused="tests/rules/test_ballot_opening.py::test_no_orchestrator_two_or_nobody_who_votes_are_refused",
    ),
    Rule(
        id="BALLOT-2",
        source="SPEC B-02, B-10",
        accepted="tests/rules/test_ballot_opening.py::test_a_vote_of_all_in_three_rounds_is_accepted",
        refused="tests/rules/test_ballot_opening.py::test_a_vote_of_some_or_in_more_rounds_is_refused",
    ),
    Rule(
        id="DOCUMENT-1",
        source="SPEC B-13",
        accepted="tests/rules/test_ballot_opening.py::test_a_text_in_its_byte_form_with_its_digest_is_accepted",
        refused="tests/rules/test_ballot_opening.py::test_a_text_in_another_form_or_under_another_digest_is_refused",
    ),
    Rule(
        id="DOCUMENT-2",
        source="SPEC B-03",
        accepted="tests/rules/test_ballot_opening.py::test_a_text_that_leaves_the_debate_alone_is_accepted",
        refused="tests/rules/test_ballot_opening.py::test_a_text_with_a_heading_of_the_debate_is_refused",
    ),
    Rule(
        id="QUOTE-1",
        source="SPEC B-07",
        accepted="tests/rules/test_ballot_opening.py::test_a_text_that_cites_with_a_folder_of_sources_is_accepted",
        refused="tests/rules/test_ballot_opening.py::test_a_text_that_cites_without_a_folder_of_sources_is_refused",
    ),
    Rule(
        id="LATE-1",
        source="SPEC B-10",
        accepted="tests/rules/test_ballot_answers.py::test_an_answer_before_the_deadline_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_an_answer_after_the_deadline_is_refused",
    ),
    Rule(
        id="VOTE-1",
        source="SPEC B-04, B-14",
        accepted="tests/rules/test_ballot_answers.py::test_a_vote_on_what_is_on_the_table_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_a_vote_on_another_version_or_text_is_refused",
    ),
    Rule(
        id="VOTE-2",
        source="SPEC B-04, B-09",
        accepted="tests/rules/test_ballot_answers.py::test_each_word_with_the_reservations_that_belong_to_it_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_a_word_that_its_reservations_contradict_is_refused",
    ),
    Rule(
        id="QUOTE-2",
        source="SPEC B-07",
        accepted="tests/rules/test_ballot_answers.py::test_a_marked_text_is_rejected_and_that_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_an_approval_of_a_marked_text_is_refused",
    ),
    Rule(
        id="QUOTE-3",
        source="SPEC B-07",
        accepted="tests/rules/test_ballot_answers.py::test_an_approval_of_quotations_that_stand_in_their_sources_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_an_approval_of_a_quotation_that_no_source_has_is_refused",
    ),
    Rule(
        id="RESERVE-1",
        source="SPEC B-09",
        accepted="tests/rules/test_ballot_answers.py::test_a_classification_of_every_reservation_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_a_classification_that_leaves_out_makes_up_or_repeats_a_reservation_is_refused",
    ),
    Rule(
        id="CHALLENGE-1",
        source="SPEC B-09, B-15",
        accepted="tests/rules/test_ballot_answers.py::test_a_challenge_of_a_cosmetic_reservation_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_a_challenge_of_what_was_not_classified_is_refused",
    ),
    Rule(
        id="REVISE-1",
        source="SPEC B-01, B-02",
        accepted="tests/rules/test_ballot_answers.py::test_a_version_that_answers_every_objection_is_accepted",
        refused="tests/rules/test_ballot_answers.py::test_a_version_that_passes_over_an_objection_is_refused",
    ),
    Rule(
        id="REVISE-2",
        source="SPEC B-09, B-10",
        accepted="tests/rules/test_ballot_answers.py::test_the_same_text_is_accepted_where_nobody_objected",
        refused="tests/rules/test_ballot_answers.py::test_the_same_text_against_an_objection_is_refused",
    ),
)
