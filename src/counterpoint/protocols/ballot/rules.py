"""The ballot as a value of `core.rules.Rules`: its stages, what follows from each, and how it ends."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.checks import EvidenceStatus, LookUp
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import (
    AnswerRequested,
    CaseClosed,
    ChallengeOpened,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
)
from counterpoint.core.forms import read_text
from counterpoint.core.machine import make_rules
from counterpoint.core.outcome import Coverage, Outcome, SeatEnd, SeatStatus
from counterpoint.core.stages import Course, Follower, Part, Stage
from counterpoint.core.values import Decision, StopReason, Turn
from counterpoint.core.wording import in_line, quoted
from counterpoint.protocols.ballot.briefs import (
    CHALLENGE,
    CHALLENGE_PLAINLY,
    REVISE,
    REVISE_PLAINLY,
    VOTE,
    VOTE_PLAINLY,
    WEIGH,
    WEIGH_PLAINLY,
    challenge_payload,
    revise_payload,
    vote_payload,
    weigh_payload,
)
from counterpoint.protocols.ballot.document import render_document
from counterpoint.protocols.ballot.forms import (
    CastVote,
    ChallengeWeights,
    Needs,
    ReviseText,
    Vote,
    WeighReservations,
    Weight,
)
from counterpoint.protocols.ballot.guards import (
    CHALLENGE_GUARDS,
    OPENING_GUARDS,
    REVISION_GUARDS,
    VOTE_GUARDS,
    WEIGHING_GUARDS,
    check_citations,
    claims_of,
    request_of,
)
from counterpoint.protocols.ballot.state import (
    BallotState,
    Cast,
    Heard,
    Revision,
    Weighed,
    failed_vote,
    is_agreed,
    reservations_of,
    why_not,
)
from counterpoint.protocols.ballot.table import TABLE, Phase
from counterpoint.protocols.ballot.text import as_text, candidate_of, citations_in

__all__ = ["BALLOT", "STAGES"]


# --- what an answer does


def _take_vote(state: BallotState, turn: Turn, vote: CastVote) -> BallotState:
    cast = Cast(
        seat=turn.seat,
        round=turn.round,
        version=vote.version,
        candidate=vote.candidate,
        vote=vote.vote,
        reason=vote.reason,
        points=tuple((each.point, each.needs) for each in vote.reservations),
    )
    return replace(state, casts=(*state.casts, cast))


def _take_weights(state: BallotState, turn: Turn, given: WeighReservations) -> BallotState:
    weighed = tuple(
        Weighed(round=turn.round, reservation=each.reservation, weight=each.weight, reason=each.reason)
        for each in given.classifications
    )
    return replace(state, weighed=(*state.weighed, *weighed))


def _take_challenges(state: BallotState, turn: Turn, given: ChallengeWeights) -> BallotState:
    challenges = tuple((each.reservation, each.reason) for each in given.challenges)
    return replace(state, heard=(*state.heard, Heard(seat=turn.seat, round=turn.round, challenges=challenges)))


def _take_text(state: BallotState, turn: Turn, given: ReviseText) -> BallotState:
    answers = tuple((each.objection, each.answer) for each in given.answers)
    revision = Revision(version=turn.round, text=as_text(given.text), answers=answers)
    return replace(state, revisions=(*state.revisions, revision))


def _check_new_text(state: BallotState, _turn: Turn, given: ReviseText) -> tuple[LookUp, ...]:
    """Return what the new text claims of its sources: it may be wrong there, and every voter is told."""
    sources = state.case.terms.sources
    return claims_of(as_text(given.text), sources) if sources else ()


def _voters(state: BallotState) -> tuple[str, ...]:
    return state.voters


def _orchestrator(state: BallotState) -> tuple[str, ...]:
    return (state.orchestrator,)


STAGES: Final[Mapping[str, Stage[BallotState]]] = MappingProxyType(
    {
        Phase.VOTING: Stage(
            asks=_voters,
            parts={
                SeatKind.OPINION: Part(
                    form=CastVote,
                    instructions=VOTE,
                    words=VOTE_PLAINLY,
                    payload=vote_payload,
                    guards=VOTE_GUARDS,
                    take=_take_vote,
                    checks=check_citations,
                )
            },
        ),
        Phase.CLASSIFYING: Stage(
            asks=_orchestrator,
            parts={
                SeatKind.AUTHOR: Part(
                    form=WeighReservations,
                    instructions=WEIGH,
                    words=WEIGH_PLAINLY,
                    payload=weigh_payload,
                    guards=WEIGHING_GUARDS,
                    take=_take_weights,
                )
            },
            blind=False,
        ),
        Phase.CHALLENGING: Stage(
            asks=_voters,
            parts={
                SeatKind.OPINION: Part(
                    form=ChallengeWeights,
                    instructions=CHALLENGE,
                    words=CHALLENGE_PLAINLY,
                    payload=challenge_payload,
                    guards=CHALLENGE_GUARDS,
                    take=_take_challenges,
                )
            },
        ),
        Phase.REVISING: Stage(
            asks=_orchestrator,
            parts={
                SeatKind.AUTHOR: Part(
                    form=ReviseText,
                    instructions=REVISE,
                    words=REVISE_PLAINLY,
                    payload=revise_payload,
                    guards=REVISION_GUARDS,
                    take=_take_text,
                    checks=_check_new_text,
                )
            },
            blind=False,
        ),
    }
)


# --- what follows


def _follow(state: BallotState, missing: tuple[str, ...]) -> Follower:
    match state.stage:
        case Phase.VOTING if not state.cast_in(state.round):
            why = "; ".join(dict.fromkeys(failed_vote(state, seat, state.round) for seat in state.voters))
            return _closing(state, StopReason.FAILED, f"nobody gave a valid vote on v{state.version}: {why}")
        case Phase.CLASSIFYING | Phase.REVISING if missing:
            last = state.failures_of(state.orchestrator)[-1].detail
            return _closing(state, StopReason.FAILED, f"{state.orchestrator} gave no valid answer: {last}")
        case Phase.REVISING:
            text = state.revisions[-1].text
            return RevisionOffered(
                seat=state.orchestrator, round=state.round, revision=state.version + 1, candidate=candidate_of(text)
            )
        case _:
            return _after_words(state)


def _after_words(state: BallotState) -> Follower:
    """Return what follows votes, their classification, or its challenges."""
    if is_agreed(state):
        return _closing(state, StopReason.AGREED, f"v{state.version} is approved by {_all_voters(state)}")
    reservations = reservations_of(state, state.round)
    if reservations and not _is_turned_down(state):
        if state.stage == Phase.VOTING:
            ids = tuple(each.id for each in reservations)
            return AnswerRequested(seat=state.orchestrator, round=state.round, findings=ids)
        if state.stage == Phase.CLASSIFYING:
            ids = tuple(each.reservation for each in state.weighed if each.round == state.round)
            return ChallengeOpened(round=state.round, about=ids)
    reason = "; ".join(why_not(state, state.round))
    if state.round >= state.case.limits.max_rounds:
        return _closing(state, StopReason.NEEDS_INPUT, reason)
    return RoundOpened(round=state.round + 1, reason=reason)


def _is_turned_down(state: BallotState) -> bool:
    """Return whether something was said, or left out, that is as good as a rejection already."""
    votes = [cast.vote for cast in state.cast_in(state.round)]
    if Vote.REJECTED in votes or state.missing_in(state.round):
        return True
    needy = any(each.needs is not Needs.NOTHING for each in reservations_of(state, state.round))
    blocking = any(each.round == state.round and each.weight is Weight.BLOCKING for each in state.weighed)
    return needy or blocking


def _closing(state: BallotState, stop: StopReason, detail: str) -> CaseClosed:
    reason, decision, _ = _decide(state, stop)
    return CaseClosed(stop_reason=reason, decision=decision, detail=detail)


_CUT_SHORT: Final = frozenset(
    {StopReason.WITHDRAWN, StopReason.FAILED, StopReason.BUDGET_SPENT, StopReason.DEADLINE_PASSED}
)


def _decide(state: BallotState, stop: StopReason) -> tuple[StopReason, Decision, tuple[str, ...]]:
    """Return the ending: agreed only if everybody agreed, and never a deadlock decided by the program (SPEC B-02)."""
    if stop in _CUT_SHORT:
        if stop is StopReason.DEADLINE_PASSED and state.stage == Phase.VOTING and not is_agreed(state):
            return stop, Decision.REJECTED, why_not(state, state.round)
        return stop, Decision.UNDETERMINED, (f"the case stopped before it was decided: {stop}",)
    if is_agreed(state):
        return StopReason.AGREED, Decision.APPROVED, (f"{_all_voters(state)} approved v{state.version}",)
    if _is_deadlocked(state):
        spent = f"{state.round} of {state.case.limits.max_rounds} rounds are spent, and a person has to decide"
        return StopReason.NEEDS_INPUT, Decision.NEEDS_INPUT, (spent, *why_not(state, state.round))
    return StopReason.FAILED, Decision.UNDETERMINED, ("the record ends before anything was decided",)


def _all_voters(state: BallotState) -> str:
    count = len(state.voters)
    return "the one voter" if count == 1 else f"all {count} voters"


def _is_deadlocked(state: BallotState) -> bool:
    """Return whether the last round is over and nothing is agreed."""
    return state.round >= state.case.limits.max_rounds and _is_over(state)


def _is_over(state: BallotState) -> bool:
    """Return whether everybody who is asked in the stage has said something, or may be asked no more."""
    match state.stage:
        case Phase.VOTING:
            return all(state.is_out(seat) for seat in state.missing_in(state.round))
        case Phase.CLASSIFYING:
            return any(each.round == state.round for each in state.weighed)
        case Phase.CHALLENGING:
            heard = {each.seat for each in state.heard if each.round == state.round}
            return all(seat in heard or state.is_out(seat) for seat in state.voters)
        case _:
            return False


# --- how it ends, and what it says


def _outcome(state: BallotState) -> Outcome:
    stop = state.closed.stop_reason if state.closed else None
    reasons = _decide(state, stop)[2] if stop else ("the case is open",)
    detail = (state.closed.detail,) if state.closed and stop in _CUT_SHORT else ()
    return Outcome(
        decision=state.closed.decision if state.closed else Decision.UNDETERMINED,
        stop_reason=stop,
        reasons=(*reasons, *detail),
        open_findings=(),
        refuted_findings=(),
        deferred_findings=(),
        evidence=_evidence(state),
        seats=tuple(_seat(state, seat.name) for seat in state.case.roster),
        coverage=Coverage(changed=(), unseen=(), unread=None),
        spent=state.spent,
    )


def _evidence(state: BallotState) -> EvidenceStatus:
    """Return what code found of the citations in the text that is on the table, taken together."""
    found = {evidence.request: evidence.status for evidence in state.evidence}
    states = [found.get(request_of(state, each), EvidenceStatus.NOT_CHECKED) for each in citations_in(state.text)]
    if EvidenceStatus.REFUTED in states:
        return EvidenceStatus.REFUTED
    return EvidenceStatus.VERIFIED if set(states) == {EvidenceStatus.VERIFIED} else EvidenceStatus.NOT_CHECKED


def _seat(state: BallotState, name: str) -> SeatStatus:
    answers = sum(sealed.turn.seat == name for sealed in state.seals.values())
    failures = sum(failure.turn.seat == name for failure in state.failures)
    end = SeatEnd.ANSWERED if answers else SeatEnd.NEVER_ANSWERED
    approves = [cast.vote for cast in state.casts if cast.seat == name and cast.version == state.version]
    return SeatStatus(
        seat=name,
        end=SeatEnd.FAILED if state.is_out(name) else end,
        approved=bool(approves) and approves[-1] is not Vote.REJECTED,
        attempts=failures + answers,
    )


def _say(entry: SubmissionRevealed) -> str:
    part = next(iter(STAGES[entry.turn.phase].parts.values()))
    said: Any = read_text(part.form, entry.reply)
    lead, seat = [], entry.turn.seat
    match said:
        case CastVote():
            lead.append(f"{seat} votes **{said.vote.value}** on v{said.version} ({said.candidate}):")
            lead.append(quoted(said.reason))
            lead += [f"{in_line(f'Reservation (needs {r.needs}):')}\n\n{quoted(r.point)}" for r in said.reservations]
        case WeighReservations():
            lead.append(f"{seat} classifies:")
            lead += [
                f"{in_line(f'{each.reservation}: **{each.weight}**')}\n\n{quoted(each.reason)}"
                for each in said.classifications
            ]
        case ChallengeWeights():
            lead.append(f"{seat} challenges:" if said.challenges else f"{seat} lets everything pass.")
            lead += [f"{in_line(each.reservation)}\n\n{quoted(each.reason)}" for each in said.challenges]
        case _:
            lead.append(f"{seat} writes v{entry.turn.round} ({candidate_of(as_text(said.text))}):")
            lead.append(quoted(said.text))
            lead += [f"{in_line(f'To {each.objection}:')}\n\n{quoted(each.answer)}" for each in said.answers]
    return "\n\n".join(lead)


BALLOT: Final = make_rules(
    name="ballot",
    version=1,
    initial=BallotState(phase=Phase.OPENING),
    table=TABLE,
    course=Course(
        stages=STAGES,
        follow=_follow,
        decide=_decide,
        outcome=_outcome,
        say=_say,
        opening=OPENING_GUARDS,
        late="LATE-1",
        document=render_document,
    ),
)
