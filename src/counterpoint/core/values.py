"""Small closed values that every layer shares: names, severities, stances, usage, turns."""

from enum import StrEnum

from counterpoint.core.naming import NAME
from counterpoint.frozen import dataclass

__all__ = [
    "NAME",
    "Decision",
    "Severity",
    "StopReason",
    "Turn",
    "Usage",
]


class Severity(StrEnum):
    """How much a finding weighs, heaviest first."""

    BLOCKING = "blocking"
    MAJOR = "major"
    MINOR = "minor"
    NIT = "nit"

    def is_at_least(self, other: "Severity") -> bool:
        """Return whether this weighs as much as `other` or more."""
        order = list(Severity)
        return order.index(self) <= order.index(other)


class Decision(StrEnum):
    APPROVED = "approved"
    CONDITIONAL = "conditional"
    REJECTED = "rejected"
    NEEDS_INPUT = "needs_input"
    UNDETERMINED = "undetermined"


class StopReason(StrEnum):
    """Why a case ended. Ending is data."""

    AGREED = "agreed"
    ROUNDS_SPENT = "rounds_spent"
    BUDGET_SPENT = "budget_spent"
    DEADLINE_PASSED = "deadline_passed"
    STALLED = "stalled"
    NEEDS_INPUT = "needs_input"
    WITHDRAWN = "withdrawn"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a call reported that it used; `known` is False where the agent reports nothing."""

    input_tokens: int = 0
    output_tokens: int = 0
    known: bool = False

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            known=self.known and other.known,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One obligation of one seat. `id` is unique within the case; a turn is recorded at most once."""

    phase: str
    round: int
    seat: str
    ask: int
    """Counts the questions to this seat in this round, from 1."""
    blind: bool = False

    @property
    def id(self) -> str:
        """File-system safe: `reviewing.1.critic.1`."""
        return f"{self.phase}.{self.round}.{self.seat}.{self.ask}"
