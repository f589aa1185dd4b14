"""Which text all peers stand by, and whether anything still moves. Computed from what they hold, never from prose.

- A peer stands by a text if it holds it, or if it agrees, without an objection, with who held it when it was shown.
- Of several texts that all stand by, the one that most peers hold is the candidate; equals are drawn by the seed.
- Nothing moves where it is the same peers that hold the same answer, agree and object, as in the rounds before.
"""

from typing import Final

from counterpoint.core.shuffling import shuffled
from counterpoint.protocols.answer.counting import is_same
from counterpoint.protocols.answer.state import AnswerState, Position

__all__ = ["agreed", "is_stalled"]

_CANDIDATES: Final = "candidates"
_FIRST_COMPARISON: Final = 2


def agreed(state: AnswerState) -> Position | None:
    """Return the position of this round whose answer every peer stands by, or None."""
    held = {position.seat: position for position in state.held_in(state.round)}
    order = [held[seat] for seat in shuffled(state.case.seed, _CANDIDATES, held)]
    eligible = [found for found in order if all(_stands_by(state, each, found.answer) for each in order)]
    return max(eligible, key=lambda found: _holders(order, found.answer), default=None)


def _holders(held: list[Position], text: str) -> int:
    return sum(is_same(position.answer, text) for position in held)


def _stands_by(state: AnswerState, position: Position, text: str) -> bool:
    if is_same(position.answer, text):
        return True
    shown = (p for p in state.held_in(position.round - 1) if position.agrees(p.seat))
    return any(p.answer == text for p in shown)


def is_stalled(state: AnswerState) -> bool:
    """Return whether nothing has moved for as many rounds as the limits say, one where rounds are not counted."""
    limits = state.case.limits
    still = limits.stall_rounds or (0 if limits.max_rounds else 1)
    first = state.round - still
    if not still or first < _FIRST_COMPARISON:
        return False
    return len({_stance(state, number) for number in range(first, state.round + 1)}) == 1


def _stance(state: AnswerState, number: int) -> frozenset[tuple[str, str, str]]:
    held = state.held_in(number)
    stances: set[tuple[str, str, str]] = set()
    for position in held:
        like = next(p.seat for p in held if is_same(p.answer, position.answer))
        stances.add((position.seat, "holds what is held by", like))
        stances |= {(position.seat, "agrees with", seat) for seat in state.peers if position.agrees(seat)}
        stances |= {(position.seat, "objects to", each.target) for each in position.objections}
    return frozenset(stances)
