"""What a case of `propose` used, call by call (SPEC A-26, A-38)."""

from datetime import datetime
from typing import Any, Final

from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import AttemptFailed, CaseOpened, FailureReason, SubmissionSealed
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.propose.opening import call_ceiling
from counterpoint.protocols.propose.table import Phase

__all__ = ["calls_in", "most_calls", "usage_of"]

_INTERRUPTED: Final = frozenset({FailureReason.INTERRUPTED, FailureReason.DRIVER_LOST})


def most_calls(opened: CaseOpened) -> int:
    """Return how many calls the rounds allow, or the limit where it allows fewer."""
    ceiling = call_ceiling(critics=len(opened.judges), rounds=opened.limits.max_rounds)
    return min(ceiling, opened.limits.max_calls) if opened.limits.max_calls else ceiling


def calls_in(case: LoadedCase) -> list[dict[str, Any]]:
    """Return each call as it ended, in the order of the record."""
    found = []
    for block, entry in zip(case.blocks, case.entries, strict=True):
        if isinstance(entry, SubmissionSealed | AttemptFailed):
            found.append({"ended_at": block.stamp, **_call(case.state.case, entry)})
    return found


def _call(opened: CaseOpened, entry: SubmissionSealed | AttemptFailed) -> dict[str, Any]:
    turn, usage = entry.turn, entry.usage
    seat = opened.seat(turn.seat)
    is_critic = seat is not None and seat.kind is not SeatKind.AUTHOR
    is_scan = is_critic and turn.phase == Phase.PROPOSING
    phases = {Phase.PROPOSING: "propose", Phase.REVIEWING: "review", Phase.REVISING: "revise"}
    failed = isinstance(entry, AttemptFailed)
    return {
        "seat": turn.seat,
        "role": "critic" if is_critic else "proposer",
        "phase": "risk_scan" if is_scan else phases[Phase(turn.phase)],
        "round": 0 if is_scan else turn.round,
        "status": _status(entry),
        "reason": entry.reason.value if isinstance(entry, AttemptFailed) else "",
        "model": "" if isinstance(entry, AttemptFailed) else entry.model_reported,
        "input_tokens": usage.input_tokens if usage.known else None,
        "output_tokens": usage.output_tokens if usage.known else None,
        "usage_known": usage.known and not failed,
    }


def _status(entry: SubmissionSealed | AttemptFailed) -> str:
    if isinstance(entry, SubmissionSealed):
        return "completed"
    return "interrupted" if entry.reason in _INTERRUPTED else "failed"


def usage_of(case: LoadedCase) -> dict[str, Any]:
    """Return what was used, beside what might be; a threshold is exceeded only beyond it."""
    opened, spent, calls = case.state.case, case.outcome.spent, calls_in(case)
    limits = opened.limits
    elapsed = _seconds(case.blocks[0].stamp, case.blocks[-1].stamp)
    # A deadline is given a second more, since stamps are of whole seconds.
    longest = _seconds(opened.opened_at, limits.deadline) - 1 if limits.deadline else None
    done = sum(call["status"] == "completed" for call in calls)
    return {
        "calls": len(calls),
        "completed_calls": done,
        "failed_calls": len(calls) - done,
        "input_tokens": spent.usage.input_tokens,
        "output_tokens": spent.usage.output_tokens,
        "total_tokens": spent.usage.tokens,
        "max_calls": most_calls(opened),
        "max_total_tokens": limits.max_tokens or None,
        "threshold_exceeded": bool(limits.max_tokens) and spent.usage.tokens > limits.max_tokens,
        "unknown_usage_calls": sum(not call["usage_known"] for call in calls),
        "elapsed_seconds": elapsed,
        "max_duration_seconds": longest,
        "duration_threshold_exceeded": longest is not None and elapsed > longest,
    }


def _seconds(start: str, end: str) -> int:
    return int((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())
