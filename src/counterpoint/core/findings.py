"""The findings ledger: tracked defect claims that only their raiser can settle.

- An id is unique in the case; severity never changes; an omitted finding stays open.
- Only the raiser rules, with a reason (LEDGER-1).
- A finding whose quoted text code could not find stands `refuted`: it is shown, and it does not block.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.values import Severity
from counterpoint.errors import Refused

__all__ = ["OWN_ID", "Finding", "FindingStatus", "Ledger", "Ruling", "finding_id"]


class FindingStatus(StrEnum):
    OPEN = "open"
    SETTLED = "settled"


class Ruling(StrEnum):
    """The raiser's judgement of its own finding."""

    SETTLED = "settled"
    STANDS = "stands"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One tracked defect claim."""

    id: str
    seat: str
    """Who raised it."""
    round: int
    candidate: str
    severity: Severity
    location: str
    """`path:line`, `path`, or words."""
    issue: str
    suggestion: str
    """What would settle it."""
    evidence: EvidenceStatus = EvidenceStatus.NOT_CHECKED
    """Whether code found what the finding rests on."""
    detail: str = ""
    """What code saw when it looked."""
    status: FindingStatus = FindingStatus.OPEN
    reason: str = ""
    """Why it was settled, in the raiser's words."""

    @property
    def blocks(self) -> bool:
        return self.status is FindingStatus.OPEN and self.evidence is not EvidenceStatus.REFUTED


@dataclass(frozen=True, slots=True)
class Ledger:
    """All findings of a case, in the order in which they were raised."""

    by_id: Mapping[str, Finding] = field(default_factory=lambda: MappingProxyType({}))

    def with_raised(self, finding: Finding) -> "Ledger":
        """Return the ledger with one finding more.

        Raises:
            Refused: LEDGER-1, a finding of that id is there.
        """
        if finding.id in self.by_id:
            raise Refused("LEDGER-1", f"{finding.seat!r} raises {finding.id!r}, which is in the ledger")
        return Ledger(MappingProxyType({**self.by_id, finding.id: finding}))

    def with_ruling(self, finding_id: str, *, seat: str, ruling: Ruling, reason: str) -> "Ledger":
        """Return the ledger with one finding as its raiser rules.

        Raises:
            Refused: LEDGER-1, there is no such finding or another seat raised it.
        """
        finding = self.by_id.get(finding_id)
        if finding is None or finding.seat != seat:
            raiser = "nobody" if finding is None else repr(finding.seat)
            raise Refused("LEDGER-1", f"{seat!r} rules on {finding_id!r}, which {raiser} raised")
        status = FindingStatus.SETTLED if ruling is Ruling.SETTLED else FindingStatus.OPEN
        ruled = replace(finding, status=status, reason=reason)
        return Ledger(MappingProxyType({**self.by_id, finding_id: ruled}))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.by_id.values())

    def blocking(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.by_id.values() if f.blocks)

    def raised_by(self, seat: str) -> tuple[Finding, ...]:
        return tuple(f for f in self.by_id.values() if f.seat == seat)


OWN_ID: Final = re.compile(r"[A-Z][A-Za-z0-9_-]{0,31}")
"""What a seat may call its finding. Seat names have no capital, so `<seat>-<own id>` names one seat and one id."""


def finding_id(seat: str, own_id: str, *, only_reviewer: bool) -> str:
    """Return the ledger's id of a finding that `seat` calls `own_id`."""
    return own_id if only_reviewer else f"{seat}-{own_id}"
