"""What a case of `answer` came to, for its views: the text that stands, the opening vote, and what changed since."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from counterpoint.core.outcome import Outcome
from counterpoint.core.values import Decision
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.answer import AnswerState, Position, Tally, count, is_same

__all__ = ["Gain", "changes_of", "final_text", "gain_of", "slug_of", "state_of"]

_MAX_WORDS: Final = 8
_MAX_SLUG: Final = 60
_FALLBACK: Final = "answer"


def state_of(case: LoadedCase) -> AnswerState:
    """Return the state of a case of `answer`."""
    assert isinstance(case.state, AnswerState), "a case of answer has its state"
    return case.state


def final_text(state: AnswerState, outcome: Outcome) -> str | None:
    """Return the text that the case came to: what all confirmed, or what a majority chose. None where neither did."""
    if outcome.decision is not Decision.APPROVED:
        return None
    if not state.case.terms.vote_only:
        return state.candidate_text
    won = count(state, state.held_in(1)).majority
    return won.answer if won else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What debate changed of the opening vote (DESIGN 7.1)."""

    opening: Tally
    final: str | None
    behind: tuple[str, ...]
    """The peers behind the final text; where there is none, those with the most given answer of the last round."""

    @property
    def opened_with(self) -> int:
        """How many peers gave the most given opening answer."""
        return len(self.opening.votes[0].seats) if self.opening.votes else 0

    @property
    def more(self) -> int:
        """How many peers more are together now than at the opening."""
        return len(self.behind) - self.opened_with

    @property
    def differs(self) -> bool | None:
        """Whether the final text is another than what the majority opened with; None where one of them is missing."""
        won = self.opening.majority
        return None if won is None or self.final is None else not is_same(won.answer, self.final)


def gain_of(state: AnswerState, outcome: Outcome) -> Gain:
    """Return what the rounds after the first changed."""
    final = final_text(state, outcome)
    last = next((state.held_in(n) for n in range(state.round, 0, -1) if state.held_in(n)), ())
    newest = count(state, last)
    together = newest.votes[0].seats if newest.votes else ()
    approved = tuple(seat.seat for seat in outcome.seats if seat.approved)
    return Gain(
        opening=count(state, state.held_in(1)),
        final=final,
        behind=together if final is None else approved,
    )


def changes_of(state: AnswerState) -> tuple[Position, ...]:
    """Return the positions in which a peer gave way, in the order of the rounds."""
    return tuple(p for n in range(1, state.round + 1) for p in state.held_in(n) if p.concession is not None)


def slug_of(question: str) -> str:
    """Return the question's first words for a file's name (SPEC D-30)."""
    plain = unicodedata.normalize("NFKD", question).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:_MAX_WORDS]
    slug = "-".join(words)[: _MAX_SLUG + 1]
    if len(slug) > _MAX_SLUG:
        slug = slug.rpartition("-")[0] or slug[:_MAX_SLUG]
    return slug or _FALLBACK
