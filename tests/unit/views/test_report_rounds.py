"""What `report.md` says of a case with an author. The whole text of three stands in the golden files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import Seat, Terms
from counterpoint.core.edits import Made
from counterpoint.core.entries import FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.values import Severity
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.record.memory import MemoryStore
from counterpoint.views.report import render_report
from tests.example_cases import DOCKET, PASSING, play
from tests.example_play import CANDIDATE, CHECKS, LINT, NAMED, TEST, Play, finding, ran, verdict
from tests.example_rounds import ANA, COMMITS, READER, answers


def _loaded(example: str) -> LoadedCase:
    store = MemoryStore()
    return load_case(store, Path(), play(example, store))


def _section(report: str, title: str) -> str:
    """Return a section of a report, its sub-sections included."""
    return report[report.index(f"\n{title}") + 1 :].split("\n## ", 1)[0]


def _after_answer(author: Seat = ANA, **more: Any) -> tuple[MemoryStore, Play]:
    """Return a case in which one reviewer approved, one did not, and the author is to answer."""
    store = MemoryStore()
    case = Play(
        store,
        roster=(author, CHECKS, READER),
        found=PASSING,
        made=[Made(candidate=COMMITS[0], paths=DOCKET.paths, change="a" * 64)],
        **more,
    )
    case.answer("checks", NAMED)
    case.answer("critic", verdict("No.", approved=False, findings=[finding("F1", "major", "It is wrong.")]))
    case.settle()
    return store, case


def test_both_positions_of_a_dispute_stand_under_the_finding() -> None:
    """Answers and rulings in the order of the rounds, whole (issue 3: "with both positions")."""
    disputed = _section(render_report(_loaded("unresolved")), "### `critic-F2`")
    said = (
        "**Disputed**",
        "Round 1, `ana` answers, **disputed**:",
        "The form refuses it before it gets here.",
        "Round 2, `critic` rules that it stands:",
        "The import does not go through the form.",
    )
    places = [disputed.index(words) for words in said]
    assert places == sorted(places)


def test_what_was_deferred_has_a_section_of_its_own_and_a_line_at_the_top() -> None:
    """A gate outside the change is not lost in an approval (SPEC D-17)."""
    report = render_report(_loaded("to-agreement"))
    deferred = _section(report, "## Must happen before this ships: 1")
    assert "### `critic-F4`, minor" in deferred
    assert "The legal sign-off of the release settles it." in deferred
    assert report.count("### `critic-F4`") == 1
    assert "- Must happen before this ships: `critic-F4`\n" in report[: report.index("\n## ")]


def test_a_concession_without_a_reason_is_marked() -> None:
    """The author disputed it, and its raiser settled it and named nothing (DESIGN 7.3)."""
    report = render_report(_loaded("to-agreement"))
    assert "- Settled without a reason: `critic-F3`\n" in report
    assert report.count("**Unevidenced concession**") == 1
    marked = report.index("**Unevidenced concession**")
    assert report.rindex("### ", 0, marked) == report.index("### `critic-F3`")


def test_the_commits_of_a_case_are_its_offers() -> None:
    """Round, full id and paths, from what the case opened with (SPEC D-20)."""
    report = render_report(_loaded("to-agreement"))
    assert f"- Candidate: `{COMMITS[1]}`\n- The case opened with: `{CANDIDATE}`\n" in report
    commits = _section(report, "## Commits of the case: 2").splitlines()
    listed = [line for line in commits if line.startswith("- ")]
    assert listed[0].startswith(f"- The case opened with `{CANDIDATE}`, against the base")
    assert listed[1].endswith(f"`{COMMITS[0]}` changes `shop/price.py`, `tests/test_price.py`")
    assert listed[2].endswith(f"`{COMMITS[1]}` changes `shop/price.py`")


def test_debate_is_held_against_the_opening_vote() -> None:
    """Who had approved blind, who does now, and the difference (DESIGN 7.1)."""
    gain = _section(render_report(_loaded("to-agreement")), "## Gain of debate over the opening vote")
    assert "- Opening vote: 0 of 2 verdicts approved\n" in gain
    assert "- Final verdicts on the newest candidate: 2 of 2 verdicts approved\n- Gain: 2 approvals more\n" in gain
    assert "- Gain: none\n" in render_report(_loaded("unresolved"))
    assert "Gain of debate" not in render_report(_loaded("rejected"))


def test_an_approval_of_an_older_candidate_is_not_reported_as_one() -> None:
    """The budget ends the case before the edit is read again: the old approval counts for nothing (DESIGN 4, F11)."""
    store, case = _after_answer(limits=Limits(max_rounds=3, max_calls=3))
    case.answer("ana", answers("Mend it", ("critic-F1", "fix", "Mended."), changed=("shop/price.py",)))
    case.settle()
    case.settle()
    report = render_report(load_case(store, Path(), case.name))
    assert report.startswith("# Unresolved: ")
    seats = _section(report, "## Seats")
    assert seats.count(f"its verdict is on `{CANDIDATE[:12]}` and counts for nothing now") == 2
    assert "approved" not in seats
    assert "- Final verdicts on the newest candidate: 0 of 0 verdicts approved\n- Gain: 1 approval fewer" in report
    assert f"### Round 2, of `{COMMITS[0][:12]}`\n\n- no verdict was given\n" in report


def test_coverage_and_commands_are_of_the_newest_candidate() -> None:
    """What ran on an older one is said to have (F11)."""
    report = render_report(_loaded("to-agreement"))
    assert "3 paths changed in the newest candidate." in report
    commands = _section(report, "## Commands")
    assert f"**failed** on `{CANDIDATE[:12]}`, which is not the newest: exit 1." in commands
    assert f"`python -m pytest -q` (test) passed on `{COMMITS[1][:12]}`: exit 0." in commands


@pytest.mark.parametrize(
    ("agent", "said"),
    [("command", "git for-each-ref refs/counterpoint/"), ("human", "What a person edits stays in the work tree.")],
)
def test_it_is_said_where_edits_are_that_came_to_nothing(agent: str, said: str) -> None:
    """Nothing of an author's work is lost, and the report says where to look (DESIGN "Work trees")."""
    store, case = _after_answer(replace(ANA, agent=agent))
    for _ in range(2):
        case.fail("ana", FailureReason.BAD_REPLY, "prose")
    case.settle()
    report = render_report(load_case(store, Path(), case.name))
    assert report.startswith("# Failed: ")
    assert said in _section(report, "## Commits of the case: 0")
    assert "The author changed nothing." in report


