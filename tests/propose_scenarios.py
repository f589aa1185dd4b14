"""The scenario tables of `propose` in `tests/data/propose`, and how one is driven: real driver, scripted agents.

A step of a script is named by its phase, round and seat. It is `proposal`, `scan` or `review` with what departs from
the plain one of `propose_case`, or `text` or `fail` as in a script of the scripted agent. Besides: `model` that
answers, `tokens` that it reports, and `takes_s`, the seconds that pass before it answers. What `happens` after some
steps is no seat's doing: the supervisor's withdrawal, or that the vault has lost what was sealed.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import Progress, Reply, Workspace
from counterpoint.agents.scripted import ScriptedAgent, parse_script
from counterpoint.core.briefs import Brief
from counterpoint.core.docket import Docket, Seat
from counterpoint.core.limits import Limits
from counterpoint.core.rules import Withdraw
from counterpoint.drive.api import open_case
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.drive.clock import ManualClock
from counterpoint.drive.driver import Driver, Step
from counterpoint.drive.ids import CountedIds
from counterpoint.drive.progress import OnEvent, ignore_events
from counterpoint.drive.subject import TextSubject
from counterpoint.protocols.propose import PROPOSE
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Vault
from tests.need import ROOT
from tests.propose_case import CRITIC, PROPOSER, SECOND, proposal, review, scan

__all__ = ["SCENARIOS", "START", "Scenario", "read_scenario"]

SCENARIOS: Final = tuple(sorted(path.stem for path in (ROOT / "tests/data/propose").glob("*.json")))
START: Final = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)
_FORMS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {"proposal": proposal, "scan": scan, "review": review}
_KEYS: Final = {
    "says",
    "rows",
    "question",
    "context",
    "context_of",
    "limits",
    "critics",
    "script",
    "happens",
    "expect",
}


class _Script(ScriptedAgent):
    """The package's own scripted agent, which besides lets time pass."""

    def __init__(self, rows: list[dict[str, Any]], clock: ManualClock, takes: Mapping[str, int]) -> None:
        super().__init__(parse_script({"reply": rows}, source="the scenario"))
        self._clock, self._takes = clock, takes

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        turn = workspace.turn
        self._clock.advance(self._takes.get(f"{turn.phase}.{turn.round}.{turn.seat}", 0))
        return await super().ask(brief, workspace=workspace, deadline=deadline, on_progress=on_progress)


class _LosableVault(Vault):
    """A vault that holds what another does, until everything in it is lost."""

    is_lost = False

    def __init__(self, kept: Vault) -> None:
        self._kept = kept

    def put(self, name: str, content: bytes) -> None:
        self._kept.put(name, content)

    def get(self, name: str) -> bytes | None:
        return None if self.is_lost else self._kept.get(name)

    def names(self) -> tuple[str, ...]:
        return () if self.is_lost else self._kept.names()


class _Store(MemoryStore):
    """The package's own store in memory, with one vault that can be lost."""

    def __init__(self) -> None:
        super().__init__()
        self.vaults: dict[str, _LosableVault] = {}

    def vault(self, channel: str) -> _LosableVault:
        return self.vaults.setdefault(channel, _LosableVault(super().vault(channel)))


class Scenario:
    """One scenario: a case in memory, and a new driver for it as often as one is wanted."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        assert table.keys() <= _KEYS, table.keys() - _KEYS
        self.says: str = table["says"]
        self.expect: Mapping[str, Any] = table["expect"]
        self.clock = ManualClock(START)
        self.ids = CountedIds()
        self.store = _Store()
        self._happens: Mapping[str, Any] = table.get("happens", {})
        self._steps = 0
        self.roster: tuple[Seat, ...] = (PROPOSER, CRITIC, SECOND)[: 1 + table.get("critics", 1)]
        script: Mapping[str, Mapping[str, Any]] = table["script"]
        rows = [_row(name, step) for name, step in script.items()]
        takes = {name: step["takes_s"] for name, step in script.items() if "takes_s" in step}
        self.agent = _Script(rows, self.clock, takes)
        self.docket = Docket(
            question=table.get("question", "Let users export their data."),
            context=table.get("context", "x" * table.get("context_of", 0)),
        )
        given = {"max_rounds": 4, "min_rounds": 2, "stall_rounds": 2, "max_calls": 0, "max_asks": 1}
        self.limits = Limits(**(given | table.get("limits", {})))
        self.open()

    def open(self) -> None:
        self.name = open_case(
            "propose",
            self.docket,
            self.roster,
            store=self.store,
            clock=self.clock,
            ids=self.ids,
            limits=self.limits,
        )

    def driver(self, on_event: OnEvent = ignore_events) -> Driver[Any]:
        return Driver(
            PROPOSE,
            self.store,
            self.name,
            {seat.name: self.agent for seat in self.roster},
            TextSubject(self.docket.question),
            clock=self.clock,
            salt=lambda: self.ids.token(16),
            name=f"driver-{self.ids.token(4)}",
            on_event=on_event,
        )

    async def advance(self, driver: Driver[Any]) -> Step:
        """Take one step, after what happens before it."""
        if self._steps == self._happens.get("after_steps"):
            match self._happens["what"]:
                case "withdrawn":
                    await driver.speak(self.load().state.case.supervisor, Withdraw(reason="not needed any more"))
                case "vault lost":
                    self.store.vault(self.name).is_lost = True
                case other:
                    raise AssertionError(other)
        self._steps += 1
        return await driver.advance()

    def run(self, *, fresh: bool = False, on_event: OnEvent = ignore_events) -> LoadedCase:
        """Drive it to its end, with a fresh driver for each step if so asked."""
        asyncio.run(asyncio.wait_for(self._run(on_event, fresh=fresh), 5))
        return self.load()

    async def _run(self, on_event: OnEvent, *, fresh: bool) -> None:
        driver = self.driver(on_event)
        while await self.advance(driver) is Step.AGAIN:
            driver = self.driver() if fresh else driver

    def load(self) -> LoadedCase:
        return load_case(self.store, Path("cases"), self.name)


def _row(name: str, step: Mapping[str, Any]) -> dict[str, Any]:
    phase, number, seat = name.split(".")
    row: dict[str, Any] = {"phase": phase, "round": int(number), "seat": seat}
    (form,) = {"text", "fail", *_FORMS} & step.keys()
    row |= {"answer": _FORMS[form]() | step[form]} if form in _FORMS else {form: step[form]}
    row["usage"] = {"input_tokens": step.get("tokens", 10), "output_tokens": 1}
    return row | ({"model": step["model"]} if "model" in step else {})


def read_scenario(name: str) -> Scenario:
    return Scenario(json.loads((ROOT / "tests/data/propose" / f"{name}.json").read_text("utf-8")))
