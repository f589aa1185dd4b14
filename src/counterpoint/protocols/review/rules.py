"""The review as a value of `core.rules.Rules`: opening, turns, admission, and what follows by itself."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from counterpoint.core.case import CaseState, fold_shared
from counterpoint.core.checks import CheckRequest, CommandCheck, Evidence, PathCheck, QuoteCheck
from counterpoint.core.docket import Docket, Seat, SeatKind
from counterpoint.core.entries import CaseClosed, CaseOpened, Entry, NoteAdded, SubmissionRevealed
from counterpoint.core.limits import Limits, reached
from counterpoint.core.rules import AddNote, Opened, Rules, Withdraw, step_phase
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.errors import Refused
from counterpoint.protocols.review.briefs import brief_for
from counterpoint.protocols.review.codec import GiveVerdict, NameChecks, located, parse_reply, schema_for
from counterpoint.protocols.review.guards import GUARDS, OPENING_GUARDS, Plan, Spoken
from counterpoint.protocols.review.judging import entries_of
from counterpoint.protocols.review.table import TABLE, Phase, is_waiting, owed, seat_of
from counterpoint.protocols.review.weighing import decide, weigh

__all__ = ["REVIEW"]

VERSION: Final = 1


def _open(
    docket: Docket,
    roster: tuple[Seat, ...],
    limits: Limits,
    *,
    case: str,
    quorum: int,
    supervisor: str,
    seed: str,
    now: datetime,
) -> tuple[Entry, ...]:
    plan = Plan(roster=roster, quorum=quorum, limits=limits)
    for rule, guard in OPENING_GUARDS.items():
        if reason := guard(plan):
            raise Refused(rule, reason)
    return (
        CaseOpened(
            protocol="review",
            rules_version=VERSION,
            case=case,
            docket=docket,
            roster=roster,
            limits=limits,
            quorum=quorum,
            supervisor=supervisor,
            seed=seed,
            opened_at=now.isoformat(timespec="seconds"),
        ),
    )


def _apply(state: CaseState, entry: Entry) -> CaseState:
    phase = step_phase(TABLE, state.phase, entry)
    if isinstance(entry, CaseClosed):
        computed = decide(state, entry.stop_reason)
        if computed != entry.decision:
            raise Refused("CLOSE-1", f"the entry says {entry.decision}; the rules compute {computed}")
    return replace(fold_shared(state, entry), phase=phase)


def _due(state: CaseState, now: datetime) -> tuple[Turn, ...]:
    return owed(state)


def _kind_of(state: CaseState, turn: Turn) -> SeatKind:
    seat = seat_of(state, turn.seat)
    assert seat is not None, f"turn {turn.id} is of no seat in the roster"
    return seat.kind


def _schema(state: CaseState, turn: Turn) -> Mapping[str, Any]:
    return schema_for(_kind_of(state, turn))


def _parse(state: CaseState, turn: Turn, reply: Mapping[str, Any]) -> GiveVerdict | NameChecks:
    return parse_reply(_kind_of(state, turn), reply)


def _checks(state: CaseState, turn: Turn, submission: GiveVerdict | NameChecks) -> tuple[CheckRequest, ...]:
    candidate = state.case.docket.candidate
    listed = {c.argv: c for c in state.case.docket.commands}
    requests: list[CheckRequest] = []
    if isinstance(submission, NameChecks):
        argvs = submission.commands
    else:
        argvs = tuple(claim.argv for claim in submission.claims)
        for finding in submission.findings:
            requests += _places(finding.location, finding.quote, candidate)
    requests += [
        CommandCheck(argv=argv, purpose=listed[argv].purpose, candidate=candidate) for argv in argvs if argv in listed
    ]
    return tuple(dict.fromkeys(requests))


def _places(location: str, quote: str | None, candidate: str) -> list[CheckRequest]:
    place = located(location)
    if place is None:
        return []
    path, line = place
    requests: list[CheckRequest] = [PathCheck(path=path, line=None, candidate=candidate)]
    if line is not None:
        requests.append(PathCheck(path=path, line=line, candidate=candidate))
    if quote is not None:
        requests.append(QuoteCheck(path=path, text=quote, candidate=candidate))
    return requests


def _admit(
    state: CaseState,
    speaker: str,
    turn: Turn | None,
    submission: Any,
    *,
    evidence: tuple[Evidence, ...],
    now: datetime,
) -> tuple[Entry, ...]:
    said = Spoken(state=state, speaker=speaker, turn=turn, submission=submission)
    for rule, guard in GUARDS.items():
        if reason := guard(said):
            raise Refused(rule, reason, seat=speaker)
    match submission:
        case AddNote(text=text):
            return (NoteAdded(by=speaker, text=text),)
        case Withdraw(reason=reason):
            stop = StopReason.WITHDRAWN
            return (CaseClosed(stop_reason=stop, decision=decide(state, stop), detail=reason),)
        case _:
            assert turn is not None, "NOTE-1 refuses an unasked verdict"
            return entries_of(state, turn, submission, evidence)


def _settle(state: CaseState, now: datetime, opened: Mapping[str, Opened]) -> tuple[Entry, ...]:
    if state.phase not in {Phase.REVIEWING, Phase.REVEALED}:
        return ()
    stop = _reason_to_stop(state, now)
    if stop is None:
        return ()
    revealed: list[Entry] = []
    if state.phase == Phase.REVIEWING:
        unopened = [s.turn.seat for s in state.sealed.values() if opened.get(s.turn.id) is None]
        if unopened:
            stop = StopReason.FAILED, f"the sealed reply of {', '.join(unopened)} cannot be opened"
        revealed = _reveal(state, opened)
    after = REVIEW.fold(tuple(revealed), state)
    reason, detail = stop
    decision = decide(after, reason)
    if reason is StopReason.ROUNDS_SPENT and decision is Decision.APPROVED:
        reason = StopReason.AGREED
    return (*revealed, CaseClosed(stop_reason=reason, decision=decision, detail=detail))


def _reveal(state: CaseState, opened: Mapping[str, Opened]) -> list[Entry]:
    """Open everything that is sealed, in the roster's order."""
    entries: list[Entry] = []
    for seat in state.case.roster:
        sealed = state.sealed.get(seat.name)
        found = None if sealed is None else opened.get(sealed.turn.id)
        if sealed is None or found is None:
            continue
        entries.append(SubmissionRevealed(turn=sealed.turn, salt=found.salt, reply=found.content))
        so_far = REVIEW.fold(tuple(entries), state)
        entries += entries_of(so_far, sealed.turn, found.submission, found.evidence)
    return entries


def _reason_to_stop(state: CaseState, now: datetime) -> tuple[StopReason, str] | None:
    roster = state.case.roster
    out = [seat.name for seat in roster if state.is_out(seat.name)]
    if len(roster) - len(out) < state.case.quorum:
        last = state.failures_of(out[-1])[-1]
        return StopReason.FAILED, f"{', '.join(out)} gave no valid answer: {last.detail}"
    if not any(is_waiting(state, seat) for seat in roster):
        return StopReason.ROUNDS_SPENT, "every reviewer has answered"
    return reached(state.case.limits, state.spent, now)


REVIEW: Final[Rules[CaseState]] = Rules(
    name="review",
    version=VERSION,
    initial=CaseState(phase=Phase.OPENING),
    table=TABLE,
    open=_open,
    apply=_apply,
    due=_due,
    brief=brief_for,
    schema=_schema,
    parse=_parse,
    checks=_checks,
    admit=_admit,
    settle=_settle,
    outcome=weigh,
)
