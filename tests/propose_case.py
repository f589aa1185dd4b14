"""A case of `propose` played in memory: what a driver does, without a store, an agent or a clock."""

from collections.abc import Mapping
from typing import Any, Final

from counterpoint.core.checks import Evidence, PathCheck
from counterpoint.core.docket import Docket, Seat, SeatKind, Terms
from counterpoint.core.entries import CaseOpened
from counterpoint.core.limits import Limits
from counterpoint.protocols.propose import PROPOSE, ProposeState
from tests.case_play import NOW, OWNER, CasePlay, as_looked_up, opened_by, refused, through_json

__all__ = [
    "CRITIC",
    "DOCKET",
    "LIMITS",
    "NOW",
    "OWNER",
    "PROPOSER",
    "SECOND",
    "Play",
    "answer",
    "asking",
    "issue",
    "opening",
    "proposal",
    "refused",
    "review",
    "ruling",
    "scan",
    "through_json",
]

PROPOSER: Final = Seat(name="proposer", party="pair", kind=SeatKind.AUTHOR)
CRITIC: Final = Seat(name="critic", party="pair")
SECOND: Final = Seat(name="critic-2", party="other")
DOCKET: Final = Docket(question="Let users export their data.", context="There are 40,000 of them.")
LIMITS: Final = Limits(max_rounds=4, min_rounds=2, stall_rounds=2, max_calls=0, max_asks=1)


def proposal(*answers: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a proposal as a proposer writes it."""
    written = {
        "needs_clarification": False,
        "clarification_questions": [],
        "problem_statement": "Users cannot take their data away.",
        "goal": "An export that each user starts.",
        "success_criteria": ["an export of 1 GB ends within a minute"],
        "assumptions": [],
        "options": [{"id": "zip", "title": "A ZIP", "approach": "stream it", "tradeoffs": ["no resume"]}],
        "recommended_option_id": "zip",
        "recommendation": "Stream a ZIP.",
        "implementation_steps": ["write the endpoint"],
        "conditions": [],
        "validation_steps": ["export the largest account"],
        "public_summary": "A streamed ZIP.",
        "responses": list(answers),
    }
    return written | changes


def asking(*questions: str) -> dict[str, Any]:
    """Return a proposal that asks a person instead."""
    bare = {key: "" if isinstance(value, str) else [] for key, value in proposal().items()}
    return bare | {"needs_clarification": True, "clarification_questions": list(questions)}


def answer(issue_id: str = "I1", action: str = "fix", *, change: str = "the steps say so now") -> dict[str, Any]:
    return {"issue_id": issue_id, "summary": "It is answered.", "change": change, "action": action}


def scan(**changes: Any) -> dict[str, Any]:
    """Return a risk scan as a critic writes it."""
    area = {"id": "R1", "concern": "personal data leaks", "check": "look at the log", "severity": "high"}
    written = {
        "needs_clarification": False,
        "clarification_questions": [],
        "success_criteria": ["nobody else can fetch it"],
        "risk_areas": [area],
        "public_summary": "Mind who may fetch it.",
    }
    return written | changes


def issue(issue_id: str = "I1", severity: str = "high", **changes: Any) -> dict[str, Any]:
    written = {
        "id": issue_id,
        "title": "The link can be guessed",
        "description": "The address of an export is a counter.",
        "target": "implementation_steps",
        "resolution_criterion": "the address is random",
        "severity": severity,
    }
    return written | changes


def ruling(issue_id: str = "I1", status: str = "resolved") -> dict[str, Any]:
    return {"issue_id": issue_id, "rationale": "I read the answer.", "status": status}


def review(
    version: int = 1, *rulings: Mapping[str, Any], new: tuple[Mapping[str, Any], ...] = (), **changes: Any
) -> dict[str, Any]:
    """Return a review as a critic writes it; it accepts when nothing is open in it, unless stated."""
    is_open = bool(new) or any(r["status"] in {"open", "disputed"} for r in rulings)
    written = {
        "reviewed_version": version,
        "issue_evaluations": list(rulings),
        "new_issues": list(new),
        "conditions": [],
        "next_steps": [],
        "clarification_questions": [],
        "public_summary": "I read it.",
        "assessment": "revise" if is_open else "accept",
    }
    return written | changes


def opening(
    *roster: Seat, docket: Docket = DOCKET, limits: Limits = LIMITS, quorum: int | None = None, **terms: Any
) -> CaseOpened:
    """Return the opening of a case by this roster, as the rules make it."""
    return opened_by(PROPOSE, roster, docket=docket, limits=limits, terms=Terms(**terms), quorum=quorum)


class Play(CasePlay[ProposeState]):
    """A case whose seats may read a commit of these files."""

    reports = "m"

    def __init__(self, *roster: Seat, files: Mapping[str, int] | None = None, **plan: Any) -> None:
        self.files = files or {}
        """Number of lines by path."""
        super().__init__(PROPOSE, opening(*(roster or (PROPOSER, CRITIC)), **plan))

    def look_up(self, request: Any) -> Evidence:
        assert isinstance(request, PathCheck)
        return as_looked_up(request, is_there=self.files.get(request.path, -1) >= (request.line or 0))

    def reviewed(self, *new: Mapping[str, Any]) -> "Play":
        """Play the opening and a first review that raises these; return the case, with its proposer to revise."""
        self.all_answer(proposal(), scan())
        self.all_answer(review(1, new=new))
        return self
