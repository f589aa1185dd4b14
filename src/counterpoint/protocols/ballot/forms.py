"""What each seat answers, as one JSON object: a vote, a classification, a challenge, a new text."""

from dataclasses import dataclass
from enum import StrEnum

from counterpoint.core.forms import listed, text, whole
from counterpoint.core.narrowing import Shown, Use
from counterpoint.protocols.ballot.text import MAX_TEXT

__all__ = [
    "AnsweredObstacle",
    "CastVote",
    "ChallengeWeights",
    "GivenReservation",
    "GivenWeight",
    "Needs",
    "RaisedChallenge",
    "ReviseText",
    "Vote",
    "WeighReservations",
    "Weight",
]

_MAX_RESERVATIONS = 30


class Vote(StrEnum):
    """The three words of SPEC B-04."""

    APPROVED = "Approved"
    RESERVED = "Approved with reservations"
    REJECTED = "Rejected"


class Needs(StrEnum):
    """What a reservation asks for; all but nothing makes it blocking, whoever classifies it (SPEC B-09)."""

    NOTHING = "nothing"
    VERIFICATION = "verification"
    SOURCE_CHECK = "source_check"
    SEVERE_RISK = "severe_risk"


class Weight(StrEnum):
    COSMETIC = "cosmetic"
    BLOCKING = "blocking"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenReservation:
    point: str = text(blank=False, about="what should be better")
    needs: Needs


@dataclass(frozen=True, slots=True, kw_only=True)
class CastVote:
    """A voter's vote on one version."""

    reason: str = text(blank=False, about="why you vote so; first think, then vote")
    reservations: tuple[GivenReservation, ...] = listed(most=_MAX_RESERVATIONS)
    version: int = whole(shown=Shown(use=Use.REPEAT, at="version"))
    candidate: str = text(
        pattern="[0-9a-f]{64}",
        most=64,
        about="the candidate of the payload, which you judged",
        shown=Shown(use=Use.REPEAT, at="candidate"),
    )
    vote: Vote


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenWeight:
    reservation: str = text(blank=False, most=100, shown=Shown(use=Use.CHOOSE, at="reservations", key="id"))
    reason: str = text(blank=False)
    weight: Weight


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighReservations:
    """The orchestrator's classification of every reservation."""

    classifications: tuple[GivenWeight, ...] = listed(
        most=1000, shown=Shown(use=Use.EACH, at="reservations", key="id")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedChallenge:
    reservation: str = text(blank=False, most=100, shown=Shown(use=Use.CHOOSE, at="classified", key="id"))
    reason: str = text(blank=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeWeights:
    """What a voter does not let pass as cosmetic; nothing is an answer too."""

    challenges: tuple[RaisedChallenge, ...] = listed(most=1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredObstacle:
    objection: str = text(blank=False, most=100, shown=Shown(use=Use.CHOOSE, at="objections", key="id"))
    answer: str = text(blank=False, about="what you changed for it, or why not")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviseText:
    """The orchestrator's next version."""

    answers: tuple[AnsweredObstacle, ...] = listed(most=1000, shown=Shown(use=Use.EACH, at="objections", key="id"))
    text: str = text(
        blank=False,
        most=MAX_TEXT,
        about="the whole new text in Markdown, without title or debate",
        shown=Shown(use=Use.BEGIN, at="text"),
    )
