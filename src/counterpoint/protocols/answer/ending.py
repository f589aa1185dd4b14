"""What follows a stage: a candidate, another round, or the end. And what the case came to.

- Agreed means: every peer has confirmed exactly this text. Nothing else is agreement, and nobody's silence is.
- A peer that gave no valid answer fails the case, whatever the others say. In a vote it counts for none instead.
- A vote ends with the count of the sealed openings. More than half of all peers decide it; a tie decides nothing.
- A case whose rounds are not counted ends when nothing moves.
"""

from dataclasses import dataclass
from typing import Final

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.entries import CaseClosed, RevisionOffered, RoundOpened
from counterpoint.core.outcome import Coverage, Outcome, SeatEnd, SeatStatus
from counterpoint.core.outcome import exit_code as code_of
from counterpoint.core.values import Decision, StopReason
from counterpoint.protocols.answer.agreeing import agreed, is_stalled
from counterpoint.protocols.answer.counting import Tally, count
from counterpoint.protocols.answer.state import AnswerState, digest_of
from counterpoint.protocols.answer.table import Phase

__all__ = ["decide", "exit_code", "follow", "outcome_of"]

_COMPUTED: Final = frozenset({StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED, StopReason.NEEDS_INPUT})
"""Stop reasons that hold only where the rules come to them."""
_NO_COVERAGE: Final = Coverage(changed=(), unseen=(), unread=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    stop: StopReason
    decision: Decision
    why: str


def follow(state: AnswerState, _missing: tuple[str, ...]) -> RevisionOffered | RoundOpened | CaseClosed:
    """Return what follows the stage that is over."""
    found = _next(state)
    if isinstance(found, _End):
        return CaseClosed(stop_reason=found.stop, decision=found.decision, detail=found.why)
    return found


def decide(state: AnswerState, stop: StopReason) -> tuple[StopReason, Decision, tuple[str, ...]]:
    """Return the ending as the record has it."""
    if stop not in _COMPUTED:
        return stop, Decision.UNDETERMINED, (f"the case stopped before it was decided: {stop}",)
    found = _next(state)
    if isinstance(found, _End):
        return found.stop, found.decision, (found.why,)
    return StopReason.FAILED, Decision.UNDETERMINED, ("the case was closed while it could go on",)


def _next(state: AnswerState) -> RevisionOffered | RoundOpened | _End:
    silent = _unheard(state)
    if state.case.terms.vote_only and _may_count_without(silent, state):
        return _counted(count(state, state.held_in(1)), silent)
    if silent:
        why = f"no valid answer of {', '.join(silent)} in round {state.round}"
        return _End(stop=StopReason.FAILED, decision=Decision.UNDETERMINED, why=why)
    if state.stage == Phase.CONFIRMING:
        return _after_confirming(state)
    found = agreed(state)
    if found is None or state.round < state.case.limits.min_rounds:
        return _go_on(state, "no answer has every peer behind it" if found is None else "a round is still to come")
    return RevisionOffered(
        seat=found.seat,
        round=state.round,
        revision=len(state.offered) + 1,
        candidate=digest_of(found.answer),
    )


def _unheard(state: AnswerState) -> tuple[str, ...]:
    """Return the peers whose answer in this stage is owed, failed, or not revealed."""
    heard = {seat for seat, sealed in state.sealed.items() if sealed.turn.id in state.revealed}
    return tuple(seat for seat in state.peers if seat not in heard)


def _may_count_without(silent: tuple[str, ...], state: AnswerState) -> bool:
    """Return whether a vote can be counted: each of them was asked in vain, and somebody was heard."""
    return len(silent) < len(state.peers) and all(state.is_out(seat) for seat in silent)


def _after_confirming(state: AnswerState) -> RoundOpened | _End:
    said = state.said_of(state.offered[-1].revision)
    against = [each.seat for each in said if not each.approved]
    if against:
        return _go_on(state, f"{', '.join(against)} objected to the text that all stood by")
    why = f"{', '.join(state.peers)} confirmed exactly this text"
    return _End(stop=StopReason.AGREED, decision=Decision.APPROVED, why=why)


def _go_on(state: AnswerState, reason: str) -> RoundOpened | _End:
    most = state.case.limits.max_rounds
    if is_stalled(state):
        why = f"{reason}, and nothing moved in round {state.round}"
        return _End(stop=StopReason.STALLED, decision=Decision.UNDETERMINED, why=why)
    if most and state.round >= most:
        why = f"{reason}, and {most} of {most} rounds are spent"
        return _End(stop=StopReason.ROUNDS_SPENT, decision=Decision.UNDETERMINED, why=why)
    return RoundOpened(round=state.round + 1, reason=reason)


def _counted(tally: Tally, silent: tuple[str, ...]) -> _End:
    no_option = [seat for seat in tally.uncounted if seat not in silent]
    uncounted = f"; {', '.join(no_option)} counted for none" if no_option else ""
    uncounted += f"; {', '.join(silent)} gave no valid one" if silent else ""
    if tally.is_unanimous:
        why = f"all {tally.peers} peers gave the same answer"
        return _End(stop=StopReason.AGREED, decision=Decision.APPROVED, why=why)
    if (won := tally.majority) is not None:
        why = f"{len(won.seats)} of {tally.peers} peers gave the same answer{uncounted}"
        return _End(stop=StopReason.ROUNDS_SPENT, decision=Decision.APPROVED, why=why)
    most = len(tally.leaders[0].seats) if tally.votes else 0
    if len(tally.leaders) > 1:
        why = f"a tie: {len(tally.leaders)} answers have {most} of {tally.peers} votes each{uncounted}"
    else:
        why = f"no majority: the most given answer has {most} of {tally.peers} votes{uncounted}"
    return _End(stop=StopReason.ROUNDS_SPENT, decision=Decision.UNDETERMINED, why=why)


def outcome_of(state: AnswerState) -> Outcome:
    """Return the outcome of a case as its entries stand."""
    stop, decision, reasons = _ended(state)
    return Outcome(
        decision=decision,
        stop_reason=stop,
        reasons=reasons,
        open_findings=(),
        refuted_findings=(),
        deferred_findings=(),
        evidence=EvidenceStatus.NOT_CHECKED,
        seats=tuple(_seat(state, seat) for seat in state.peers),
        coverage=_NO_COVERAGE,
        spent=state.spent,
    )


def _ended(state: AnswerState) -> tuple[StopReason | None, Decision, tuple[str, ...]]:
    if state.closed is None:
        return None, Decision.UNDETERMINED, ("the case is open",)
    stop, decision, reasons = decide(state, state.closed.stop_reason)
    return stop, decision, reasons if stop in _COMPUTED else (*reasons, state.closed.detail)


def _seat(state: AnswerState, seat: str) -> SeatStatus:
    answers = sum(sealed.turn.seat == seat for sealed in state.seals.values())
    failures = sum(failure.turn.seat == seat for failure in state.failures)
    end = SeatEnd.ANSWERED if answers else SeatEnd.NEVER_ANSWERED
    return SeatStatus(
        seat=seat,
        end=SeatEnd.FAILED if state.is_out(seat) else end,
        approved=seat in _behind(state),
        attempts=answers + failures,
    )


def _behind(state: AnswerState) -> tuple[str, ...]:
    """Return the peers behind what the case came to: the newest text, or what the vote chose."""
    if state.case.terms.vote_only:
        won = count(state, state.held_in(1)).majority
        return won.seats if won else ()
    said = state.said_of(state.offered[-1].revision) if state.offered else ()
    return tuple(each.seat for each in said if each.approved)


def exit_code(outcome: Outcome) -> int:
    """Return 0 for what is agreed or what a majority chose, else what the outcome of any case returns."""
    is_chosen = outcome.decision is Decision.APPROVED and outcome.stop_reason is StopReason.ROUNDS_SPENT
    return 0 if is_chosen else code_of(outcome)
