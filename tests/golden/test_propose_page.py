"""The page of `propose`: its table is the code's, and its examples are a case to agreement."""

import json
import re
from typing import Final

from counterpoint.core.entries import ENTRY_TYPES
from counterpoint.core.values import Decision
from counterpoint.protocols.propose import PROPOSE, TABLE
from counterpoint.protocols.propose.wire import DECISIONS, CaseStatus, Ended
from tests.golden_files import check_golden
from tests.need import ROOT
from tests.propose_case import Play

PAGE: Final = ROOT / "docs/protocols/propose.md"
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


def test_the_examples_are_a_case_to_agreement() -> None:
    """One after the other, through the real `parse` and `admit` (SPEC 1.1)."""
    found = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    proposal, scan, review, revision, again = (json.loads(body) for body in found)
    case = Play()
    case.all_answer(proposal, scan)
    case.all_answer(review)
    case.all_answer(revision)
    case.all_answer(again)
    assert case.outcome.decision is Decision.APPROVED
    assert PROPOSE.exit_code(case.outcome) == 0


def test_the_page_has_every_word_of_the_report() -> None:
    """Stop reasons, statuses and decisions (SPEC A-24, A-34, A-35)."""
    page = PAGE.read_text("utf-8")
    assert [word for word in (*Ended, *CaseStatus, *DECISIONS.values()) if f"`{word}`" not in page] == []
