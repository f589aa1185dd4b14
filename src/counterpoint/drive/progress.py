"""What the driver tells whoever watches: small events, in order, never part of the record.

A callback must not block. One that raises is called no more; that is recorded, and the case goes on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["DriveEvent", "EventKind", "OnEvent", "ignore_events"]


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
    """A reading or an answer is over and the case goes on."""
    APPENDED = "appended"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveEvent:
    kind: EventKind
    case: str
    seat: str = ""
    """Empty where the event is nobody's turn."""
    round: int = 0
    text: str = ""
    """One line for people."""


OnEvent = Callable[[DriveEvent], None]


def ignore_events(event: DriveEvent) -> None:
    """Watch nothing."""
