"""What every protocol's state holds, and how the shared entries change it.

`CaseState` is the fold of a case's entries. A protocol's own state extends it. Nothing here knows a protocol.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar, assert_never

from counterpoint.core.checks import Evidence
from counterpoint.core.docket import Docket
from counterpoint.core.entries import (
    AnswerRequested,
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    CaseOpened,
    ChallengeOpened,
    ClaimChecked,
    ConsentGranted,
    DispositionGiven,
    Entry,
    EvidenceGathered,
    FailureReason,
    FindingRaised,
    FindingRuled,
    NoteAdded,
    ObserverDropped,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)
from counterpoint.core.findings import Answer, Finding, Ledger, Ruled
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
    stage: str = ""
    """The phase in which seats were asked last; empty in a protocol that asks each seat in one phase of a round."""
    opened: CaseOpened | None = None
    closed: CaseClosed | None = None
    round: int = 1
    """A round is a reading and the author's answer to it. The reading after the last answer ends the case."""
    spent: Spent = _NOTHING_SPENT
    failures: tuple[AttemptFailed, ...] = ()
    sealed: Mapping[str, SubmissionSealed] = field(default_factory=_nothing)
    """This round's sealed submission of each seat."""
    seals: Mapping[str, SubmissionSealed] = field(default_factory=_nothing)
    """Every sealed submission of the case, by turn id."""
    revealed: Mapping[str, SubmissionRevealed] = field(default_factory=_nothing)
    """By turn id."""
    offers: tuple[CandidateOffered, ...] = ()
    offered: tuple[RevisionOffered, ...] = ()
    judged: Mapping[str, str] = field(default_factory=_nothing)
    """The candidate that was on the table when each seat answered last."""
    evidence: tuple[Evidence, ...] = ()
    claims: tuple[ClaimChecked, ...] = ()
    ledger: Ledger = _NO_FINDINGS
    verdicts: Mapping[str, VerdictGiven] = field(default_factory=_nothing)
    """The newest verdict of each seat."""
    votes: tuple[VerdictGiven, ...] = ()
    """Every verdict, in the order in which they were revealed."""
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    """Which changed paths each seat was shown whole, as the candidate now has them."""
    stances: tuple[frozenset[tuple[str, str, str]], ...] = ()
    """The ledger's stances at the end of each reading that asked for an answer."""
    notes: tuple[NoteAdded, ...] = ()
    consents: tuple[ConsentGranted, ...] = ()
    dropped: tuple[ObserverDropped, ...] = ()

    @property
    def case(self) -> CaseOpened:
        """The opening; asserts that there is one, since nothing is asked of a case before it."""
        assert self.opened is not None, "the case has not been opened"
        return self.opened

    @property
    def docket(self) -> Docket:
        """The docket as it stands: with the candidate that is on the table, and what differs in it."""
        if self.offered:
            return replace(self.case.docket, candidate=self.offered[-1].candidate)
        if not self.offers:
            return self.case.docket
        last = self.offers[-1]
        return replace(self.case.docket, candidate=last.candidate, paths=last.paths, change=last.change)

    def last_seal(self, seat: str) -> SubmissionSealed | None:
        """Return the newest sealed submission of a seat."""
        return next((s for s in reversed(list(self.seals.values())) if s.turn.seat == seat), None)

    def opening_votes(self) -> tuple[VerdictGiven, ...]:
        """Return each reviewer's first verdict, which it gave before it could know another's."""
        first: dict[str, VerdictGiven] = {}
        for verdict in self.votes:
            first.setdefault(verdict.seat, verdict)
        return tuple(first.values())

    def changed_since(self, candidate: str) -> frozenset[str]:
        """Return the paths that were edited after this candidate was on the table."""
        changed: set[str] = set()
        for offer in reversed(self.offers):
            if offer.candidate == candidate:
                break
            changed.update(offer.changed)
        return frozenset(changed)

    def failures_of(self, seat: str) -> tuple[AttemptFailed, ...]:
        """Return the questions of this round, and of this stage of it, that brought no answer of the seat's."""
        return tuple(
            f
            for f in self.failures
            if f.turn.seat == seat and f.turn.round == self.round and self.stage in {"", f.turn.phase}
        )

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
                seals=_with(state.seals, turn.id, entry),
                judged=_with(state.judged, turn.seat, state.docket.candidate),
                shown=_with(state.shown, turn.seat, _joined(state.shown.get(turn.seat, ()), entry.shown_paths)),
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
        case AnswerRequested() | DispositionGiven() | CandidateOffered() | CandidateKept():
            return _fold_answer(state, entry)
        case RevisionOffered() | RoundOpened() | ChallengeOpened():
            return _fold_stage(state, entry)
        case _:
            return _fold_judgement(state, entry)


def _fold_stage(state: S, entry: RevisionOffered | RoundOpened | ChallengeOpened) -> S:
    after = replace(state, round=entry.round)
    return replace(after, offered=(*state.offered, entry)) if isinstance(entry, RevisionOffered) else after


def _joined(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *now)))


def _fold_answer(state: S, entry: AnswerRequested | DispositionGiven | CandidateOffered | CandidateKept) -> S:
    match entry:
        case AnswerRequested():
            return replace(state, stances=(*state.stances, frozenset(f.stance for f in state.ledger)))
        case DispositionGiven():
            answer = Answer(round=entry.round, disposition=entry.disposition, reasoning=entry.reasoning)
            return replace(state, ledger=state.ledger.with_answer(entry.id, answer))
        case CandidateOffered(changed=changed):
            shown = {seat: tuple(p for p in paths if p not in changed) for seat, paths in state.shown.items()}
            return replace(_next_round(state), offers=(*state.offers, entry), shown=MappingProxyType(shown))
        case CandidateKept():
            return _next_round(state)
        case _:
            assert_never(entry)


def _next_round(state: S) -> S:
    return replace(state, round=state.round + 1, sealed=_nothing())


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
            return replace(state, ledger=_ruled(state, entry))
        case VerdictGiven():
            verdicts = _with(state.verdicts, entry.seat, entry)
            return replace(state, verdicts=verdicts, votes=(*state.votes, entry))
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


def _ruled(state: CaseState, entry: FindingRuled) -> Ledger:
    ruled = Ruled(round=state.round, ruling=entry.ruling, reason=entry.reason)
    return state.ledger.with_ruling(entry.id, seat=entry.seat, ruled=ruled)


def _with(mapping: Mapping[str, Any], key: str, value: Any) -> Mapping[str, Any]:
    return MappingProxyType({**mapping, key: value})
