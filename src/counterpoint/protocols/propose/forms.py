"""What the seats answer, key for key as it stands on the wire (SPEC section 1).

A reason comes before the word it explains. No form has a field for a severity that is there already, for closing or
for leaving out: what a seat may not do, it has no words for.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from counterpoint.core.forms import listed, text, whole
from counterpoint.core.narrowing import Shown, Use

__all__ = [
    "OWN_ID",
    "Action",
    "Assessment",
    "Clarifying",
    "GivenAnswer",
    "JudgeCandidate",
    "Judged",
    "NewFinding",
    "OfferCandidate",
    "Option",
    "RiskArea",
    "ScanRisks",
    "Severity",
    "Standing",
]

OWN_ID: Final = "[A-Za-z][A-Za-z0-9_-]{0,63}"
"""How a seat names what it writes."""
_FULL_ID: Final = f"(?:[a-z0-9][a-z0-9-]{{0,63}}-_?)?{OWN_ID}"
"""How the ledger names a finding: with its critic's seat before it, where there are several."""
_MAX_QUESTIONS: Final = 3
_MAX_OPTIONS: Final = 3
_MAX_NEW: Final = 5
_MAX_LEDGER: Final = 12 * 5 * 16
_MAX_ITEMS: Final = 40
_SHORT: Final = 1_000
_LONG: Final = 8_000
_ISSUES: Final = "issues"
_OWN_ISSUES: Final = "your_issues"


def _as_before(name: str) -> Shown:
    """Return where a reviser sees what their last proposal said there."""
    return Shown(use=Use.BEGIN, at=f"your_proposal.{name}")


class Severity(StrEnum):
    """How much a finding weighs, heaviest first; its critic says so once, and nothing changes it."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def is_heavy(self) -> bool:
        return self in {Severity.CRITICAL, Severity.HIGH}


class Standing(StrEnum):
    """Where a finding stands, in its critic's words."""

    OPEN = "open"
    RESOLVED = "resolved"
    ACCEPTED_RISK = "accepted_risk"
    DISPUTED = "disputed"


class Action(StrEnum):
    """The proposer's answer to a finding."""

    FIX = "fix"
    REBUT = "rebut"
    ACCEPT_RISK = "accept_risk"
    REQUEST_CLARIFICATION = "request_clarification"


class Assessment(StrEnum):
    """What a critic says of one version."""

    ACCEPT = "accept"
    REVISE = "revise"
    BLOCKED = "blocked"
    NEEDS_CLARIFICATION = "needs_clarification"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    id: str = text(most=64, pattern=OWN_ID)
    title: str = text(most=_SHORT, blank=False)
    approach: str = text(most=_LONG)
    tradeoffs: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    issue_id: str = text(most=130, pattern=_FULL_ID, shown=Shown(use=Use.CHOOSE, at=_ISSUES, key="id"))
    summary: str = text(most=_LONG, blank=False, about="your answer, with its reason")
    change: str = text(most=_LONG, about="for a fix: what you changed in the proposal")
    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferCandidate:
    """A proposal, or its revision."""

    needs_clarification: bool
    clarification_questions: tuple[str, ...] = listed(most=_MAX_QUESTIONS, each=_SHORT)
    problem_statement: str = text(most=_LONG, shown=_as_before("problem_statement"))
    goal: str = text(most=_LONG, shown=_as_before("goal"))
    success_criteria: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG, shown=_as_before("success_criteria"))
    assumptions: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG, shown=_as_before("assumptions"))
    options: tuple[Option, ...] = listed(most=_MAX_OPTIONS, shown=_as_before("options"))
    recommendation: str = text(most=_LONG, about="what is recommended, and why", shown=_as_before("recommendation"))
    recommended_option_id: str = text(most=64, pattern=f"(?:{OWN_ID})?", shown=_as_before("recommended_option_id"))
    implementation_steps: tuple[str, ...] = listed(
        most=_MAX_ITEMS, each=_LONG, shown=_as_before("implementation_steps")
    )
    conditions: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG, shown=_as_before("conditions"))
    validation_steps: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG, shown=_as_before("validation_steps"))
    public_summary: str = text(most=_LONG, shown=_as_before("public_summary"))
    responses: tuple[GivenAnswer, ...] = listed(
        most=_MAX_LEDGER, shown=Shown(use=Use.EACH, at=_ISSUES, key="id", only="must_be_answered")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskArea:
    id: str = text(most=64, pattern=OWN_ID)
    concern: str = text(most=_LONG, blank=False)
    check: str = text(most=_LONG, about="what would show whether it is one")
    severity: Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRisks:
    """A critic's look at the requirement, before it knows any proposal."""

    needs_clarification: bool
    clarification_questions: tuple[str, ...] = listed(most=_MAX_QUESTIONS, each=_SHORT)
    success_criteria: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG)
    risk_areas: tuple[RiskArea, ...] = listed(most=_MAX_NEW)
    public_summary: str = text(most=_LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A critic's ruling on a finding that it raised before."""

    issue_id: str = text(most=64, pattern=OWN_ID, shown=Shown(use=Use.CHOOSE, at=_OWN_ISSUES, key="id"))
    rationale: str = text(most=_LONG, blank=False)
    status: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFinding:
    id: str = text(most=64, pattern=OWN_ID)
    title: str = text(most=_SHORT, blank=False)
    description: str = text(most=_LONG, blank=False)
    target: str = text(most=_SHORT, blank=False, about="the part of the proposal, or path:line where files are shown")
    resolution_criterion: str = text(most=_LONG, blank=False)
    severity: Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCandidate:
    """A critic's review of one version."""

    reviewed_version: int = whole(shown=Shown(use=Use.REPEAT, at="version"))
    issue_evaluations: tuple[Judged, ...] = listed(
        most=_MAX_LEDGER, shown=Shown(use=Use.EACH, at=_OWN_ISSUES, key="id")
    )
    new_issues: tuple[NewFinding, ...] = listed(most=_MAX_NEW)
    conditions: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG)
    next_steps: tuple[str, ...] = listed(most=_MAX_ITEMS, each=_LONG)
    clarification_questions: tuple[str, ...] = listed(most=_MAX_QUESTIONS, each=_SHORT)
    public_summary: str = text(most=_LONG)
    assessment: Assessment

    @property
    def needs_clarification(self) -> bool:
        return self.assessment is Assessment.NEEDS_CLARIFICATION


Clarifying = OfferCandidate | ScanRisks | JudgeCandidate
"""Every answer can say that a person has to be asked first."""
