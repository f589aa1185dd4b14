"""`result.json` of `answer`, from its record alone."""

from typing import Any, Final

from counterpoint.core.codec import encode_value
from counterpoint.core.entries import NoteAdded
from counterpoint.core.outcome import SeatStatus
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.answer import ANSWER, AnswerState, Concession, Position, Tally
from counterpoint.views.answer_facts import Gain, changes_of, gain_of, state_of

__all__ = ["VERSION", "result_of"]

VERSION: Final = 1


def result_of(case: LoadedCase) -> dict[str, Any]:
    """Return what `result.json` says, as a JSON object."""
    state, outcome, head = state_of(case), case.outcome, case.blocks[-1]
    opened, usage, gain = state.case, outcome.spent.usage, gain_of(state_of(case), case.outcome)
    return {
        "v": VERSION,
        "case": case.name,
        "protocol": opened.protocol,
        "rules_version": opened.rules_version,
        "opened_at": case.blocks[0].stamp,
        "closed_at": head.stamp if state.closed else None,
        "docket": encode_value(opened.docket),
        "terms": encode_value(opened.terms),
        "question": opened.docket.question,
        "answer": gain.final,
        "candidate": state.docket.candidate,
        "decision": outcome.decision.value,
        "stop_reason": outcome.stop_reason.value if outcome.stop_reason else None,
        "exit_code": ANSWER.exit_code(outcome),
        "reasons": list(outcome.reasons),
        "evidence": outcome.evidence.value,
        "openings": [_opening(state, position) for position in state.held_in(1)],
        "debate": _debate(gain),
        "changes": [_change(position) for position in changes_of(state)],
        "rounds": [
            {"round": number, "positions": [_position(position) for position in state.held_in(number)]}
            for number in range(1, state.round + 1)
        ],
        "candidates": [_candidate(state, offered.revision) for offered in state.offered],
        "seats": [_seat(state, status) for status in outcome.seats],
        "failed_attempts": [{**encode_value(failure), "turn": failure.turn.id} for failure in state.failures],
        "limits": encode_value(opened.limits),
        "usage": {
            "calls": outcome.spent.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "known": usage.known,
        },
        "consents": [encode_value(consent) for consent in state.consents],
        "notes": [
            {"at": block.stamp, "by": entry.by, "text": entry.text}
            for block, entry in zip(case.blocks, case.entries, strict=True)
            if isinstance(entry, NoteAdded)
        ],
        "record": {"n": head.n, "digest": head.digest},
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


def _seat(state: AnswerState, status: SeatStatus) -> dict[str, Any]:
    seat, sealed = state.case.seat(status.seat), state.last_seal(status.seat)
    return {
        **encode_value(seat),
        "end": status.end.value,
        "approved": status.approved,
        "attempts": status.attempts,
        "model_requested": sealed.model_requested if sealed else None,
        "model_reported": sealed.model_reported if sealed else None,
    }
