"""The table on the page of each protocol is the code's."""

import re
from typing import Any, Final

import pytest

from counterpoint.core.entries import ENTRY_TYPES
from counterpoint.core.rules import Rules
from counterpoint.protocols.answer import ANSWER
from counterpoint.protocols.ballot import BALLOT
from counterpoint.protocols.propose import PROPOSE
from counterpoint.protocols.review import REVIEW
from tests.golden_files import check_golden
from tests.need import ROOT

_TABLE: Final = re.compile(r"(<!-- table: .*? -->\n)(.*?)(<!-- /table -->)", re.DOTALL)


def _drawn(rules: Rules[Any]) -> str:
    rows = ["| In phase | may follow | and leads to |", "| --- | --- | --- |"]
    for phase, steps in rules.table.items():
        rows += [f"| {phase} | `{wire}` | {steps[kind]} |" for wire, kind in ENTRY_TYPES.items() if kind in steps]
        rows += [] if steps else [f"| {phase} | nothing | |"]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("rules", [ANSWER, BALLOT, PROPOSE, REVIEW], ids=lambda rules: rules.name)
def test_the_table_of_phases_is_the_codes(rules: Rules[Any]) -> None:
    """The page cannot drift from TABLE (STYLE 1: the table draws the docs)."""
    path = ROOT / "docs/protocols" / f"{rules.name}.md"
    page = path.read_text("utf-8")
    check_golden(path, _TABLE.sub(lambda found: f"{found[1]}{_drawn(rules)}{found[3]}", page))
    assert len(_TABLE.findall(page)) == 1
