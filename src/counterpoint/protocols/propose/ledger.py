"""The issue ledger: what critics hold against the proposal, and what became of it (SPEC A-08 to A-21).

Only its critic moves a finding, and only after the proposer answered it. What nobody mentions stays as it is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from counterpoint.protocols.propose.forms import Action, GivenAnswer, Judged, NewFinding, Severity, Standing

__all__ = ["Answered", "Moved", "Tracked", "answered", "judged", "ledger_id", "raised"]

_UNSETTLED = frozenset({Standing.OPEN, Standing.DISPUTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The proposer's answer to a finding, in one version."""

    round: int
    version: int
    answer: GivenAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One move of a finding; the first is out of nothing."""

    round: int
    before: Standing | None
    after: Standing
    rationale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """One finding."""

    id: str
    own_id: str
    """As its critic calls it."""
    seat: str
    severity: Severity
    title: str
    description: str
    target: str
    resolution_criterion: str
    raised_round: int
    version: int
    """Which version it was raised against."""
    last_review_round: int
    rationale: str = ""
    """Why it stands where it stands, in its critic's newest words."""
    answers: tuple[Answered, ...] = ()
    moves: tuple[Moved, ...]

    @property
    def standing(self) -> Standing:
        return self.moves[-1].after

    @property
    def is_settled(self) -> bool:
        """Whether it does not stand in the way of agreement: an accepted risk does, where it is heavy."""
        is_risk = self.standing is Standing.ACCEPTED_RISK
        return self.standing not in _UNSETTLED and not (is_risk and self.severity.is_heavy)

    @property
    def is_resolved(self) -> bool:
        return self.standing is Standing.RESOLVED

    def answer_in(self, version: int) -> Action | None:
        """Return what the proposer answered in that version."""
        found = (given.answer.action for given in self.answers if given.version == version)
        return next(found, None)

    def at(self, round_: int) -> Mapping[str, Any] | None:
        """Return what counts of it as it stood at the end of a round; None before it was raised."""
        moves = [move for move in self.moves if move.round <= round_]
        if not moves:
            return None
        return {
            "id": self.id,
            "severity": self.severity.value,
            "title": self.title,
            "description": self.description,
            "target": self.target,
            "resolution_criterion": self.resolution_criterion,
            "status": moves[-1].after.value,
        }


def ledger_id(seat: str, own_id: str, *, only_critic: bool) -> str:
    """Return the ledger's id of what `seat` calls `own_id`.

    Seat names have neither capitals nor underscores: so one id names one seat and one id of its own.
    """
    if only_critic:
        return own_id
    return f"{seat}-{own_id}" if own_id[0].isupper() else f"{seat}-_{own_id}"


def raised(new: NewFinding, *, seat: str, round_: int, version: int, only_critic: bool) -> Tracked:
    """Return what a critic has just named."""
    return Tracked(
        id=ledger_id(seat, new.id, only_critic=only_critic),
        own_id=new.id,
        seat=seat,
        severity=new.severity,
        title=new.title,
        description=new.description,
        target=new.target,
        resolution_criterion=new.resolution_criterion,
        raised_round=round_,
        version=version,
        last_review_round=round_,
        moves=(Moved(round=round_, before=None, after=Standing.OPEN, rationale=new.description),),
    )


def judged(finding: Tracked, ruling: Judged, *, round_: int) -> Tracked:
    """Return the finding with its critic's newest ruling."""
    moves = finding.moves
    if ruling.status is not finding.standing:
        moves = (
            *moves,
            Moved(round=round_, before=finding.standing, after=ruling.status, rationale=ruling.rationale),
        )
    return replace(finding, moves=moves, last_review_round=round_, rationale=ruling.rationale)


def answered(
    findings: Iterable[Tracked], answers: Iterable[GivenAnswer], *, round_: int, version: int
) -> tuple[Tracked, ...]:
    """Return the findings with the proposer's answers to them."""
    by_id = {answer.issue_id: answer for answer in answers}
    return tuple(
        replace(f, answers=(*f.answers, Answered(round=round_, version=version, answer=by_id[f.id])))
        if f.id in by_id
        else f
        for f in findings
    )
