"""One question to one seat: what it costs, when, and what stays of it (drive/asking.py; DESIGN 4 and 6)."""

import asyncio
from datetime import timedelta

import pytest

from counterpoint.agents.base import Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.checks import Evidence, EvidenceStatus, LookUp
from counterpoint.core.entries import FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Exhibit, Materials
from counterpoint.core.values import Decision, StopReason
from counterpoint.drive.asking import Limiter
from counterpoint.drive.driver import Step
from counterpoint.drive.progress import DriveEvent, EventKind
from counterpoint.drive.subject import TextSubject
from counterpoint.errors import SourceError
from tests.drive.driving import FINDING, START, ActingAgent, Case, verdict
from tests.processes import finish

PLACED = {**FINDING, "location": "a.py:1"}
"""A finding at a place, which code looks up."""


def test_a_seat_that_waits_at_a_full_door_has_not_been_asked() -> None:
    """No claim, no call and none of its time until it is its turn (DESIGN 6: limits per destination)."""
    claims: list[int] = []

    async def slow(brief: Brief, workspace: Workspace) -> bytes:
        claims.append(len(case.store.claims(case.name)))
        case.clock.advance(50)
        return verdict()

    limits = Limits(call_timeout_s=60)
    case = Case({name: ActingAgent(slow) for name in ("a", "b", "c")}, limits=limits)
    finish(case.driver(limiter=Limiter(1)).run())
    assert claims == [1, 2, 3]
    assert case.load().outcome.decision is Decision.APPROVED


def test_a_deadline_that_passes_at_the_door_costs_no_call() -> None:
    """The next step closes the case; the seat that waited is not blamed."""

    async def slow(brief: Brief, workspace: Workspace) -> bytes:
        case.clock.advance(60)
        return verdict()

    limits = Limits(deadline=(START + timedelta(seconds=60)).isoformat())
    case = Case({"a": ActingAgent(slow), "b": ActingAgent(verdict())}, limits=limits)
    finish(case.driver(limiter=Limiter(1)).run())
    loaded = case.load()
    assert loaded.outcome.stop_reason is StopReason.DEADLINE_PASSED
    assert (len(case.store.claims(case.name)), loaded.state.failures) == (1, ())


def test_a_person_is_announced_as_one() -> None:
    """Whoever watches leaves the terminal to them."""
    person = ActingAgent(verdict())
    person.patient = True
    events: list[DriveEvent] = []
    Case({"ana": person, "bot": ActingAgent(verdict())}).run(events.append)
    assert [(e.seat, e.kind) for e in events if e.kind in {EventKind.ASKED, EventKind.WAITING}] == [
        ("ana", EventKind.WAITING),
        ("bot", EventKind.ASKED),
    ]


def test_a_person_is_not_hurried_by_the_timeout_of_a_call() -> None:
    """The case's deadline alone holds for them (DESIGN 8)."""

    async def think(brief: Brief, workspace: Workspace) -> bytes:
        case.clock.advance(3600)
        return verdict()

    person = ActingAgent(think)
    person.patient = True
    case = Case({"ana": person}, limits=Limits(call_timeout_s=1))
    assert case.run().outcome.decision is Decision.APPROVED


class LostSubject(TextSubject):
    """A subject whose material is gone."""

    async def materials(self, exhibit: Exhibit) -> Materials:
        raise SourceError("object c0ffee is missing", hint="fetch it")


def test_a_subject_that_is_gone_is_not_the_agents_fault() -> None:
    """The case stays open; no attempt is recorded against the seat, and the claim says later that it was lost."""
    agent = ActingAgent(verdict())
    case = Case({"one": agent}, subject=LostSubject())
    with pytest.raises(SourceError, match="is missing"):
        case.run()
    assert (agent.calls, case.types()) == (0, [])
    case.subject = TextSubject("a change", shown_paths=("a.py",))
    loaded = case.run()
    assert [failure.reason for failure in loaded.state.failures] == [FailureReason.DRIVER_LOST]
    assert loaded.outcome.decision is Decision.APPROVED


def test_an_interruption_meets_a_note_and_both_are_recorded() -> None:
    """A supervisor spoke in between: the attempt is recorded after the note, not lost to the race."""
    arrived = asyncio.Event()

    async def hang(brief: Brief, workspace: Workspace) -> bytes:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    case = Case({"one": ActingAgent(hang, verdict())})

    async def interrupt() -> None:
        running = asyncio.create_task(case.driver().run())
        await arrived.wait()
        await case.driver().speak("owner", AddNote(text="wait"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    finish(interrupt())
    assert case.types() == ["note-added", "attempt-failed"]
    assert [failure.reason for failure in case.load().state.failures] == [FailureReason.INTERRUPTED]


def test_an_answer_that_is_in_when_the_interruption_comes_is_no_failed_attempt() -> None:
    """It is in the vault; the next driver takes it from there."""
    looking = asyncio.Event()

    class SlowSubject(TextSubject):
        async def look_up(self, request: LookUp) -> Evidence:
            looking.set()
            await asyncio.Event().wait()
            raise AssertionError

    agent = ActingAgent(verdict(approved=False, findings=[PLACED]))
    case = Case({"one": agent}, subject=SlowSubject("a change", shown_paths=("a.py",)))

    async def interrupt() -> None:
        running = asyncio.create_task(case.driver().advance())
        await looking.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    finish(interrupt())
    assert case.types() == []
    case.subject = TextSubject("a change", shown_paths=("a.py",))
    loaded = case.run()
    assert (agent.calls, loaded.state.failures, loaded.outcome.decision) == (1, (), Decision.REJECTED)


def test_one_check_runs_once_however_many_seats_ask_for_it() -> None:
    """Side by side, and again after a resume: what was found is kept."""
    looked: list[LookUp] = []

    class CountingSubject(TextSubject):
        async def look_up(self, request: LookUp) -> Evidence:
            looked.append(request)
            await asyncio.sleep(0)
            return Evidence(request=request, status=EvidenceStatus.NOT_CHECKED, detail="")

    seats = {name: ActingAgent(verdict(approved=False, findings=[PLACED])) for name in ("a", "b")}
    case = Case(seats, subject=CountingSubject("a change", shown_paths=("a.py",)))
    assert finish(case.driver().advance()) is Step.AGAIN
    assert len(looked) == len(set(looked)) > 0
    case.run()
    assert len(looked) == len(set(looked))
