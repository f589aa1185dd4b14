"""The rules of the mailbox, each with where it comes from and its two examples."""

from typing import Final

from tests.rules.rule import Rule

__all__ = ["MAILBOX"]

MAILBOX: Final = (
    Rule(
        id="POST-1",
        source="SPEC C-020",
        accepted="tests/rules/test_mailbox.py::test_a_text_that_says_something_is_accepted",
        refused="tests/rules/test_mailbox.py::test_an_empty_text_is_refused",
    ),
    Rule(
        id="POST-2",
        source="SPEC C-014, C-020",
        accepted="tests/rules/test_mailbox.py::test_a_text_that_quotes_a_header_is_accepted",
        refused="tests/rules/test_mailbox.py::test_a_text_with_a_line_that_reads_as_a_header_is_refused",
    ),
    Rule(
        id="POST-3",
        source="SPEC C-015, C-020",
        accepted="tests/rules/test_mailbox.py::test_refs_on_one_line_are_accepted",
        refused="tests/rules/test_mailbox.py::test_refs_on_two_lines_are_refused",
    ),
    Rule(
        id="POST-4",
        source="SPEC C-020",
        accepted="tests/rules/test_mailbox.py::test_a_type_of_the_format_is_accepted",
        refused="tests/rules/test_mailbox.py::test_another_type_is_refused",
    ),
    Rule(
        id="POST-5",
        source="SPEC C-020",
        accepted="tests/rules/test_mailbox.py::test_the_parties_and_the_supervisor_are_accepted",
        refused="tests/rules/test_mailbox.py::test_somebody_else_is_refused",
    ),
    Rule(
        id="POST-6",
        source="SPEC C-021",
        accepted="tests/rules/test_mailbox.py::test_the_supervisor_of_a_brokered_channel_is_accepted",
        refused="tests/rules/test_mailbox.py::test_a_party_of_a_brokered_channel_is_refused",
    ),
    Rule(
        id="POST-7",
        source="SPEC C-004, C-022",
        accepted="tests/rules/test_mailbox.py::test_a_thread_named_as_a_slug_is_accepted",
        refused="tests/rules/test_mailbox.py::test_a_thread_with_another_name_is_refused",
    ),
    Rule(
        id="POST-8",
        source="SPEC C-022",
        accepted="tests/rules/test_mailbox.py::test_force_by_the_supervisor_is_accepted",
        refused="tests/rules/test_mailbox.py::test_force_by_a_party_is_refused",
    ),
    Rule(
        id="POST-9",
        source="SPEC C-023",
        accepted="tests/rules/test_mailbox.py::test_refs_to_commits_of_the_project_are_accepted",
        refused="tests/rules/test_mailbox.py::test_refs_to_a_commit_of_another_repository_are_refused",
    ),
    Rule(
        id="POST-10",
        source="SPEC C-033",
        accepted="tests/rules/test_mailbox.py::test_refs_that_cite_a_commit_are_accepted_where_one_is_asked_for",
        refused="tests/rules/test_mailbox.py::test_refs_without_a_commit_are_refused_where_one_is_asked_for",
    ),
    Rule(
        id="THREAD-1",
        source="SPEC C-024",
        accepted="tests/rules/test_mailbox.py::test_a_party_opens_a_thread_with_an_opener",
        refused="tests/rules/test_mailbox.py::test_a_party_does_not_open_a_thread_with_an_answer",
    ),
    Rule(
        id="THREAD-2",
        source="SPEC C-025, C-030",
        accepted="tests/rules/test_mailbox.py::test_the_party_whose_turn_it_is_speaks",
        refused="tests/rules/test_mailbox.py::test_the_other_party_waits_for_its_turn",
    ),
    Rule(
        id="THREAD-3",
        source="SPEC C-026",
        accepted="tests/rules/test_mailbox.py::test_the_open_thread_goes_on",
        refused="tests/rules/test_mailbox.py::test_a_second_thread_beside_the_open_one_is_refused",
    ),
    Rule(
        id="THREAD-4",
        source="SPEC C-027",
        accepted="tests/rules/test_mailbox.py::test_a_thread_below_its_cap_goes_on",
        refused="tests/rules/test_mailbox.py::test_a_thread_at_its_cap_takes_nothing_but_a_close",
    ),
)
