"""Counting answers: which peers gave the same one, and whether more than half of all peers did.

Two texts are the same answer if they differ in case, white space, quotes around them and the point at the end alone.
In a vote with options, a text that is none of them counts for none: what cannot be read must not count as right.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.shuffling import shuffled
from counterpoint.protocols.answer.state import AnswerState, Position

__all__ = ["Tally", "Votes", "count", "is_same", "normalised"]

_QUOTES: Final = " \"'`*\u2018\u2019\u201c\u201d"
_ENDS: Final = f"{_QUOTES}.,;:"
"""A point or a sign before a number is part of it."""
_TIES: Final = "ties"


def normalised(text: str) -> str:
    """Return what two texts that are the same answer have in common.

    Invisible characters are written out in every reply, and so they are in an option that it is held against.
    """
    return " ".join(visible(text).casefold().split()).lstrip(_QUOTES).rstrip(_ENDS)


def is_same(one: str, other: str) -> bool:
    """Return whether two texts are the same answer."""
    return one == other or normalised(one) == normalised(other) != ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """One answer, and who gave it."""

    answer: str
    """The option, or the text of the first who gave it."""
    seats: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The count of one round's answers."""

    votes: tuple[Votes, ...]
    """The most given first; equals in an order drawn by the case's seed."""
    uncounted: tuple[str, ...]
    """Peers whose answer is none of the options, says nothing, or never came."""
    peers: int

    @property
    def leaders(self) -> tuple[Votes, ...]:
        """The most given answers: more than one is a tie."""
        return tuple(votes for votes in self.votes if len(votes.seats) == len(self.votes[0].seats))

    @property
    def majority(self) -> Votes | None:
        """What more than half of all peers answered, those that do not count among them."""
        return next((votes for votes in self.votes if 2 * len(votes.seats) > self.peers), None)

    @property
    def is_unanimous(self) -> bool:
        return len(self.votes) == 1 and not self.uncounted


def count(state: AnswerState, held: Sequence[Position]) -> Tally:
    """Return the count of these answers, one of each peer at most."""
    options = {normalised(option): option for option in state.case.terms.options}
    given: defaultdict[str, list[Position]] = defaultdict(list)
    for position in held:
        key = normalised(position.answer)
        if key and (not options or key in options):
            given[key].append(position)
    order = shuffled(state.case.seed, _TIES, given)
    votes = [
        Votes(answer=options.get(key, given[key][0].answer), seats=tuple(p.seat for p in given[key])) for key in order
    ]
    counted = {seat for each in votes for seat in each.seats}
    return Tally(
        votes=tuple(sorted(votes, key=lambda each: -len(each.seats))),
        uncounted=tuple(seat for seat in state.peers if seat not in counted),
        peers=len(state.peers),
    )
