"""`result.json` of a ballot, and the snapshots of its rounds, from its record alone."""

from collections.abc import Mapping
from typing import Any, Final

from counterpoint.core.codec import encode_value
from counterpoint.core.entries import SubmissionSealed
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.ballot import BALLOT, BallotState, Phase, candidate_of, objections_of, reservations_of
from counterpoint.views.every_result import every_result, every_seat

__all__ = ["ballot_state", "result_of", "sealed_at", "snapshot_of"]

VERSION: Final = 1


def ballot_state(case: LoadedCase) -> BallotState:
    """Return the state of a ballot's case."""
    assert isinstance(case.state, BallotState), "a ballot's case has a ballot's state"
    return case.state


def sealed_at(case: LoadedCase) -> Mapping[str, str]:
    """Return when each accepted answer was sealed, by its turn's id."""
    return {
        entry.turn.id: block.stamp
        for block, entry in zip(case.blocks, case.entries, strict=True)
        if isinstance(entry, SubmissionSealed)
    }


def snapshot_of(case: LoadedCase, at: int) -> dict[str, Any]:
    """Return a round's votes with the text that they are on and its SHA-256 (SPEC B-11)."""
    state, stamps, opened = ballot_state(case), sealed_at(case), case.state.case
    seats = {seat.name: seat for seat in opened.roster}
    text = state.text_of(at)
    return {
        "v": VERSION,
        "case": case.name,
        "round": at,
        "max_rounds": opened.limits.max_rounds,
        "version": at,
        "candidate": candidate_of(text),
        "text": text,
        "orchestrator": state.orchestrator,
        "roster": list(state.voters),
        "deadline": opened.limits.deadline,
        "votes": [
            {
                "seat": cast.seat,
                "party": seats[cast.seat].party,
                "at": next(
                    at_ for turn, at_ in stamps.items() if turn.startswith(f"{Phase.VOTING}.{at}.{cast.seat}.")
                ),
                "vote": cast.vote.value,
                "version": cast.version,
                "candidate": cast.candidate,
                "reason": cast.reason,
            }
            for cast in state.cast_in(at)
        ],
        "missing": list(state.missing_in(at)),
        "reservations": _reservations(state, at),
    }


def _reservations(state: BallotState, at: int) -> list[dict[str, Any]]:
    weighed = {each.reservation: each for each in state.weighed if each.round == at}
    challenges = [
        (heard.seat, reservation, reason)
        for heard in state.heard
        if heard.round == at
        for reservation, reason in heard.challenges
    ]
    return [
        {
            **encode_value(each),
            "weight": weighed[each.id].weight.value if each.id in weighed else None,
            "weighed_because": weighed[each.id].reason if each.id in weighed else None,
            "challenges": [{"seat": s, "reason": reason} for s, about, reason in challenges if about == each.id],
        }
        for each in reservations_of(state, at)
    ]


def result_of(case: LoadedCase) -> dict[str, Any]:
    """Return what `result.json` says, as a JSON object."""
    state = ballot_state(case)
    return {
        **every_result(case, exit_code=BALLOT.exit_code(case.outcome)),
        "v": VERSION,
        "title": state.docket.question,
        "version": state.version,
        "text": state.text,
        "citations": [encode_value(evidence) for evidence in state.evidence],
        "rounds": [
            {key: value for key, value in snapshot_of(case, at).items() if key not in {"v", "case", "deadline"}}
            for at in range(1, state.version + 1)
        ],
        "objections": [encode_value(each) for each in objections_of(state, state.version)],
        "answers": [
            {"version": each.version, "objection": to, "answer": answer}
            for each in state.revisions
            for to, answer in each.answers
        ],
        "seats": [every_seat(state, status) for status in case.outcome.seats],
    }
