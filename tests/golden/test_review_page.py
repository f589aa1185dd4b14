"""The page of the review protocol: its table is the code's, its examples are what the schema takes."""

import json
import re
from typing import Final

from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import ENTRY_TYPES
from counterpoint.protocols.review import REVIEW, TABLE, GiveVerdict, NameChecks
from tests.golden_files import check_golden
from tests.need import ROOT
from tests.review_case import CHECKS, CRITIC, Play

PAGE: Final = ROOT / "docs/protocols/review.md"
_TABLE: Final = re.compile(r"(<!-- table: .*? -->\n)(.*?)(<!-- /table -->)", re.DOTALL)


def _drawn() -> str:
    rows = ["| In phase | may follow | and leads to |", "| --- | --- | --- |"]
    for phase, steps in TABLE.items():
        for wire, kind in ENTRY_TYPES.items():
            if kind in steps:
                rows.append(f"| {phase} | `{wire}` | {steps[kind]} |")
        if not steps:
            rows.append(f"| {phase} | nothing | |")
    return "\n".join(rows) + "\n"


def test_the_table_of_phases_is_the_codes() -> None:
    """The page cannot drift from TABLE (STYLE 1: the table draws the docs)."""
    page = PAGE.read_text("utf-8")
    check_golden(PAGE, _TABLE.sub(lambda found: f"{found[1]}{_drawn()}{found[3]}", page))
    assert len(_TABLE.findall(page)) == 1


def _examples() -> list[object]:
    return [json.loads(body) for body in re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)]


def test_the_examples_are_answers_that_the_rules_accept() -> None:
    """Each runs through the real schema, `parse` and `admit` (SPEC D-11)."""
    verdict, commands = _examples()
    case = Play(CRITIC, CHECKS)
    assert isinstance(case.weigh("critic", verdict)[0].submission, GiveVerdict)
    assert isinstance(case.weigh("checks", commands)[0].submission, NameChecks)


def test_the_example_of_a_verdict_shows_every_key() -> None:
    """A reader learns the whole shape from it."""
    case = Play(CRITIC)
    schema = REVIEW.schema(case.state, case.owed("critic"))
    verdict, _ = _examples()
    assert isinstance(verdict, dict)
    assert verdict.keys() == schema["properties"].keys()
    assert verdict["findings"][0].keys() == schema["properties"]["findings"]["items"]["properties"].keys()
    assert verdict["claims"][0].keys() == schema["properties"]["claims"]["items"]["properties"].keys()


def test_the_reason_stands_before_the_verdict() -> None:
    """In schema and example a reviewer reasons before it names a severity or approves (DESIGN 7, 8)."""
    case = Play(CRITIC)
    schema = REVIEW.schema(case.state, case.owed("critic"))
    item = list(schema["properties"]["findings"]["items"]["properties"])
    assert list(schema["properties"])[-1] == "approved"
    assert item.index("issue") < item.index("severity") < item.index("status")


def test_a_schema_has_two_shapes() -> None:
    """An opinion gives a verdict, checks name commands; there is no third kind of seat."""
    case = Play(CRITIC, CHECKS)
    keys = {
        seat.kind: set(REVIEW.schema(case.state, case.owed(seat.name))["properties"]) for seat in (CRITIC, CHECKS)
    }
    assert keys == {
        SeatKind.OPINION: {"summary", "findings", "claims", "responseToRebuttal", "candidate", "approved"},
        SeatKind.CHECKS: {"commands"},
    }
