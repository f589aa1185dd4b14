"""The decision of a review, computed from ledger, evidence and coverage. Never read from prose.

Approved means all of: no reviewer still owes an answer or has one unrevealed, enough of them answered, every one that
answered approves, nothing blocks, no project command failed, every changed path was before somebody, and, where only
checks answered, at least one test passed. A verdict or a command on another candidate counts for nothing.

What is open and denied by the author is for nobody here to decide: the case is undetermined, with both positions.
"""

from collections.abc import Mapping

from counterpoint.core.case import CaseState
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.docket import PathState, Seat, SeatKind
from counterpoint.core.entries import CaseClosed, VerdictGiven
from counterpoint.core.findings import Finding, FindingStatus
from counterpoint.core.outcome import Coverage, Outcome, SeatEnd, SeatStatus
from counterpoint.core.values import Decision, StopReason
from counterpoint.core.wording import say_command
from counterpoint.protocols.review.table import author_of, is_waiting, reviewers_of

__all__ = ["closing", "is_stalled", "may_go_on", "to_answer", "unheard", "weigh"]

_DECIDED = frozenset({StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED})


def to_answer(state: CaseState) -> tuple[Finding, ...]:
    """Return the findings that the author owes an answer to: open ones that must be settled, refuted or not."""
    return state.ledger.unsettled(state.case.terms.block_on)


def may_go_on(state: CaseState) -> bool:
    """Return whether another round can move anything: there is an author, something to answer and a round left."""
    most = state.case.limits.max_rounds
    has_round = not most or state.round <= most
    return author_of(state.case) is not None and has_round and bool(to_answer(state))


def unheard(state: CaseState) -> tuple[str, ...]:
    """Return the reviewers whose answer of this reading is still owed, or has not become a verdict."""
    answered = {seat for seat, verdict in state.verdicts.items() if verdict.round == state.round}
    return tuple(
        seat.name
        for seat in reviewers_of(state.case)
        if is_waiting(state, seat) or (seat.name in state.sealed and seat.name not in answered)
    )


def is_stalled(state: CaseState) -> bool:
    """Return whether all stances are as they were at the end of an earlier reading; never a comparison of prose.

    So one that only goes round in circles stalls, too. Where rounds are counted, their number ends the case.
    """
    if state.case.limits.max_rounds:
        return False
    return frozenset(finding.stance for finding in state.ledger) in state.stances


def closing(state: CaseState, stop: StopReason, detail: str) -> CaseClosed:
    """Return the entry that closes a case in this state: run to its end, it agreed, stalled or spent its rounds."""
    decision = _judge(state, stop)[0]
    if stop in _DECIDED:
        unsettled = StopReason.STALLED if is_stalled(state) else StopReason.ROUNDS_SPENT
        stop = StopReason.AGREED if decision is Decision.APPROVED else unsettled
    return CaseClosed(stop_reason=stop, decision=decision, detail=detail)


def _judge(state: CaseState, stop: StopReason) -> tuple[Decision, tuple[str, ...]]:
    if stop not in _DECIDED:
        return Decision.UNDETERMINED, (f"the case stopped before it was decided: {stop}",)
    against = _reasons_against(state)
    if against:
        return Decision.REJECTED, (*against, *_disputes(state))
    missing = _reasons_missing(state)
    if missing:
        return Decision.UNDETERMINED, missing
    below = ", ".join(finding.id for finding in state.ledger.blocking())
    rest = f"what is open is below {state.case.terms.block_on}: {below}" if below else "nothing is open"
    return Decision.APPROVED, (f"{', '.join(_verdicts(state))} approved, and {rest}",)


def _verdicts(state: CaseState) -> Mapping[str, VerdictGiven]:
    """Return each seat's verdict on the candidate that is on the table."""
    current = state.docket.candidate
    return {seat: verdict for seat, verdict in state.verdicts.items() if verdict.candidate == current}


def _commands(state: CaseState, status: EvidenceStatus) -> list[tuple[CommandCheck, Evidence]]:
    """Return the commands that came out like this on the candidate that is on the table."""
    current = state.docket.candidate
    return [
        (e.request, e)
        for e in state.evidence
        if isinstance(e.request, CommandCheck) and e.request.candidate == current and e.status is status
    ]


def _reasons_against(state: CaseState) -> tuple[str, ...]:
    blocking = [f for f in state.ledger.blocking(state.case.terms.block_on) if not f.is_disputed]
    failed = [say_command(request.argv) for request, _ in _commands(state, EvidenceStatus.REFUTED)]
    reasons: list[str] = []
    if blocking:
        reasons.append(f"{len(blocking)} open: {', '.join(f.id for f in blocking)}")
    if failed:
        reasons.append(f"failing: {', '.join(failed)}")
    return tuple(reasons)


