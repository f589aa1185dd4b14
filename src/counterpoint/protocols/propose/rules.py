"""The rules of `propose`, made of its three stages."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

from counterpoint.core.case import NOBODYS_FAULT
from counterpoint.core.checks import CheckRequest, EvidenceStatus
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import CaseClosed, RevisionOffered, RoundOpened
from counterpoint.core.findings import Finding
from counterpoint.core.limits import reached
from counterpoint.core.machine import make_rules
from counterpoint.core.outcome import Coverage, Outcome, SeatEnd, SeatStatus
from counterpoint.core.rules import Rules
from counterpoint.core.stages import Course, Follower, Part, Stage
from counterpoint.core.values import Decision, Severity, StopReason, Turn
from counterpoint.protocols.propose import briefs
from counterpoint.protocols.propose import forms as form
from counterpoint.protocols.propose.ending import decide, ending_of, next_round
from counterpoint.protocols.propose.guards import GUARDS_OF_CANDIDATES, GUARDS_OF_REVIEWS, GUARDS_OF_SCANS
from counterpoint.protocols.propose.ledger import Tracked
from counterpoint.protocols.propose.lookups import requests_of, standing_of
from counterpoint.protocols.propose.opening import OPENING_GUARDS
from counterpoint.protocols.propose.saying import say
from counterpoint.protocols.propose.state import (
    ProposeState,
    asked,
    candidate_of,
    critics_of,
    openers,
    proposer_of,
    take_candidate,
    take_review,
    take_scan,
)
from counterpoint.protocols.propose.table import TABLE, Phase
from counterpoint.protocols.propose.wire import exit_code

__all__ = ["PROPOSE", "STAGES"]


def _looks_up(state: ProposeState, _turn: Turn, review: form.JudgeCandidate) -> tuple[CheckRequest, ...]:
    return requests_of(review, state.case.docket.tree)


STAGES: Final[Mapping[str, Stage[ProposeState]]] = MappingProxyType(
    {
        Phase.PROPOSING: Stage(
            asks=openers,
            parts={
                SeatKind.AUTHOR: Part(
                    form=form.OfferCandidate,
                    instructions=briefs.PROPOSE,
                    words=briefs.PROPOSE_PLAINLY,
                    payload=briefs.for_opening,
                    guards=GUARDS_OF_CANDIDATES,
                    take=take_candidate,
                ),
                SeatKind.OPINION: Part(
                    form=form.ScanRisks,
                    instructions=briefs.SCAN,
                    words=briefs.SCAN_PLAINLY,
                    payload=briefs.for_opening,
                    guards=GUARDS_OF_SCANS,
                    take=take_scan,
                ),
            },
        ),
        Phase.REVIEWING: Stage(
            asks=critics_of,
            parts={
                SeatKind.OPINION: Part(
                    form=form.JudgeCandidate,
                    instructions=briefs.REVIEW,
                    words=briefs.REVIEW_PLAINLY,
                    payload=briefs.for_review,
                    guards=GUARDS_OF_REVIEWS,
                    take=take_review,
                    checks=_looks_up,
                )
            },
        ),
        Phase.REVISING: Stage(
            asks=lambda state: (proposer_of(state),),
            parts={
                SeatKind.AUTHOR: Part(
                    form=form.OfferCandidate,
                    instructions=briefs.REVISE,
                    words=briefs.REVISE_PLAINLY,
                    payload=briefs.for_revision,
                    guards=GUARDS_OF_CANDIDATES,
                    take=take_candidate,
                )
            },
            blind=False,
        ),
    }
)


def _follow(state: ProposeState, _missing: tuple[str, ...]) -> Follower:
    if found := ending_of(state):
        stop, decision, _ = decide(state, found.stop)
        return CaseClosed(stop_reason=stop, decision=decision, detail=found.detail)
    if state.stage == Phase.REVIEWING:
        return RoundOpened(round=state.round + 1, reason=next_round(state))
    newest = state.written[-1]
    return RevisionOffered(
        seat=newest.seat, round=newest.round, revision=newest.version, candidate=candidate_of(newest.text)
    )


def _halts(state: ProposeState, now: datetime) -> tuple[StopReason, str] | None:
    """Return the threshold that a review has crossed; calls are counted before they are made, and not after."""
    found = ending_of(state)
    goes_on = found is None or found.stop not in {StopReason.FAILED, StopReason.NEEDS_INPUT}
    if state.stage != Phase.REVIEWING or not goes_on:
        return None
    return reached(replace(state.case.limits, max_calls=0), state.spent, now)


# --- what a case comes to


def _outcome(state: ProposeState) -> Outcome:
    closed = state.closed
    return Outcome(
        decision=Decision.UNDETERMINED if closed is None else closed.decision,
        stop_reason=None if closed is None else closed.stop_reason,
        reasons=(("it is still open",) if closed is None else (closed.detail, *decide(state, closed.stop_reason)[2])),
        open_findings=tuple(_finding(state, tracked) for tracked in state.findings if not tracked.is_resolved),
        refuted_findings=(),
        deferred_findings=(),
        evidence=_evidence(state),
        seats=tuple(_seat(state, seat.name) for seat in state.case.roster),
        coverage=Coverage(changed=(), unseen=(), unread=None),
        spent=state.spent,
    )


def _evidence(state: ProposeState) -> EvidenceStatus:
    found = {evidence.status for evidence in state.evidence}
    if EvidenceStatus.REFUTED in found:
        return EvidenceStatus.REFUTED
    return EvidenceStatus.VERIFIED if found == {EvidenceStatus.VERIFIED} else EvidenceStatus.NOT_CHECKED


_WEIGHTS: Final = MappingProxyType(
    {
        form.Severity.CRITICAL: Severity.BLOCKING,
        form.Severity.HIGH: Severity.MAJOR,
        form.Severity.MEDIUM: Severity.MINOR,
        form.Severity.LOW: Severity.NIT,
    }
)


def _finding(state: ProposeState, tracked: Tracked) -> Finding:
    version = state.offered[tracked.version - 1]
    return Finding(
        id=tracked.id,
        seat=tracked.seat,
        round=tracked.raised_round,
        candidate=version.candidate,
        severity=_WEIGHTS[tracked.severity],
        location=tracked.target,
        issue=f"{tracked.title}: {tracked.description}",
        suggestion=tracked.resolution_criterion,
        evidence=standing_of(state, tracked),
        reason=tracked.rationale,
    )


def _seat(state: ProposeState, name: str) -> SeatStatus:
    attempts = sum(s.turn.seat == name for s in state.seals.values()) + sum(
        f.turn.seat == name for f in state.failures
    )
    return SeatStatus(seat=name, end=_end(state, name), approved=_approves(state, name), attempts=attempts)


def _end(state: ProposeState, name: str) -> SeatEnd:
    counted = [f for f in state.failures_of(name) if f.reason not in NOBODYS_FAULT]
    if counted and name in asked(state) and name not in state.sealed:
        return SeatEnd.FAILED
    return SeatEnd.ANSWERED if state.last_seal(name) is not None else SeatEnd.NEVER_ANSWERED


def _approves(state: ProposeState, name: str) -> bool:
    if name == proposer_of(state) or not state.offered:
        return False
    review = state.reviews_of(state.offered[-1].revision).get(name)
    accepts = review is not None and review.assessment is form.Assessment.ACCEPT
    return accepts and all(finding.is_settled for finding in state.own(name).values())


PROPOSE: Final[Rules[ProposeState]] = make_rules(
    name="propose",
    version=1,
    initial=ProposeState(phase=Phase.OPENING),
    table=TABLE,
    course=Course(
        stages=STAGES,
        follow=_follow,
        decide=decide,
        outcome=_outcome,
        say=say,
        opening=OPENING_GUARDS,
        halts=_halts,
        exit_code=exit_code,
    ),
)
