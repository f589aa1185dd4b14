"""The page of `ballot`: its table is the code's, and its examples are a case through every stage."""

import json
import re
from typing import Final

from counterpoint.core.entries import ENTRY_TYPES, RoundOpened
from counterpoint.core.limits import Limits
from counterpoint.core.values import StopReason
from counterpoint.protocols.ballot import TABLE, Needs, Vote, Weight, debate_heading, version_heading
from tests.ballot_case import Play, docket_of, vote, weights
from tests.golden_files import check_golden
from tests.need import ROOT

PAGE: Final = ROOT / "docs/protocols/ballot.md"
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
    """One after the other, through the real `parse` and `admit` (SPEC B-04, B-09)."""
    found = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    given, classification, revision, challenge = (json.loads(body) for body in found)
    case = Play(limits=Limits(max_rounds=2), docket=docket_of())
    case.all_answer(given, vote(case, "yes"))
    assert isinstance(case.all_answer(classification), RoundOpened)
    case.all_answer(revision)
    case.all_answer(vote(case, "but", "a comma"), vote(case, "yes"))
    case.all_answer(weights(v2_R1="cosmetic"))
    case.all_answer(challenge, {"challenges": []})
    assert case.outcome.stop_reason is StopReason.NEEDS_INPUT


def test_the_page_has_every_word_and_both_headings() -> None:
    """A voter's script can be written from the page alone."""
    page = PAGE.read_text("utf-8")
    words = (*(f"`{word}`" for word in (*Needs, *Weight)), *Vote, version_heading(2), debate_heading(1))
    assert [word for word in words if word not in page] == []


def test_the_reason_stands_before_the_vote() -> None:
    """In schema and example a voter reasons before it votes (DESIGN 7.8)."""
    page = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert list(json.loads(page[0])) == ["reason", "reservations", "version", "candidate", "vote"]
    assert list(json.loads(page[1])["classifications"][0]) == ["reservation", "reason", "weight"]
