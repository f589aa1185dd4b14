"""The table of `propose`: which entry may follow in which phase. Sequence lives here and nowhere else.

OPENING ── CaseOpened ──▶ PROPOSING ── the proposal and the scans, one batch ──▶ PROPOSED
                                                                                    │ RevisionOffered
                REVISING ◀── RoundOpened ── REVIEWED ◀── the reviews, one batch ── REVIEWING
                   │                                                                ▲
                   └── the revision ──▶ REVISED ─────────── RevisionOffered ─────────┘

From each of them CaseClosed leads to CLOSED.
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
    PROPOSING = "proposing"
    PROPOSED = "proposed"
    REVIEWING = "reviewing"
    REVIEWED = "reviewed"
    REVISING = "revising"
    REVISED = "revised"
    CLOSED = "closed"


TABLE: Final[Mapping[str, Mapping[type[Entry], str]]] = MappingProxyType(
    {
        Phase.OPENING: MappingProxyType({CaseOpened: Phase.PROPOSING}),
        **stage_rows(Phase.PROPOSING, Phase.PROPOSED, leads={RevisionOffered: Phase.REVIEWING}, closed=Phase.CLOSED),
        **stage_rows(Phase.REVIEWING, Phase.REVIEWED, leads={RoundOpened: Phase.REVISING}, closed=Phase.CLOSED),
        **stage_rows(Phase.REVISING, Phase.REVISED, leads={RevisionOffered: Phase.REVIEWING}, closed=Phase.CLOSED),
        Phase.CLOSED: MappingProxyType({}),
    }
)
