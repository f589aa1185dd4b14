"""The rules of `propose`, each with where it comes from and its two examples."""

from typing import Final

from tests.rules.rule import Rule

__all__ = ["PROPOSE"]

_OPENING: Final = "tests/rules/test_propose_opening.py"
_CANDIDATES: Final = "tests/rules/test_propose_candidates.py"
_REVIEWS: Final = "tests/rules/test_propose_reviews.py"

PROPOSE: Final = (
    Rule(
        id="CRITIC-1",
        source="SPEC A-06, DESIGN 2",
        accepted=f"{_OPENING}::test_a_proposer_and_critics_are_accepted",
        refused=f"{_OPENING}::test_another_roster_is_refused",
    ),
    Rule(
        id="CRITIC-2",
        source="SPEC A-20, A-28",
        accepted=f"{_OPENING}::test_a_quorum_of_every_critic_is_accepted",
        refused=f"{_OPENING}::test_a_quorum_of_some_critics_is_refused",
    ),
    Rule(
        id="ROUNDS-1",
        source="SPEC A-02",
        accepted=f"{_OPENING}::test_one_to_twelve_rounds_are_accepted",
        refused=f"{_OPENING}::test_more_rounds_or_none_are_refused",
    ),
    Rule(
        id="ASKS-1",
        source="SPEC A-27",
        accepted=f"{_OPENING}::test_one_question_a_turn_is_accepted",
        refused=f"{_OPENING}::test_a_second_question_for_a_turn_is_refused",
    ),
    Rule(
        id="REQUIREMENT-1",
        source="SPEC A-22",
        accepted=f"{_OPENING}::test_a_requirement_in_words_is_accepted_also_a_blank_one",
        refused=f"{_OPENING}::test_a_change_or_a_text_to_judge_is_refused",
    ),
    Rule(
        id="CLARIFY-1",
        source="SPEC A-13",
        accepted=f"{_CANDIDATES}::test_a_question_with_its_flag_is_accepted",
        refused=f"{_CANDIDATES}::test_a_flag_without_a_question_and_a_question_without_a_flag_are_refused",
    ),
    Rule(
        id="CLARIFY-2",
        source="SPEC A-14",
        accepted=f"{_CANDIDATES}::test_an_answer_that_asks_with_the_flag_is_accepted",
        refused=f"{_CANDIDATES}::test_an_answer_that_asks_without_the_flag_is_refused",
    ),
    Rule(
        id="PROPOSAL-1",
        source="SPEC A-11",
        accepted=f"{_CANDIDATES}::test_a_recommended_option_that_is_listed_is_accepted",
        refused=f"{_CANDIDATES}::test_an_option_twice_or_recommended_and_not_listed_is_refused",
    ),
    Rule(
        id="PROPOSAL-2",
        source="SPEC A-12",
        accepted=f"{_CANDIDATES}::test_a_concrete_proposal_and_a_question_in_its_place_are_accepted",
        refused=f"{_CANDIDATES}::test_a_proposal_that_leaves_something_blank_is_refused",
    ),
    Rule(
        id="PROPOSAL-3",
        source="SPEC A-14, A-18",
        accepted=f"{_CANDIDATES}::test_an_answer_to_every_issue_is_accepted",
        refused=f"{_CANDIDATES}::test_an_issue_left_out_made_up_or_answered_twice_is_refused",
    ),
    Rule(
        id="PROPOSAL-4",
        source="SPEC A-14",
        accepted=f"{_CANDIDATES}::test_a_fix_with_its_change_is_accepted",
        refused=f"{_CANDIDATES}::test_a_fix_without_a_change_is_refused",
    ),
    Rule(
        id="SCAN-1",
        source="SPEC A-07, A-11",
        accepted=f"{_CANDIDATES}::test_risk_areas_with_different_ids_are_accepted",
        refused=f"{_CANDIDATES}::test_a_risk_area_twice_is_refused",
    ),
    Rule(
        id="ASSESS-1",
        source="SPEC A-10",
        accepted=f"{_REVIEWS}::test_a_review_of_the_version_on_the_table_is_accepted",
        refused=f"{_REVIEWS}::test_a_review_of_another_version_is_refused",
    ),
    Rule(
        id="ISSUE-1",
        source="SPEC A-15, A-18",
        accepted=f"{_REVIEWS}::test_a_ruling_on_every_issue_is_accepted",
        refused=f"{_REVIEWS}::test_an_issue_left_out_ruled_on_twice_or_not_its_own_is_refused",
    ),
    Rule(
        id="ISSUE-2",
        source="SPEC A-16",
        accepted=f"{_REVIEWS}::test_an_answered_issue_is_settled",
        refused=f"{_REVIEWS}::test_an_issue_is_not_settled_without_the_answer_that_settles_it",
    ),
    Rule(
        id="ISSUE-3",
        source="SPEC A-11, A-17",
        accepted=f"{_REVIEWS}::test_a_new_issue_under_a_new_id_is_accepted",
        refused=f"{_REVIEWS}::test_a_new_issue_under_an_old_id_or_twice_is_refused",
    ),
)
