"""What every protocol's state holds, and how the shared entries change it.

`CaseState` is the fold of a case's entries. A protocol's own state extends it. Nothing here knows a protocol.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar, assert_never

from counterpoint.core.checks import Evidence
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    ClaimChecked,
    ConsentGranted,
    Entry,
    EvidenceGathered,
    FailureReason,
    FindingRaised,
    FindingRuled,
    NoteAdded,
    ObserverDropped,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)
from counterpoint.core.findings import Finding, Ledger
from counterpoint.core.limits import Spent

__all__ = ["NOBODYS_FAULT", "CaseState", "fold_shared"]

NOBODYS_FAULT: Final = frozenset({FailureReason.DRIVER_LOST, FailureReason.INTERRUPTED})
"""Attempts that cost budget but do not count against the seat."""

_NOTHING_SPENT: Final = Spent()
_NO_FINDINGS: Final = Ledger()


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseState:
    """The fold of the shared entries."""

    phase: str
    opened: CaseOpened | None = None
    closed: CaseClosed | None = None
    round: int = 1
    spent: Spent = _NOTHING_SPENT
    failures: tuple[AttemptFailed, ...] = ()
    sealed: Mapping[str, SubmissionSealed] = field(default_factory=_nothing)
    """This round's sealed submission of each seat."""
    revealed: Mapping[str, SubmissionRevealed] = field(default_factory=_nothing)
    """By turn id."""
    evidence: tuple[Evidence, ...] = ()
    claims: tuple[ClaimChecked, ...] = ()
    ledger: Ledger = _NO_FINDINGS
    verdicts: Mapping[str, VerdictGiven] = field(default_factory=_nothing)
    """The newest verdict of each seat."""
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    """Which changed paths each seat was shown whole."""
    notes: tuple[NoteAdded, ...] = ()
    consents: tuple[ConsentGranted, ...] = ()
    dropped: tuple[ObserverDropped, ...] = ()

    @property
    def case(self) -> CaseOpened:
        """The opening; asserts that there is one, since nothing is asked of a case before it."""
        assert self.opened is not None, "the case has not been opened"
        return self.opened

    def failures_of(self, seat: str) -> tuple[AttemptFailed, ...]:
        return tuple(f for f in self.failures if f.turn.seat == seat and f.turn.round == self.round)

    def is_out(self, seat: str) -> bool:
        """Whether the seat has used up the questions it may be asked in this round."""
        counted = [f for f in self.failures_of(seat) if f.reason not in NOBODYS_FAULT]
        return len(counted) >= self.case.limits.max_asks


S = TypeVar("S", bound=CaseState)


def fold_shared(state: S, entry: Entry) -> S:
    """Return `state` with a shared entry in it. The phase is the table's business, not this function's."""
    match entry:
        case CaseOpened():
            return replace(state, opened=entry)
        case ConsentGranted():
            return replace(state, consents=(*state.consents, entry))
        case SubmissionSealed(turn=turn):
            return replace(
                state,
                sealed=_with(state.sealed, turn.seat, entry),
                shown=_with(state.shown, turn.seat, entry.shown_paths),
                spent=state.spent.plus(entry.usage),
            )
        case AttemptFailed():
            return replace(state, failures=(*state.failures, entry), spent=state.spent.plus(entry.usage))
        case NoteAdded():
            return replace(state, notes=(*state.notes, entry))
        case ObserverDropped():
            return replace(state, dropped=(*state.dropped, entry))
        case CaseClosed():
            return replace(state, closed=entry)
        case _:
            return _fold_judgement(state, entry)


def _fold_judgement(
    state: S,
    entry: SubmissionRevealed | EvidenceGathered | ClaimChecked | FindingRaised | FindingRuled | VerdictGiven,
) -> S:
    match entry:
        case SubmissionRevealed():
            return replace(state, revealed=_with(state.revealed, entry.turn.id, entry))
        case EvidenceGathered():
            return replace(state, evidence=(*state.evidence, entry.evidence))
        case ClaimChecked():
            return replace(state, claims=(*state.claims, entry))
        case FindingRaised():
            return replace(state, ledger=state.ledger.with_raised(_finding(entry)))
        case FindingRuled():
            return replace(state, ledger=_ruled(state.ledger, entry))
        case VerdictGiven():
            return replace(state, verdicts=_with(state.verdicts, entry.seat, entry))
        case _:
            assert_never(entry)


def _finding(entry: FindingRaised) -> Finding:
    return Finding(
        id=entry.id,
        seat=entry.seat,
        round=entry.round,
        candidate=entry.candidate,
        severity=entry.severity,
        location=entry.location,
        issue=entry.issue,
        suggestion=entry.suggestion,
        evidence=entry.evidence,
        detail=entry.detail,
    )


def _ruled(ledger: Ledger, entry: FindingRuled) -> Ledger:
    return ledger.with_ruling(entry.id, seat=entry.seat, ruling=entry.ruling, reason=entry.reason)


def _with(mapping: Mapping[str, Any], key: str, value: Any) -> Mapping[str, Any]:
    return MappingProxyType({**mapping, key: value})
