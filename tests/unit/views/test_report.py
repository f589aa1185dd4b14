"""What `report.md` says and never lets through. Its whole text stands in the golden files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.docket import ChangedPath, PathState
from counterpoint.core.entries import FailureReason
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.record.memory import MemoryStore
from counterpoint.views.report import headline, render_report
from tests import need
from tests.example_cases import CHECKS, CRITIC, DOCKET, EXAMPLES, NAMED, PASSING, Play, play

OURS = {
    "Open findings",
    "Must happen before this ships",
    "Refuted by evidence",
    "Settled findings",
    "Statements about commands",
    "Rounds",
    "Commits of the case",
    "Candidates of the case",
    "Commands",
    "Seats",
    "Coverage",
    "Opening votes",
    "Gain of debate over the opening vote",
    "Limits and use",
    "Notes",
    "Observers that failed and were called no more",
    "How to check this",
}
TYPES = {
    "heading_open",
    "heading_close",
    "paragraph_open",
    "paragraph_close",
    "bullet_list_open",
    "bullet_list_close",
    "list_item_open",
    "list_item_close",
    "inline",
    "fence",
}
INNER = {"text", "code_inline", "strong_open", "strong_close"}


def _loaded(example: str) -> LoadedCase:
    store = MemoryStore()
    return load_case(store, Path("/somewhere"), play(example, store))


def _parsed(markdown: str) -> list[Any]:
    reader = need.python_module("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens: list[Any] = reader.parse(markdown)
    return tokens


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_report_has_our_structure_and_no_other(example: str) -> None:
    """No heading, link, picture, HTML, table, quotation or rule but ours (SECURITY B.4, T1 to T3)."""
    tokens = _parsed(render_report(_loaded(example)))
    assert {token.type for token in tokens} <= TYPES
    assert {inner.type for token in tokens for inner in token.children or ()} <= INNER
    levels = [token.tag for token in tokens if token.type == "heading_open"]
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert levels[0] == "h1"
    assert levels.count("h1") == 1
    sections = {text.partition(":")[0] for text, level in zip(headings, levels, strict=True) if level == "h2"}
    assert sections <= OURS


@pytest.mark.parametrize("example", ["hostile", "hostile-rounds"])
def test_a_hostile_text_stands_in_code_alone(example: str) -> None:
    """Every word of it is inside a span or a fence; what stands outside is ours (SECURITY T2, T3, T5)."""
    tokens = _parsed(render_report(_loaded(example)))
    outside = " ".join(inner.content for token in tokens for inner in token.children or () if inner.type == "text")
    for word in ("heading", "alert", "example.org", "somebody", "indented", "bidi"):
        assert word not in outside


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_same_record_gives_the_same_bytes(example: str) -> None:
    """Played twice and rendered twice: neither clock nor machine is in it (DESIGN 8, issue 2 point 7)."""
    first, second = render_report(_loaded(example)), render_report(_loaded(example))
    assert first == second
    assert "/somewhere" not in first


@pytest.mark.parametrize(
    ("example", "begins"),
    [
        ("approved", "Approved: checks, critic approved"),
        ("rejected", "Rejected: 5 open: "),
        ("failed", "Failed: "),
        ("budget-spent", "Unresolved: the case stopped before it was decided: budget_spent"),
        ("deadline-passed", "Unresolved: the case stopped before it was decided: deadline_passed"),
        ("withdrawn", "Unresolved: the case stopped before it was decided: withdrawn; superseded"),
        ("open-and-waiting", "Open: nothing is decided yet."),
        ("to-agreement", "Approved: checks, critic approved, and nothing is open."),
        ("unresolved", "Unresolved: critic-F2 is open: critic holds it, and the author disputes it."),
    ],
)
def test_the_first_line_is_the_decision_and_why(example: str, begins: str) -> None:
    """One sentence, and a case that ended without a decision is never worded as one (F1, F7, F41)."""
    case = _loaded(example)
    assert headline(case).startswith(begins)
    assert render_report(case).startswith(f"# {headline(case)}\n")


def test_a_refuted_finding_is_told_apart_from_the_open_ones() -> None:
    """What code refuted stands under its own heading, below those that block, and says why (DESIGN 7.5)."""
    report = render_report(_loaded("rejected"))
    refuted = report[report.index("## Refuted by evidence") : report.index("## Settled findings")]
    for untrue in ("`critic-F2`, major", "A negative quantity gives a price.", "I ran the tests, they all pass."):
        assert untrue in refuted
        assert untrue not in report.replace(refuted, "")


def test_a_command_that_failed_before_is_marked() -> None:
    """A failure that the change did not bring is named as such (DESIGN "checks as a reviewer")."""
    report = render_report(_loaded("rejected"))
    assert "`ruff check .` (lint) **failed**: exit 1. **Failing before:** it fails at the base too." in report
    assert "`python -m pytest -q` (test) **failed**: exit 1. It passes at the base." in report


def test_a_candidate_that_was_read_whole_is_said_to_be() -> None:
    """Every changed path opened by a command, with nothing that code had to remark on, and no path that changed."""
    store = MemoryStore()
    read = [replace(evidence, paths_unread=()) for evidence in PASSING]
    case = Play(store, roster=(CHECKS,), docket=replace(DOCKET, remarks=()), found=read)
    case.answer("checks", NAMED)
    case.settle()
    report = render_report(load_case(store, Path(), case.name))
    assert "Every changed path was opened by a command." in report
    assert "What code noticed" not in report


def test_a_long_list_of_paths_is_cut_and_says_so() -> None:
    """A thousand unseen files are counted; the first fifty are named (F15)."""
    paths = tuple(ChangedPath(path=f"file-{number}.txt", state=PathState.TEXT) for number in range(1000))
    store = MemoryStore()
    case = Play(store, roster=(CRITIC,), docket=replace(DOCKET, paths=paths))
    for _ in range(2):
        case.fail("critic", FailureReason.TIMEOUT, "no answer within 1800 s")
    case.settle()
    report = render_report(load_case(store, Path(), case.name))
    assert "1000 paths changed." in report
    assert "- `file-49.txt`\n- and 950 more; `result.json` has them all\n" in report
    assert "file-50.txt" not in report
