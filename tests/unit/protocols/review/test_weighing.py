"""What a review comes to, condition by condition (DESIGN 4, "Checks as a reviewer"; FIELD-FAULTS F1, F3, F5, F15)."""

from dataclasses import replace
from typing import Any

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.entries import CaseOpened, FailureReason
from counterpoint.core.limits import Spent
from counterpoint.core.outcome import Coverage, Outcome, SeatEnd, SeatStatus
from counterpoint.core.values import Decision, StopReason, Usage
from tests.review_case import (
    CHECKS,
    CRITIC,
    DOCKET,
    INVENTED,
    NAMED_CHECKS,
    PATHS,
    PYTEST,
    RUFF,
    SKEPTIC,
    Play,
    Replies,
    Tree,
    came_to,
    claim,
    ended,
    finding,
    verdict,
)

VERIFIED, REFUTED, NOT_CHECKED = EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED, EvidenceStatus.NOT_CHECKED
APPROVED, REJECTED, UNDETERMINED = Decision.APPROVED, Decision.REJECTED, Decision.UNDETERMINED
AGREED, SPENT, FAILED = StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.FAILED


def test_an_outcome_says_everything_that_it_rests_on() -> None:
    """Seats, findings, evidence, coverage and what was spent, from the entries alone (DESIGN 4)."""
    case = Play(CRITIC, SKEPTIC, CHECKS, quorum=2)
    case.fail("skeptic", FailureReason.DRIVER_LOST)
    case.fail("skeptic")
    case.fail("skeptic")
    case.fail("critic")
    case.answer("critic", verdict(finding(), finding(id="F2", quote="return 7"), finding(id="F3", status="resolved")))
    case.answer("checks", NAMED_CHECKS)
    case.settle()
    ledger = case.state.ledger.by_id
    assert case.outcome == Outcome(
        decision=REJECTED,
        stop_reason=SPENT,
        reasons=("1 open: critic-F1",),
        open_findings=(ledger["critic-F1"],),
        refuted_findings=(ledger["critic-F2"],),
        deferred_findings=(),
        evidence=VERIFIED,
        seats=(
            SeatStatus(seat="critic", end=SeatEnd.ANSWERED, approved=False, attempts=2),
            SeatStatus(seat="skeptic", end=SeatEnd.FAILED, approved=False, attempts=3),
            SeatStatus(seat="checks", end=SeatEnd.ANSWERED, approved=True, attempts=1),
        ),
        coverage=Coverage(changed=PATHS, unseen=(), unread=None),
        spent=Spent(calls=6, usage=Usage(input_tokens=200, output_tokens=20, known=False)),
    )
    assert [(f.id, f.blocks) for f in case.state.ledger] == [
        ("critic-F1", True),
        ("critic-F2", False),
        ("critic-F3", False),
    ]


def test_an_open_case_has_no_decision() -> None:
    """Nothing of what is sealed shows in it (DESIGN "Sealing")."""
    case = Play(CRITIC, SKEPTIC)
    case.answer("critic", verdict())
    assert case.outcome == Outcome(
        decision=UNDETERMINED,
        stop_reason=None,
        reasons=("the case is open",),
        open_findings=(),
        refuted_findings=(),
        deferred_findings=(),
        evidence=NOT_CHECKED,
        seats=(
            SeatStatus(seat="critic", end=SeatEnd.ANSWERED, approved=False, attempts=1),
            SeatStatus(seat="skeptic", end=SeatEnd.NEVER_ANSWERED, approved=False, attempts=0),
        ),
        coverage=Coverage(changed=PATHS, unseen=PATHS, unread=None),
        spent=case.state.spent,
    )


@pytest.mark.parametrize(
    ("replies", "reasons"),
    [
        ({CRITIC: verdict()}, ("critic approved, and nothing is open",)),
        ({CRITIC: verdict(finding(status="resolved"))}, ("critic approved, and nothing is open",)),
        ({CRITIC: verdict(), SKEPTIC: verdict()}, ("critic, skeptic approved, and nothing is open",)),
        ({CHECKS: NAMED_CHECKS}, ("checks approved, and nothing is open",)),
        ({CRITIC: verdict(), CHECKS: NAMED_CHECKS}, ("critic, checks approved, and nothing is open",)),
        (
            {CRITIC: verdict(claims=[claim("pytest -q", passes=False)])},
            ("critic approved, and nothing is open",),
        ),
    ],
    ids=["one", "resolved", "two", "checks", "both", "wrong about a command"],
)
def test_a_review_in_which_everybody_approves_is_approved(replies: Replies, reasons: tuple[str, ...]) -> None:
    """Agreed, and the only way to be approved (DESIGN 8: exit 0 and nothing else)."""
    assert came_to(ended(replies)) == (AGREED, APPROVED, reasons)


