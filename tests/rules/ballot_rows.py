"""The rows of SPEC that `ballot` is held to, B-01 to B-20."""

from typing import Final

from tests.rules.row import Part, Row

__all__ = ["BALLOT"]

_CLI: Final = "tests/cli/test_ballot.py"
_VERIFY: Final = "tests/cli/test_ballot_verify.py"
_ENDS: Final = "tests/rules/test_ballot_endings.py"
_HOSTILE: Final = "tests/hostile/test_ballot.py"

BALLOT: Final = Part(
    wanted=tuple(f"B-{number:02}" for number in range(1, 21)),
    decisions="docs/decisions/0007-ballot.md",
    rows=(
        Row(id="B-01"),
        Row(
            id="B-02",
            tests=(
                f"{_ENDS}::test_a_script_of_answers_ends_as_it_must",
                f"{_CLI}::test_a_deadlock_goes_to_a_person_with_both_positions",
            ),
        ),
        Row(id="B-03", tests=(f"{_CLI}::test_a_plain_text_becomes_the_document_of_its_ballot",), decided=True),
        Row(id="B-04"),
        Row(id="B-05", decided=True),
        Row(id="B-06", tests=(f"{_HOSTILE}::test_a_brief_does_not_grow_with_the_rounds",), decided=True),
        Row(id="B-07", decided=True),
        Row(id="B-08", decided=True),
        Row(id="B-09", tests=(f"{_ENDS}::test_a_script_of_answers_ends_as_it_must",), decided=True),
        Row(
            id="B-10",
            tests=(f"{_ENDS}::test_a_vote_that_is_not_there_at_the_deadline_counts_as_rejected",),
            decided=True,
        ),
        Row(id="B-11", tests=(f"{_CLI}::test_each_round_has_a_snapshot_with_the_text_that_was_reviewed",)),
        Row(id="B-12", decided=True),
        Row(id="B-13", decided=True),
        Row(id="B-14", tests=(f"{_ENDS}::test_a_script_of_answers_ends_as_it_must",)),
        Row(
            id="B-15",
            tests=(f"{_ENDS}::test_a_deadline_while_challenges_are_heard_approves_nothing",),
            decided=True,
        ),
        Row(id="B-16", decided=True),
        Row(id="B-17", tests=(f"{_ENDS}::test_a_script_of_answers_ends_as_it_must",), decided=True),
        Row(id="B-18", decided=True),
        Row(
            id="B-19", tests=(f"{_CLI}::test_a_killed_ballot_goes_on_and_ends_with_the_same_document",), decided=True
        ),
        Row(id="B-20", tests=(f"{_VERIFY}::test_a_document_is_checked_against_itself_its_snapshots_and_its_record",)),
    ),
)
