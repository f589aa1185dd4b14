"""The rules of what an entry may hold, each with where it comes from and its two examples."""

from typing import Final

from tests.rules.rule import Rule

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Rule(
        id="NAME-1",
        source="SPEC C-004, SECURITY R19, R20",
        accepted="tests/rules/test_entries.py::test_ascii_name_is_accepted",
        refused="tests/rules/test_entries.py::test_name_that_is_no_file_name_everywhere_is_refused",
    ),
    Rule(
        id="REFS-1",
        source="SPEC C-015, SECURITY R19",
        accepted="tests/rules/test_entries.py::test_one_line_of_refs_is_accepted",
        refused="tests/rules/test_entries.py::test_refs_of_two_lines_are_refused",
    ),
    Rule(
        id="TEXT-1",
        source="SPEC C-013, C-014, SECURITY R17",
        accepted="tests/rules/test_entries.py::test_indented_header_is_accepted",
        refused="tests/rules/test_entries.py::test_line_that_reads_as_a_header_is_refused",
    ),
    Rule(
        id="TEXT-2",
        source="DESIGN section 5",
        accepted="tests/rules/test_entries.py::test_trailer_within_a_line_is_accepted",
        refused="tests/rules/test_entries.py::test_line_that_begins_as_a_trailer_is_refused",
    ),
    Rule(
        id="TEXT-3",
        source="SPEC C-020",
        accepted="tests/rules/test_entries.py::test_entry_of_fields_alone_is_accepted",
        refused="tests/rules/test_entries.py::test_empty_entry_is_refused",
    ),
    Rule(
        id="TEXT-4",
        source="DESIGN section 5",
        accepted="tests/rules/test_entries.py::test_typed_lookalike_before_the_end_is_accepted",
        refused="tests/rules/test_entries.py::test_text_that_ends_as_a_typed_object_is_refused",
    ),
    Rule(
        id="TEXT-5",
        source="SECURITY B.1 (6), R19",
        accepted="tests/rules/test_entries.py::test_hidden_character_is_accepted_in_a_shared_channel",
        refused="tests/rules/test_entries.py::test_hidden_character_is_refused_in_a_strict_channel",
    ),
    Rule(
        id="TEXT-6",
        source="DESIGN section 5",
        accepted="tests/rules/test_entries.py::test_text_of_a_mebibyte_is_accepted",
        refused="tests/rules/test_entries.py::test_text_beyond_a_mebibyte_is_refused",
    ),
    Rule(
        id="FIELDS-1",
        source="SECURITY B.4",
        accepted="tests/rules/test_entries.py::test_typed_object_at_the_cap_is_accepted",
        refused="tests/rules/test_entries.py::test_typed_object_without_canonical_form_is_refused",
    ),
    Rule(
        id="SIGN-1",
        source="SECURITY B.1, R3, R12",
        accepted="tests/rules/test_entries.py::test_entry_signed_with_its_senders_key_is_accepted",
        refused="tests/rules/test_entries.py::test_entry_that_another_key_would_sign_is_refused",
    ),
)
