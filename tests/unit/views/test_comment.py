"""The comment on a pull request: who speaks, what came of it, and that no text of others is more than text there."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.core.canonical import HIDDEN
from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import Seat
from counterpoint.core.entries import CandidateOffered, DispositionGiven, Entry
from counterpoint.core.findings import Disposition, Finding, Ledger
from counterpoint.core.values import Severity
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.drive.pull_request import MAX_BODY, marked
from counterpoint.record.memory import MemoryStore
from counterpoint.views.comment import render_comment
from tests import need
from tests.example_cases import EXAMPLES, HOSTILE, play
from tests.example_rounds import COMMITS

BY = "Ada Lovelace"
BLOCKS = {
    "paragraph_open",
    "paragraph_close",
    "bullet_list_open",
    "bullet_list_close",
    "list_item_open",
    "list_item_close",
    "inline",
    *(f"{part}_{end}" for part in ("table", "thead", "tbody", "tr", "th", "td") for end in ("open", "close")),
}
INNER = {"text", "code_inline", "strong_open", "strong_close"}
ACTS = re.compile(
    r"@|#\d|://|www\.|\bgh-\d|\b[a-z][a-z0-9]*-\d|[0-9a-f]{7}|:[a-z0-9_+-]+:|\$|<|&|!\[|\]\(", re.IGNORECASE
)
"""What a forge makes more of in text that is not code."""
TRICKS = (
    "fixes #12",
    "Closes GH-12 and resolves acme/shop#3",
    "duplicate of #7",
    "thanks @somebody and @acme/owners",
    "see https://example.org or www.example.org, mailto:me@example.org",
    "![x](https://example.org/x.png)",
    "[a link](javascript:alert(1))",
    "<img src=x onerror=alert(1)> <!-- counterpoint review -->",
    "| a | b |\n| - | - |",
    "`a` ``b`` ``` c",
    "PROJ-123 reverts deadbeefdeadbeef",
    "$x$ and $`y`$ and :tada:",
    "\n\n/approve\n\n/lgtm",
    "\u202ereversed\u200b and \x1b[31mred",
    "&#64;somebody &commat;somebody",
    HOSTILE,
)
PIECES = st.lists(st.sampled_from([*TRICKS, " ", "\n", "`", "|", "a", "- ", ". "])).map("".join) | st.text()


@cache
def _loaded(example: str) -> LoadedCase:
    store = MemoryStore()
    return load_case(store, Path("/somewhere"), play(example, store))


def _finding(number: int, issue: str, seat: str = "critic") -> Finding:
    return Finding(
        id=f"{seat}-F{number}",
        seat=seat,
        round=1,
        candidate=COMMITS[0],
        severity=Severity.MINOR,
        location="a.py",
        issue=issue,
        suggestion="",
    )


def _with_findings(findings: Sequence[Finding], example: str = "unresolved") -> LoadedCase:
    case = _loaded(example)
    return replace(case, state=replace(case.state, ledger=Ledger({each.id: each for each in findings})))


def _check_inert(comment: str) -> None:
    """Hold a comment to be of our structure, with nothing outside code that a forge acts on but our commits' ids."""
    reader = need.python_module("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens: list[Any] = reader.parse(comment)
    assert {token.type for token in tokens} <= BLOCKS
    inner = [each for token in tokens for each in token.children or ()]
    assert {each.type for each in inner} <= INNER
    plain = [each.content for each in inner if each.type == "text"]
    assert [text for text in plain if ACTS.search(text) and text not in {each[:12] for each in COMMITS}] == []
    assert not HIDDEN.search(comment)
    assert not [line for line in comment.split("\n") if line.startswith("/")]


def _legend(comment: str) -> list[str]:
    return [line for line in comment.split("\n") if line.startswith("- ")]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_comment_is_inert_in_every_example(example: str) -> None:
    """No mention, link, picture, reference, HTML or table but ours (SPEC D-19; SECURITY T2, T3)."""
    comment = render_comment(_loaded(example), by=BY)
    _check_inert(comment)
    assert comment == render_comment(_loaded(example), by=BY)


@pytest.mark.parametrize("trick", TRICKS)
def test_no_issue_can_act_on_a_forge(trick: str) -> None:
    """Closing keywords, mentions, commands, pictures, links without brackets (SPEC D-19; SECURITY T2, T3)."""
    comment = render_comment(_with_findings([_finding(1, trick)]), by=BY)
    _check_inert(comment)
    assert len(_legend(comment)) == 1


@given(PIECES)
def test_no_text_can_act_on_a_forge(issue: str) -> None:
    """Whatever a reviewer writes is a line of its own, and one."""
    comment = render_comment(_with_findings([_finding(1, issue), _finding(2, "Plain.")]), by=BY)
    _check_inert(comment)
    assert len(_legend(comment)) == 2


@pytest.mark.parametrize("name", ["@owner", "a`b", "<b>x</b>", "x\ny", "[me](https://example.org)"])
def test_names_of_parties_and_people_are_text_too(name: str) -> None:
    """A login may be anything (F39)."""
    case = _loaded("unresolved")
    seat = Seat(name="critic", party=name, agent=name)
    state = replace(case.state, opened=replace(case.state.case, roster=(seat,)))
    _check_inert(render_comment(replace(case, state=state), by=name))


def test_it_says_who_speaks_for_whom_by_what_and_that_it_is_no_approval() -> None:
    """It stands under the operator's account, and cannot be told from the person otherwise (FIELD-FAULTS F39)."""
    first = render_comment(_loaded("to-agreement"), by=BY).split("\n")[0]
    for said in (
        "Counterpoint",
        f"on behalf of `{BY}`",
        "not an approval",
        "`ana` (author, `claude`, a `command` agent)",
        "`checks` (`checks`, a `checks` agent)",
        "`critic` (`codex`, a `command` agent)",
    ):
        assert said in first


@pytest.mark.parametrize(
    ("example", "header"),
    [
        ("to-agreement", "**Approved**: 3 readings, 2 answers; effort high; base `0b5a77d10b5a`"),
        (
            "unresolved",
            "**Unresolved**: 2 readings, 1 answer; effort low; base `0b5a77d10b5a`; edits were not committed",
        ),
        ("rejected", "**Rejected**: 1 reading; effort high; base `0b5a77d10b5a`"),
        ("failed", "**Failed**: 0 readings; effort high; base `0b5a77d10b5a`"),
        ("open-and-waiting", "**Open, nothing is decided**: 0 readings; effort high; base `0b5a77d10b5a`"),
    ],
)
def test_the_header_has_rounds_effort_base_and_decision(example: str, header: str) -> None:
    """SPEC D-19."""
    assert render_comment(_loaded(example), by=BY).split("\n")[2] == header


def test_each_commit_of_the_case_has_a_row_with_its_bare_short_id() -> None:
    """Bare, so that the forge links it; with its round and what it answers (SPEC D-19)."""
    rows = [line for line in render_comment(_loaded("to-agreement"), by=BY).split("\n") if line.startswith("|")]
    assert rows[0] == "| Commit | Round | Answers |"
    assert rows[2].startswith(
        f"| {COMMITS[0][:12]} | 1 | `checks-F1` fixed, `critic-F1` fixed, `critic-F2` disputed,"
    )
    assert rows[3:] == [f"| {COMMITS[1][:12]} | 2 | `critic-F2` partial |"]


def test_candidates_that_are_no_commits_have_no_row() -> None:
    """With `--no-commit` there is nothing on the forge to name (SPEC D-02)."""
    case = _loaded("to-agreement")
    opened = replace(case.state.case, terms=replace(case.state.case.terms, commits=False))
    comment = render_comment(replace(case, state=replace(case.state, opened=opened)), by=BY)
    assert "|" not in comment
    assert "; edits were not committed" in comment


def test_a_candidate_that_is_no_commit_id_is_not_bare() -> None:
    """A record can be forged; its text is text."""
    case = _loaded("to-agreement")
    entries = tuple(
        replace(entry, candidate="@all") if isinstance(entry, CandidateOffered) else entry for entry in case.entries
    )
    comment = render_comment(replace(case, entries=entries), by=BY)
    assert "| `@all` | 1 |" in comment
    _check_inert(comment)


def test_the_legend_has_a_line_for_each_finding_in_numeric_order() -> None:
    """Its id, where it stands, and the first sentence of its issue (SPEC D-19)."""
    assert _legend(render_comment(_loaded("to-agreement"), by=BY)) == [
        "- `checks-F1` settled: `` `python -m pytest -q` fails: exit 1. ``",
        "- `critic-F1` settled: The discount starts at 101.",
        "- `critic-F2` settled: A negative quantity gives a price.",
        "- `critic-F3` settled without a reason: The rate stands twice in this module.",
        "- `critic-F4` must happen before this ships: The new terms have to be signed off before they are sold.",
        "- `critic-F10` settled: `` `calc` says little. ``",
        "- `critic-F11` settled: The refusal of negative quantities refuses zero, too.",
    ]


def test_a_finding_that_code_refuted_is_not_shown_as_open() -> None:
    """Neither is one that is disputed shown as agreed (DESIGN 7.5)."""
    refuted = replace(_finding(1, "Untrue."), evidence=EvidenceStatus.REFUTED)
    assert _legend(render_comment(_with_findings([refuted]), by=BY)) == ["- `critic-F1` refuted by evidence: Untrue."]
    assert "- `critic-F2` open, disputed by the author: " in render_comment(_loaded("unresolved"), by=BY)


def test_a_legend_that_does_not_fit_is_cut_and_says_by_how_much() -> None:
    """At most what GitHub takes, marker included, and never silently (SPEC D-19, ours)."""
    findings = [_finding(number, f"{'long words ' * 25}{number}.") for number in range(1, 2001)]
    comment = render_comment(_with_findings(findings, "to-agreement"), by=BY)
    assert MAX_BODY - 1000 < len(marked(comment)) <= MAX_BODY
    *lines, last = _legend(comment)
    assert last == f"- and {2000 - len(lines)} findings more, left out here; the report of the case has them all"
    assert len(lines) > 100
    _check_inert(comment)


def test_a_cut_comment_fits_wherever_it_is_cut() -> None:
    """Lines of every length: what is left of the room for the next is between nothing and all of it."""
    for length in range(150, 290, 3):
        findings = [_finding(number, "a" * length) for number in range(1000, 1500)]
        comment = render_comment(_with_findings(findings), by=BY)
        assert " more, left out here" in comment
        assert len(marked(comment)) <= MAX_BODY, length


def test_a_table_that_does_not_fit_is_cut_and_says_by_how_much() -> None:
    """Neither commits nor seats without number push out everything else."""
    case = _loaded("to-agreement")
    block, first = next(
        (b, e) for b, e in zip(case.blocks, case.entries, strict=True) if isinstance(e, CandidateOffered)
    )
    added: list[Entry] = []
    for number in range(1, 1001):
        added += [
            DispositionGiven(seat="ana", round=number, id=f"critic-F{n}", disposition=Disposition.FIX, reasoning="x")
            for n in range(30)
        ]
        added.append(replace(first, round=number))
    roster = tuple(Seat(name=f"critic-{number}", party="codex") for number in range(1000))
    opened = replace(case.state.case, roster=(*case.state.case.roster, *roster))
    long = replace(
        case,
        entries=tuple(added),
        blocks=(block,) * len(added),
        state=replace(case.state, round=1001, opened=opened),
    )
    comment = render_comment(long, by=BY)
    rows = [line for line in comment.split("\n") if line.startswith("|")][2:]
    assert rows[-1] == f"| and {1000 - len(rows) + 1} commits more | | |"
    assert rows[0].endswith(", `critic-F19` fixed and 10 more |")
    assert " and 983 more." in comment.split("\n")[0]
    assert len(_legend(comment)) == 7
    assert len(marked(comment)) <= MAX_BODY
