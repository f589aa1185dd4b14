"""The findings ledger: tracked defect claims that only their raiser can settle.

- An id is unique in the case; severity never changes; an omitted finding stays open.
- Only the raiser rules, with a reason (LEDGER-1). The author answers, and that closes nothing.
- An accepted risk stays open, and so does what was not mentioned again. What has to wait for a release or a person
  may be deferred by its raiser: it does not block, and every report names it.
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

__all__ = ["OWN_ID", "Answer", "Disposition", "Finding", "FindingStatus", "Ledger", "Ruled", "Ruling", "finding_id"]


class FindingStatus(StrEnum):
    OPEN = "open"
    SETTLED = "settled"
    DEFERRED = "deferred"


class Ruling(StrEnum):
    """The raiser's judgement of its own finding."""

    SETTLED = "settled"
    STANDS = "stands"
    DEFERRED = "deferred"
    """Nothing in the change can settle it: a gate of the release, named in the reason (SPEC D-17)."""


class Disposition(StrEnum):
    """The author's answer to a finding."""

    FIX = "fix"
    PARTIAL = "partial"
    """Fixed in part, disputed in part."""
    REBUT = "rebut"
    ACCEPT_RISK = "accept_risk"
    CLARIFY = "clarify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the author said to a finding in one round."""

    round: int
    disposition: Disposition
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What the raiser said of its finding in one round."""

    round: int
    ruling: Ruling
    reason: str


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
    """Why it is in that status, in the raiser's words."""
    answers: tuple[Answer, ...] = ()
    """The author's, oldest first."""
    rulings: tuple[Ruled, ...] = ()
    """The raiser's, oldest first."""

    @property
    def is_open(self) -> bool:
        return self.status is FindingStatus.OPEN

    @property
    def blocks(self) -> bool:
        return self.is_open and self.evidence is not EvidenceStatus.REFUTED

    @property
    def is_disputed(self) -> bool:
        """Whether it is open and the author's newest answer denies it, wholly or in part."""
        denies = {Disposition.REBUT, Disposition.PARTIAL}
        return self.is_open and bool(self.answers) and self.answers[-1].disposition in denies

    @property
    def stance(self) -> tuple[str, str, str]:
        """Id, status and the author's newest disposition: a round in which no stance moved is a stall."""
        return self.id, self.status.value, self.answers[-1].disposition.value if self.answers else ""


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
        return self._with(finding)

    def with_answer(self, finding_id: str, answer: Answer) -> "Ledger":
        """Return the ledger with one answer more; the finding's status is as it was.

        Raises:
            Refused: LEDGER-1, there is no such finding.
        """
        finding = self.by_id.get(finding_id)
        if finding is None:
            raise Refused("LEDGER-1", f"an answer to {finding_id!r}, which nobody raised")
        return self._with(replace(finding, answers=(*finding.answers, answer)))

    def with_ruling(self, finding_id: str, *, seat: str, ruled: Ruled) -> "Ledger":
        """Return the ledger with one finding as its raiser rules.

        Raises:
            Refused: LEDGER-1, there is no such finding or another seat raised it.
        """
        finding = self.by_id.get(finding_id)
        if finding is None or finding.seat != seat:
            raiser = "nobody" if finding is None else repr(finding.seat)
            raise Refused("LEDGER-1", f"{seat!r} rules on {finding_id!r}, which {raiser} raised")
        status = _STATUS[ruled.ruling]
        return self._with(replace(finding, status=status, reason=ruled.reason, rulings=(*finding.rulings, ruled)))

    def _with(self, finding: Finding) -> "Ledger":
        return Ledger(MappingProxyType({**self.by_id, finding.id: finding}))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.by_id.values())

    def blocking(self, at_least: Severity = Severity.NIT) -> tuple[Finding, ...]:
        return tuple(f for f in self.by_id.values() if f.blocks and f.severity.is_at_least(at_least))

    def unsettled(self, at_least: Severity = Severity.NIT) -> tuple[Finding, ...]:
        """Return what is open, refuted by evidence or not."""
        return tuple(f for f in self.by_id.values() if f.is_open and f.severity.is_at_least(at_least))

    def raised_by(self, seat: str) -> tuple[Finding, ...]:
        return tuple(f for f in self.by_id.values() if f.seat == seat)


_STATUS: Final = {
    Ruling.SETTLED: FindingStatus.SETTLED,
    Ruling.STANDS: FindingStatus.OPEN,
    Ruling.DEFERRED: FindingStatus.DEFERRED,
}

OWN_ID: Final = re.compile(r"[A-Z][A-Za-z0-9_-]{0,31}")
"""What a seat may call its finding. Seat names have no capital, so `<seat>-<own id>` names one seat and one id."""


def finding_id(seat: str, own_id: str, *, only_reviewer: bool) -> str:
    """Return the ledger's id of a finding that `seat` calls `own_id`."""
    return own_id if only_reviewer else f"{seat}-{own_id}"