@pytest.mark.parametrize(
    ("replies", "commands", "reasons"),
    [
        ({CRITIC: verdict(), SKEPTIC: verdict(finding(severity="nit"))}, {}, ("1 open: skeptic-F1",)),
        (
            {CRITIC: verdict(finding(), finding(id="F2")), SKEPTIC: verdict(finding())},
            {},
            ("3 open: critic-F1, critic-F2, skeptic-F1",),
        ),
        (
            {CRITIC: verdict(), CHECKS: NAMED_CHECKS},
            {RUFF.argv: REFUTED},
            ("1 open: checks-F2", "failing: ruff check"),
        ),
        (
            {CHECKS: NAMED_CHECKS},
            {RUFF.argv: REFUTED, PYTEST.argv: REFUTED},
            ("2 open: F1, F2", "failing: pytest -q, ruff check"),
        ),
        (
            {CRITIC: verdict(claims=[claim("pytest -q", passes=True)])},
            {PYTEST.argv: REFUTED},
            ("failing: pytest -q",),
        ),
        (
            {CRITIC: verdict(claims=[claim("pytest -q", passes=False)]), SKEPTIC: verdict(INVENTED)},
            {PYTEST.argv: REFUTED},
            ("failing: pytest -q",),
        ),
    ],
    ids=["a nit", "several", "checks", "all commands", "a claim", "a claim and a refuted finding"],
)
def test_whatever_stands_against_a_change_rejects_it(
    replies: Replies, commands: dict[tuple[str, ...], EvidenceStatus], reasons: tuple[str, ...]
) -> None:
    """FIELD-FAULTS F5: every source of findings can block, whoever else approves, and code outranks votes."""
    assert came_to(ended(replies, tree=Tree(commands=commands))) == (SPENT, REJECTED, reasons)


UNTESTED = "tests that show nothing: pytest -q (not installed)"
NONE_RAN = {PYTEST.argv: NOT_CHECKED, RUFF.argv: NOT_CHECKED}


@pytest.mark.parametrize(
    ("replies", "setting", "reasons"),
    [
        (
            {CRITIC: verdict(), SKEPTIC: verdict(INVENTED)},
            {},
            ("skeptic did not approve, and everything it named was refuted or settled",),
        ),
        (
            {CRITIC: verdict(), CHECKS: NAMED_CHECKS},
            {"tree": Tree(commands=NONE_RAN)},
            (f"checks did not approve: 0 of 2 commands passed, 0 failed, 2 not checked; {UNTESTED}",),
        ),
        (
            {CRITIC: verdict(), CHECKS: NAMED_CHECKS},
            {"tree": Tree(commands={PYTEST.argv: NOT_CHECKED})},
            (f"checks did not approve: 1 of 2 commands passed, 0 failed, 1 not checked; {UNTESTED}",),
        ),
        (
            {CHECKS: NAMED_CHECKS},
            {"tree": Tree(commands={PYTEST.argv: NOT_CHECKED})},
            (
                f"checks did not approve: 1 of 2 commands passed, 0 failed, 1 not checked; {UNTESTED}",
                "only checks answered, and no test command passed",
            ),
        ),
        (
            {CRITIC: None, CHECKS: NAMED_CHECKS},
            {"quorum": 1, "tree": Tree(commands={PYTEST.argv: NOT_CHECKED})},
            (
                f"checks did not approve: 1 of 2 commands passed, 0 failed, 1 not checked; {UNTESTED}",
                "only checks answered, and no test command passed",
            ),
        ),
        (
            {CHECKS: NAMED_CHECKS},
            {"tree": Tree(commands=NONE_RAN)},
            (
                f"checks did not approve: 0 of 2 commands passed, 0 failed, 2 not checked; {UNTESTED}",
                "nobody was shown src/timer.py, old.py",
                "only checks answered, and no test command passed",
            ),
        ),
        (
            {CHECKS: {"commands": []}},
            {"docket": replace(DOCKET, commands=())},
            (
                "checks did not approve: 0 of 0 commands passed, 0 failed, 0 not checked",
                "nobody was shown src/timer.py, old.py",
                "only checks answered, and no test command passed",
            ),
        ),
        ({CRITIC: verdict()}, {"shown": ("src/timer.py",)}, ("nobody was shown old.py",)),
        ({CRITIC: verdict(), SKEPTIC: None}, {"quorum": 1, "shown": ()}, ("nobody was shown src/timer.py, old.py",)),
    ],
    ids=[
        "all refuted",
        "checks beside an opinion",
        "a test that shows nothing beside an opinion",
        "no test passed",
        "checks alone are left",
        "nothing passed",
        "no commands",
        "a path unseen",
        "nothing seen",
    ],
)
def test_what_is_missing_leaves_a_review_undetermined(
    replies: Replies, setting: dict[str, Any], reasons: tuple[str, ...]
) -> None:
    """Never a pass, always the reason (DESIGN 7; FIELD-FAULTS F1, F9, F15)."""
    assert came_to(ended(replies, **setting)) == (SPENT, UNDETERMINED, reasons)


