"""The rows of SPEC's parts, and where each of them is kept: by rules, by tests, or by a decision not to."""

from typing import Final

from tests.rules.answer_rows import ANSWER
from tests.rules.ballot_rows import BALLOT
from tests.rules.propose_rows import PROPOSE
from tests.rules.row import Part, Row

__all__ = ["PARTS"]


_PULL: Final = "tests/cli/test_pull_request.py"
_REAL: Final = "tests/package/test_real_agreement.py"
_ASKING: Final = "tests/cli/test_review_to_agreement.py"

_ROWS: Final = (
    Row(
        id="D-01",
        tests=(f"{_PULL}::test_prose_starts_nothing", f"{_PULL}::test_a_number_or_a_flag_alone_is_a_review"),
        decided=True,
    ),
    Row(
        id="D-02",
        tests=(
            f"{_ASKING}::test_every_flag_of_a_review_reaches_its_case",
            f"{_ASKING}::test_a_flag_that_would_do_nothing_is_refused",
        ),
    ),
    Row(id="D-03", tests=(f"{_ASKING}::test_everything_is_rooted_in_the_repository_that_is_named",)),
    Row(id="D-04", tests=(f"{_PULL}::test_a_pull_request_is_judged_by_its_number_and_gets_one_comment",)),
    Row(
        id="D-05",
        tests=("tests/cli/test_review_worktree.py::test_with_worktree_the_files_are_judged_as_they_lie",),
    ),
    Row(
        id="D-06",
        tests=(
            f"{_PULL}::test_a_dirty_tree_is_refused_before_anything_is_checked_out",
            f"{_ASKING}::test_a_work_tree_that_is_not_clean_is_refused_where_commits_are_made",
        ),
    ),
    Row(
        id="D-07",
        tests=(
            f"{_PULL}::test_no_pull_request_is_told_from_an_error",
            f"{_PULL}::test_gh_is_not_called_where_nothing_is_to_be_posted",
        ),
        decided=True,
    ),
    Row(id="D-08", decided=True),
    Row(id="D-09", decided=True),
    Row(id="D-10", tests=(f"{_ASKING}::test_the_files_for_scripts_are_written_as_the_rounds_go",), decided=True),
    Row(id="D-11"),
    Row(id="D-12"),
    Row(id="D-13", tests=(f"{_ASKING}::test_the_files_for_scripts_are_written_as_the_rounds_go",)),
    Row(id="D-14"),
    Row(id="D-15", tests=(f"{_ASKING}::test_the_rationale_goes_to_everybody_and_the_context_to_the_author",)),
    Row(id="D-16", tests=(f"{_REAL}::test_two_planted_bugs_are_mended_in_two_rounds_and_two_commits",)),
    Row(id="D-17", decided=True),
    Row(id="D-18", tests=(f"{_ASKING}::test_a_reviewer_without_a_verdict_ends_the_case_as_failed",), decided=True),
    Row(
        id="D-19",
        tests=(
            f"{_PULL}::test_a_pull_request_is_judged_by_its_number_and_gets_one_comment",
            f"{_PULL}::test_the_comment_says_who_sat_there_and_on_whose_behalf",
        ),
    ),
    Row(id="D-20", tests=(f"{_ASKING}::test_the_report_has_rounds_effort_and_commits",), decided=True),
    Row(id="D-21", tests=(f"{_ASKING}::test_the_pages_say_that_nobody_is_boxed",)),
    Row(id="D-22", decided=True),
    Row(id="D-23", decided=True),
    Row(id="D-24", decided=True),
    Row(id="D-33", tests=(f"{_ASKING}::test_two_reviews_side_by_side_do_not_collide",)),
)

REVIEW: Final = Part(
    wanted=tuple(f"D-{number:02}" for number in (*range(1, 25), 33)),
    decisions="docs/decisions/0004-review-to-agreement.md",
    rows=_ROWS,
)

PARTS: Final = (REVIEW, PROPOSE, BALLOT, ANSWER)
