"""The words of the requirement report, each derived from a case's entries (SPEC A-24, A-34, A-35, A-44)."""

from enum import StrEnum
from types import MappingProxyType
from typing import Final, assert_never

from counterpoint.core.case import NOBODYS_FAULT
from counterpoint.core.entries import FailureReason
from counterpoint.core.outcome import Outcome
from counterpoint.core.values import Decision, StopReason
from counterpoint.protocols.propose.ending import has_spent_tokens, model_drift
from counterpoint.protocols.propose.opening import input_fault
from counterpoint.protocols.propose.state import ProposeState, missing

__all__ = ["DECISIONS", "CaseStatus", "Ended", "ended", "exit_code", "is_interrupted", "status_of"]


class Ended(StrEnum):
    """Why a case of `propose` ended."""

    CONVERGED = "converged"
    ROUND_LIMIT = "round_limit"
    STALLED = "stalled"
    NEEDS_CLARIFICATION = "needs_clarification"
    BUDGET_LIMIT = "budget_limit"
    TIME_LIMIT = "time_limit"
    CALL_LIMIT = "call_limit"
    INVALID_RESPONSE = "invalid_response"
    MODEL_DRIFT = "model_drift"
    PROVIDER_ERROR = "provider_error"
    ENGINE_ERROR = "engine_error"
    CANCELLED = "cancelled"
    INPUT_LIMIT = "input_limit"
    INVALID_INPUT = "invalid_input"


class CaseStatus(StrEnum):
    COMPLETED = "completed"
    NEEDS_CLARIFICATION = "needs_clarification"
    PARTIAL = "partial"


DECISIONS: Final = MappingProxyType(
    {
        Decision.APPROVED: "ready_to_validate",
        Decision.CONDITIONAL: "conditional",
        Decision.REJECTED: "blocked",
        Decision.NEEDS_INPUT: "needs_clarification",
        Decision.UNDETERMINED: "undetermined",
    }
)
_OF_A_FAILURE: Final = MappingProxyType(
    {
        FailureReason.BAD_REPLY: Ended.INVALID_RESPONSE,
        FailureReason.REFUSED: Ended.INVALID_RESPONSE,
        FailureReason.TREE_TOUCHED: Ended.INVALID_RESPONSE,
        FailureReason.WRONG_IDENTITY: Ended.MODEL_DRIFT,
        FailureReason.UNREACHABLE: Ended.PROVIDER_ERROR,
        FailureReason.TIMEOUT: Ended.PROVIDER_ERROR,
    }
)


def ended(state: ProposeState) -> Ended | None:
    """Return why the case ended; None while it is open, unless its newest question was interrupted."""
    if state.closed is None:
        return Ended.CANCELLED if is_interrupted(state) else None
    match state.closed.stop_reason:
        case StopReason.AGREED:
            return Ended.CONVERGED
        case StopReason.ROUNDS_SPENT:
            return Ended.ROUND_LIMIT
        case StopReason.STALLED:
            return Ended.STALLED
        case StopReason.NEEDS_INPUT:
            return Ended.NEEDS_CLARIFICATION
        case StopReason.DEADLINE_PASSED:
            return Ended.TIME_LIMIT
        case StopReason.BUDGET_SPENT:
            return Ended.BUDGET_LIMIT if has_spent_tokens(state) else Ended.CALL_LIMIT
        case StopReason.WITHDRAWN:
            return Ended.CANCELLED
        case StopReason.FAILED:
            return _failed(state)
        case never:
            assert_never(never)


def is_interrupted(state: ProposeState) -> bool:
    """Whether somebody interrupted the newest question, and it was not asked again."""
    newest = state.failures[-1] if state.failures else None
    if newest is None or newest.reason is not FailureReason.INTERRUPTED:
        return False
    return newest.turn.phase == state.stage and newest.turn.seat not in state.sealed


def _failed(state: ProposeState) -> Ended:
    if fault := input_fault(state.case.docket):
        return Ended.INVALID_INPUT if "NUL" in fault else Ended.INPUT_LIMIT
    if silent := missing(state):
        counted = [f for seat in silent for f in state.failures_of(seat) if f.reason not in NOBODYS_FAULT]
        return _OF_A_FAILURE.get(counted[-1].reason, Ended.ENGINE_ERROR) if counted else Ended.ENGINE_ERROR
    return Ended.MODEL_DRIFT if model_drift(state) else Ended.ENGINE_ERROR


def status_of(why: Ended | None) -> CaseStatus:
    """Return whether the case came to its end (SPEC A-34)."""
    match why:
        case Ended.CONVERGED:
            return CaseStatus.COMPLETED
        case Ended.NEEDS_CLARIFICATION:
            return CaseStatus.NEEDS_CLARIFICATION
        case _:
            return CaseStatus.PARTIAL


def exit_code(outcome: Outcome) -> int:
    """Return the exit code: 130 cancelled, 3 partial, then 0 or 2 by the decision (SPEC A-44)."""
    match outcome.stop_reason:
        case StopReason.WITHDRAWN:
            return 130
        case StopReason.NEEDS_INPUT:
            return 2
        case StopReason.AGREED:
            return 0
        case _:
            return 3
