"""Limits of a case, what has been spent, and which limit is reached.

Budgets read entries only, so a driver that dies on every attempt spends its calls all the same. `max_tokens` is a
threshold on reported usage, not a spending cap: a call in flight may pass it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from counterpoint.core.values import StopReason, Usage

__all__ = ["Limits", "Spent", "calls_left", "reached"]

_NO_USAGE: Final = Usage(known=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Zero and `None` mean: no such limit."""

    max_rounds: int = 1
    min_rounds: int = 1
    """How many rounds there are at least, where agreement may come sooner."""
    stall_rounds: int = 0
    """After how many rounds in which nothing moved the case ends."""
    max_calls: int = 40
    max_tokens: int = 0
    max_output_tokens: int = 0
    """Of one answer, where its agent can be told."""
    call_timeout_s: int = 1800
    max_asks: int = 2
    """How often one seat is asked in one round before it counts as failed: once, and once more with the reason."""
    deadline: str | None = None
    """Absolute instant, ISO 8601 with offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    calls: int = 0
    usage: Usage = _NO_USAGE

    def plus(self, usage: Usage) -> "Spent":
        return Spent(calls=self.calls + 1, usage=self.usage.plus(usage))


def deadline_passed(limits: Limits, now: datetime) -> str:
    """Return when the deadline was, in words; "" where it is not over, or there is none."""
    is_over = limits.deadline is not None and now >= datetime.fromisoformat(limits.deadline)
    return f"the deadline was {limits.deadline}" if is_over else ""


def reached(limits: Limits, spent: Spent, now: datetime) -> tuple[StopReason, str] | None:
    """Return which limit stands in the way of one more call, with the two values that met, or None."""
    if passed := deadline_passed(limits, now):
        return StopReason.DEADLINE_PASSED, passed
    if limits.max_calls and spent.calls >= limits.max_calls:
        return StopReason.BUDGET_SPENT, f"{spent.calls} of {limits.max_calls} calls are spent"
    if limits.max_tokens and spent.usage.tokens >= limits.max_tokens:
        return StopReason.BUDGET_SPENT, f"{spent.usage.tokens} of {limits.max_tokens} tokens are spent"
    return None


def calls_left(limits: Limits, spent: Spent) -> int | None:
    """Return how many more calls the budget allows, or None where calls are not limited."""
    return max(0, limits.max_calls - spent.calls) if limits.max_calls else None
