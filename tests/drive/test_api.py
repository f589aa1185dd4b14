"""The Python API: what the command line does is a call (DESIGN 3)."""

import asyncio

import pytest

import counterpoint
from counterpoint.agents.base import Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision
from counterpoint.drive.api import CaseResult, drive_case, open_case, roster_of, rules_of
from counterpoint.drive.asking import Limiter
from counterpoint.drive.clock import ManualClock
from counterpoint.drive.ids import CountedIds
from counterpoint.drive.progress import DriveEvent, EventKind
from counterpoint.errors import ConfigError, Refused
from counterpoint.record.memory import MemoryStore
from tests.drive.driving import DOCKET, START, ActingAgent, verdict
from tests.processes import finish


def test_a_case_is_opened_and_driven_by_one_call() -> None:
    """Without a loop of one's own; the record is in the store under the name that comes back."""
    store, events = MemoryStore(), list[DriveEvent]()
    result = counterpoint.run(
        "review", DOCKET, {"critic": ActingAgent(verdict())}, store=store, on_event=events.append
    )
    assert result.outcome.decision is Decision.UNDETERMINED
    assert result.case.startswith("review-")
    assert store.verify(result.case).is_clean
    assert events[-1].kind is EventKind.CLOSED


def test_several_cases_are_driven_side_by_side_under_one_limit() -> None:
    """One loop, one `Limiter` (DESIGN 6); each case has its own name and record."""
    out, most = 0, 0

    async def count(brief: Brief, workspace: Workspace) -> bytes:
        nonlocal out, most
        out += 1
        most = max(most, out)
        await asyncio.sleep(0)
        out -= 1
        return verdict()

    store, ids, limiter = MemoryStore(), CountedIds(), Limiter(2)

    async def drive() -> CaseResult:
        return await drive_case(
            "review",
            DOCKET,
            {"a": ActingAgent(count), "b": ActingAgent(count)},
            store=store,
            clock=ManualClock(START),
            ids=ids,
            limiter=limiter,
        )

    async def all_of_them() -> list[CaseResult]:
        return list(await asyncio.gather(*(drive() for _ in range(3))))

    results = finish(all_of_them())
    assert len({result.case for result in results}) == 3
    assert most == 2


def test_a_roster_says_who_sits_where_and_how_they_are_reached() -> None:
    """A party is named like its seat unless stated; code that runs commands has a seat of its own kind."""
    checks, critic = ActingAgent(verdict()), ActingAgent(verdict(), destination="acme")
    checks.kind = "checks"
    assert roster_of({"ci": checks, "critic": critic}, {"critic": "claude"}) == (
        Seat(name="ci", party="ci", kind=SeatKind.CHECKS, agent="checks", destination="local"),
        Seat(name="critic", party="claude", kind=SeatKind.OPINION, agent="scripted", destination="acme"),
    )


def test_what_the_rules_refuse_opens_nothing() -> None:
    """Not even a channel."""
    store = MemoryStore()
    with pytest.raises(Refused, match="ROSTER-1"):
        open_case("review", DOCKET, (), store=store, clock=ManualClock(START), ids=CountedIds())
    with pytest.raises(Refused, match="LIMIT-1"):
        counterpoint.run("review", DOCKET, {"a": ActingAgent(verdict())}, store=store, limits=Limits(max_asks=0))
    assert store.list_open() == ()


def test_a_protocol_that_there_is_not_is_named_with_those_there_are() -> None:
    """The name is a user's."""
    with pytest.raises(ConfigError, match="protocol: expected one of review, answer, propose, ballot; got 'debate'"):
        rules_of("debate")
