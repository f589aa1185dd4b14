"""The rules that hold in every protocol, by the names under which each protocol lists them with their ids.

A guard returns the reason why something is refused, or None. Some ask who owes a turn, which is each protocol's own
business: those are made from its `owed`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from counterpoint.core.case import CaseState
from counterpoint.core.edits import CheckResult
from counterpoint.core.entries import AttemptFailed, CaseOpened, Entry, SubmissionRevealed, SubmissionSealed
from counterpoint.core.rules import AddNote, Opened, Withdraw
from counterpoint.core.sealing import opens, seal_evidence
from counterpoint.core.values import NAME, Turn

__all__ = [
    "OPENING",
    "Said",
    "case_is_open",
    "is_as_sealed",
    "reply_is_the_sealed_one",
    "speaker_owes_the_turn",
    "turn_is_owed",
    "unasked_speech_is_the_supervisors",
]

S = TypeVar("S", bound=CaseState)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(Generic[S]):
    """Who said what, in answer to which turn, where the case stands, and what code found of it."""

    state: S
    speaker: str
    turn: Turn | None
    submission: Any
    evidence: tuple[CheckResult, ...]


# --- what a case may be opened with


def _seats_are_named(case: CaseOpened) -> str | None:
    names = [seat.name for seat in case.roster]
    if not names:
        return f"the roster is empty; a {case.protocol} needs at least one seat that judges"
    if (bad := next((n for n in names if not NAME.fullmatch(n)), None)) is not None:
        return f"seat {bad!r} is not named like {NAME.pattern}"
    twice = next((n for n in names if names.count(n) > 1), None)
    return f"seat {twice!r} stands twice in the roster" if twice else None


def _supervisor_has_no_seat(case: CaseOpened) -> str | None:
    has_seat = case.seat(case.supervisor) is not None
    return f"{case.supervisor!r} supervises the case and has a seat in it" if has_seat else None


_LEAST: Final = MappingProxyType(
    {
        "max_asks": 1,
        "call_timeout_s": 1,
        "max_rounds": 0,
        "min_rounds": 0,
        "stall_rounds": 0,
        "max_calls": 0,
        "max_tokens": 0,
        "max_output_tokens": 0,
    }
)


def _limits_allow_an_end(case: CaseOpened) -> str | None:
    limits = case.limits
    if low := next((name for name, floor in _LEAST.items() if getattr(limits, name) < floor), None):
        return f"{low} is {getattr(limits, low)}; at least {_LEAST[low]} is possible"
    if limits.max_rounds and limits.min_rounds > limits.max_rounds:
        return f"min_rounds is {limits.min_rounds}, and max_rounds is {limits.max_rounds}"
    if limits.max_calls and limits.max_calls < case.quorum:
        return f"{limits.max_calls} calls cannot bring the {case.quorum} answers of the quorum"
    return None


def _deadline_is_an_instant(case: CaseOpened) -> str | None:
    deadline = case.limits.deadline
    try:
        is_instant = deadline is None or datetime.fromisoformat(deadline).utcoffset() is not None
    except ValueError:
        is_instant = False
    return None if is_instant else f"the deadline {deadline!r} is not an ISO 8601 instant with its offset"


OPENING: Final[Mapping[str, Callable[[CaseOpened], str | None]]] = MappingProxyType(
    {
        "ROSTER-1": _seats_are_named,
        "ROSTER-2": _supervisor_has_no_seat,
        "LIMIT-1": _limits_allow_an_end,
        "LIMIT-2": _deadline_is_an_instant,
    }
)
"""By their ids; what a case is opened with is held to them again when its record is read."""


# --- what may be said


def case_is_open(asking: Collection[str]) -> Callable[[Said[S]], str | None]:
    """Return TURN-3 for the phases in which something is asked."""

    def guard(said: Said[S]) -> str | None:
        phase = said.state.phase
        return None if phase in asking else f"the case is {phase}; nothing more is taken in it"

    return guard


def unasked_speech_is_the_supervisors(said: Said[S]) -> str | None:
    """NOTE-1."""
    if isinstance(said.submission, AddNote | Withdraw):
        supervisor = said.state.case.supervisor
        return None if said.speaker == supervisor else f"{said.speaker!r} spoke unasked; only {supervisor!r} may"
    return "nobody was asked; a verdict needs a turn" if said.turn is None else None


def speaker_owes_the_turn(owed: Callable[[S], tuple[Turn, ...]]) -> Callable[[Said[S]], str | None]:
    """Return TURN-1 where `owed` returns the turns owed now."""

    def guard(said: Said[S]) -> str | None:
        if said.turn is None:
            return None
        if said.speaker != said.turn.seat:
            return f"{said.speaker!r} answered the turn of {said.turn.seat!r}"
        due = next((t for t in owed(said.state) if t.seat == said.speaker), None)
        if due is None:
            return f"{said.speaker!r} owes no turn in round {said.state.round}"
        return None if due == said.turn else f"{said.speaker!r} answered turn {said.turn.id}; {due.id} is owed"

    return guard


# --- what may stand in the record


def turn_is_owed(owed: Callable[[S], tuple[Turn, ...]]) -> Callable[[S, Entry], str | None]:
    """Return SEAL-1 where `owed` returns the turns owed now."""

    def guard(state: S, entry: Entry) -> str | None:
        if not isinstance(entry, SubmissionSealed | AttemptFailed) or entry.turn in owed(state):
            return None
        return f"turn {entry.turn.id} is not owed; it was answered, failed or never asked"

    return guard


def reply_is_the_sealed_one(state: CaseState, entry: Entry) -> str | None:
    """SEAL-2."""
    if not isinstance(entry, SubmissionRevealed):
        return None
    sealed = state.sealed.get(entry.turn.seat)
    if sealed is None or sealed.turn != entry.turn:
        return f"turn {entry.turn.id} has no seal"
    if entry.turn.id in state.revealed:
        return f"turn {entry.turn.id} is revealed already"
    is_it = opens(sealed.digest, entry.salt, entry.reply.encode("utf-8", "surrogatepass"))
    return None if is_it else f"the reply to {entry.turn.id} is not the one that was sealed"


def is_as_sealed(sealed: SubmissionSealed, found: Opened) -> bool:
    """Return whether the vault gave back what was sealed: the reply, and what code had found for it."""
    is_reply = opens(sealed.digest, found.salt, found.content.encode())
    return is_reply and seal_evidence(found.salt, found.evidence) == sealed.evidence
