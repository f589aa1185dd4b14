"""The decision of a review, computed from ledger, evidence and coverage. Never read from prose.

Approved means all of: enough seats answered, every seat that answered approves, nothing blocks, no project command
failed, every changed path was before somebody, and, where only checks approve, at least one test passed.
"""

import shlex

from counterpoint.core.case import CaseState
from counterpoint.core.checks import CommandCheck, EvidenceStatus, Purpose
from counterpoint.core.docket import PathState, SeatKind
from counterpoint.core.findings import Finding
from counterpoint.core.outcome import Coverage, Outcome, SeatEnd, SeatStatus
from counterpoint.core.values import Decision, StopReason

__all__ = ["decide", "weigh"]

_COUNTED = frozenset({StopReason.AGREED, StopReason.ROUNDS_SPENT})


def decide(state: CaseState, stop: StopReason) -> Decision:
    """Return the decision that a case in this state ends with when it stops for this reason."""
    return _judge(state, stop)[0]


def _judge(state: CaseState, stop: StopReason) -> tuple[Decision, tuple[str, ...]]:
    if stop not in _COUNTED:
        return Decision.UNDETERMINED, (f"the case stopped before it was decided: {stop.value}",)
    against = _reasons_against(state)
    if against:
        return Decision.REJECTED, against
    missing = _reasons_missing(state)
    if missing:
        return Decision.UNDETERMINED, missing
    approving = [v.seat for v in state.verdicts.values() if v.approved]
    return Decision.APPROVED, (f"{', '.join(approving)} approved, and nothing is open",)


def _reasons_against(state: CaseState) -> tuple[str, ...]:
    blocking = state.ledger.blocking()
    failed = [
        shlex.join(e.request.argv)
        for e in state.evidence
        if isinstance(e.request, CommandCheck) and e.status is EvidenceStatus.REFUTED
    ]
    reasons: list[str] = []
    if blocking:
        reasons.append(f"{len(blocking)} open: {', '.join(f.id for f in blocking)}")
    if failed:
        reasons.append(f"failing: {', '.join(failed)}")
    return tuple(reasons)


def _reasons_missing(state: CaseState) -> tuple[str, ...]:
    reasons = [
        f"{verdict.seat} did not approve, and everything it named was refuted or settled"
        for verdict in state.verdicts.values()
        if not verdict.approved
    ]
    if len(state.verdicts) < state.case.quorum:
        reasons.append(f"{len(state.verdicts)} seats answered; the quorum is {state.case.quorum}")
    if unseen := _coverage(state).unseen:
        reasons.append(f"nobody was shown {', '.join(unseen)}")
    if _only_checks_answered(state) and not _passed(state, Purpose.TEST):
        reasons.append("only checks approved, and no test command passed")
    return tuple(reasons)


def _only_checks_answered(state: CaseState) -> bool:
    kinds = {seat.kind for seat in state.case.roster if seat.name in state.verdicts}
    return kinds == {SeatKind.CHECKS}


def _passed(state: CaseState, purpose: Purpose) -> bool:
    return any(
        isinstance(e.request, CommandCheck) and e.request.purpose is purpose and e.status is EvidenceStatus.VERIFIED
        for e in state.evidence
    )


def _evidence(state: CaseState) -> EvidenceStatus:
    if any(e.status is EvidenceStatus.REFUTED for e in state.evidence):
        return EvidenceStatus.REFUTED
    return EvidenceStatus.VERIFIED if _passed(state, Purpose.TEST) else EvidenceStatus.NOT_CHECKED


def _coverage(state: CaseState) -> Coverage:
    paths = state.case.docket.paths
    seen = {path for seat in state.verdicts for path in state.shown.get(seat, ())}
    ran = [e for e in state.evidence if e.status is not EvidenceStatus.NOT_CHECKED]
    has_checks = any(s.kind is SeatKind.CHECKS and s.name in state.verdicts for s in state.case.roster)
    if has_checks and ran:
        seen |= {p.path for p in paths if p.state not in {PathState.WITHHELD, PathState.SUBMODULE}}
    told = [set(e.paths_unread) for e in ran if e.paths_unread is not None]
    unread = set.intersection(*told) if told else None
    return Coverage(
        changed=tuple(p.path for p in paths),
        unseen=tuple(p.path for p in paths if p.path not in seen),
        unread=None if unread is None else tuple(p.path for p in paths if p.path in unread),
    )


def _seats(state: CaseState) -> tuple[SeatStatus, ...]:
    ends: list[SeatStatus] = []
    for seat in state.case.roster:
        answered = seat.name in state.sealed
        end = SeatEnd.FAILED if state.is_out(seat.name) else SeatEnd.NEVER_ANSWERED
        verdict = state.verdicts.get(seat.name)
        ends.append(
            SeatStatus(
                seat=seat.name,
                end=SeatEnd.ANSWERED if answered else end,
                approved=verdict is not None and verdict.approved,
                attempts=len(state.failures_of(seat.name)) + answered,
            )
        )
    return tuple(ends)


def _is_refuted(finding: Finding) -> bool:
    return finding.evidence is EvidenceStatus.REFUTED


def weigh(state: CaseState) -> Outcome:
    """Return the outcome of a review as its entries stand."""
    stop = state.closed.stop_reason if state.closed else None
    decision, reasons = _judge(state, stop) if stop else (Decision.UNDETERMINED, ("the case is open",))
    detail = (state.closed.detail,) if state.closed and stop not in _COUNTED else ()
    return Outcome(
        decision=decision,
        stop_reason=stop,
        reasons=(*reasons, *detail),
        open_findings=state.ledger.blocking(),
        refuted_findings=tuple(f for f in state.ledger if _is_refuted(f)),
        evidence=_evidence(state),
        seats=_seats(state),
        coverage=_coverage(state),
        spent=state.spent,
    )
