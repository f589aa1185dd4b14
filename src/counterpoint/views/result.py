"""`result.json`: a case for programs, from its record alone. The same record, the same bytes.

Keys are sorted, and every key is always there. Text stands as the record has it; characters beyond ASCII are JSON
escapes, so that none of them can act on a terminal. The shape is `schema.RESULT_SCHEMA`.
"""

from typing import Any, Final

from counterpoint.core.case import CaseState
from counterpoint.core.checks import CommandCheck, Evidence
from counterpoint.core.codec import encode_value
from counterpoint.core.findings import Finding
from counterpoint.core.outcome import SeatStatus, exit_code
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.every_result import every_result, every_seat
from counterpoint.views.rounds import (
    Offered,
    Round,
    Votes,
    final_votes,
    is_unevidenced,
    opening_votes,
    rounds_of,
)

__all__ = ["VERSION", "command_evidence", "result_of"]

VERSION: Final = 2


def result_of(case: LoadedCase) -> dict[str, Any]:
    """Return what `result.json` says, as a JSON object."""
    state, outcome = case.state, case.outcome
    rounds = rounds_of(case)
    return {
        **every_result(case, exit_code=exit_code(outcome)),
        "v": VERSION,
        "rounds": [_round(found) for found in rounds],
        "offers": [_offer(found.offered) for found in rounds if found.offered],
        "findings": [_finding(finding) for finding in state.ledger],
        "deferred": [finding.id for finding in outcome.deferred_findings],
        "claims": [encode_value(claim) for claim in state.claims],
        "commands": [_command(evidence) for evidence in command_evidence(state)],
        "seats": [_seat(state, status) for status in outcome.seats],
        "quorum": state.case.quorum,
        "openings": [_opening(state, turn_id) for turn_id in state.revealed],
        "debate": _debate(opening_votes(state), final_votes(state)),
        "coverage": encode_value(outcome.coverage),
        "observers_dropped": [dropped.detail for dropped in state.dropped],
    }


def command_evidence(state: CaseState) -> tuple[tuple[CommandCheck, Evidence], ...]:
    """Return what the project's commands returned, in the order in which they were recorded."""
    return tuple((e.request, e) for e in state.evidence if isinstance(e.request, CommandCheck))


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        **encode_value(finding),
        "blocks": finding.blocks,
        "disputed": finding.is_disputed,
        "unevidenced": is_unevidenced(finding),
    }


def _round(found: Round) -> dict[str, Any]:
    return {
        "number": found.number,
        "candidate": found.candidate,
        "verdicts": [encode_value(verdict) for verdict in found.verdicts],
        "stood": list(found.stood),
        "answered": found.is_answered,
        "offered": found.offered.entry.candidate if found.offered else None,
    }


def _offer(offered: Offered) -> dict[str, Any]:
    return {"at": offered.at, **encode_value(offered.entry)}


def _debate(opening: Votes, final: Votes) -> dict[str, Any]:
    gain = final.approvals - opening.approvals
    return {"opening": encode_value(opening), "final": encode_value(final), "gain": gain}


def _command(found: tuple[CommandCheck, Evidence]) -> dict[str, Any]:
    request, evidence = found
    fields = encode_value(evidence)
    del fields["request"]
    return {"argv": list(request.argv), "purpose": request.purpose.value, "candidate": request.candidate, **fields}


def _seat(state: CaseState, status: SeatStatus) -> dict[str, Any]:
    verdict = state.verdicts.get(status.seat)
    return {
        **every_seat(state, status),
        "shown_paths": list(state.shown.get(status.seat, ())),
        "verdict": encode_value(verdict) if verdict else None,
    }


def _opening(state: CaseState, turn_id: str) -> dict[str, Any]:
    turn = state.revealed[turn_id].turn
    return {"turn": turn.id, "seat": turn.seat, "round": turn.round, "digest": state.seals[turn_id].digest}
