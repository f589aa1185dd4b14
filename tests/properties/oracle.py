"""What a review should come to, worked out from its entries by other means than the rules use.

Straight from the sentences in `docs/protocols/review.md`, without the fold, the ledger or the weighing.
"""

from collections.abc import Sequence

from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.docket import ChangedPath, PathState, SeatKind
from counterpoint.core.entries import (
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseOpened,
    DispositionGiven,
    Entry,
    EvidenceGathered,
    FailureReason,
    FindingRaised,
    FindingRuled,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)
from counterpoint.core.findings import Disposition, Ruling
from counterpoint.core.values import Decision, StopReason

__all__ = ["decision_of", "newest_candidate", "open_and_heavy"]

OF_NOBODY = (FailureReason.DRIVER_LOST, FailureReason.INTERRUPTED)


def decision_of(entries: Sequence[Entry], stop: StopReason) -> Decision:
    """Return the decision of a case that holds `entries` and stops for this reason."""
    if stop not in {StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED}:
        return Decision.UNDETERMINED
    denied = _denied(entries)
    heavy = open_and_heavy(entries)
    if heavy - denied or _ran(entries, EvidenceStatus.REFUTED):
        return Decision.REJECTED
    return Decision.APPROVED if not heavy and _all_is_there(entries) else Decision.UNDETERMINED


def newest_candidate(entries: Sequence[Entry]) -> str:
    """Return the id of what is on the table."""
    offered = [entry.candidate for entry in entries if isinstance(entry, CandidateOffered)]
    return offered[-1] if offered else _opening(entries).docket.candidate


def open_and_heavy(entries: Sequence[Entry]) -> set[str]:
    """Return the findings that must be settled, are not refuted, and are open."""
    least = _opening(entries).terms.block_on
    last: dict[str, Ruling] = {e.id: e.ruling for e in entries if isinstance(e, FindingRuled)}
    return {
        e.id
        for e in entries
        if isinstance(e, FindingRaised)
        and e.evidence is not EvidenceStatus.REFUTED
        and e.severity.is_at_least(least)
        and last.get(e.id, Ruling.STANDS) is Ruling.STANDS
    }


def _denied(entries: Sequence[Entry]) -> set[str]:
    newest = {e.id: e.disposition for e in entries if isinstance(e, DispositionGiven)}
    return {name for name, word in newest.items() if word in {Disposition.REBUT, Disposition.PARTIAL}}


def _opening(entries: Sequence[Entry]) -> CaseOpened:
    first = entries[0]
    assert isinstance(first, CaseOpened)
    return first


def _reviewers(entries: Sequence[Entry]) -> dict[str, SeatKind]:
    return {seat.name: seat.kind for seat in _opening(entries).roster if seat.kind is not SeatKind.AUTHOR}


def _paths(entries: Sequence[Entry]) -> tuple[ChangedPath, ...]:
    offered = [entry.paths for entry in entries if isinstance(entry, CandidateOffered)]
    return offered[-1] if offered else _opening(entries).docket.paths


def _ran(entries: Sequence[Entry], status: EvidenceStatus) -> list[Evidence]:
    candidate = newest_candidate(entries)
    return [
        entry.evidence
        for entry in entries
        if isinstance(entry, EvidenceGathered)
        and isinstance(entry.evidence.request, CommandCheck)
        and entry.evidence.request.candidate == candidate
        and entry.evidence.status is status
    ]


def _all_is_there(entries: Sequence[Entry]) -> bool:
    newest = {e.seat: e for e in entries if isinstance(e, VerdictGiven)}
    candidate = newest_candidate(entries)
    verdicts = {seat: e.approved for seat, e in newest.items() if e.candidate == candidate}
    kinds = _reviewers(entries)
    only_checks = {kinds[name] for name in verdicts} == {SeatKind.CHECKS}
    passed = _ran(entries, EvidenceStatus.VERIFIED)
    a_test = any(isinstance(e.request, CommandCheck) and e.request.purpose is Purpose.TEST for e in passed)
    return (
        all(_has_ended(entries, name, verdicts) for name in kinds)
        and len(verdicts) >= _opening(entries).quorum
        and all(approved for name, approved in verdicts.items() if kinds[name] is SeatKind.OPINION)
        and (SeatKind.CHECKS not in {kinds[name] for name in verdicts} or _checks_approve(entries))
        and _covered(entries, set(verdicts)) >= {changed.path for changed in _paths(entries)}
        and (a_test or not only_checks)
    )


def _checks_approve(entries: Sequence[Entry]) -> bool:
    """Something passed, nothing failed, and no test is without a result."""
    commands = _opening(entries).docket.commands
    passed = {e.request.argv for e in _ran(entries, EvidenceStatus.VERIFIED) if isinstance(e.request, CommandCheck)}
    tests = {command.argv for command in commands if command.purpose is Purpose.TEST}
    return bool(passed) and tests <= passed and not _ran(entries, EvidenceStatus.REFUTED)


def _has_ended(entries: Sequence[Entry], seat: str, verdicts: dict[str, bool]) -> bool:
    """Whether the seat has answered this reading or failed in it, or has approved exactly this before."""
    begins = [n for n, e in enumerate(entries) if isinstance(e, CandidateOffered | CandidateKept)]
    now = entries[begins[-1] :] if begins else entries
    if any(isinstance(e, SubmissionSealed) and e.turn.seat == seat for e in now):
        return seat in verdicts and any(isinstance(e, SubmissionRevealed) and e.turn.seat == seat for e in now)
    failed = [e for e in now if isinstance(e, AttemptFailed) and e.turn.seat == seat and e.reason not in OF_NOBODY]
    return verdicts.get(seat, False) or len(failed) >= _opening(entries).limits.max_asks


def _shown(entries: Sequence[Entry], seat: str) -> set[str]:
    """Return the paths that the seat was shown as they are now."""
    shown: set[str] = set()
    for entry in entries:
        if isinstance(entry, SubmissionSealed) and entry.turn.seat == seat:
            shown |= set(entry.shown_paths)
        if isinstance(entry, CandidateOffered):
            shown -= set(entry.changed)
    return shown


def _covered(entries: Sequence[Entry], answered: set[str]) -> set[str]:
    shown = set().union(*(_shown(entries, seat) for seat in answered))
    checks = any(kind is SeatKind.CHECKS and name in answered for name, kind in _reviewers(entries).items())
    if not checks or not (_ran(entries, EvidenceStatus.VERIFIED) or _ran(entries, EvidenceStatus.REFUTED)):
        return shown
    absent = {PathState.SUBMODULE, PathState.WITHHELD}
    return shown | {changed.path for changed in _paths(entries) if changed.state not in absent}
