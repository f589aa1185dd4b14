"""The review as a value of `core.rules.Rules`: opening, turns, admission, and what follows by itself."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from counterpoint.core.canonical import visible
from counterpoint.core.case import CaseState, fold_shared
from counterpoint.core.checks import CheckRequest, Evidence
from counterpoint.core.codec import entry_type
from counterpoint.core.docket import Docket, Seat, SeatKind
from counterpoint.core.entries import CaseOpened, Entry, NoteAdded, SubmissionRevealed, SubmissionSealed
from counterpoint.core.limits import Limits, reached
from counterpoint.core.rules import AddNote, Opened, Rules, Withdraw, step_phase
from counterpoint.core.sealing import opens, seal_evidence
from counterpoint.core.values import StopReason, Turn
from counterpoint.errors import Refused, UnknownEntry
from counterpoint.protocols.review.briefs import brief_for
from counterpoint.protocols.review.codec import GiveVerdict, NameChecks, parse_reply, schema_for
from counterpoint.protocols.review.guards import ENTRY_GUARDS, GUARDS, OPENING_GUARDS, Spoken
from counterpoint.protocols.review.judging import entries_of
from counterpoint.protocols.review.lookups import requests_of
from counterpoint.protocols.review.table import TABLE, Phase, is_waiting, owed, seat_of
from counterpoint.protocols.review.weighing import closing, weigh

__all__ = ["REVIEW"]

PROTOCOL: Final = "review"
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
    opening = CaseOpened(
        protocol=PROTOCOL,
        rules_version=VERSION,
        case=case,
        docket=docket,
        roster=roster,
        limits=limits,
        quorum=quorum,
        supervisor=supervisor,
        seed=seed,
        opened_at=now.isoformat(timespec="seconds"),
    )
    _check_opening(opening)
    return (opening,)


def _check_opening(case: CaseOpened) -> None:
    for rule, guard in OPENING_GUARDS.items():
        if reason := guard(case):
            raise Refused(rule, reason)


def _apply(state: CaseState, entry: Entry) -> CaseState:
    phase = step_phase(TABLE, state.phase, entry)
    if isinstance(entry, CaseOpened):
        if (entry.protocol, entry.rules_version) != (PROTOCOL, VERSION):
            wanted = (
                f"{entry.protocol} in version {entry.rules_version}; these are the rules of {PROTOCOL} in {VERSION}"
            )
            raise UnknownEntry(entry_type(entry), wanted)
        _check_opening(entry)
    for rule, guard in ENTRY_GUARDS.items():
        if reason := guard(state, entry):
            raise Refused(rule, reason)
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
    return requests_of(state.case.docket, submission)


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
            return (NoteAdded(by=speaker, text=visible(text)),)
        case Withdraw(reason=reason):
            return (closing(state, StopReason.WITHDRAWN, visible(reason)),)
        case _:
            assert turn is not None, "NOTE-1 refuses an unasked verdict"
            return entries_of(state, turn, submission, evidence)


def _settle(state: CaseState, now: datetime, opened: Mapping[str, Opened]) -> tuple[Entry, ...]:
    if state.phase == Phase.REVEALED:  # a reveal and its close are one batch: this record was cut
        return (closing(state, StopReason.FAILED, "the record ends in the middle of a reveal"),)
    if state.phase != Phase.REVIEWING:
        return ()
    stop = _reason_to_stop(state, now)
    if stop is None:
        return ()
    reason, detail = stop
    after, revealed, unopened = _reveal(state, opened)
    if unopened:
        reason, detail = StopReason.FAILED, f"the sealed reply of {', '.join(unopened)} cannot be opened"
    return (*revealed, closing(after, reason, detail))


def _reveal(state: CaseState, opened: Mapping[str, Opened]) -> tuple[CaseState, tuple[Entry, ...], tuple[str, ...]]:
    """Open everything that is sealed, in the roster's order; return also the seats whose reply cannot be opened."""
    after, entries, unopened = state, [], []
    for sealed in (state.sealed[seat.name] for seat in state.case.roster if seat.name in state.sealed):
        found = opened.get(sealed.turn.id)
        if found is None or not _is_as_sealed(sealed, found):
            unopened.append(sealed.turn.seat)
            continue
        reveal = SubmissionRevealed(turn=sealed.turn, salt=found.salt, reply=found.content)
        after = REVIEW.apply(after, reveal)
        judged = entries_of(after, sealed.turn, found.submission, found.evidence)
        after = REVIEW.fold(judged, after)
        entries += [reveal, *judged]
    return after, tuple(entries), tuple(unopened)


def _is_as_sealed(sealed: SubmissionSealed, found: Opened) -> bool:
    is_reply = opens(sealed.digest, found.salt, found.content.encode())
    return is_reply and seal_evidence(found.salt, found.evidence) == sealed.evidence


def _reason_to_stop(state: CaseState, now: datetime) -> tuple[StopReason, str] | None:
    roster = state.case.roster
    out = [seat.name for seat in roster if state.is_out(seat.name)]
    if len(roster) - len(out) < state.case.quorum:
        last = state.failures_of(out[-1])[-1]
        return StopReason.FAILED, f"{', '.join(out)} gave no valid answer: {last.detail}"
    if not any(is_waiting(state, seat) for seat in roster):
        failed = f"; {', '.join(out)} gave no valid answer" if out else ""
        return StopReason.ROUNDS_SPENT, f"{len(state.sealed)} of {len(roster)} reviewers have answered{failed}"
    return reached(state.case.limits, state.spent, now)


REVIEW: Final[Rules[CaseState]] = Rules(
    name=PROTOCOL,
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