@pytest.mark.parametrize(
    ("replies", "quorum", "expected"),
    [
        ({CRITIC: verdict(), SKEPTIC: None}, 1, (AGREED, APPROVED, ("critic approved, and nothing is open",))),
        ({CRITIC: None, SKEPTIC: verdict(finding())}, 1, (SPENT, REJECTED, ("1 open: skeptic-F1",))),
        (
            {CRITIC: verdict(), SKEPTIC: None},
            2,
            (
                FAILED,
                UNDETERMINED,
                ("the case stopped before it was decided: failed", "skeptic gave no valid answer: no answer"),
            ),
        ),
        (
            {CRITIC: None, SKEPTIC: None},
            1,
            (
                FAILED,
                UNDETERMINED,
                ("the case stopped before it was decided: failed", "critic, skeptic gave no valid answer: no answer"),
            ),
        ),
    ],
    ids=["quorum holds", "quorum rejects", "one too few", "nobody"],
)
def test_a_seat_that_failed_counts_only_against_the_quorum(
    replies: Replies, quorum: int, expected: tuple[StopReason, Decision, tuple[str, ...]]
) -> None:
    """It is never an approval; without a quorum stated beforehand the case fails (DESIGN "Findings ledger")."""
    assert came_to(ended(replies, quorum=quorum)) == expected


@pytest.mark.parametrize(
    ("commands", "reply", "evidence"),
    [
        ({}, NAMED_CHECKS, VERIFIED),
        ({RUFF.argv: NOT_CHECKED}, NAMED_CHECKS, VERIFIED),
        ({PYTEST.argv: NOT_CHECKED}, NAMED_CHECKS, NOT_CHECKED),
        ({RUFF.argv: REFUTED}, NAMED_CHECKS, REFUTED),
        ({PYTEST.argv: REFUTED}, NAMED_CHECKS, REFUTED),
        (NONE_RAN, NAMED_CHECKS, NOT_CHECKED),
    ],
)
def test_evidence_is_verified_only_by_a_test_that_passed(
    commands: dict[tuple[str, ...], EvidenceStatus], reply: dict[str, Any], evidence: EvidenceStatus
) -> None:
    """A lint that passed says little, and any failure outweighs it (DESIGN "Evidence")."""
    assert ended({CHECKS: reply}, tree=Tree(commands=commands)).outcome.evidence is evidence


def test_a_seat_that_failed_after_all_has_failed_and_one_that_was_never_asked_has_not() -> None:
    """FIELD-FAULTS F3, F7: the record says how each turn ended."""
    case = Play(CRITIC, SKEPTIC, limits=Play().with_limits(max_calls=2))
    case.fail("critic")
    case.fail("critic")
    case.settle()
    assert case.outcome.seats == (
        SeatStatus(seat="critic", end=SeatEnd.FAILED, approved=False, attempts=2),
        SeatStatus(seat="skeptic", end=SeatEnd.NEVER_ANSWERED, approved=False, attempts=0),
    )


def test_a_case_of_words_alone_has_nothing_to_cover() -> None:
    """A docket without a base (docs/decisions/0001)."""
    words = replace(DOCKET, base="", paths=())
    assert came_to(ended({CRITIC: verdict()}, docket=words)) == (
        AGREED,
        APPROVED,
        ("critic approved, and nothing is open",),
    )


def test_an_opening_is_in_the_record_as_it_was_made() -> None:
    """Quorum and limits are what the outcome is computed by."""
    case = Play(CRITIC)
    assert isinstance(case.entries[0], CaseOpened)
    assert case.state.case == case.entries[0]
