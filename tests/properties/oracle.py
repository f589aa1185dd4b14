"""What a review should come to, worked out from its entries by other means than the rules use.

Straight from the sentences in `docs/protocols/review.md`, without the fold, the ledger or the weighing.
"""

from collections.abc import Sequence

from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.docket import PathState, SeatKind
from counterpoint.core.entries import (
    AttemptFailed,
    CaseOpened,
    Entry,
    EvidenceGathered,
    FailureReason,
    FindingRaised,
    FindingRuled,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)
from counterpoint.core.findings import Ruling
from counterpoint.core.values import Decision, StopReason

__all__ = ["decision_of"]

OF_NOBODY = (FailureReason.DRIVER_LOST, FailureReason.INTERRUPTED)


def decision_of(entries: Sequence[Entry], stop: StopReason) -> Decision:
    """Return the decision of a case that holds `entries` and stops for this reason."""
    if stop not in {StopReason.AGREED, StopReason.ROUNDS_SPENT}:
        return Decision.UNDETERMINED
    if _stands_against(entries):
        return Decision.REJECTED
    return Decision.APPROVED if _all_is_there(entries) else Decision.UNDETERMINED


def _opening(entries: Sequence[Entry]) -> CaseOpened:
    first = entries[0]
    assert isinstance(first, CaseOpened)
    return first


def _ran(entries: Sequence[Entry], status: EvidenceStatus) -> list[Evidence]:
    candidate = _opening(entries).docket.candidate
    return [
        entry.evidence
        for entry in entries
        if isinstance(entry, EvidenceGathered)
        and isinstance(entry.evidence.request, CommandCheck)
        and entry.evidence.request.candidate == candidate
        and entry.evidence.status is status
    ]


def _stands_against(entries: Sequence[Entry]) -> bool:
    raised = {e.id for e in entries if isinstance(e, FindingRaised) and e.evidence is not EvidenceStatus.REFUTED}
    for entry in entries:
        if isinstance(entry, FindingRuled) and entry.ruling is Ruling.SETTLED:
            raised.discard(entry.id)
    return bool(raised) or bool(_ran(entries, EvidenceStatus.REFUTED))


def _all_is_there(entries: Sequence[Entry]) -> bool:
    case = _opening(entries)
    verdicts = {
        e.seat: e.approved for e in entries if isinstance(e, VerdictGiven) and e.candidate == case.docket.candidate
    }
    kinds = {seat.name: seat.kind for seat in case.roster}
    only_checks = {kinds[name] for name in verdicts} == {SeatKind.CHECKS}
    passed = _ran(entries, EvidenceStatus.VERIFIED)
    a_test = any(isinstance(e.request, CommandCheck) and e.request.purpose is Purpose.TEST for e in passed)
    return (
        all(_has_ended(entries, name, has_verdict=name in verdicts) for name in kinds)
        and len(verdicts) >= case.quorum
        and all(approved for name, approved in verdicts.items() if kinds[name] is SeatKind.OPINION)
        and (SeatKind.CHECKS not in {kinds[name] for name in verdicts} or _checks_approve(entries))
        and _covered(entries, set(verdicts)) >= {changed.path for changed in case.docket.paths}
        and (a_test or not only_checks)
    )


def _checks_approve(entries: Sequence[Entry]) -> bool:
    """Something passed, nothing failed, and no test is without a result."""
    commands = _opening(entries).docket.commands
    passed = {e.request.argv for e in _ran(entries, EvidenceStatus.VERIFIED) if isinstance(e.request, CommandCheck)}
    tests = {command.argv for command in commands if command.purpose is Purpose.TEST}
    return bool(passed) and tests <= passed and not _ran(entries, EvidenceStatus.REFUTED)


def _has_ended(entries: Sequence[Entry], seat: str, *, has_verdict: bool) -> bool:
    if any(isinstance(e, SubmissionSealed) and e.turn.seat == seat for e in entries):
        return has_verdict and any(isinstance(e, SubmissionRevealed) and e.turn.seat == seat for e in entries)
    failed = [
        e for e in entries if isinstance(e, AttemptFailed) and e.turn.seat == seat and e.reason not in OF_NOBODY
    ]
    return len(failed) >= _opening(entries).limits.max_asks


def _covered(entries: Sequence[Entry], answered: set[str]) -> set[str]:
    case = _opening(entries)
    shown = {
        path
        for entry in entries
        if isinstance(entry, SubmissionSealed) and entry.turn.seat in answered
        for path in entry.shown_paths
    }
    checks = any(seat.kind is SeatKind.CHECKS and seat.name in answered for seat in case.roster)
    if not checks or not (_ran(entries, EvidenceStatus.VERIFIED) or _ran(entries, EvidenceStatus.REFUTED)):
        return shown
    absent = {PathState.SUBMODULE, PathState.WITHHELD}
    return shown | {changed.path for changed in case.docket.paths if changed.state not in absent}
