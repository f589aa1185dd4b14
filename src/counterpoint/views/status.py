"""`counterpoint status`: where a case stands at this moment, from its record, its lease and its claims.

A long review and a wedged one look alike from outside. What tells them apart is here: when the last entry was
written, who was asked and until when, and which stances moved in the last reading (structure, never prose;
FIELD-FAULTS F17).
Nothing is written, and no lock is taken that keeps a driver waiting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from counterpoint.core.case import NOBODYS_FAULT
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.entries import CandidateOffered, SubmissionSealed
from counterpoint.core.findings import FindingStatus
from counterpoint.core.values import Turn
from counterpoint.drive.cases import PROTOCOLS, LoadedCase
from counterpoint.drive.clock import format_stamp, parse_stamp
from counterpoint.drive.lease import Holder
from counterpoint.drive.progress import Progress, progress_of
from counterpoint.record.store import Claim
from counterpoint.views.kinds import view_of

__all__ = ["CaseStatus", "Move", "Pulse", "SeatNow", "SeatState", "status_of"]

_HUMAN: Final = "human"
_GRACE_S: Final = 60
"""How long a driver may take to notice that a call's time is over."""


class Pulse(StrEnum):
    """Whether a case gets on."""

    DRIVEN = "driven"
    OVERDUE = "overdue"
    """A process holds the lease, and has let the time of a call pass."""
    WAITING = "waiting"
    """A person owes an answer, and nobody drives the case."""
    STOPPED = "stopped"
    """Nobody drives it, and nobody's answer is missing but for that."""
    CLOSED = "closed"


