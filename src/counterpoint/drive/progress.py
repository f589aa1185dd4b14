"""What the driver tells whoever watches: small events, in order, never part of the record.

A callback must not block. One that raises is called no more; that is recorded, and the case goes on. `Progress` says
how far a case is: `EventKind.ROUND` carries it, and anybody can compute it from a record at any time.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from counterpoint.core.case import CaseState
from counterpoint.core.limits import Spent
from counterpoint.core.values import Severity, Turn

__all__ = ["DriveEvent", "EventKind", "OnEvent", "Progress", "ignore_events", "progress_of"]


class EventKind(StrEnum):
    RESUMED = "resumed"
    ASKED = "asked"
    WAITING = "waiting"
    """A person is asked: the terminal is theirs until they have answered."""
    HEARD = "heard"
    """A line of progress from the agent itself."""
    CHECKING = "checking"
    CHECKED = "checked"
    ANSWERED = "answered"
    ATTEMPT_FAILED = "attempt_failed"
    LANDED = "landed"
    """An author's edit was committed, or taken as the files lie."""
    PUT_AWAY = "put_away"
    """What a turn that came to nothing had left in the work tree is kept, and the tree is as it was."""
    ROUND = "round"
    """A reading, an answer or a stage is over and the case goes on."""
    APPENDED = "appended"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a case is."""

    round: int
    max_rounds: int
    """Zero: as many as it takes. In a case of readings, how often the author may answer; one reading follows then."""
    author: str
    """The seat that answers for what is judged; empty in a case without one."""
    stage: str
    """The phase in which seats were asked last; empty in a case of readings, which is a single one where nobody
    answers."""
    awaited: tuple[str, ...]
    """The seats that owe an answer now."""
    open_findings: Mapping[Severity, int]
    """How many, by severity, the heaviest first. What evidence refuted is not counted."""
    spent: Spent
    elapsed_s: int | None
    """Since the case was opened; `None` where its record does not tell when that was."""

    @property
    def is_last_reading(self) -> bool:
        """Whether it is a reading that no answer can follow any more."""
        return not self.stage and (not self.author or 0 < self.max_rounds < self.round)


def progress_of(state: CaseState, due: Iterable[Turn], now: datetime) -> Progress:
    """Return how far a case is whose turns `due` are owed now."""
    weights = [finding.severity for finding in state.ledger.blocking()]
    return Progress(
        round=state.round,
        max_rounds=state.case.limits.max_rounds,
        author=state.case.author.name if state.case.author is not None else "",
        stage=state.stage,
        awaited=tuple(turn.seat for turn in due),
        open_findings=MappingProxyType({severity: weights.count(severity) for severity in Severity}),
        spent=state.spent,
        elapsed_s=_seconds_since(state.case.opened_at, now),
    )


def _seconds_since(stamp: str, now: datetime) -> int | None:
    try:
        return max(0, int((now - datetime.fromisoformat(stamp)).total_seconds()))
    except (ValueError, TypeError, OverflowError):  # no instant, or one without its zone
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveEvent:
    kind: EventKind
    case: str
    seat: str = ""
    """Empty where the event is nobody's turn."""
    round: int = 0
    text: str = ""
    """One line for people."""
    progress: Progress | None = None
    """Where the kind is `ROUND`: how far the case is now."""


OnEvent = Callable[[DriveEvent], None]


def ignore_events(event: DriveEvent) -> None:
    """Watch nothing."""
