"""The review as a value of `core.rules.Rules`: opening, turns, admission, and what follows by itself."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from counterpoint.core.canonical import visible
from counterpoint.core.case import CaseState, fold_shared
from counterpoint.core.checks import CheckRequest, Evidence
from counterpoint.core.codec import entry_type
from counterpoint.core.conduct import Said, is_as_sealed
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.edits import CheckResult
from counterpoint.core.entries import (
    AnswerRequested,
    CaseClosed,
    CaseOpened,
    Entry,
    NoteAdded,
    SubmissionRevealed,
)
from counterpoint.core.limits import Limits, reached
from counterpoint.core.rules import AddNote, Exhibit, Opened, Rules, Withdraw, step_phase
from counterpoint.core.values import StopReason, Turn
from counterpoint.errors import Refused, UnknownEntry
from counterpoint.protocols.review.answering import edit_of, entries_of_answer
from counterpoint.protocols.review.briefs import brief_for
from counterpoint.protocols.review.codec import AnswerFindings, Submission, parse_reply, schema_for
from counterpoint.protocols.review.guards import GUARDS
from counterpoint.protocols.review.judging import entries_of
from counterpoint.protocols.review.lookups import requests_of
from counterpoint.protocols.review.opening import OPENING_GUARDS
from counterpoint.protocols.review.positions import own_findings, past_of
from counterpoint.protocols.review.standing import ENTRY_GUARDS
from counterpoint.protocols.review.table import TABLE, Phase, author_of, is_waiting, owed, reviewers_of, seat_of
from counterpoint.protocols.review.weighing import closing, may_go_on, to_answer, weigh

__all__ = ["REVIEW"]

PROTOCOL: Final = "review"
VERSION: Final = 2
_READ: Final = frozenset({1, VERSION})
"""A review of version 1 is one of reviewers alone. What its rules computed, these compute."""


def _open(
    docket: Docket,
    roster: tuple[Seat, ...],
    limits: Limits,
    *,
    case: str,
    terms: Terms,
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
        terms=terms,
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
        is_read = entry.rules_version == VERSION or (entry.rules_version in _READ and author_of(entry) is None)
        if entry.protocol != PROTOCOL or not is_read:
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


def _parse(state: CaseState, turn: Turn, reply: Mapping[str, Any]) -> Submission:
    return parse_reply(_kind_of(state, turn), reply)


def _exhibit(state: CaseState, turn: Turn) -> Exhibit:
    docket, edits = state.docket, _kind_of(state, turn) is SeatKind.AUTHOR
    base = docket.base if edits else state.judged.get(turn.seat, docket.base)
    return Exhibit(base=base, candidate=docket.candidate, edits=edits)


def _checks(state: CaseState, turn: Turn, submission: Submission) -> tuple[CheckRequest, ...]:
    if isinstance(submission, AnswerFindings):
        return (edit_of(state, turn, submission),)
    return requests_of(state.docket, submission, own_findings(state, turn.seat), past_of(state, turn.seat))


def _entries_of(
    state: CaseState, turn: Turn, submission: Submission, evidence: tuple[CheckResult, ...]
) -> tuple[Entry, ...]:
    if isinstance(submission, AnswerFindings):
        return entries_of_answer(state, turn, submission, evidence)
    return entries_of(state, turn, submission, tuple(e for e in evidence if isinstance(e, Evidence)))


def _admit(
    state: CaseState,
    speaker: str,
    turn: Turn | None,
    submission: Any,
    *,
    evidence: tuple[CheckResult, ...],
    now: datetime,
) -> tuple[Entry, ...]:
    said = Said(state=state, speaker=speaker, turn=turn, submission=submission, evidence=evidence)
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
            return _entries_of(state, turn, submission, evidence)


def _settle(state: CaseState, now: datetime, opened: Mapping[str, Opened]) -> tuple[Entry, ...]:
    match state.phase:
        case Phase.REVIEWING:
            return _settle_reading(state, now, opened)
        case Phase.ANSWERING:
            return _settle_answer(state, now, opened)
        case Phase.REVEALED | Phase.ANSWERED:  # a reveal and what follows from it are one batch: this record was cut
            return (closing(state, StopReason.FAILED, "the record ends in the middle of a reveal"),)
        case _:
            return ()


def _settle_reading(state: CaseState, now: datetime, opened: Mapping[str, Opened]) -> tuple[Entry, ...]:
    stop = _reason_to_stop(state, now)
    if stop is None:
        return ()
    reason, detail = stop
    after, revealed, unopened = _reveal(state, opened)
    if unopened:
        reason, detail = StopReason.FAILED, f"the sealed reply of {', '.join(unopened)} cannot be opened"
    return (*revealed, _after_reading(after, reason, detail))


def _after_reading(state: CaseState, reason: StopReason, detail: str) -> CaseClosed | AnswerRequested:
    """Return what follows a reading: the close, or the author's turn where nothing is agreed and it can move."""
    close = closing(state, reason, detail)
    author = author_of(state.case)
    goes_on = close.stop_reason is StopReason.ROUNDS_SPENT and may_go_on(state)
    if author is None or not goes_on:
        return close
    return AnswerRequested(seat=author.name, round=state.round, findings=tuple(f.id for f in to_answer(state)))


