"""What code looks up for a review: the places in the repository's files that its new issues name.

Only where the case shows files. A target is looked up where it reads as `path:line`, or as a path with a slash in it;
every other target names a part of the proposal. What is found is told with the issue, and moves nothing.
"""

import re
from enum import StrEnum
from typing import Final

from counterpoint.core.checks import EvidenceStatus, PathCheck
from counterpoint.protocols.propose.forms import JudgeCandidate
from counterpoint.protocols.propose.ledger import Tracked
from counterpoint.protocols.propose.state import ProposeState

__all__ = ["EvidenceScope", "requests_of", "scope_of", "standing_of"]

_PLACE: Final = re.compile(r"(?P<path>[^\s:]+):(?P<line>[0-9]{1,7})|(?P<alone>[^\s:]*[^\s:/]/[^\s:]+)")


class EvidenceScope(StrEnum):
    """How much of what the seats claim code has looked at (SPEC A-55)."""

    NOT_CHECKED = "not_checked"
    PARTIALLY_CHECKED = "partially_checked"
    CHECKED_IN_SCOPE = "checked_in_scope"


def _request(target: str, tree: str) -> PathCheck | None:
    found = _PLACE.fullmatch(target.strip())
    if not tree or found is None:
        return None
    path = (found["path"] or found["alone"]).removeprefix("./")
    is_inside = not path.startswith("/") and ".." not in path.split("/")
    return (
        PathCheck(path=path, line=int(found["line"]) if found["line"] else None, candidate=tree)
        if is_inside
        else None
    )


def requests_of(review: JudgeCandidate, tree: str) -> tuple[PathCheck, ...]:
    """Return what code must look up before the review is admitted, each once."""
    found = (_request(new.target, tree) for new in review.new_issues)
    return tuple(dict.fromkeys(request for request in found if request is not None))


def standing_of(state: ProposeState, finding: Tracked) -> EvidenceStatus:
    """Return what code found at the place that a finding names."""
    request = _request(finding.target, state.case.docket.tree)
    found = (evidence.status for evidence in state.evidence if evidence.request == request)
    return next(found, EvidenceStatus.NOT_CHECKED)


def scope_of(state: ProposeState) -> EvidenceScope:
    """Return how many of the findings name a place that code has looked at: none, some, or all of them."""
    looked = [standing_of(state, finding) is not EvidenceStatus.NOT_CHECKED for finding in state.findings]
    if not any(looked):
        return EvidenceScope.NOT_CHECKED
    return EvidenceScope.CHECKED_IN_SCOPE if all(looked) else EvidenceScope.PARTIALLY_CHECKED