class SeatState(StrEnum):
    ASKED = "asked"
    SEALED = "sealed"
    """It has answered, and is not revealed yet."""
    ANSWERED = "answered"
    STANDS = "stands"
    """It has approved exactly this candidate, and is not asked again."""
    OUT = "out"
    """It gave no valid answer, and is not asked again in this round."""
    OWES = "owes"
    """It is its turn, and nobody is asking it now."""
    WAITS = "waits"
    """Its turn has not come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatNow:
    """One seat at this moment."""

    seat: Seat
    state: SeatState
    since: datetime | None = None
    """When it was asked, or answered; `None` where that is not known."""
    until: datetime | None = None
    """How long the question that is out may take."""
    failed: int = 0
    """How often it gave no valid answer in this round."""
    approves: bool | None = None
    """Its verdict on the candidate that is on the table; `None` where it gave none."""

    def fields(self) -> dict[str, Any]:
        return {
            "seat": self.seat.name,
            "party": self.seat.party,
            "kind": self.seat.kind.value,
            "agent": self.seat.agent,
            "state": self.state.value,
            "since": _stamp(self.since),
            "until": _stamp(self.until),
            "failed_attempts": self.failed,
            "approves": self.approves,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A finding whose stance is not what it was one reading before."""

    finding: str
    before: tuple[str, str] | None
    """Status and the author's newest disposition; `None`: the finding was not there."""
    after: tuple[str, str]

    def fields(self) -> dict[str, Any]:
        return {"finding": self.finding, "from": _stance(self.before), "to": _stance(self.after)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseStatus:
    """A case at this moment."""

    case: LoadedCase
    now: datetime
    progress: Progress
    pulse: Pulse
    seats: tuple[SeatNow, ...]
    moved: tuple[Move, ...] | None
    """In the last reading; `None` while no reading is over."""
    written_at: datetime | None
    """When the newest entry was written."""
    holder: Holder | None
    late: tuple[str, ...]
    """The seats whose time is over, and for which the driver still waits."""

    @property
    def offers(self) -> tuple[CandidateOffered, ...]:
        return self.case.state.offers

    @property
    def most_calls(self) -> int:
        """How many questions there are at most; zero: no limit."""
        return view_of(self.case).most_calls(self.case.state.case)

    @property
    def is_past(self) -> bool:
        """Whether it is open beyond its deadline: whoever goes on with it ends it."""
        deadline = self.case.state.case.limits.deadline
        ends = None if deadline is None else parse_stamp(deadline)
        return self.case.state.closed is None and ends is not None and ends <= self.now

    def count(self, status: FindingStatus) -> int:
        return sum(finding.status is status for finding in self.case.state.ledger)

    @property
    def disputed(self) -> int:
        """How many findings are open and denied by the author."""
        return sum(finding.is_disputed for finding in self.case.state.ledger)

    @property
    def refuted(self) -> int:
        """How many findings are open, and count for nothing since code found them untrue."""
        return sum(finding.is_open and not finding.blocks for finding in self.case.state.ledger)

    def fields(self, *, resume: str) -> dict[str, Any]:
        """Return all of it as a JSON object; `resume` is the command line that goes on with the case."""
        state, progress, closed = self.case.state, self.progress, self.case.state.closed
        return {
            "case": self.case.name,
            "protocol": state.case.protocol,
            "phase": str(state.phase),
            "pulse": self.pulse.value,
            "closed": {"decision": closed.decision.value, "stop_reason": closed.stop_reason.value}
            if closed
            else None,
            "round": progress.round,
            "max_rounds": progress.max_rounds or None,
            "author": progress.author or None,
            "seats": [seat.fields() for seat in self.seats],
            "awaited": list(progress.awaited),
            "late": list(self.late),
            "findings": self._findings(),
            "moved": None if self.moved is None else [move.fields() for move in self.moved],
            "candidate": self._candidate(),
            "spent": self._spent(),
            "opened_at": state.case.opened_at,
            "elapsed_s": progress.elapsed_s,
            "deadline": state.case.limits.deadline,
            "deadline_passed": self.is_past,
            "last_entry": {"number": self.case.blocks[-1].n, "type": self.case.blocks[-1].type}
            | {"written_at": _stamp(self.written_at)},
            "driven_by": {"name": self.holder.name, "since": self.holder.since} if self.holder else None,
            "resume": None if closed or self.holder else resume,
            "now": format_stamp(self.now),
        }

    def _findings(self) -> dict[str, Any]:
        return {
            "open": {severity.value: number for severity, number in self.progress.open_findings.items()},
            "disputed": self.disputed,
            "refuted": self.refuted,
            "settled": self.count(FindingStatus.SETTLED),
            "deferred": self.count(FindingStatus.DEFERRED),
            "block_on": self.case.state.case.terms.block_on.value,
        }

    def _candidate(self) -> dict[str, Any]:
        docket = self.case.state.docket
        offers = [
            {"round": o.round, "previous": o.previous, "candidate": o.candidate, "paths": list(o.changed)}
            for o in self.offers
        ]
        # A text has no base, and its candidate is the digest of its words.
        commits = self.case.state.case.terms.commits and bool(docket.base)
        return {"id": docket.candidate, "base": docket.base, "offers": offers, "are_commits": commits}

    def _spent(self) -> dict[str, Any]:
        spent, limits = self.progress.spent, self.case.state.case.limits
        return {
            "calls": spent.calls,
            "max_calls": self.most_calls or None,
            "tokens": spent.usage.tokens,
            "max_tokens": limits.max_tokens or None,
            "all_reported": spent.usage.known,
        }


def status_of(case: LoadedCase, claims: Sequence[Claim], holder: Holder | None, now: datetime) -> CaseStatus:
    """Return where a case stands.

    Args:
        case: as its record tells it.
        claims: every claim made in it.
        holder: who drives it now.
        now: what time it is; of a closed case, the time stands still at its end.
    """
    written_at = parse_stamp(case.blocks[-1].stamp)
    due = PROTOCOLS[case.state.case.protocol].due(case.state, now)
    ended_at = written_at if case.state.closed is not None else None
    seats = _seats(case, due, claims, holder)
    late = _late(seats, now)
    return CaseStatus(
        case=case,
        now=now,
        progress=progress_of(case.state, due, ended_at or now),
        pulse=_pulse(case, seats, holder, late),
        seats=seats,
        moved=_moved(case),
        written_at=written_at,
        holder=holder,
        late=late,
    )


def _pulse(case: LoadedCase, seats: Sequence[SeatNow], holder: Holder | None, late: Sequence[str]) -> Pulse:
    if case.state.closed is not None:
        return Pulse.CLOSED
    if holder is not None:
        return Pulse.OVERDUE if late else Pulse.DRIVEN
    waits = any(seat.state is SeatState.OWES and seat.seat.agent == _HUMAN for seat in seats)
    return Pulse.WAITING if waits else Pulse.STOPPED


def _late(seats: Sequence[SeatNow], now: datetime) -> tuple[str, ...]:
    """Return who is over time. Commands of a checks seat have limits of their own, and begin after its answer."""
    over = now - timedelta(seconds=_GRACE_S)
    timed = [seat for seat in seats if seat.until and seat.seat.kind is not SeatKind.CHECKS]
    return tuple(seat.seat.name for seat in timed if seat.until and seat.until < over)


def _seats(
    case: LoadedCase, due: Sequence[Turn], claims: Sequence[Claim], holder: Holder | None
) -> tuple[SeatNow, ...]:
    newest = {claim.turn: claim for claim in claims}
    turns = {turn.seat: turn for turn in due}
    sealed_at = {
        entry.turn.id: parse_stamp(block.stamp)
        for block, entry in zip(case.blocks, case.entries, strict=True)
        if isinstance(entry, SubmissionSealed)
    }
    found = []
    for seat in case.state.case.roster:
        turn = turns.get(seat.name)
        if turn is None:
            found.append(_not_due(case, seat, sealed_at))
        else:
            found.append(_due(case, seat, newest.get(turn.id), holder))
    return tuple(found)


def _due(case: LoadedCase, seat: Seat, claim: Claim | None, holder: Holder | None) -> SeatNow:
    """Return a seat whose turn it is. A person is asked without a claim."""
    failed = _failed(case, seat)
    if holder is None or (claim is None and seat.agent != _HUMAN):
        return SeatNow(seat=seat, state=SeatState.OWES, failed=failed)
    until = None if claim is None else _instant(claim.until)
    return SeatNow(seat=seat, state=SeatState.ASKED, since=_asked_at(case, until), until=until, failed=failed)


def _not_due(case: LoadedCase, seat: Seat, sealed_at: Mapping[str, datetime | None]) -> SeatNow:
    state = case.state
    verdict, last = state.verdicts.get(seat.name), state.last_seal(seat.name)
    approves = verdict.approved if verdict is not None and verdict.candidate == state.docket.candidate else None
    in_round = state.sealed.get(seat.name)
    if in_round is not None:
        found = SeatState.ANSWERED if in_round.turn.id in state.revealed else SeatState.SEALED
    elif state.is_out(seat.name):
        found = SeatState.OUT
    elif approves:
        found = SeatState.STANDS
    else:
        found = SeatState.ANSWERED if last is not None and state.closed else SeatState.WAITS
    has_answered = found in {SeatState.ANSWERED, SeatState.SEALED, SeatState.STANDS} and last is not None
    since = sealed_at.get(last.turn.id) if has_answered and last is not None else None
    return SeatNow(seat=seat, state=found, since=since, failed=_failed(case, seat), approves=approves)


def _failed(case: LoadedCase, seat: Seat) -> int:
    return sum(failure.reason not in NOBODYS_FAULT for failure in case.state.failures_of(seat.name))


def _asked_at(case: LoadedCase, until: datetime | None) -> datetime | None:
    """Return when a question was put, out of when its time ends; not known where the case's deadline cut that."""
    limits = case.state.case.limits
    if until is None or (limits.deadline and _instant(datetime.fromisoformat(limits.deadline)) == until):
        return None
    try:
        return until - timedelta(seconds=limits.call_timeout_s)
    except OverflowError:
        return None


def _instant(written: datetime) -> datetime | None:
    """Return an instant of a file in UTC, or `None` where it is none."""
    try:
        return written.astimezone(UTC) if written.tzinfo is not None else None
    except OverflowError:
        return None


def _moved(case: LoadedCase) -> tuple[Move, ...] | None:
    """Return what moved between the last reading that is over and the one before it."""
    state = case.state
    if state.stage and not tuple(state.ledger):
        return None  # nothing in it has a stance
    readings = list(state.stances)
    is_over = any(reveal.turn.round == state.round for reveal in state.revealed.values())
    if len(readings) < state.round and is_over:  # the case ended with it, so that nobody was asked for an answer
        readings.append(frozenset(finding.stance for finding in state.ledger))
    if not readings:
        return None
    before = {name: stance for name, *stance in readings[-2]} if len(readings) > 1 else {}
    after = {name: stance for name, *stance in readings[-1]}
    return tuple(
        Move(finding=finding.id, before=_pair(before.get(finding.id)), after=(now[0], now[1]))
        for finding in state.ledger
        if (now := after.get(finding.id)) is not None and now != before.get(finding.id)
    )


def _pair(stance: list[str] | None) -> tuple[str, str] | None:
    return None if stance is None else (stance[0], stance[1])


def _stance(stance: tuple[str, str] | None) -> dict[str, str | None] | None:
    return None if stance is None else {"status": stance[0], "disposition": stance[1] or None}


def _stamp(instant: datetime | None) -> str | None:
    return None if instant is None else format_stamp(instant)
