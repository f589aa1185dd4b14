"""What the driver's tests share: a docket, replies, agents that behave in one stated way, and a case in memory."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from counterpoint.agents.base import Agent, Progress, Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.case import CaseState
from counterpoint.core.docket import ChangedPath, Docket, PathState, Terms
from counterpoint.core.entries import ConsentGranted
from counterpoint.core.limits import Limits
from counterpoint.core.values import Usage
from counterpoint.drive.api import open_case, roster_of
from counterpoint.drive.asking import Limiter
from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.drive.clock import ManualClock
from counterpoint.drive.driver import Driver
from counterpoint.drive.ids import CountedIds
from counterpoint.drive.kept import Voucher
from counterpoint.drive.progress import OnEvent, ignore_events
from counterpoint.drive.subject import Subject, TextSubject
from counterpoint.protocols.review import REVIEW
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Store

START = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)
DOCKET = Docket(
    question="Is it good?",
    candidate="c" * 40,
    base="b" * 40,
    paths=(ChangedPath(path="a.py", state=PathState.TEXT),),
)
FINDING = {
    "id": "F1",
    "severity": "major",
    "location": "the whole",
    "issue": "It is wrong.",
    "suggestion": "Make it right.",
    "status": "open",
}


def verdict(*, approved: bool = True, findings: Sequence[Mapping[str, Any]] = (), summary: str = "seen") -> bytes:
    """Return a reply as a reviewer writes it."""
    whole = {"summary": summary, "findings": list(findings), "responseToRebuttal": "", "approved": approved}
    return json.dumps(whole).encode()


Act = Callable[[Brief, Workspace], Awaitable[bytes]]


class ActingAgent(Agent):
    """An agent that does what a test says, call by call; the last act is repeated."""

    kind = "scripted"

    def __init__(self, *acts: Act | bytes | Exception, destination: str = "local", model: str = "m") -> None:
        self._acts = list(acts)
        self.destination = destination
        self.calls = 0
        self.briefs: list[Brief] = []
        self.model_requested = model
        self.model_reported = model
        self.usage = Usage(input_tokens=10, output_tokens=1, known=True)

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        act = self._acts[min(self.calls, len(self._acts) - 1)]
        self.calls += 1
        self.briefs.append(brief)
        if isinstance(act, Exception):
            raise act
        content = act if isinstance(act, bytes) else await act(brief, workspace)
        return Reply(
            content=content,
            model_requested=self.model_requested,
            model_reported=self.model_reported,
            usage=self.usage,
        )


class Case:
    """A case in memory, and a new driver for it as often as one is wanted."""

    def __init__(
        self,
        seats: Mapping[str, Agent],
        *,
        limits: Limits | None = None,
        quorum: int | None = None,
        consents: Sequence[ConsentGranted] = (),
        subject: Subject | None = None,
        store: Store | None = None,
        docket: Docket = DOCKET,
        author: str | None = None,
        terms: Terms | None = None,
    ) -> None:
        self.seats = seats
        self.clock = ManualClock(START)
        self.ids = CountedIds()
        self.store = store or MemoryStore()
        self.subject = subject or TextSubject("a change", shown_paths=("a.py",))
        self.name = open_case(
            "review",
            docket,
            roster_of(seats, author=author),
            store=self.store,
            clock=self.clock,
            ids=self.ids,
            limits=limits or Limits(),
            terms=terms or Terms(),
            quorum=quorum,
            consents=consents,
        )

    def driver(
        self, on_event: OnEvent = ignore_events, *, limiter: Limiter | None = None, voucher: Voucher | None = None
    ) -> Driver[CaseState]:
        return Driver(
            REVIEW,
            self.store,
            self.name,
            self.seats,
            self.subject,
            clock=self.clock,
            salt=lambda: self.ids.token(16),
            name=f"driver-{self.ids.token(4)}",
            limiter=limiter,
            on_event=on_event,
            voucher=voucher,
        )

    def run(self, on_event: OnEvent = ignore_events) -> LoadedCase:
        asyncio.run(asyncio.wait_for(self.driver(on_event).run(), 5))
        return self.load()

    def load(self) -> LoadedCase:
        return load_case(self.store, Path("cases"), self.name)

    def types(self) -> list[str]:
        """Return the types of the entries, the opening left out."""
        return [block.type for block in self.store.read(self.name, 1)]
