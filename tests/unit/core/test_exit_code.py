"""The exit code of an outcome: what a calling program is told."""

from itertools import product

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.limits import Spent
from counterpoint.core.outcome import Coverage, Outcome, exit_code
from counterpoint.core.values import Decision, StopReason


def _outcome(stop: StopReason | None, decision: Decision) -> Outcome:
    return Outcome(
        decision=decision,
        stop_reason=stop,
        reasons=(),
        open_findings=(),
        refuted_findings=(),
        deferred_findings=(),
        evidence=EvidenceStatus.NOT_CHECKED,
        seats=(),
        coverage=Coverage(changed=(), unseen=(), unread=None),
        spent=Spent(),
    )


def test_only_an_agreed_approval_is_zero() -> None:
    """Of every stop reason with every decision, exactly one pair may tell a script to go on (DESIGN 8, F1, F7)."""
    pairs = product([None, *StopReason], Decision)
    zero = [(stop, decision) for stop, decision in pairs if exit_code(_outcome(stop, decision)) == 0]
    assert zero == [(StopReason.AGREED, Decision.APPROVED)]


@pytest.mark.parametrize("decision", Decision)
def test_a_failed_case_is_one_whatever_was_decided(decision: Decision) -> None:
    """A reviewer that never answered is an infrastructure failure, not a judgement (SPEC D-18, F1)."""
    assert exit_code(_outcome(StopReason.FAILED, decision)) == 1


def test_a_case_that_needs_a_person_is_four() -> None:
    """By its stop reason or by its decision (DESIGN 8)."""
    assert exit_code(_outcome(StopReason.NEEDS_INPUT, Decision.UNDETERMINED)) == 4
    assert exit_code(_outcome(StopReason.ROUNDS_SPENT, Decision.NEEDS_INPUT)) == 4


@pytest.mark.parametrize(
    ("stop", "decision"),
    [
        (None, Decision.UNDETERMINED),
        (StopReason.ROUNDS_SPENT, Decision.REJECTED),
        (StopReason.ROUNDS_SPENT, Decision.UNDETERMINED),
        (StopReason.BUDGET_SPENT, Decision.UNDETERMINED),
        (StopReason.WITHDRAWN, Decision.UNDETERMINED),
        (StopReason.AGREED, Decision.CONDITIONAL),
    ],
)
def test_open_unresolved_and_rejected_are_three(stop: StopReason | None, decision: Decision) -> None:
    """Decided but not approved, unresolved, or still open (DESIGN 8)."""
    assert exit_code(_outcome(stop, decision)) == 3
