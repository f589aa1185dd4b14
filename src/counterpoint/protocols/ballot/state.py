"""What a ballot's state holds beside the shared parts, and what its votes come to. Counted by code, never read.

Every version has its round: round two votes on version two. A vote counts for the version and the bytes that it
names, and for nothing else. Whoever has no vote in a round has voted Rejected (SPEC B-10, B-14).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from counterpoint.core.case import NOBODYS_FAULT, CaseState
from counterpoint.core.entries import AttemptFailed, FailureReason
from counterpoint.core.shuffling import shuffled
from counterpoint.protocols.ballot.forms import Needs, Vote, Weight
from counterpoint.protocols.ballot.table import Phase

__all__ = [
    "BallotState",
    "Cast",
    "Heard",
    "Obstacle",
    "Reservation",
    "Revision",
    "Weighed",
    "failed_vote",
    "is_agreed",
    "objections_of",
    "reservations_of",
    "why_missing",
    "why_not",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    id: str
    """`v1-R2`: it names no seat."""
    seat: str
    point: str
    needs: Needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A vote that was revealed."""

    seat: str
    round: int
    version: int
    candidate: str
    vote: Vote
    reason: str
    points: tuple[tuple[str, Needs], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """One reservation as the orchestrator classified it."""

    round: int
    reservation: str
    weight: Weight
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A voter's word on what was classified as cosmetic: each challenge with its reason, or none."""

    seat: str
    round: int
    challenges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A text of the orchestrator's, with its answer to each objection."""

    version: int
    text: str
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BallotState(CaseState):
    casts: tuple[Cast, ...] = ()
    weighed: tuple[Weighed, ...] = ()
    heard: tuple[Heard, ...] = ()
    revisions: tuple[Revision, ...] = ()

    @property
    def version(self) -> int:
        """The number of the version that is on the table."""
        return len(self.offered) + 1

    def text_of(self, version: int) -> str:
        """Return the text of a version that was written."""
        return self.case.docket.text if version == 1 else self.revisions[version - 2].text

    @property
    def text(self) -> str:
        """The text that is on the table."""
        return self.text_of(self.version)

    @property
    def voters(self) -> tuple[str, ...]:
        """The frozen roster, in its order."""
        return tuple(seat.name for seat in self.case.judges)

    @property
    def orchestrator(self) -> str:
        author = self.case.author
        assert author is not None, "BALLOT-1 asks for an orchestrator"
        return author.name

    def cast_in(self, round_number: int) -> tuple[Cast, ...]:
        """Return the votes of a round, in the roster's order."""
        found = {cast.seat: cast for cast in self.casts if cast.round == round_number}
        return tuple(found[seat] for seat in self.voters if seat in found)

    def missing_in(self, round_number: int) -> tuple[str, ...]:
        """Return the voters without a vote in a round."""
        voted = {cast.seat for cast in self.cast_in(round_number)}
        return tuple(seat for seat in self.voters if seat not in voted)


def reservations_of(state: BallotState, round_number: int) -> tuple[Reservation, ...]:
    """Return the reservations of a round, numbered in an order that tells nobody who raised which."""
    casts = {cast.seat: cast for cast in state.cast_in(round_number)}
    order = shuffled(state.case.seed, f"round {round_number}", casts)
    given = [(seat, point, needs) for seat in order for point, needs in casts[seat].points]
    return tuple(
        Reservation(id=f"v{round_number}-R{number}", seat=seat, point=point, needs=needs)
        for number, (seat, point, needs) in enumerate(given, start=1)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """What stood in the way of a version, as its next one has to answer it."""

    id: str
    seat: str
    says: str
    why: str
    """Sentence by code: why it stands in the way."""


def objections_of(state: BallotState, round_number: int) -> tuple[Obstacle, ...]:
    """Return what was said against a round's version: rejections, and reservations that did not pass."""
    return tuple(_objections(state, round_number))


def _objections(state: BallotState, round_number: int) -> Iterator[Obstacle]:
    casts = {cast.seat: cast for cast in state.cast_in(round_number) if cast.vote is Vote.REJECTED}
    for number, seat in enumerate(shuffled(state.case.seed, f"round {round_number}", casts), start=1):
        yield Obstacle(id=f"v{round_number}-N{number}", seat=seat, says=casts[seat].reason, why="it was rejected")
    blocking = {w.reservation: w for w in state.weighed if w.round == round_number and w.weight is Weight.BLOCKING}
    challenged: dict[str, list[str]] = {}
    for heard in state.heard:
        for reservation, reason in heard.challenges if heard.round == round_number else ():
            challenged.setdefault(reservation, []).append(reason)
    for each in reservations_of(state, round_number):
        why = ""
        if each.needs is not Needs.NOTHING:
            why = f"whoever raised it says that it needs {each.needs}"
        elif each.id in blocking:
            why = f"it was classified as blocking: {blocking[each.id].reason}"
        elif each.id in challenged:
            why = f"it was challenged: {'; '.join(challenged[each.id])}"
        if why:
            yield Obstacle(id=each.id, seat=each.seat, says=each.point, why=why)


def why_not(state: BallotState, at: int) -> tuple[str, ...]:
    """Return, in sentences, what stands between the version of a round and agreement."""
    against = (*_votes_against(state, at), *_weights_against(state, at))
    return against or tuple(_not_passed(state, at))


_UNHEARD: Final = frozenset({FailureReason.UNREACHABLE, FailureReason.TIMEOUT})


def why_missing(state: BallotState, seat: str, at: int) -> str:
    """Return, in a few words, why a seat has no vote in a round that is over."""
    counted = _failed_votes(state, seat, at)
    if len(counted) < state.case.limits.max_asks:
        return "no valid vote came in time"
    return "it gave no answer" if counted[-1].reason in _UNHEARD else "its answer was not accepted"


def failed_vote(state: BallotState, seat: str, at: int) -> str:
    """Return what became of the last answer that a seat gave instead of a vote, or ""."""
    counted = _failed_votes(state, seat, at)
    return counted[-1].detail if counted else ""


def _failed_votes(state: BallotState, seat: str, at: int) -> tuple[AttemptFailed, ...]:
    return tuple(
        failure
        for failure in state.failures
        if (failure.turn.phase, failure.turn.round, failure.turn.seat) == (Phase.VOTING, at, seat)
        and failure.reason not in NOBODYS_FAULT
    )


def _votes_against(state: BallotState, at: int) -> Iterator[str]:
    for seat in state.missing_in(at):
        yield f"{seat} gave no valid vote on v{at} in time, which counts as Rejected"
    for cast in state.cast_in(at):
        if cast.vote is Vote.REJECTED:
            yield f"{cast.seat} rejected v{at}"


def _weights_against(state: BallotState, at: int) -> Iterator[str]:
    weights = _weights(state, at)
    for each in reservations_of(state, at):
        if each.needs is not Needs.NOTHING:
            yield f"{each.id} of {each.seat} needs {each.needs}"
        elif weights.get(each.id) is Weight.BLOCKING:
            yield f"{each.id} of {each.seat} was classified as blocking"


def _weights(state: BallotState, at: int) -> dict[str, Weight]:
    return {weighed.reservation: weighed.weight for weighed in state.weighed if weighed.round == at}


def _not_passed(state: BallotState, at: int) -> Iterator[str]:
    """Yield what is still to be said where all that was said so far lets the text pass."""
    reservations = reservations_of(state, at)
    if not reservations:
        return
    if not _weights(state, at):
        yield f"{', '.join(each.id for each in reservations)} not classified"
        return
    heard = {each.seat: each for each in state.heard if each.round == at}
    for seat in state.voters:
        if seat not in heard:
            yield f"{seat} did not say that the cosmetic reservations may pass"
        else:
            yield from (f"{reservation} was challenged by {seat}" for reservation, _ in heard[seat].challenges)


def is_agreed(state: BallotState) -> bool:
    """Return whether everybody approved the bytes on the table and no reservation stands in the way (SPEC B-14)."""
    return not why_not(state, state.round)
