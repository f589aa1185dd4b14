"""The rows of SPEC that `answer` is held to, D-25 to D-32."""

from typing import Final

from tests.rules.row import Part, Row

__all__ = ["ANSWER"]

_CLI: Final = "tests/cli/test_answer.py"
_RULES: Final = "tests/rules/test_answer.py"
_COURSE: Final = "tests/rules/test_answer_course.py"
_HOSTILE: Final = "tests/hostile/test_answer.py"

ANSWER: Final = Part(
    wanted=tuple(f"D-{number:02}" for number in range(25, 33)),
    decisions="docs/decisions/0006-answer.md",
    rows=(
        Row(id="D-25", tests=(f"{_RULES}::test_round_one_is_independent",), decided=True),
        Row(id="D-26", tests=(f"{_HOSTILE}::test_agreement_with_an_objection_is_none",), decided=True),
        Row(
            id="D-27",
            tests=(
                f"{_RULES}::test_a_later_round_shows_the_others_under_labels_and_what_they_object_to",
                f"{_RULES}::test_a_concession_is_evidenced_where_code_found_what_it_names",
            ),
            decided=True,
        ),
        Row(id="D-28", tests=(f"{_COURSE}::test_a_case_comes_to_what_its_script_says",)),
        Row(id="D-29", decided=True),
        Row(id="D-30", tests=(f"{_CLI}::test_the_transcript_is_named_by_the_question",), decided=True),
        Row(id="D-31", tests=(f"{_CLI}::test_nothing_of_a_repository_is_written",)),
        Row(id="D-32", tests=(f"{_COURSE}::test_a_case_comes_to_what_its_script_says",)),
    ),
)
