"""The rules of a review, each with where it comes from and its two examples."""

from typing import Final

from tests.rules.rule import Rule

__all__ = ["REVIEW"]

REVIEW: Final = (
    Rule(
        id="PHASE-1",
        source="DESIGN 4",
        accepted="tests/rules/test_review_opening.py::test_an_entry_that_the_table_lists_follows",
        refused="tests/rules/test_review_opening.py::test_an_entry_after_the_close_is_refused",
    ),
    Rule(
        id="ROSTER-1",
        source="SECURITY B.1, R20",
        accepted="tests/rules/test_review_opening.py::test_a_roster_of_named_seats_is_accepted",
        refused="tests/rules/test_review_opening.py::test_a_roster_that_names_no_seat_or_one_twice_is_refused",
    ),
    Rule(
        id="ROSTER-2",
        source="DESIGN 2",
        accepted="tests/rules/test_review_opening.py::test_a_supervisor_without_a_seat_is_accepted",
        refused="tests/rules/test_review_opening.py::test_a_supervisor_with_a_seat_is_refused",
    ),
    Rule(
        id="ROSTER-3",
        source="DESIGN 2",
        accepted="tests/rules/test_review_rounds.py::test_an_author_and_somebody_who_judges_are_accepted",
        refused="tests/rules/test_review_rounds.py::test_two_authors_or_nobody_to_judge_are_refused",
    ),
    Rule(
        id="DOCKET-1",
        source="SPEC D-05, FIELD-FAULTS F15",
        accepted="tests/rules/test_review_opening.py::test_a_docket_of_a_change_or_of_words_alone_is_accepted",
        refused="tests/rules/test_review_opening.py::test_a_docket_without_anything_to_judge_is_refused",
    ),
    Rule(
        id="DOCKET-2",
        source='DESIGN 4 "Checks as a reviewer"',
        accepted="tests/rules/test_review_opening.py::test_a_docket_with_distinct_commands_is_accepted",
        refused="tests/rules/test_review_opening.py::test_a_docket_with_a_command_twice_or_empty_is_refused",
    ),
    Rule(
        id="QUORUM-1",
        source='DESIGN 4 "Findings ledger", FIELD-FAULTS F1',
        accepted="tests/rules/test_review_opening.py::test_a_quorum_within_the_roster_is_accepted",
        refused="tests/rules/test_review_opening.py::test_a_quorum_of_nobody_or_of_more_than_there_are_is_refused",
    ),
    Rule(
        id="LIMIT-1",
        source='DESIGN 4 "Limits"',
        accepted="tests/rules/test_review_opening.py::test_limits_under_which_a_case_can_end_are_accepted",
        refused="tests/rules/test_review_opening.py::test_limits_under_which_no_case_can_be_decided_are_refused",
    ),
    Rule(
        id="LIMIT-2",
        source='DESIGN 4 "Limits"',
        accepted="tests/rules/test_review_opening.py::test_a_deadline_with_its_offset_is_accepted",
        refused="tests/rules/test_review_opening.py::test_a_deadline_that_is_no_instant_is_refused",
    ),
    Rule(
        id="TURN-1",
        source="DESIGN 4, SECURITY R23",
        accepted="tests/rules/test_review_answers.py::test_a_seat_that_answers_its_own_turn_is_accepted",
        refused="tests/rules/test_review_answers.py::test_an_answer_to_a_turn_that_is_not_owed_is_refused",
    ),
    Rule(
        id="TURN-2",
        source='DESIGN 4 "Checks as a reviewer"',
        accepted="tests/rules/test_review_answers.py::test_each_kind_of_seat_gives_its_kind_of_answer",
        refused="tests/rules/test_review_answers.py::test_an_answer_of_another_kind_of_seat_is_refused",
    ),
    Rule(
        id="TURN-3",
        source="DESIGN 4, SECURITY R23",
        accepted="tests/rules/test_review_answers.py::test_a_case_under_review_takes_what_is_said_in_it",
        refused="tests/rules/test_review_answers.py::test_a_case_that_is_closed_takes_nothing_more",
    ),
    Rule(
        id="NOTE-1",
        source="DESIGN 4",
        accepted="tests/rules/test_review_answers.py::test_the_supervisor_speaks_unasked",
        refused="tests/rules/test_review_answers.py::test_anybody_else_who_speaks_unasked_is_refused",
    ),
    Rule(
        id="BINDING-1",
        source='DESIGN 4 "Binding", SECURITY R22, FIELD-FAULTS F11',
        accepted="tests/rules/test_review_answers.py::test_a_verdict_on_the_candidate_is_accepted",
        refused="tests/rules/test_review_answers.py::test_a_verdict_on_another_candidate_is_refused",
    ),
    Rule(
        id="VERDICT-1",
        source="SPEC D-11, D-12",
        accepted="tests/rules/test_review_answers.py::test_an_approval_with_every_finding_resolved_is_accepted",
        refused="tests/rules/test_review_answers.py::test_an_approval_with_an_open_finding_is_refused",
    ),
    Rule(
        id="VERDICT-2",
        source="SPEC D-12",
        accepted="tests/rules/test_review_answers.py::test_a_disapproval_with_an_open_finding_is_accepted",
        refused="tests/rules/test_review_answers.py::test_a_disapproval_that_names_nothing_is_refused",
    ),
    Rule(
        id="VERDICT-3",
        source="SPEC D-11",
        accepted="tests/rules/test_review_answers.py::test_an_empty_response_to_a_rebuttal_is_accepted_in_a_first_reading",
        refused="tests/rules/test_review_answers.py::test_a_response_to_a_rebuttal_is_refused_in_a_first_reading",
    ),
    Rule(
        id="FINDING-1",
        source="SPEC D-11, D-12, FIELD-FAULTS F19",
        accepted="tests/rules/test_review_answers.py::test_findings_with_different_ids_are_accepted",
        refused="tests/rules/test_review_answers.py::test_a_finding_id_twice_in_one_verdict_is_refused",
    ),
    Rule(
        id="FINDING-2",
        source='DESIGN 4 "Findings ledger"',
        accepted="tests/rules/test_review_answers.py::test_a_finding_id_that_names_its_seat_and_nothing_else_is_accepted",
        refused="tests/rules/test_review_answers.py::test_a_finding_id_that_the_schema_lets_through_but_no_line_can_hold_is_refused",
    ),
    Rule(
        id="FINDING-3",
        source="SPEC D-11, D-12, FIELD-FAULTS F19",
        accepted="tests/rules/test_review_rounds.py::test_a_finding_that_keeps_its_severity_is_accepted",
        refused="tests/rules/test_review_rounds.py::test_a_finding_that_changes_its_severity_is_refused",
    ),
    Rule(
        id="FINDING-4",
        source="SPEC D-14, FIELD-FAULTS F17",
        accepted="tests/rules/test_review_rounds.py::test_a_new_finding_at_an_edited_path_is_accepted",
        refused="tests/rules/test_review_rounds.py::test_a_new_finding_that_no_edit_brought_is_refused",
    ),
    Rule(
        id="FINDING-5",
        source="SPEC D-14, FIELD-FAULTS F17",
        accepted="tests/rules/test_review_rounds.py::test_a_settled_finding_whose_place_was_edited_is_reopened",
        refused="tests/rules/test_review_rounds.py::test_a_settled_finding_is_not_reopened_for_nothing",
    ),
    Rule(
        id="DEFER-1",
        source="SPEC D-17",
        accepted="tests/rules/test_review_rounds.py::test_a_deferral_that_names_its_gate_is_accepted",
        refused="tests/rules/test_review_rounds.py::test_a_deferral_without_a_reason_is_refused",
    ),
    Rule(
        id="CHECKS-1",
        source='DESIGN 4 "Checks as a reviewer"',
        accepted="tests/rules/test_review_answers.py::test_checks_that_name_the_commands_of_the_docket_are_accepted",
        refused="tests/rules/test_review_answers.py::test_checks_that_choose_their_commands_are_refused",
    ),
    Rule(
        id="ANSWER-1",
        source="SPEC D-13, FIELD-FAULTS F19",
        accepted="tests/rules/test_review_author.py::test_an_answer_to_every_finding_is_accepted",
        refused="tests/rules/test_review_author.py::test_an_answer_that_leaves_out_or_makes_up_a_finding_is_refused",
    ),
    Rule(
        id="ANSWER-2",
        source="SPEC D-13, D-16",
        accepted="tests/rules/test_review_author.py::test_a_fix_with_what_it_changed_is_accepted",
        refused="tests/rules/test_review_author.py::test_a_fix_of_nothing_and_an_edit_for_nothing_are_refused",
    ),
    Rule(
        id="EDIT-1",
        source="SPEC D-16, SECURITY B.5",
        accepted="tests/rules/test_review_author.py::test_a_listed_path_of_the_repository_is_accepted",
        refused="tests/rules/test_review_author.py::test_a_listed_path_outside_the_repository_is_refused",
    ),
    Rule(
        id="EDIT-2",
        source='SPEC D-16, DESIGN 4 "Work trees"',
        accepted="tests/rules/test_review_author.py::test_an_edit_of_exactly_the_listed_paths_is_accepted",
        refused="tests/rules/test_review_author.py::test_an_edit_that_code_finds_fault_with_is_refused",
    ),
    Rule(
        id="SEAL-1",
        source="DESIGN 4, SECURITY R23",
        accepted="tests/rules/test_review_entries.py::test_an_answer_and_a_failure_to_an_owed_turn_are_recorded",
        refused="tests/rules/test_review_entries.py::test_a_turn_is_recorded_once",
    ),
    Rule(
        id="SEAL-2",
        source="SECURITY B.1",
        accepted="tests/rules/test_review_entries.py::test_the_sealed_reply_is_revealed",
        refused="tests/rules/test_review_entries.py::test_a_reply_that_does_not_open_its_seal_is_refused",
    ),
    Rule(
        id="REVEAL-1",
        source='DESIGN 4 "Sealing"',
        accepted="tests/rules/test_review_entries.py::test_what_follows_from_a_revealed_reply_is_recorded",
        refused="tests/rules/test_review_entries.py::test_nothing_is_recorded_for_a_seat_whose_reply_is_sealed",
    ),
    Rule(
        id="LEDGER-1",
        source='DESIGN 4 "Findings ledger", FIELD-FAULTS F19',
        accepted="tests/rules/test_review_entries.py::test_the_raiser_rules_on_its_finding",
        refused="tests/rules/test_review_entries.py::test_a_finding_is_not_replaced_or_settled_by_another",
    ),
    Rule(
        id="ANSWER-3",
        source="DESIGN 4, FIELD-FAULTS F17, F21",
        accepted="tests/rules/test_review_author.py::test_an_answer_that_the_rules_ask_for_is_recorded",
        refused="tests/rules/test_review_author.py::test_an_answer_that_the_rules_do_not_ask_for_is_refused",
    ),
    Rule(
        id="OFFER-1",
        source='DESIGN 4 "Binding", FIELD-FAULTS F13',
        accepted="tests/rules/test_review_author.py::test_a_candidate_in_place_of_the_one_on_the_table_is_recorded",
        refused="tests/rules/test_review_author.py::test_a_candidate_that_does_not_follow_is_refused",
    ),
    Rule(
        id="CLOSE-1",
        source="DESIGN 4, FIELD-FAULTS F1, F7",
        accepted="tests/rules/test_review_entries.py::test_a_close_that_says_what_the_rules_compute_is_recorded",
        refused="tests/rules/test_review_entries.py::test_a_close_that_says_anything_else_is_refused",
    ),
)
