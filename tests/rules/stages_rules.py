"""The rules of every protocol made of stages, each with where it comes from and its two examples."""

from typing import Final

from tests.rules.rule import Rule

__all__ = ["STAGES"]

STAGES: Final = (
    Rule(
        id="FOLLOW-1",
        source="DESIGN 4",
        accepted="tests/rules/test_stages.py::test_a_stage_that_the_rules_compute_follows",
        refused="tests/rules/test_stages.py::test_a_stage_that_the_rules_do_not_compute_is_refused",
    ),
    Rule(
        id="EVIDENCE-1",
        source="DESIGN 7.5",
        accepted="tests/rules/test_stages.py::test_an_answer_whose_evidence_is_in_the_record_is_taken",
        refused="tests/rules/test_stages.py::test_an_answer_whose_evidence_is_not_in_the_record_is_refused",
    ),
)
