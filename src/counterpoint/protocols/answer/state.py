"""What a case of `answer` has come to: what each peer holds in each round, and who confirmed which text."""

from dataclasses import dataclass

from counterpoint.core.canonical import digest
from counterpoint.core.case import CaseState
from counterpoint.core.checks import EvidenceStatus

__all__ = ["AnswerState", "Concession", "Confirmation", "Objection", "Position", "digest_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """What a peer holds against an answer or against the candidate."""

    seat: str
    target: str
    """The seat whose answer it is about; empty where it is about the candidate."""
    point: str
    reason: str
    where: str
    quote: str
    status: EvidenceStatus
    """What code found at the place that is named."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Concession:
    """A change of position: what made it change, and whether code saw that."""

    why: str
    where: str
    quote: str
    status: EvidenceStatus
    detail: str

    @property
    def is_evidenced(self) -> bool:
        """Whether a flaw is named, and what shows it stands where it is said to stand."""
        return bool(self.why.strip()) and self.status is EvidenceStatus.VERIFIED


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """What one peer holds in one round."""

    seat: str
    round: int
    answer: str
    key_points: tuple[str, ...]
    reasoning: str
    agrees_with: tuple[str, ...] = ()
    """The seats whose answers of the round before it says may stand."""
    objections: tuple[Objection, ...] = ()
    concession: Concession | None = None
    """None where the answer is as it was."""

    def agrees(self, seat: str) -> bool:
        """Return whether it agrees with a seat in a way that counts: without an objection (SPEC D-26)."""
        return seat in self.agrees_with and all(each.target != seat for each in self.objections)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What one peer says of the candidate."""

    seat: str
    round: int
    version: int
    approved: bool
    reasoning: str
    objections: tuple[Objection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerState(CaseState):
    """The fold of a case's entries."""

    positions: tuple[Position, ...] = ()
    """As they were revealed."""
    confirmations: tuple[Confirmation, ...] = ()

    @property
    def peers(self) -> tuple[str, ...]:
        return tuple(seat.name for seat in self.case.roster)

    @property
    def candidate_text(self) -> str:
        """The text of the newest candidate, "" where none was offered: it is some peer's answer."""
        wanted = self.docket.candidate
        return next((p.answer for p in self.positions if digest_of(p.answer) == wanted), "")

    def held_in(self, number: int) -> tuple[Position, ...]:
        """Return what was held in a round, in the roster's order."""
        return tuple(p for seat in self.peers for p in self.positions if (p.seat, p.round) == (seat, number))

    def position_of(self, seat: str, number: int) -> Position | None:
        return next((p for p in self.positions if (p.seat, p.round) == (seat, number)), None)

    def said_of(self, version: int) -> tuple[Confirmation, ...]:
        """Return what was said of one version of the candidate."""
        return tuple(c for c in self.confirmations if c.version == version)


def digest_of(text: str) -> str:
    """Return the digest by which a text is confirmed."""
    return digest(text.encode())