def _reasons_missing(state: CaseState) -> tuple[str, ...]:
    verdicts, roster = _verdicts(state), reviewers_of(state.case)
    reasons = list(_disputes(state))
    held = {f.seat for f in _disputed(state)}
    reasons += [_why_not(state, v) for v in verdicts.values() if not v.approved and v.seat not in held]
    if waiting := [seat.name for seat in roster if is_waiting(state, seat)]:
        reasons.append(f"no answer from {', '.join(waiting)}")
    if silent := [seat.name for seat in roster if seat.name in state.sealed and seat.name not in verdicts]:
        reasons.append(f"no verdict on {state.docket.candidate} in the answer of {', '.join(silent)}")
    if len(verdicts) < state.case.quorum:
        reasons.append(f"{len(verdicts)} seats gave a verdict; the quorum is {state.case.quorum}")
    if unbacked := _unbacked(state):
        reasons.append(f"no result in the record for the approval of {', '.join(unbacked)}")
    if unseen := _coverage(state).unseen:
        reasons.append(f"nobody was shown {', '.join(unseen)}")
    if _only_checks_answered(state) and not _a_test_passed(state):
        reasons.append("only checks answered, and no test command passed")
    return tuple(reasons)


def _disputed(state: CaseState) -> tuple[Finding, ...]:
    return tuple(f for f in state.ledger.blocking(state.case.terms.block_on) if f.is_disputed)


def _disputes(state: CaseState) -> tuple[str, ...]:
    return tuple(f"{f.id} is open: {f.seat} holds it, and the author disputes it" for f in _disputed(state))


def _why_not(state: CaseState, verdict: VerdictGiven) -> str:
    kinds = {seat.name: seat.kind for seat in state.case.roster}
    if kinds[verdict.seat] is SeatKind.CHECKS:
        return f"{verdict.seat} did not approve: {verdict.summary}"
    return f"{verdict.seat} did not approve, and everything it named was refuted or settled"


def _unbacked(state: CaseState) -> tuple[str, ...]:
    """Return the checks seats whose approval is not borne out: something passed, and every test did."""
    passed = {request.argv for request, _ in _commands(state, EvidenceStatus.VERIFIED)}
    tests = {command.argv for command in state.docket.commands if command.purpose is Purpose.TEST}
    is_backed = bool(passed) and tests <= passed
    verdicts = _verdicts(state)
    checks = [seat.name for seat in state.case.roster if seat.kind is SeatKind.CHECKS and seat.name in verdicts]
    return tuple(name for name in checks if verdicts[name].approved and not is_backed)


def _only_checks_answered(state: CaseState) -> bool:
    kinds = {seat.kind for seat in state.case.roster if seat.name in _verdicts(state)}
    return kinds == {SeatKind.CHECKS}


def _a_test_passed(state: CaseState) -> bool:
    return any(request.purpose is Purpose.TEST for request, _ in _commands(state, EvidenceStatus.VERIFIED))


def _evidence(state: CaseState) -> EvidenceStatus:
    if _commands(state, EvidenceStatus.REFUTED):
        return EvidenceStatus.REFUTED
    return EvidenceStatus.VERIFIED if _a_test_passed(state) else EvidenceStatus.NOT_CHECKED


def _coverage(state: CaseState) -> Coverage:
    paths, verdicts = state.docket.paths, _verdicts(state)
    seen = {path for seat in verdicts for path in state.shown[seat]}
    ran = [e for status in (EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED) for _, e in _commands(state, status)]
    has_checks = any(seat.kind is SeatKind.CHECKS and seat.name in verdicts for seat in state.case.roster)
    if has_checks and ran:
        seen |= {p.path for p in paths if p.state not in {PathState.WITHHELD, PathState.SUBMODULE}}
    told = [set(e.paths_unread) for e in ran if e.paths_unread is not None]
    unread = set.intersection(*told) if told and len(told) == len(ran) else None
    return Coverage(
        changed=tuple(p.path for p in paths),
        unseen=tuple(p.path for p in paths if p.path not in seen),
        unread=None if unread is None else tuple(p.path for p in paths if p.path in unread),
    )


def _seats(state: CaseState) -> tuple[SeatStatus, ...]:
    return tuple(_seat(state, seat) for seat in state.case.roster)


def _seat(state: CaseState, seat: Seat) -> SeatStatus:
    verdict = _verdicts(state).get(seat.name)
    answers = sum(sealed.turn.seat == seat.name for sealed in state.seals.values())
    failures = sum(failure.turn.seat == seat.name for failure in state.failures)
    end = SeatEnd.ANSWERED if answers else SeatEnd.NEVER_ANSWERED
    if state.is_out(seat.name):
        end = SeatEnd.FAILED
    return SeatStatus(
        seat=seat.name,
        end=end,
        approved=verdict is not None and verdict.approved,
        attempts=failures + answers,
    )


def _is_refuted(finding: Finding) -> bool:
    return finding.evidence is EvidenceStatus.REFUTED


def weigh(state: CaseState) -> Outcome:
    """Return the outcome of a review as its entries stand."""
    stop = state.closed.stop_reason if state.closed else None
    decision, reasons = _judge(state, stop) if stop else (Decision.UNDETERMINED, ("the case is open",))
    detail = (state.closed.detail,) if state.closed and stop not in _DECIDED else ()
    return Outcome(
        decision=decision,
        stop_reason=stop,
        reasons=(*reasons, *detail),
        open_findings=state.ledger.blocking(),
        refuted_findings=tuple(f for f in state.ledger if _is_refuted(f)),
        deferred_findings=tuple(f for f in state.ledger if f.status is FindingStatus.DEFERRED),
        evidence=_evidence(state),
        seats=_seats(state),
        coverage=_coverage(state),
        spent=state.spent,
    )