def _settle_answer(state: CaseState, now: datetime, opened: Mapping[str, Opened]) -> tuple[Entry, ...]:
    author = author_of(state.case)
    assert author is not None, "only an author is asked for an answer"
    if author.name in state.sealed:
        after, revealed, unopened = _reveal(state, opened)
        if unopened:
            return (closing(after, StopReason.FAILED, f"the reply of {author.name} cannot be opened"),)
        return revealed
    if state.is_out(author.name):
        last = state.failures_of(author.name)[-1]
        return (closing(state, StopReason.FAILED, f"{author.name} gave no valid answer: {last.detail}"),)
    stop = reached(state.case.limits, state.spent, now)
    return (closing(state, *stop),) if stop else ()


def _reveal(state: CaseState, opened: Mapping[str, Opened]) -> tuple[CaseState, tuple[Entry, ...], tuple[str, ...]]:
    """Open everything that is sealed, in the roster's order; return also the seats whose reply cannot be opened."""
    after, entries, unopened = state, [], []
    waiting = [
        s for seat in state.case.roster if (s := state.sealed.get(seat.name)) and s.turn.id not in state.revealed
    ]
    for sealed in waiting:
        found = opened.get(sealed.turn.id)
        if found is None or not is_as_sealed(sealed, found):
            unopened.append(sealed.turn.seat)
            continue
        reveal = SubmissionRevealed(turn=sealed.turn, salt=found.salt, reply=found.content)
        after = REVIEW.apply(after, reveal)
        judged = _entries_of(after, sealed.turn, found.submission, found.evidence)
        after = REVIEW.fold(judged, after)
        entries += [reveal, *judged]
    return after, tuple(entries), tuple(unopened)


def _reason_to_stop(state: CaseState, now: datetime) -> tuple[StopReason, str] | None:
    reviewers = reviewers_of(state.case)
    out = [seat.name for seat in reviewers if state.is_out(seat.name)]
    if len(reviewers) - len(out) < state.case.quorum:
        last = state.failures_of(out[-1])[-1]
        return StopReason.FAILED, f"{', '.join(out)} gave no valid answer: {last.detail}"
    if not any(is_waiting(state, seat) for seat in reviewers):
        failed = f"; {', '.join(out)} gave no valid answer" if out else ""
        return (
            StopReason.ROUNDS_SPENT,
            f"{len(reviewers) - len(out)} of {len(reviewers)} reviewers have answered{failed}",
        )
    return reached(state.case.limits, state.spent, now)


REVIEW: Final[Rules[CaseState]] = Rules(
    name=PROTOCOL,
    version=VERSION,
    initial=CaseState(phase=Phase.OPENING),
    table=TABLE,
    open=_open,
    apply=_apply,
    due=_due,
    exhibit=_exhibit,
    brief=brief_for,
    schema=_schema,
    parse=_parse,
    checks=_checks,
    admit=_admit,
    settle=_settle,
    outcome=weigh,
    edits=lambda case: case.author is not None,
)
