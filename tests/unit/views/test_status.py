"""Where a case stands at one moment: what each seat does, and whether the case gets on (FIELD-FAULTS F17, F43)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from counterpoint.core.docket import Seat
from counterpoint.core.entries import FailureReason
from counterpoint.core.limits import Limits
from counterpoint.drive.cases import load_case
from counterpoint.drive.lease import Holder
from counterpoint.drive.progress import progress_of
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Claim
from counterpoint.views.status import CaseStatus, Pulse, SeatState, status_of
from tests.example_cases import CHECKS, CRITIC, NAMED, PASSING, START, Play

HOLDER = Holder(name="pid 4711 on host", since="2024-11-30T10:15:00+00:00")
PERSON = Seat(name="me", party="owner", agent="human")
HOUR = timedelta(hours=1)


class Case:
    """One case in memory, and how it stands."""

    def __init__(self, *roster: Seat, limits: Limits | None = None, quorum: int | None = None) -> None:
        self.store = MemoryStore()
        self.play = Play(self.store, roster=roster, found=PASSING, limits=limits, quorum=quorum)

    def at(self, now: datetime, *, claims: Sequence[Claim] = (), holder: Holder | None = HOLDER) -> CaseStatus:
        return status_of(load_case(self.store, Path(), self.play.name), claims, holder, now)


def _claim(turn: str, until: datetime) -> Claim:
    return Claim(turn=turn, driver="driver-1", attempt=1, until=until)


def _states(status: CaseStatus) -> dict[str, SeatState]:
    return {seat.seat.name: seat.state for seat in status.seats}


def test_who_has_answered_is_sealed_and_who_is_asked_has_a_time() -> None:
    """Since when follows from until when and from how long a call may take."""
    case = Case(CHECKS, CRITIC)
    case.play.answer("checks", NAMED)
    status = case.at(START + HOUR, claims=[_claim("reviewing.1.critic.1", START + HOUR)])
    assert _states(status) == {"checks": SeatState.SEALED, "critic": SeatState.ASKED}
    assert [(seat.since, seat.until) for seat in status.seats] == [
        (START + timedelta(seconds=90), None),
        (START + HOUR / 2, START + HOUR),
    ]
    assert (status.pulse, status.progress.awaited, status.late) == (Pulse.DRIVEN, ("critic",), ())


def test_a_call_that_the_deadline_cuts_has_no_known_beginning() -> None:
    """Better none than a wrong one."""
    ends = START + HOUR
    case = Case(CRITIC, limits=Limits(deadline=ends.isoformat()))
    (seat,) = case.at(START, claims=[_claim("reviewing.1.critic.1", ends)]).seats
    assert (seat.state, seat.since, seat.until) == (SeatState.ASKED, None, ends)


@pytest.mark.parametrize(("seconds", "pulse"), [(0, Pulse.DRIVEN), (60, Pulse.DRIVEN), (61, Pulse.OVERDUE)])
def test_a_driver_that_waits_beyond_the_time_of_a_call_is_late(seconds: int, pulse: Pulse) -> None:
    """A minute is for noticing; after it the review does not get on, whoever holds the lease."""
    case = Case(CHECKS, CRITIC)
    claims = [_claim(f"reviewing.1.{seat}.1", START + HOUR) for seat in ("checks", "critic")]
    status = case.at(START + HOUR + timedelta(seconds=seconds), claims=claims)
    assert status.pulse is pulse
    # Project commands run after the question of a checks seat is answered, under limits of their own.
    assert status.late == (("critic",) if pulse is Pulse.OVERDUE else ())


def test_a_claim_of_an_older_question_is_nobodys_turn() -> None:
    """The seat was asked, failed, and owes the next question; nobody has put it yet."""
    case = Case(CRITIC)
    case.play.fail("critic", FailureReason.BAD_REPLY, "prose")
    status = case.at(START, claims=[_claim("reviewing.1.critic.1", START + HOUR)])
    assert [(seat.state, seat.failed) for seat in status.seats] == [(SeatState.OWES, 1)]
    assert status.pulse is Pulse.DRIVEN


def test_a_seat_that_failed_is_out_and_a_lost_driver_is_not_its_fault() -> None:
    """What counts against a seat is what it did."""
    case = Case(CHECKS, CRITIC, quorum=1)
    case.play.fail("checks", FailureReason.DRIVER_LOST, "the driver died")
    for _ in range(2):
        case.play.fail("critic", FailureReason.TIMEOUT, "no answer within 1800 s")
    assert [(seat.state, seat.failed) for seat in case.at(START).seats] == [(SeatState.OWES, 0), (SeatState.OUT, 2)]


def test_a_case_without_a_driver_waits_for_a_person_or_is_stopped() -> None:
    """A claim that a dead driver left is no question that is out (F43)."""
    case = Case(CRITIC, PERSON)
    claims = [_claim("reviewing.1.critic.1", START + HOUR)]
    waiting = case.at(START, claims=claims, holder=None)
    assert (waiting.pulse, set(_states(waiting).values())) == (Pulse.WAITING, {SeatState.OWES})
    driven = case.at(START, claims=claims)
    assert (driven.pulse, set(_states(driven).values())) == (Pulse.DRIVEN, {SeatState.ASKED})
    assert Case(CRITIC).at(START, claims=claims, holder=None).pulse is Pulse.STOPPED


def test_before_the_first_reading_is_over_nothing_is_said_of_what_moved() -> None:
    """No reading, no comparison; and a case of reviewers alone is one reading."""
    case = Case(CHECKS)
    assert case.at(START).moved is None
    case.play.answer("checks", NAMED)
    case.play.settle()
    closed = case.at(START + 9 * HOUR, holder=None)
    assert (closed.moved, closed.pulse, closed.progress.is_last_reading) == ((), Pulse.CLOSED, True)
    assert closed.progress.elapsed_s == 180


def test_a_clock_that_was_set_back_makes_no_negative_time() -> None:
    """Elapsed time is nothing at least."""
    assert Case(CRITIC).at(datetime(2001, 1, 1, tzinfo=UTC)).progress.elapsed_s == 0


@pytest.mark.parametrize("stamp", ["yesterday", "2024-11-30T10:15:00", "0001-01-01T00:00:00+14:00"])
def test_an_opening_that_names_no_instant_has_no_length(stamp: str) -> None:
    """A record of somebody else's may say anything; its length is unknown, or long, and never an error."""
    state = Case(CRITIC).at(START).case.state
    told = progress_of(replace(state, opened=replace(state.case, opened_at=stamp)), (), START)
    assert told.elapsed_s is None or told.elapsed_s > 10**9
