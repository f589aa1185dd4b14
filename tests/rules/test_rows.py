"""Every row of SPEC's review part is kept somewhere, and whatever says that it keeps one is listed with it."""

import re
from typing import Final

import pytest

from tests.need import ROOT
from tests.rules.manifest import RULES
from tests.rules.rows import DECISIONS, ROWS, Row

WANTED: Final = [f"D-{number:02}" for number in (*range(1, 25), 33)]


def _rules_of(row: str) -> list[str]:
    return [rule.id for rule in RULES if row in re.findall(r"D-\d\d", _spelt(rule.source))]


def _spelt(source: str) -> str:
    """Return a source with its ranges written out: `D-10 to D-12`."""

    def every(found: re.Match[str]) -> str:
        return ", ".join(f"D-{number:02}" for number in range(int(found[1]), int(found[2]) + 1))

    return re.sub(r"D-(\d\d) to D-(\d\d)", every, source)


def _decided() -> set[str]:
    text = (ROOT / DECISIONS).read_text("utf-8")
    return set(re.findall(r"^- \*\*(D-\d\d)\*\*:", text, re.MULTILINE))


def test_every_row_is_listed_once() -> None:
    """Issue 3: every row D-01 to D-24, and D-33."""
    assert [row.id for row in ROWS] == WANTED


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_row_is_kept_by_a_rule_a_test_or_a_decision(row: Row) -> None:
    """None is kept by a good intention."""
    assert _rules_of(row.id) or row.tests or row.decided


def test_the_decisions_about_rows_are_those_that_are_listed() -> None:
    """In both directions."""
    assert _decided() == {row.id for row in ROWS if row.decided}


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in row.tests}))
def test_a_test_that_keeps_a_row_is_there(name: str) -> None:
    """And its docstring or its module's names the row."""
    file, function = name.split("::")
    text = (ROOT / file).read_text("utf-8")
    assert f"def {function}(" in text
    body = text.partition(f"def {function}(")[2].partition("\ndef ")[0]
    rows = [row.id for row in ROWS if name in row.tests]
    assert all(row in _spelt(body) or row in _spelt(text.partition("\nimport ")[0]) for row in rows), rows
