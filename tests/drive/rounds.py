"""A review with an author over a real repository, driven as a program drives it: what tests of rounds share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from counterpoint.agents.base import Agent, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.docket import Terms
from counterpoint.core.limits import Limits
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.driver import Driver
from counterpoint.drive.progress import DriveEvent, EventKind
from counterpoint.record.store import Store
from tests.drive.driving import Act, ActingAgent, Case, verdict
from tests.drive.edited import Edited
from tests.processes import finish

__all__ = ["SAYS", "WRONG", "Rounds", "answered", "commits_of", "edits", "read"]

WRONG = {
    "id": "F1",
    "severity": "major",
    "location": "price.py:1",
    "issue": "It does not say three.",
    "suggestion": "Say three.",
    "status": "open",
}

SAYS = "x = 3\n"


def answered(*changed: str, disposition: str = "fix", finding: str = "F1", summary: str = "Say three") -> bytes:
    """Return a reply as an author writes it."""
    given = [{"finding": finding, "reasoning": "It is so.", "disposition": disposition}]
    return json.dumps({"summary": summary, "dispositions": given, "changed": list(changed)}).encode()


def edits(text: str = SAYS, *, says: bytes | None = None) -> Act:
    """Return an act that writes `price.py` into the work tree, and answers."""

    async def act(brief: Brief, workspace: Workspace) -> bytes:
        assert workspace.edits
        (workspace.tree / "price.py").write_text(text)
        return answered("price.py") if says is None else says

    return act


async def read(brief: Brief, workspace: Workspace) -> bytes:
    """Approve exactly what says three."""
    assert not workspace.edits
    if (workspace.tree / "price.py").read_text() == SAYS:
        return verdict(findings=[{**WRONG, "status": "resolved"}] if "your_findings" in brief.payload else [])
    return verdict(approved=False, findings=[WRONG])


class Rounds:
    """A repository, its author and its critics, and a case in memory that is driven as a program drives it."""

    def __init__(
        self,
        top: Path,
        author: ActingAgent,
        *critics: Agent,
        commits: bool = True,
        limits: Limits | None = None,
        store: Store | None = None,
    ) -> None:
        self.edited = Edited(top, commits=commits)
        self.author = author
        seats = {"ana": author, "critic": critics[0] if critics else ActingAgent(read)}
        seats |= {f"critic-{number}": agent for number, agent in enumerate(critics[1:], 2)}
        self.case = Case(
            seats,
            author="ana",
            docket=self.edited.docket(),
            terms=Terms(commits=commits),
            limits=limits or Limits(),
            store=store,
        )
        self.edited.clock = self.case.clock
        self.events: list[DriveEvent] = []

    def drive(self, act: Callable[[Driver[Any]], Any]) -> LoadedCase:
        """Do something with a new driver, as one process would; whatever happens, nothing half is left."""
        return self._with_driver(act, puts_away=True)

    def die(self, act: Callable[[Driver[Any]], Any]) -> LoadedCase:
        """Do something with a new driver, as a process that is killed after it: it tidies up nothing."""
        return self._with_driver(act, puts_away=False)

    def _with_driver(self, act: Callable[[Driver[Any]], Any], *, puts_away: bool) -> LoadedCase:
        case = self.case
        editing = self.edited.editing(case.store.vault(case.name), case.name)
        with self.edited.subject(editing) as case.subject:
            driver = case.driver(self.events.append)
            try:
                finish(act(driver))
            finally:
                if puts_away:
                    driver.put_away()
        return case.load()

    def run(self) -> LoadedCase:
        return self.drive(lambda driver: driver.run())

    def told(self, *kinds: EventKind) -> list[str]:
        """Return what was told of these kinds, in order: `seat: text`."""
        return [f"{event.seat}: {event.text}" for event in self.events if event.kind in kinds]


def commits_of(loaded: LoadedCase) -> list[str]:
    return [offer.candidate for offer in loaded.state.offers]
