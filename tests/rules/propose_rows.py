"""The rows of SPEC that `propose` is held to, A-01 to A-57."""

from typing import Final

from tests.rules.row import Part, Row

__all__ = ["PROPOSE"]

_CLI: Final = "tests/cli/test_propose.py"
_PAIRS: Final = "tests/cli/test_propose_pair.py"
_SCRIPTS: Final = "tests/drive/test_propose_scenarios.py"
_ENDS: Final = "tests/unit/protocols/propose/test_propose_endings.py"
_BRIEFS: Final = "tests/unit/protocols/propose/test_propose_briefs.py"
_FORMS: Final = "tests/unit/protocols/propose/test_propose_forms.py"
_VIEWS: Final = "tests/unit/views/test_propose.py"
_HOSTILE: Final = "tests/hostile/test_propose.py"
_SCENARIO: Final = f"{_SCRIPTS}::test_a_scenario_comes_to_what_its_table_says"
_PAIR: Final = f"{_PAIRS}::test_a_pair_comes_whole_from_the_first_source_that_has_one"
_KEYS: Final = f"{_VIEWS}::test_every_report_has_every_key_and_says_the_same_as_the_others"

PROPOSE: Final = Part(
    wanted=tuple(f"A-{number:02}" for number in range(1, 58)),
    decisions="docs/decisions/0005-propose.md",
    rows=(
        Row(id="A-01", tests=(f"{_CLI}::test_one_pair_of_flags_fills_both_seats_behind_an_api",)),
        Row(id="A-02", tests=(f"{_CLI}::test_a_wrong_command_line_is_an_input_error",), decided=True),
        Row(id="A-03", tests=(f"{_PAIRS}::test_a_pair_that_is_not_whole_or_disagrees_is_refused",)),
        Row(id="A-04", tests=(_PAIR,)),
        Row(id="A-05", tests=(f"{_VIEWS}::test_the_report_says_where_the_configuration_is_from",)),
        Row(
            id="A-06",
            tests=(f"{_BRIEFS}::test_the_openings_are_told_the_requirement_and_nothing_else",),
            decided=True,
        ),
        Row(id="A-07", tests=(f"{_FORMS}::test_one_more_is_refused",)),
        Row(id="A-08", tests=(f"{_BRIEFS}::test_a_proposer_revises_with_everything_before_it", _SCENARIO)),
        Row(id="A-09", tests=(_SCENARIO,), decided=True),
        Row(id="A-10"),
        Row(
            id="A-11",
            tests=(f"{_FORMS}::test_another_id_is_refused", f"{_FORMS}::test_one_more_is_refused"),
        ),
        Row(id="A-12"),
        Row(id="A-13", decided=True),
        Row(id="A-14"),
        Row(id="A-15"),
        Row(id="A-16"),
        Row(id="A-17"),
        Row(id="A-18", tests=(f"{_HOSTILE}::test_a_proposer_has_no_words_to_change_a_severity",)),
        Row(id="A-19", tests=(_SCENARIO,)),
        Row(id="A-20", tests=(_SCENARIO,)),
        Row(id="A-21", tests=(_SCENARIO,)),
        Row(id="A-22", tests=(f"{_CLI}::test_what_ends_it_at_once_needs_no_agent_and_no_consent",), decided=True),
        Row(id="A-23", tests=(_SCENARIO, f"{_ENDS}::test_what_is_asked_is_named_once_and_three_times_at_most")),
        Row(id="A-24", tests=(_SCENARIO, f"{_ENDS}::test_each_failure_has_its_word")),
        Row(id="A-25", tests=(_SCENARIO, f"{_VIEWS}::test_every_report_says_that_a_threshold_may_be_passed")),
        Row(id="A-26", tests=(f"{_ENDS}::test_models_are_compared_within_one_configuration",), decided=True),
        Row(id="A-27", tests=(_SCENARIO,)),
        Row(id="A-28", tests=(_SCENARIO,)),
        Row(id="A-29", tests=(f"{_CLI}::test_ctrl_c_leaves_a_partial_report_and_goes_on",), decided=True),
        Row(id="A-30", tests=(f"{_ENDS}::test_a_reply_that_cannot_be_opened_is_an_engine_error",), decided=True),
        Row(id="A-31", decided=True),
        Row(id="A-32", tests=(f"{_VIEWS}::test_an_observer_that_was_switched_off_is_an_event",), decided=True),
        Row(id="A-33", decided=True),
        Row(id="A-34", tests=(_SCENARIO,)),
        Row(id="A-35", tests=(_SCENARIO,)),
        Row(id="A-36", tests=(_KEYS,)),
        Row(id="A-37", tests=(f"{_VIEWS}::test_models_are_named_and_mixed_ones_are_not_called_one",)),
        Row(id="A-38", tests=(f"{_VIEWS}::test_failed_calls_count_with_their_usage_unknown",)),
        Row(id="A-39", tests=(_KEYS,)),
        Row(id="A-40", tests=(f"{_VIEWS}::test_conditions_and_steps_are_put_together_by_code",)),
        Row(
            id="A-41",
            tests=(
                f"{_VIEWS}::test_a_page_has_no_script_and_a_policy_that_allows_its_style_alone",
                f"{_VIEWS}::test_what_seats_and_users_wrote_acts_in_none_of_the_reports",
            ),
        ),
        Row(
            id="A-42",
            tests=(f"{_VIEWS}::test_a_newest_version_without_a_review_is_not_what_the_report_is_about",),
        ),
        Row(
            id="A-43",
            tests=(
                f"{_CLI}::test_one_pair_of_flags_fills_both_seats_behind_an_api",
                f"{_CLI}::test_quiet_tells_nothing_while_it_goes_on",
                f"{_CLI}::test_context_comes_from_files",
            ),
        ),
        Row(id="A-44", tests=(f"{_CLI}::test_a_wrong_command_line_is_an_input_error",), decided=True),
        Row(
            id="A-45",
            tests=(
                f"{_CLI}::test_reports_go_to_a_folder_that_nobody_else_reads_and_replace_nothing",
                f"{_CLI}::test_a_folder_that_cannot_be_written_is_refused_before_anybody_is_asked",
            ),
            decided=True,
        ),
        Row(
            id="A-46",
            tests=(
                f"{_CLI}::test_the_demo_is_two_rounds_of_five_scripted_calls",
                f"{_CLI}::test_the_demo_takes_no_question_no_context_and_no_model",
            ),
        ),
        Row(id="A-47", decided=True),
        Row(id="A-48", decided=True),
        Row(id="A-49", decided=True),
        Row(id="A-50", tests=(f"{_HOSTILE}::test_no_verdict_is_read_out_of_prose",)),
        Row(id="A-51", decided=True),
        Row(id="A-52", tests=(_PAIR, f"{_PAIRS}::test_the_profile_is_saved_once_and_replaced_only_when_asked")),
        Row(
            id="A-53",
            tests=(f"{_PAIRS}::test_the_profile_is_saved_once_and_replaced_only_when_asked",),
            decided=True,
        ),
        Row(id="A-54", tests=(f"{_BRIEFS}::test_instructions_are_constants_whatever_the_requirement_says",)),
        Row(
            id="A-55",
            tests=(
                f"{_ENDS}::test_places_that_issues_name_are_looked_up_where_files_are_shown",
                f"{_CLI}::test_seats_read_the_files_of_head_and_code_looks_up_what_issues_name",
            ),
            decided=True,
        ),
        Row(id="A-56", tests=(f"{_HOSTILE}::test_words_that_say_accept_are_no_assessment",)),
        Row(
            id="A-57",
            tests=(
                f"{_CLI}::test_a_killed_run_goes_on_without_asking_whoever_has_answered",
                f"{_SCRIPTS}::test_a_crash_between_any_two_steps_changes_nothing",
                f"{_SCRIPTS}::test_a_crash_while_seats_are_asked_costs_a_call_and_nothing_else",
            ),
        ),
    ),
)
