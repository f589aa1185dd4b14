"""The page of `answer`: its table is the code's, and its examples are a case through every stage."""

import json
import re
from typing import Final

from counterpoint.core.docket import Docket
from counterpoint.core.entries import ENTRY_TYPES
from counterpoint.core.values import Decision
from counterpoint.protocols.answer import TABLE
from tests.answer_case import TREE, Play
from tests.golden_files import check_golden
from tests.need import ROOT

PAGE: Final = ROOT / "docs/protocols/answer.md"
_TABLE: Final = re.compile(r"(<!-- table: .*? -->\n)(.*?)(<!-- /table -->)", re.DOTALL)


def _drawn() -> str:
    rows = ["| In phase | may follow | and leads to |", "| --- | --- | --- |"]
    for phase, steps in TABLE.items():
        rows += [f"| {phase} | `{wire}` | {steps[kind]} |" for wire, kind in ENTRY_TYPES.items() if kind in steps]
        rows += [] if steps else [f"| {phase} | nothing | |"]
    return "\n".join(rows) + "\n"


def test_the_table_of_phases_is_the_codes() -> None:
    """The page cannot drift from TABLE (STYLE 1: the table draws the docs)."""
    page = PAGE.read_text("utf-8")
    check_golden(PAGE, _TABLE.sub(lambda found: f"{found[1]}{_drawn()}{found[3]}", page))
    assert len(_TABLE.findall(page)) == 1


def test_the_examples_are_a_case_through_every_stage() -> None:
    """One after the other, through the real `parse` and `admit` (SPEC D-26, D-28)."""
    page = PAGE.read_text("utf-8")
    first, compared, confirmed = (json.loads(body) for body in re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    case = Play(docket=Docket(question="Is the cache safe to share between threads?", tree=TREE))
    case.answer("ada", first)
    case.answer("bob", case.said("bob", "Yes."))
    case.settle()
    case.answer("ada", compared)
    case.answer("bob", case.said("bob", compared["answer"], why="I did not see the timer."))
    case.settle()
    assert [each.target for each in case.state.held_in(2)[0].objections] == ["bob"]
    for seat in ("ada", "bob"):
        case.answer(seat, confirmed)
    case.settle()
    assert case.outcome.decision is Decision.APPROVED


def test_the_reason_stands_before_the_verdict() -> None:
    """In schema and example a peer reasons before it agrees, changes or approves (DESIGN 7.8)."""
    page = PAGE.read_text("utf-8")
    for body, last in zip(
        re.findall(r"```json\n(.*?)```", page, re.DOTALL), ("answer", "answer", "approved"), strict=True
    ):
        keys = list(json.loads(body))
        assert (keys[0], keys[-1]) == ("reasoning", last)
