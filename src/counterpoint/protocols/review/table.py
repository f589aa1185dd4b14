"""The review's table: which entry may follow in which phase. Sequence lives here and nowhere else.

OPENING ── CaseOpened ──▶ REVIEWING ── SubmissionRevealed (all of a round, one batch) ──▶ REVEALED
│                                                              │
└────────────────────── CaseClosed ──▶ CLOSED ◀────────────────┘
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.docket import Seat
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    ClaimChecked,
    ConsentGranted,
    Entry,
    EvidenceGathered,
    FindingRaised,
    FindingRuled,
    NoteAdded,
    ObserverDropped,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)
from counterpoint.core.values import Turn

__all__ = ["TABLE", "Phase", "is_waiting", "owed", "seat_of"]


class Phase(StrEnum):
    OPENING = "opening"
    REVIEWING = "reviewing"
    REVEALED = "revealed"
    CLOSED = "closed"


TABLE: Final[Mapping[str, Mapping[type[Entry], str]]] = MappingProxyType(
    {
        Phase.OPENING: {CaseOpened: Phase.REVIEWING},
        Phase.REVIEWING: {
            ConsentGranted: Phase.REVIEWING,
            SubmissionSealed: Phase.REVIEWING,
            AttemptFailed: Phase.REVIEWING,
            NoteAdded: Phase.REVIEWING,
            ObserverDropped: Phase.REVIEWING,
            SubmissionRevealed: Phase.REVEALED,
            CaseClosed: Phase.CLOSED,
        },
        Phase.REVEALED: {
            SubmissionRevealed: Phase.REVEALED,
            EvidenceGathered: Phase.REVEALED,
            ClaimChecked: Phase.REVEALED,
            FindingRaised: Phase.REVEALED,
            FindingRuled: Phase.REVEALED,
            VerdictGiven: Phase.REVEALED,
            CaseClosed: Phase.CLOSED,
        },
        Phase.CLOSED: {},
    }
)


def seat_of(state: CaseState, name: str) -> Seat | None:
    """Return the seat of that name, or None where the roster has none."""
    return next((seat for seat in state.case.roster if seat.name == name), None)


def is_waiting(state: CaseState, seat: Seat) -> bool:
    """Return whether the seat still owes this round's answer and may still give it."""
    return seat.name not in state.sealed and not state.is_out(seat.name)


def owed(state: CaseState) -> tuple[Turn, ...]:
    """Return the turns owed now, all of them side by side and blind."""
    if state.phase != Phase.REVIEWING:
        return ()
    return tuple(
        Turn(
            phase=state.phase,
            round=state.round,
            seat=seat.name,
            ask=len(state.failures_of(seat.name)) + 1,
            blind=True,
        )
        for seat in state.case.roster
        if is_waiting(state, seat)
    )