def test_edits_that_are_not_committed_are_said_to_be_trees() -> None:
    """With `--no-commit` a candidate is the tree of the files as they lie (SPEC D-02)."""
    store, case = _after_answer(terms=Terms(commits=False))
    case.answer("ana", answers("Mend it", ("critic-F1", "fix", "Mended."), changed=("shop/price.py",)))
    case.settle()
    report = render_report(load_case(store, Path(), case.name))
    assert "The edits were not committed" in _section(report, "## Candidates of the case: 1")


def test_the_terms_that_hold_are_named() -> None:
    """Rounds, effort and what blocks; without an author only what differs from the usual (SPEC D-20)."""
    head = render_report(_loaded("unresolved")).split("\n## ", 1)[0]
    for line in (
        "- Rounds: 2 readings, 1 answer of the author\n",
        "- Effort: low\n",
        "- What stands in the way of approval: open findings from major on\n",
    ):
        assert line in head
    store = MemoryStore()
    alone = Play(store, roster=(CHECKS,), terms=Terms(block_on=Severity.MINOR), found=PASSING)
    head = render_report(load_case(store, Path(), alone.name))
    assert "- What stands in the way of approval: open findings from minor on\n" in head
    assert "Effort" not in head


def test_rounds_without_a_number_end_by_agreement_or_a_stall() -> None:
    """`--until-agreement` (DESIGN 7.2)."""
    store, case = _after_answer(limits=Limits(max_rounds=0))
    report = render_report(load_case(store, Path(), case.name))
    assert "- Rounds: until they agree, or nothing moves; a seat is asked" in report
    assert report.startswith("# Open: nothing is decided yet.")


def test_the_context_is_counted_and_not_shown() -> None:
    """It was for the author alone; the record has it (SPEC D-15)."""
    report = render_report(_loaded("to-agreement"))
    assert "The author alone was given context, 30 characters; no reviewer was shown it." in report
    assert "drawer" not in report


def test_a_command_that_failed_on_an_older_candidate_has_its_output_there() -> None:
    """What it printed is told apart from what the newest prints."""
    store = MemoryStore()
    failing = [ran(argv, status, "exit", output="boom\n") for argv, status in _mixed()]
    case = Play(
        store,
        roster=(ANA, CHECKS),
        limits=Limits(max_rounds=1),
        found=[*failing, *(replace(e, request=replace(e.request, candidate=COMMITS[0])) for e in failing)],
        made=[Made(candidate=COMMITS[0], paths=DOCKET.paths, change="a" * 64)],
    )
    case.answer("checks", NAMED)
    case.settle()
    case.answer("ana", answers("Try", ("F1", "fix", "Tried."), changed=("shop/price.py",)))
    case.settle()
    case.answer("checks", NAMED)
    case.settle()
    commands = _section(render_report(load_case(store, Path(), case.name)), "## Commands")
    assert f"printed on `{CANDIDATE[:12]}`, which is not the newest:" in commands
    assert f"printed on `{COMMITS[0][:12]}`:" in commands


def _mixed() -> list[tuple[tuple[str, ...], EvidenceStatus]]:
    return [(TEST, EvidenceStatus.REFUTED), (LINT, EvidenceStatus.VERIFIED)]
