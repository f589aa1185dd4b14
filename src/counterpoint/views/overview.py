"""The cases of a folder at a glance. One that cannot be read is listed with what is wrong with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from counterpoint.core.docket import Docket
from counterpoint.core.values import Decision
from counterpoint.drive.cases import PROTOCOLS, LoadedCase, list_cases, load_case
from counterpoint.drive.lease import Holder, current_holder
from counterpoint.errors import CounterpointError
from counterpoint.record.store import Store

__all__ = ["CaseLine", "Standing", "line_of", "list_lines"]

_HUMAN: Final = "human"
_SHORT: Final = 12


class Standing(StrEnum):
    """Where a case stands."""

    OPEN = "open"
    WAITING = "waiting"
    """Nobody drives it, and a person owes a turn."""
    CLOSED = "closed"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseLine:
    """One case of the list."""

    name: str
    standing: Standing
    protocol: str = ""
    decision: Decision | None = None
    """`None` while it is open."""
    about: str = ""
    """The question or the title, in one line; of a change, the commits."""
    opened_at: str = ""
    open_findings: int = 0
    deferred_findings: int = 0
    round: int = 0
    """The one it is in, or ended in; 0 where that cannot be read."""
    commits: int = 0
    """Made of an author's edits."""
    holder: Holder | None = None
    """Who drives it now."""
    error: CounterpointError | None = None

    @property
    def state(self) -> str:
        """What a person wants to know first: the decision, or that there is none yet."""
        return self.decision.value if self.decision else self.standing.value

    def fields(self) -> dict[str, Any]:
        """Return the line as a JSON object."""
        return {
            "case": self.name,
            "standing": self.standing.value,
            "protocol": self.protocol,
            "decision": self.decision.value if self.decision else None,
            "about": self.about,
            "opened_at": self.opened_at,
            "open_findings": self.open_findings,
            "deferred_findings": self.deferred_findings,
            "round": self.round,
            "commits": self.commits,
            "driven_by": {"name": self.holder.name, "since": self.holder.since} if self.holder else None,
            "error": dict(self.error.fields()) if self.error else None,
        }


def list_lines(store: Store, cases: Path, now: datetime) -> Iterator[CaseLine]:
    """Yield a line for each case in a folder, the oldest first."""
    for name in list_cases(cases):
        try:
            yield line_of(load_case(store, cases, name), current_holder(cases / name), now)
        except CounterpointError as error:
            yield CaseLine(name=name, standing=Standing.UNREADABLE, protocol=name.partition("-")[0], error=error)


def line_of(case: LoadedCase, holder: Holder | None, now: datetime) -> CaseLine:
    """Return the line of a case that was read."""
    closed = case.state.closed is not None
    return CaseLine(
        name=case.name,
        standing=Standing.CLOSED if closed else _standing(case, holder, now),
        protocol=case.state.case.protocol,
        decision=case.outcome.decision if closed else None,
        about=_about(case.state.docket),
        opened_at=case.blocks[0].stamp,
        open_findings=len(case.outcome.open_findings),
        deferred_findings=len(case.outcome.deferred_findings),
        round=case.state.round,
        commits=len(case.state.offers) if case.state.case.terms.commits else 0,
        holder=holder,
    )


def _about(docket: Docket) -> str:
    if docket.is_about_change:
        return f"{docket.candidate[:_SHORT]} against {docket.base[:_SHORT]}"
    return " ".join(docket.question.split())


def _standing(case: LoadedCase, holder: Holder | None, now: datetime) -> Standing:
    people = {seat.name for seat in case.state.case.roster if seat.agent == _HUMAN}
    due = PROTOCOLS[case.state.case.protocol].due(case.state, now)
    waits = holder is None and any(turn.seat in people for turn in due)
    return Standing.WAITING if waits else Standing.OPEN
