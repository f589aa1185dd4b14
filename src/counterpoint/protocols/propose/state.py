"""The fold of a case of `propose`: proposals, scans, reviews and the ledger, each made by answers as they come."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.canonical import canonical_json, digest
from counterpoint.core.case import CaseState
from counterpoint.core.codec import encode_value
from counterpoint.core.values import Turn
from counterpoint.protocols.propose import ledger
from counterpoint.protocols.propose.forms import JudgeCandidate, OfferCandidate, ScanRisks
from counterpoint.protocols.propose.ledger import Tracked
from counterpoint.protocols.propose.opening import is_anybody_asked
from counterpoint.protocols.propose.table import Phase

__all__ = [
    "ProposeState",
    "Reviewed",
    "Written",
    "asked",
    "candidate_of",
    "critics_of",
    "fingerprint",
    "is_over",
    "missing",
    "openers",
    "proposer_of",
    "substance_of",
    "take_candidate",
    "take_review",
    "take_scan",
]

_BESIDE: Final = frozenset({"needs_clarification", "clarification_questions", "public_summary", "responses"})
"""What of a proposal is said about it, and is not it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A proposal as it came."""

    version: int
    round: int
    seat: str
    text: OfferCandidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A critic's review as it came."""

    round: int
    seat: str
    review: JudgeCandidate


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeState(CaseState):
    written: tuple[Written, ...] = ()
    """Every proposal, the newest last."""
    scans: Mapping[str, ScanRisks] = field(default_factory=lambda: MappingProxyType({}))
    """By critic."""
    reviews: tuple[Reviewed, ...] = ()
    findings: tuple[Tracked, ...] = ()

    def own(self, seat: str) -> Mapping[str, Tracked]:
        """Return a critic's findings by the ids that it gave them."""
        return {finding.own_id: finding for finding in self.findings if finding.seat == seat}

    def reviews_of(self, version: int) -> Mapping[str, JudgeCandidate]:
        """Return by critic what was said of a version."""
        return {r.seat: r.review for r in self.reviews if r.review.reviewed_version == version}

    @property
    def last_reviewed(self) -> Written | None:
        """The newest proposal that every critic has reviewed."""
        critics = set(critics_of(self))
        return next((w for w in reversed(self.written) if self.reviews_of(w.version).keys() >= critics), None)


def proposer_of(state: ProposeState) -> str:
    author = state.case.author
    assert author is not None, "CRITIC-1 holds a case to have a proposer"
    return author.name


def critics_of(state: ProposeState) -> tuple[str, ...]:
    """Return the critics' seats, in the roster's order."""
    return tuple(seat.name for seat in state.case.judges)


def substance_of(text: OfferCandidate) -> dict[str, Any]:
    """Return what of a proposal counts when two are compared."""
    whole: dict[str, Any] = encode_value(text)
    return {key: value for key, value in whole.items() if key not in _BESIDE}


def candidate_of(text: OfferCandidate) -> str:
    """Return the digest that reviews are bound to: of the canonical JSON of what counts of the proposal."""
    return digest(canonical_json(substance_of(text)).encode())


def fingerprint(state: ProposeState, round_: int) -> str:
    """Return the digest of everything that counts as it stood at the end of a round (SPEC A-21)."""
    text = next(w.text for w in state.written if w.round == round_)
    findings = [at for finding in state.findings if (at := finding.at(round_)) is not None]
    return digest(canonical_json({"proposal": substance_of(text), "issues": findings}).encode())


# --- what an answer does


def take_candidate(state: ProposeState, turn: Turn, text: OfferCandidate) -> ProposeState:
    version = len(state.written) + 1
    written = Written(version=version, round=turn.round, seat=turn.seat, text=text)
    findings = ledger.answered(state.findings, text.responses, round_=turn.round, version=version)
    return replace(state, written=(*state.written, written), findings=findings)


def take_scan(state: ProposeState, turn: Turn, scan: ScanRisks) -> ProposeState:
    assert turn.phase == Phase.PROPOSING, "a scan is blind"
    return replace(state, scans=MappingProxyType({**state.scans, turn.seat: scan}))


def take_review(state: ProposeState, turn: Turn, review: JudgeCandidate) -> ProposeState:
    """Apply a review whole: the guards have held all of it before (SPEC A-19)."""
    rulings = {ruling.issue_id: ruling for ruling in review.issue_evaluations}
    findings = [
        ledger.judged(f, rulings[f.own_id], round_=turn.round) if f.seat == turn.seat and f.own_id in rulings else f
        for f in state.findings
    ]
    findings += [
        ledger.raised(
            new,
            seat=turn.seat,
            round_=turn.round,
            version=review.reviewed_version,
            only_critic=len(critics_of(state)) == 1,
        )
        for new in review.new_issues
    ]
    reviewed = Reviewed(round=turn.round, seat=turn.seat, review=review)
    return replace(state, reviews=(*state.reviews, reviewed), findings=tuple(findings))


# --- who is asked


def openers(state: ProposeState) -> tuple[str, ...]:
    """Return who is asked side by side in the beginning: all of them, or nobody (SPEC A-09, A-22)."""
    case = state.case
    seats = tuple(seat.name for seat in case.roster)
    has_room = not case.limits.max_calls or case.limits.max_calls >= len(seats)
    return seats if has_room and is_anybody_asked(case.docket) else ()


def asked(state: ProposeState) -> tuple[str, ...]:
    """Return who is asked in the stage that was asked last."""
    match state.stage:
        case Phase.PROPOSING:
            return openers(state)
        case Phase.REVIEWING:
            return critics_of(state)
        case _:
            return (proposer_of(state),)


def missing(state: ProposeState) -> tuple[str, ...]:
    """Return who was asked in the stage and has no answer in it."""
    return tuple(seat for seat in asked(state) if seat not in state.sealed)


def is_over(state: ProposeState) -> bool:
    """Whether every answer of the stage is open and nobody is waited for any more."""
    return all(
        state.sealed[seat].turn.id in state.revealed if seat in state.sealed else state.is_out(seat)
        for seat in asked(state)
    )
