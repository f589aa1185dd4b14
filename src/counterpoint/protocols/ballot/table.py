"""The ballot's table: which entry may follow in which phase. Sequence lives here and nowhere else.

OPENING ── CaseOpened ──▶ VOTING ──▶ VOTED ── AnswerRequested ──▶ CLASSIFYING ──▶ CLASSIFIED
                          ▲              │                                            │    │
          RevisionOffered  │              └──────────── RoundOpened ──┐  RoundOpened ──┘    │ ChallengeOpened
                          │                                          ▼                     ▼
                       REVISED ◀── REVISING ◀──────────────── RoundOpened ── CHALLENGED ◀── CHALLENGING

`X ──▶ Xed` is a batch of reveals. What code finds of the first text stands there before anybody is asked, so evidence
leads nowhere while they vote. CaseClosed may follow each stage. Where nobody answered there is nothing to reveal, and
what follows leads on from the stage itself.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from counterpoint.core.entries import (
    AnswerRequested,
    CaseOpened,
    ChallengeOpened,
    Entry,
    EvidenceGathered,
    RevisionOffered,
    RoundOpened,
)
from counterpoint.core.stages import stage_rows

__all__ = ["TABLE", "Phase"]


class Phase(StrEnum):
    OPENING = "opening"
    VOTING = "voting"
    VOTED = "voted"
    CLASSIFYING = "classifying"
    CLASSIFIED = "classified"
    CHALLENGING = "challenging"
    CHALLENGED = "challenged"
    REVISING = "revising"
    REVISED = "revised"
    CLOSED = "closed"


_ON_TO_REVISING: Final[Mapping[type[Entry], str]] = {RoundOpened: Phase.REVISING}

_VOTING: Final = stage_rows(
    Phase.VOTING, Phase.VOTED, leads={**_ON_TO_REVISING, AnswerRequested: Phase.CLASSIFYING}, closed=Phase.CLOSED
)

TABLE: Final[Mapping[str, Mapping[type[Entry], str]]] = MappingProxyType(
    {
        Phase.OPENING: {CaseOpened: Phase.VOTING},
        **_VOTING,
        Phase.VOTING: MappingProxyType({**_VOTING[Phase.VOTING], EvidenceGathered: Phase.VOTING}),
        **stage_rows(
            Phase.CLASSIFYING,
            Phase.CLASSIFIED,
            leads={**_ON_TO_REVISING, ChallengeOpened: Phase.CHALLENGING},
            closed=Phase.CLOSED,
        ),
        **stage_rows(Phase.CHALLENGING, Phase.CHALLENGED, leads=_ON_TO_REVISING, closed=Phase.CLOSED),
        **stage_rows(Phase.REVISING, Phase.REVISED, leads={RevisionOffered: Phase.VOTING}, closed=Phase.CLOSED),
        Phase.CLOSED: {},
    }
)
