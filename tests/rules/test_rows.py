"""Every row of SPEC is kept somewhere, and whatever says that it keeps one is listed with it."""

import re
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.need import ROOT
from tests.rules.manifest import RULES
from tests.rules.row import Part, Row
from tests.rules.rows import PARTS

ROWS: Final = [row for part in PARTS for row in part.rows]
_ID: Final = re.compile(r"[A-E]-\d\d")


def _rules_of(row: str) -> list[str]:
    return [rule.id for rule in RULES if row in _ID.findall(_spelt(rule.source))]


def _spelt(source: str) -> str:
    """Return a source with its ranges written out: `D-10 to D-12`."""

    def every(found: re.Match[str]) -> str:
        return ", ".join(f"{found[1]}-{number:02}" for number in range(int(found[2]), int(found[3]) + 1))

    return re.sub(r"([A-E])-(\d\d) to \1-(\d\d)", every, source)


def test_every_part_that_is_written_down_is_held() -> None:
    """A list of rows beside this file that nobody imports would hold nothing."""
    beside = [import_module(f"tests.rules.{path.stem}") for path in sorted(Path(__file__).parent.glob("*_rows.py"))]
    written = [value for module in beside for value in vars(module).values() if isinstance(value, Part)]
    assert written
    assert all(part in PARTS for part in written)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.wanted[0])
def test_every_row_is_listed_once(part: Part) -> None:
    """Issues 3 and 6: every row of a part, in its order."""
    assert tuple(row.id for row in part.rows) == part.wanted


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_row_is_kept_by_a_rule_a_test_or_a_decision(row: Row) -> None:
    """None is kept by a good intention."""
    assert _rules_of(row.id) or row.tests or row.decided


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.wanted[0])
def test_the_decisions_about_rows_are_those_that_are_listed(part: Part) -> None:
    """In both directions."""
    text = (ROOT / part.decisions).read_text("utf-8")
    decided = set(re.findall(r"^- \*\*([A-E]-\d\d)\*\*:", text, re.MULTILINE))
    assert decided == {row.id for row in part.rows if row.decided}


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in row.tests}))
def test_a_test_that_keeps_a_row_is_there(name: str) -> None:
    """And its docstring or its module's names the row."""
    file, function = name.split("::")
    text = (ROOT / file).read_text("utf-8")
    assert f"def {function}(" in text
    body = text.partition(f"def {function}(")[2].partition("\ndef ")[0]
    rows = [row.id for row in ROWS if name in row.tests]
    assert all(row in _spelt(body) or row in _spelt(text.partition("\nimport ")[0]) for row in rows), rows
