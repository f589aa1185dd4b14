"""How a case ends: its stop reason, decision and exit code, all of them computed from the entries.

- Agreed: round >= min_rounds, every critic accepts the version on the table, no issue is open or disputed, and no
  accepted risk is critical or high (SPEC A-20).
- Stalled: proposal and ledger have the same digest as before, `stall_rounds` times in a row (SPEC A-21).
- A seat without a valid answer, or models that differ from call to call, end it as failed (SPEC A-26, A-28).
- A token threshold that the last review crosses counts, whatever the review says (SPEC A-25).
"""

from dataclasses import dataclass
from typing import Final

from counterpoint.core.values import Decision, StopReason
from counterpoint.protocols.propose.forms import Assessment
from counterpoint.protocols.propose.opening import input_fault, is_blank
from counterpoint.protocols.propose.state import (
    ProposeState,
    asked,
    critics_of,
    fingerprint,
    is_over,
    missing,
)
from counterpoint.protocols.propose.table import Phase

__all__ = ["Ending", "decide", "ending_of", "has_spent_tokens", "model_drift", "next_round", "questions"]

NOT_SAID: Final = frozenset({"", "not reported"})
"""What stands for a model where the agent names none."""
_COMPUTED: Final = frozenset({StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED, StopReason.NEEDS_INPUT})
"""Ends that follow from the answers alone, and from no clock, budget or person."""
_OF_A_REVIEW: Final = frozenset({StopReason.AGREED, StopReason.ROUNDS_SPENT, StopReason.STALLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why a case ends after the stage that is over."""

    stop: StopReason
    detail: str


def ending_of(state: ProposeState) -> Ending | None:
    """Return how a case whose stage is over ends; None where it goes on."""
    return _nothing_was_asked(state) or _cannot_go_on(state) or _of_a_review(state)


def _nothing_was_asked(state: ProposeState) -> Ending | None:
    if asked(state):
        return None
    if is_blank(state.case.docket):
        return Ending(stop=StopReason.NEEDS_INPUT, detail="the requirement is blank")
    if fault := input_fault(state.case.docket):
        return Ending(stop=StopReason.FAILED, detail=fault)
    most, seats = state.case.limits.max_calls, len(state.case.roster)
    detail = f"{most} call{'s' if most > 1 else ''} cannot ask {seats} seats side by side"
    return Ending(stop=StopReason.BUDGET_SPENT, detail=detail)


def _cannot_go_on(state: ProposeState) -> Ending | None:
    if silent := missing(state):
        return Ending(stop=StopReason.FAILED, detail=f"{', '.join(silent)} gave no valid answer")
    if drift := model_drift(state):
        return Ending(stop=StopReason.FAILED, detail=drift)
    if asked_for := questions(state):
        detail = f"a person has to answer {len(asked_for)} question{'s' if len(asked_for) > 1 else ''} first"
        return Ending(stop=StopReason.NEEDS_INPUT, detail=detail)
    return None


def _of_a_review(state: ProposeState) -> Ending | None:
    if state.stage != Phase.REVIEWING:
        return None
    limits = state.case.limits
    if _is_agreed(state):
        detail = f"every critic accepts version {state.offered[-1].revision}"
        return Ending(stop=StopReason.AGREED, detail=detail)
    if _is_stalled(state):
        detail = f"nothing that counts has changed for {limits.stall_rounds} rounds"
        return Ending(stop=StopReason.STALLED, detail=detail)
    if state.round >= limits.max_rounds:
        return Ending(stop=StopReason.ROUNDS_SPENT, detail=f"{state.round} of {limits.max_rounds} rounds are held")
    return None


def model_drift(state: ProposeState) -> str:
    """Say which models answered for one configuration, where they are not the same; else ""."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for sealed in state.seals.values():
        seat = state.case.seat(sealed.turn.seat)
        assert seat is not None, "only seats seal"
        if sealed.model_reported not in NOT_SAID:
            found.setdefault((seat.agent, seat.given or seat.party), {})[sealed.model_reported] = None
    drifted = next((list(models) for models in found.values() if len(models) > 1), [])
    return f"the model that answers has changed: {', '.join(drifted)}" if drifted else ""


def questions(state: ProposeState) -> tuple[str, ...]:
    """Return what the seats asked a person in the newest stage, three questions at most (SPEC A-23)."""
    match state.stage:
        case Phase.REVIEWING:
            version = state.offered[-1].revision
            asking = [review.clarification_questions for review in state.reviews_of(version).values()]
        case Phase.REVISING:
            asking = [w.text.clarification_questions for w in state.written if w.round == state.round]
        case _:
            asking = [w.text.clarification_questions for w in state.written]
            asking += [state.scans[seat].clarification_questions for seat in critics_of(state) if seat in state.scans]
    return tuple(dict.fromkeys(question for each in asking for question in each))[:3]


def _is_agreed(state: ProposeState) -> bool:
    reviews = state.reviews_of(state.offered[-1].revision)
    accepts = all(reviews[seat].assessment is Assessment.ACCEPT for seat in critics_of(state))
    return accepts and state.round >= state.case.limits.min_rounds and all(f.is_settled for f in state.findings)


def _is_stalled(state: ProposeState) -> bool:
    limits, now = state.case.limits, state.round
    if not limits.stall_rounds or now < limits.min_rounds or now <= limits.stall_rounds:
        return False
    return len({fingerprint(state, number) for number in range(now - limits.stall_rounds, now + 1)}) == 1


def next_round(state: ProposeState) -> str:
    """Say why a case whose review is over goes on."""
    if open_ones := [finding.id for finding in state.findings if not finding.is_settled]:
        return f"not settled: {', '.join(open_ones)}"
    if state.round < state.case.limits.min_rounds:
        return f"{state.case.limits.min_rounds} rounds are held at least"
    return "not every critic accepts it"


# --- what it comes to


def has_spent_tokens(state: ProposeState) -> bool:
    most = state.case.limits.max_tokens
    return bool(most) and state.spent.usage.tokens >= most


def _has_spent_calls(state: ProposeState) -> bool:
    most = state.case.limits.max_calls
    return bool(most) and (state.spent.calls >= most or most < len(state.case.roster))


def decide(state: ProposeState, stop: StopReason) -> tuple[StopReason, Decision, tuple[str, ...]]:
    """Return for which reason a case really stops, the decision, and why."""
    true_stop = _true_stop(state, stop)
    decision, reason = _decision(state, true_stop)
    return true_stop, decision, (reason,)


def _true_stop(state: ProposeState, stop: StopReason) -> StopReason:
    if stop in _COMPUTED:
        found = ending_of(state) if is_over(state) else None
        if found is None or found.stop is not stop:
            return StopReason.FAILED
        return StopReason.BUDGET_SPENT if stop in _OF_A_REVIEW and has_spent_tokens(state) else stop
    is_false = (stop is StopReason.BUDGET_SPENT and not (has_spent_tokens(state) or _has_spent_calls(state))) or (
        stop is StopReason.DEADLINE_PASSED and state.case.limits.deadline is None
    )
    return StopReason.FAILED if is_false else stop


def _decision(state: ProposeState, stop: StopReason) -> tuple[Decision, str]:
    if stop is StopReason.NEEDS_INPUT:
        return Decision.NEEDS_INPUT, "a person is asked before anything else is said"
    if stop is StopReason.AGREED:
        if all(finding.is_resolved for finding in state.findings):
            return Decision.APPROVED, "every critic accepts the version, and every issue is resolved"
        return Decision.CONDITIONAL, "every critic accepts the version, with risks that stay"
    if heavy := [f.id for f in state.findings if f.severity.is_heavy and not f.is_resolved]:
        return Decision.REJECTED, f"critical or high, and not resolved: {', '.join(heavy)}"
    if blocking := _blocking(state):
        return Decision.REJECTED, f"the newest review of {', '.join(blocking)} says that it is blocked"
    if stop in {StopReason.FAILED, StopReason.WITHDRAWN}:
        return Decision.UNDETERMINED, "it did not come to its end"
    if not state.reviews:
        return Decision.UNDETERMINED, "nothing was reviewed"
    return Decision.CONDITIONAL, "it was reviewed, and not accepted as it stands"


def _blocking(state: ProposeState) -> list[str]:
    newest = {reviewed.seat: reviewed.review.assessment for reviewed in state.reviews}
    return [seat for seat, assessment in newest.items() if assessment is Assessment.BLOCKED]
