"""What a revealed reply becomes: labels are resolved to the seats that its reader knew by them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from counterpoint.core.checks import LookUp
from counterpoint.core.shuffling import labels_of
from counterpoint.core.values import Turn
from counterpoint.protocols.answer.counting import is_same
from counterpoint.protocols.answer.forms import CompareAnswers, ConfirmCandidate, GiveAnswer, NamedObjection
from counterpoint.protocols.answer.lookups import request_of, standing
from counterpoint.protocols.answer.state import AnswerState, Concession, Confirmation, Objection, Position

__all__ = [
    "checks_of_comparison",
    "checks_of_confirmation",
    "labels",
    "take_answer",
    "take_comparison",
    "take_confirmation",
]


def labels(state: AnswerState, reader: str) -> Mapping[str, str]:
    """Return the other peers by the labels under which one of them knows them."""
    return labels_of(state.case.seed, reader, state.peers)


def checks_of_comparison(state: AnswerState, _turn: Turn, said: CompareAnswers) -> tuple[LookUp, ...]:
    """Return what code looks up: what objections rest on, and what made a mind change."""
    return _requests(state, (*((each.where, each.quote) for each in said.objections), (said.where, said.quote)))


def checks_of_confirmation(state: AnswerState, _turn: Turn, said: ConfirmCandidate) -> tuple[LookUp, ...]:
    """Return what code looks up: what objections rest on."""
    return _requests(state, ((each.where, each.quote) for each in said.objections))


def _requests(state: AnswerState, named: Iterable[tuple[str, str]]) -> tuple[LookUp, ...]:
    found = (request_of(state.docket, where, quote) for where, quote in named)
    return tuple(dict.fromkeys(request for request in found if request is not None))


def take_answer(state: AnswerState, turn: Turn, said: GiveAnswer) -> AnswerState:
    """Return the state with an answer of round one in it."""
    return _held(state, _position(turn, said))


def take_comparison(state: AnswerState, turn: Turn, said: CompareAnswers) -> AnswerState:
    """Return the state with an answer of a later round in it."""
    known, before = labels(state, turn.seat), state.position_of(turn.seat, turn.round - 1)
    assert before is not None, f"{turn.seat} compares, and held nothing in round {turn.round - 1}"
    is_kept = is_same(said.answer, before.answer) and not said.changedMind.strip()
    position = replace(
        _position(turn, said),
        agrees_with=tuple(known[label] for label in said.agreesWith),
        objections=tuple(_objection(state, turn, each, known[each.peer]) for each in said.objections),
        concession=None if is_kept else _concession(state, said),
    )
    return _held(state, position)


def take_confirmation(state: AnswerState, turn: Turn, said: ConfirmCandidate) -> AnswerState:
    """Return the state with what a peer says of the candidate in it."""
    confirmation = Confirmation(
        seat=turn.seat,
        round=turn.round,
        version=state.offered[-1].revision,
        approved=said.approved,
        reasoning=said.reasoning,
        objections=tuple(_objection(state, turn, each, "") for each in said.objections),
    )
    return replace(state, confirmations=(*state.confirmations, confirmation))


def _held(state: AnswerState, position: Position) -> AnswerState:
    return replace(state, positions=(*state.positions, position))


def _position(turn: Turn, said: GiveAnswer | CompareAnswers) -> Position:
    return Position(
        seat=turn.seat,
        round=turn.round,
        answer=said.answer,
        key_points=said.keyPoints,
        reasoning=said.reasoning,
    )


def _objection(state: AnswerState, turn: Turn, said: NamedObjection, target: str) -> Objection:
    status, detail = standing(state, said.where, said.quote)
    return Objection(
        seat=turn.seat,
        target=target,
        point=said.point,
        reason=said.reason,
        where=said.where,
        quote=said.quote,
        status=status,
        detail=detail,
    )


def _concession(state: AnswerState, said: CompareAnswers) -> Concession:
    status, detail = standing(state, said.where, said.quote)
    return Concession(why=said.changedMind, where=said.where, quote=said.quote, status=status, detail=detail)
