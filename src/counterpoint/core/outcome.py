"""The result of a case, derived by code from its entries: never stored as truth, never read from prose."""

from dataclasses import dataclass
from enum import StrEnum

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.findings import Finding
from counterpoint.core.limits import Spent
from counterpoint.core.values import Decision, StopReason

__all__ = ["Coverage", "Outcome", "SeatEnd", "SeatStatus", "exit_code"]


class SeatEnd(StrEnum):
    """How a seat ended (FIELD-FAULTS F3: every seat has an end before an outcome counts)."""

    ANSWERED = "answered"
    FAILED = "failed"
    NEVER_ANSWERED = "never_answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatStatus:
    seat: str
    end: SeatEnd
    approved: bool
    attempts: int
    """Questions put to the seat, the accepted one included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which changed paths were seen by whom."""

    changed: tuple[str, ...]
    unseen: tuple[str, ...]
    """Changed paths that no seat was shown whole and no check had before it."""
    unread: tuple[str, ...] | None
    """Changed paths that no command opened; `None` where the file system cannot tell or nothing ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    decision: Decision
    stop_reason: StopReason | None
    """`None` while the case is open."""
    reasons: tuple[str, ...]
    """Sentences by code: why the decision is what it is."""
    open_findings: tuple[Finding, ...]
    refuted_findings: tuple[Finding, ...]
    deferred_findings: tuple[Finding, ...]
    """What waits for a gate outside the change, as their raisers say (SPEC D-17)."""
    evidence: EvidenceStatus
    seats: tuple[SeatStatus, ...]
    coverage: Coverage
    spent: Spent


def exit_code(outcome: Outcome) -> int:
    """Return the exit code that tells a calling program what a case came to (DESIGN section 8).

    0 approved or agreed, and nothing else; 1 failed; 3 decided but not approved, unresolved, or still open;
    4 a person is needed.
    """
    match outcome.stop_reason, outcome.decision:
        case StopReason.AGREED, Decision.APPROVED:
            return 0
        case StopReason.FAILED, _:
            return 1
        case (StopReason.NEEDS_INPUT, _) | (_, Decision.NEEDS_INPUT):
            return 4
        case _:
            return 3
