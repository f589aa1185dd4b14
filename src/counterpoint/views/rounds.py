"""The rounds of a case as its record has them: who read what, what was answered, what was offered in place of it.

Values for the views, from the entries alone. A round is a reading and the author's answer to it; the reading after
the last answer ends the case.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.entries import CandidateKept, CandidateOffered, DispositionGiven, VerdictGiven
from counterpoint.core.findings import Disposition, Finding, FindingStatus, Ruling
from counterpoint.drive.cases import LoadedCase

__all__ = [
    "DISPOSITIONS",
    "Offered",
    "Round",
    "Votes",
    "answers_in",
    "author_of",
    "final_votes",
    "is_unevidenced",
    "opening_votes",
    "readings_in",
    "rounds_of",
]

DISPOSITIONS: Final[Mapping[Disposition, str]] = MappingProxyType(
    {
        Disposition.FIX: "fixed",
        Disposition.PARTIAL: "partial",
        Disposition.REBUT: "disputed",
        Disposition.ACCEPT_RISK: "accepted risk",
        Disposition.CLARIFY: "clarified",
    }
)
"""What people and scripts read of each (SPEC D-13)."""
_UNSAID: Final = "no reason given"
"""What the rules record where a raiser ruled and gave no reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A candidate that the author offered, and when."""

    entry: CandidateOffered
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round, as far as it went."""

    number: int
    candidate: str
    """What was read in it."""
    verdicts: tuple[VerdictGiven, ...]
    stood: tuple[str, ...]
    """Reviewers that were not asked: they had approved exactly this candidate."""
    dispositions: tuple[DispositionGiven, ...]
    offered: Offered | None
    is_answered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """A count of verdicts."""

    approvals: int
    verdicts: int


def author_of(state: CaseState) -> Seat | None:
    """Return the seat that answers findings, or None in a case without one."""
    return next((seat for seat in state.case.roster if seat.kind is SeatKind.AUTHOR), None)


def rounds_of(case: LoadedCase) -> tuple[Round, ...]:
    """Return the rounds, the oldest first; the newest may have nothing in it yet."""
    offers = {
        entry.round: Offered(entry=entry, at=block.stamp)
        for block, entry in zip(case.blocks, case.entries, strict=True)
        if isinstance(entry, CandidateOffered)
    }
    kept = {entry.round for entry in case.entries if isinstance(entry, CandidateKept)}
    given: dict[int, list[DispositionGiven]] = defaultdict(list)
    for entry in case.entries:
        if isinstance(entry, DispositionGiven):
            given[entry.round].append(entry)
    votes: dict[int, list[VerdictGiven]] = defaultdict(list)
    for verdict in case.state.votes:
        votes[verdict.round].append(verdict)
    candidate, approved = case.state.case.docket.candidate, dict[str, str]()
    rounds = []
    for number in range(1, case.state.round + 1):
        verdicts = tuple(votes[number])
        found = Round(
            number=number,
            candidate=candidate,
            verdicts=verdicts,
            stood=tuple(seat for seat, judged in approved.items() if judged == candidate),
            dispositions=tuple(given[number]),
            offered=offers.get(number),
            is_answered=number in offers or number in kept,
        )
        rounds.append(found)
        approved |= {verdict.seat: verdict.candidate if verdict.approved else "" for verdict in verdicts}
        candidate = found.offered.entry.candidate if found.offered else candidate
    return tuple(rounds)


def readings_in(state: CaseState) -> int:
    """Return how often a verdict was given by somebody."""
    return len({verdict.round for verdict in state.votes})


def answers_in(state: CaseState) -> int:
    """Return how often the author answered: each answer begins a round."""
    return state.round - 1


def opening_votes(state: CaseState) -> Votes:
    """Count each reviewer's first verdict, which it gave blind (DESIGN 7.1)."""
    return _counted(state.opening_votes())


def final_votes(state: CaseState) -> Votes:
    """Count each reviewer's newest verdict that is on the newest candidate; one on another counts for nothing."""
    current = state.docket.candidate
    return _counted(tuple(verdict for verdict in state.verdicts.values() if verdict.candidate == current))


def _counted(verdicts: tuple[VerdictGiven, ...]) -> Votes:
    return Votes(approvals=sum(verdict.approved for verdict in verdicts), verdicts=len(verdicts))


def is_unevidenced(finding: Finding) -> bool:
    """Return whether the raiser gave way to an answer that was no fix, and did not say why (DESIGN 7.3)."""
    if finding.status is not FindingStatus.SETTLED:
        return False
    settling = list(takewhile(lambda ruled: ruled.ruling is Ruling.SETTLED, reversed(finding.rulings)))[-1]
    before = [answer for answer in finding.answers if answer.round < settling.round]
    return bool(before) and before[-1].disposition is not Disposition.FIX and settling.reason == _UNSAID
