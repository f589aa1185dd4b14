"""`result.json` of `answer`, from its record alone."""

from typing import Any, Final

from counterpoint.core.codec import encode_value
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.answer import ANSWER, AnswerState, Concession, Position, Tally
from counterpoint.views.answer_facts import Gain, changes_of, gain_of, state_of
from counterpoint.views.every_result import every_result, every_seat

__all__ = ["VERSION", "result_of"]

VERSION: Final = 1


def result_of(case: LoadedCase) -> dict[str, Any]:
    """Return what `result.json` says, as a JSON object."""
    state = state_of(case)
    gain = gain_of(state, case.outcome)
    return {
        **every_result(case, exit_code=ANSWER.exit_code(case.outcome)),
        "v": VERSION,
        "question": state.docket.question,
        "answer": gain.final,
        "openings": [_opening(state, position) for position in state.held_in(1)],
        "debate": _debate(gain),
        "changes": [_change(position) for position in changes_of(state)],
        "rounds": [
            {"round": number, "positions": [_position(position) for position in state.held_in(number)]}
            for number in range(1, state.round + 1)
        ],
        "candidates": [_candidate(state, offered.revision) for offered in state.offered],
        "seats": [every_seat(state, status) for status in case.outcome.seats],
    }


def _opening(state: AnswerState, position: Position) -> dict[str, Any]:
    seals = (seal for seal in state.seals.values() if (seal.turn.seat, seal.turn.round) == (position.seat, 1))
    return {"seat": position.seat, "answer": position.answer, "digest": next(seals).digest}


def _debate(gain: Gain) -> dict[str, Any]:
    return {
        "opening": _tally(gain.opening),
        "behind": list(gain.behind),
        "gain": gain.more,
        "differs_from_opening_majority": gain.differs,
    }


def _tally(tally: Tally) -> dict[str, Any]:
    won = tally.majority
    return {
        "votes": [encode_value(votes) for votes in tally.votes],
        "uncounted": list(tally.uncounted),
        "peers": tally.peers,
        "majority": won.answer if won else None,
        "is_tie": len(tally.leaders) > 1,
    }


def _concession(change: Concession) -> dict[str, Any]:
    return {**encode_value(change), "is_evidenced": change.is_evidenced}


def _change(position: Position) -> dict[str, Any]:
    assert position.concession is not None, "it is a change"
    return {"seat": position.seat, "round": position.round, **_concession(position.concession)}


def _position(position: Position) -> dict[str, Any]:
    counted = [seat for seat in position.agrees_with if position.agrees(seat)]
    changed = _concession(position.concession) if position.concession else None
    return {**encode_value(position), "concession": changed, "agreements_that_count": counted}


def _candidate(state: AnswerState, version: int) -> dict[str, Any]:
    offered = state.offered[version - 1]
    held = state.position_of(offered.seat, offered.round)
    assert held is not None, "a candidate is somebody's answer"
    said = [encode_value(each) for each in state.said_of(version)]
    return {**encode_value(offered), "text": held.answer, "confirmations": said}
