"""A reviewer's own findings: as the ledger has them, and what a verdict would leave open of them."""

from collections.abc import Mapping

from counterpoint.core.case import CaseState
from counterpoint.core.findings import Finding, FindingStatus, finding_id
from counterpoint.protocols.review.codec import GiveVerdict
from counterpoint.protocols.review.lookups import NO_PAST, Past, located
from counterpoint.protocols.review.table import reviewers_of

__all__ = ["changed_at", "first_reading", "ledger_id", "left_open", "own_findings", "past_of"]


def ledger_id(state: CaseState, seat: str, own_id: str) -> str:
    """Return the id in the ledger of what `seat` calls `own_id`."""
    return finding_id(seat, own_id, only_reviewer=len(reviewers_of(state.case)) == 1)


def own_findings(state: CaseState, seat: str) -> Mapping[str, Finding]:
    """Return what a seat has raised, by its own ids, oldest first."""
    prefix = ledger_id(state, seat, "")
    return {finding.id.removeprefix(prefix): finding for finding in state.ledger.raised_by(seat)}


def first_reading(state: CaseState, seat: str) -> bool:
    """Return whether the seat has not judged any candidate yet."""
    return seat not in state.judged


def past_of(state: CaseState, seat: str) -> Past:
    """Return what the seat has judged before its newest answer, sealed or not, and what was edited since."""
    verdict = state.verdicts.get(seat)
    if verdict is None:
        return NO_PAST
    return Past(candidate=verdict.candidate, edited=state.changed_since(verdict.candidate))


def changed_at(state: CaseState, seat: str, location: str) -> bool:
    """Return whether a location names a path that was edited since the seat judged last."""
    changed = state.changed_since(state.judged[seat])
    place = located(location, changed)
    return place is not None and place.path in changed


def left_open(state: CaseState, seat: str, verdict: GiveVerdict) -> tuple[str, ...]:
    """Return the own ids of what blocks once the verdict is in: what it leaves out stays as it was."""
    block_on = state.case.terms.block_on
    blocks = {
        own_id: f.is_open for own_id, f in own_findings(state, seat).items() if f.severity.is_at_least(block_on)
    }
    for finding in verdict.findings:
        if finding.severity.is_at_least(block_on):
            blocks[finding.own_id] = finding.status is FindingStatus.OPEN
    return tuple(own_id for own_id, is_open in blocks.items() if is_open)
