"""Protocols about text, made of stages: what is asked of whom, what an answer does, and what follows.

A stage is a phase in which seats owe a turn. Their answers are sealed as they come in, and revealed in one batch when
nobody is waited for any more; then the protocol says what follows. An answer stands in the record once, as the reply
that was sealed: the fold reads it again, by the same form and the same guards that let it in. So a record that
verifies holds no answer that the rules would have refused, and nothing follows in it but what they compute.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest
from counterpoint.core.conduct import (
    Said,
)
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import (
    AnswerRequested,
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    ChallengeOpened,
    ConsentGranted,
    Entry,
    EvidenceGathered,
    NoteAdded,
    ObserverDropped,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
    SubmissionSealed,
)
from counterpoint.core.outcome import Outcome, exit_code
from counterpoint.core.values import Decision, StopReason, Turn

__all__ = ["Course", "Follower", "Part", "Stage", "stage_rows"]

S = TypeVar("S", bound=CaseState)

Follower = RevisionOffered | RoundOpened | ChallengeOpened | AnswerRequested | CaseClosed
"""What follows a stage."""


def _no_checks(_state: Any, _turn: Turn, _submission: Any) -> tuple[CheckRequest, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Generic[S]):
    """What one kind of seat is asked in a stage, and what its answer does."""

    form: type
    """A dataclass as `core.forms` has them: the shape of the answer."""
    instructions: str
    """Constant; everything that comes from elsewhere is in the payload."""
    payload: Callable[[S, Turn], dict[str, Any]]
    guards: Mapping[str, Callable[[Said[S]], str | None]]
    """By rule id; each returns the reason why it refuses, or None. They rest on what the seat itself saw."""
    take: Callable[[S, Turn, Any], S]
    """Return the state with the revealed answer in it."""
    checks: Callable[[S, Turn, Any], tuple[CheckRequest, ...]] = _no_checks
    """Return what code must look up before the guards."""
    words: str = ""
    """The instructions for a person; empty where theirs are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[S]):
    """A phase in which seats owe a turn."""

    asks: Callable[[S], tuple[str, ...]]
    """Return who is asked, in the roster's order."""
    parts: Mapping[SeatKind, Part[S]]
    blind: bool = True
    """Whether the seats must not know each other's answers; False where one seat is asked alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course(Generic[S]):
    """What makes one protocol out of its stages."""

    stages: Mapping[str, Stage[S]]
    """By the phase in which they are asked."""
    follow: Callable[[S, tuple[str, ...]], Follower]
    """Return what follows a stage that is over, on the state after its reveals; the names are of those who were asked
    and gave no valid answer. It reads no clock."""
    decide: Callable[[S, StopReason], tuple[StopReason, Decision, tuple[str, ...]]]
    """Return the ending as the record has it: for which reason it really stops, the decision, and why, in sentences.
    Of what it returns it returns the same again."""
    outcome: Callable[[S], Outcome]
    say: Callable[[SubmissionRevealed], str]
    """Return a revealed reply in words, as Markdown."""
    opening: Mapping[str, Callable[[CaseOpened], str | None]]
    """What else a case may be opened with."""
    halts: Callable[[S, datetime], tuple[StopReason, str] | None] = lambda _state, _now: None
    """Return a limit that ends the case after a stage, whatever would follow it."""
    late: str = ""
    """The rule that refuses an answer once the deadline has passed; empty where one that was on its way counts."""
    exit_code: Callable[[Outcome], int] = exit_code
    document: Callable[[S, Mapping[str, str]], str] | None = None
    """As `Rules` has it."""


def stage_rows(
    asking: str, revealed: str, *, leads: Mapping[type[Entry], str], closed: str
) -> dict[str, Mapping[type[Entry], str]]:
    """Return the two rows of a protocol's table that make a stage: asked, and revealed.

    Args:
        asking: the phase in which turns are owed.
        revealed: the phase in which the batch of reveals stands.
        leads: what may follow the stage, and the phases that it leads to; the end of the case is always possible.
        closed: the last phase.
    """
    stays = (ConsentGranted, SubmissionSealed, AttemptFailed, NoteAdded, ObserverDropped)
    ends: dict[type[Entry], str] = {**leads, CaseClosed: closed}
    reveals: dict[type[Entry], str] = {EvidenceGathered: revealed, SubmissionRevealed: revealed}
    return {
        asking: MappingProxyType({**dict.fromkeys(stays, asking), **reveals, **ends}),
        revealed: MappingProxyType({**reveals, **ends}),
    }
