"""The review's table: which entry may follow in which phase. Sequence lives here and nowhere else.

OPENING ── CaseOpened ──▶ REVIEWING ── SubmissionRevealed (all of a reading, one batch) ──▶ REVEALED
                          ▲       │                                                      │       │
   CandidateOffered, CandidateKept└────────────── CaseClosed ──▶ CLOSED ◀── CaseClosed ──┘       │
                          │                                     ▲    ▲                           │
                       ANSWERED ────────────── CaseClosed ──────┘    └── CaseClosed ── ANSWERING ◀┘ AnswerRequested
                          ▲                                                               │
                          └── SubmissionRevealed (the author's, one batch) ───────────────┘

A reading in which nobody answered reveals nothing: whoever was asked failed, and the approvals of the others stand.
Then AnswerRequested leads from REVIEWING straight to ANSWERING.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.entries import (
    AnswerRequested,
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    CaseOpened,
    ClaimChecked,
    ConsentGranted,
    DispositionGiven,
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

__all__ = ["TABLE", "Phase", "author_of", "is_waiting", "owed", "reviewers_of", "seat_of"]


class Phase(StrEnum):
    OPENING = "opening"
    REVIEWING = "reviewing"
    REVEALED = "revealed"
    ANSWERING = "answering"
    ANSWERED = "answered"
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
            AnswerRequested: Phase.ANSWERING,
            CaseClosed: Phase.CLOSED,
        },
        Phase.REVEALED: {
            SubmissionRevealed: Phase.REVEALED,
            EvidenceGathered: Phase.REVEALED,
            ClaimChecked: Phase.REVEALED,
            FindingRaised: Phase.REVEALED,
            FindingRuled: Phase.REVEALED,
            VerdictGiven: Phase.REVEALED,
            AnswerRequested: Phase.ANSWERING,
            CaseClosed: Phase.CLOSED,
        },
        Phase.ANSWERING: {
            ConsentGranted: Phase.ANSWERING,
            SubmissionSealed: Phase.ANSWERING,
            AttemptFailed: Phase.ANSWERING,
            NoteAdded: Phase.ANSWERING,
            ObserverDropped: Phase.ANSWERING,
            SubmissionRevealed: Phase.ANSWERED,
            CaseClosed: Phase.CLOSED,
        },
        Phase.ANSWERED: {
            DispositionGiven: Phase.ANSWERED,
            CandidateOffered: Phase.REVIEWING,
            CandidateKept: Phase.REVIEWING,
            CaseClosed: Phase.CLOSED,
        },
        Phase.CLOSED: {},
    }
)


def seat_of(state: CaseState, name: str) -> Seat | None:
    """Return the seat of that name, or None where the roster has none."""
    return state.case.seat(name)


def author_of(case: CaseOpened) -> Seat | None:
    """Return the seat that answers the findings, or None in a review of reviewers alone."""
    return case.author


def reviewers_of(case: CaseOpened) -> tuple[Seat, ...]:
    """Return the seats that judge, in the roster's order."""
    return case.judges


def is_waiting(state: CaseState, seat: Seat) -> bool:
    """Return whether the seat still owes an answer now and may still give it.

    A reviewer that has approved exactly this candidate owes none: its verdict stands.
    """
    verdict = state.verdicts.get(seat.name)
    stands = verdict is not None and verdict.approved and verdict.candidate == state.docket.candidate
    return seat.name not in state.sealed and not state.is_out(seat.name) and not stands


def owed(state: CaseState) -> tuple[Turn, ...]:
    """Return the turns owed now: those of a reading side by side and blind, the author's by itself."""
    if state.phase not in {Phase.REVIEWING, Phase.ANSWERING}:
        return ()
    reads = state.phase == Phase.REVIEWING
    seats = [seat for seat in state.case.roster if reads == (seat.kind is not SeatKind.AUTHOR)]
    return tuple(
        Turn(
            phase=state.phase,
            round=state.round,
            seat=seat.name,
            ask=len(state.failures_of(seat.name)) + 1,
            blind=seat.kind is not SeatKind.AUTHOR,
        )
        for seat in seats
        if is_waiting(state, seat)
    )
