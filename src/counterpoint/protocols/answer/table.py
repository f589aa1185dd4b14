"""The table of `answer`: which entry may follow in which phase. Sequence lives here and nowhere else.

OPENING ── CaseOpened ──▶ ANSWERING ──▶ ANSWERED ── RoundOpened ──▶ COMPARING ──▶ COMPARED ──┐
                                           │                        ▲  ▲               │     │
                                           │                        │  └─ RoundOpened ─┘     │
                                     RevisionOffered             RoundOpened            RevisionOffered
                                           │                        │                        │
                                           └────▶ CONFIRMING ──▶ CONFIRMED ◀ ─ CONFIRMING ◀──┘

From each of these CaseClosed leads to CLOSED.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from counterpoint.core.entries import CaseOpened, Entry, RevisionOffered, RoundOpened
from counterpoint.core.stages import stage_rows

__all__ = ["TABLE", "Phase"]


class Phase(StrEnum):
    OPENING = "opening"
    ANSWERING = "answering"
    """Round one: each peer for itself."""
    ANSWERED = "answered"
    COMPARING = "comparing"
    """A later round: each sees what the others held in the round before."""
    COMPARED = "compared"
    CONFIRMING = "confirming"
    """Everybody judges the one text that all stand by."""
    CONFIRMED = "confirmed"
    CLOSED = "closed"


_ON: Final[Mapping[type[Entry], str]] = {RoundOpened: Phase.COMPARING, RevisionOffered: Phase.CONFIRMING}

TABLE: Final[Mapping[str, Mapping[type[Entry], str]]] = MappingProxyType(
    {
        Phase.OPENING: MappingProxyType({CaseOpened: Phase.ANSWERING}),
        **stage_rows(Phase.ANSWERING, Phase.ANSWERED, leads=_ON, closed=Phase.CLOSED),
        **stage_rows(Phase.COMPARING, Phase.COMPARED, leads=_ON, closed=Phase.CLOSED),
        **stage_rows(Phase.CONFIRMING, Phase.CONFIRMED, leads={RoundOpened: Phase.COMPARING}, closed=Phase.CLOSED),
        Phase.CLOSED: MappingProxyType({}),
    }
)
