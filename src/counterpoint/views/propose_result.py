"""`result.json` of a case of `propose`: the keys of SPEC A-37 to A-40, from its record alone.

`report.md` and `report.html` are drawn from the same object, so the three never say different things.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from counterpoint.core.codec import encode_value, entry_type
from counterpoint.core.docket import Docket, Seat, SeatKind
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    Entry,
    FailureReason,
    NoteAdded,
    ObserverDropped,
    RevisionOffered,
    RoundOpened,
    SubmissionSealed,
)
from counterpoint.core.values import Decision
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.propose.ending import NOT_SAID, questions
from counterpoint.protocols.propose.ledger import Tracked
from counterpoint.protocols.propose.lookups import scope_of, standing_of
from counterpoint.protocols.propose.opening import is_anybody_asked, is_blank
from counterpoint.protocols.propose.rules import PROPOSE
from counterpoint.protocols.propose.state import ProposeState, Reviewed, Written, critics_of
from counterpoint.protocols.propose.wire import DECISIONS, Ended, ended, status_of
from counterpoint.views.propose_usage import calls_in, most_calls, usage_of

__all__ = ["SCHEMA_VERSION", "config_source", "result_of", "source_remark", "state_of"]

SCHEMA_VERSION: Final = "1.0"
_PAIRS: Final = {
    "explicit": "--model and --reasoning-effort",
    "session_config": "--session-config",
    "environment": "DEBATE_MODEL and DEBATE_REASONING_EFFORT",
    "saved_profile": "the saved profile",
    "demo": "the demo",
}
_SOURCES: Final = {words: source for source, words in _PAIRS.items()} | {
    "the command line": "explicit",
    "whoever opened the case": "explicit",
    "the environment": "environment",
}
"""What people read, and the word of SPEC A-03, which knows none for agents of the settings: they count as saved."""
_FROM: Final = "the configuration is from "
_UNREVIEWED: Final = "The newest version has not been reviewed; nothing here says that it is sound."
_BLANK: Final = "What is required? The requirement is blank."


def source_remark(source: str) -> str:
    """Return the docket's remark that says where a pair came from, by its word of A-03, or who named the seats."""
    return f"{_FROM}{_PAIRS.get(source, source)}"


def config_source(docket: Docket) -> str | None:
    """Return the word of SPEC A-03; None where nobody can be asked, and there is no configuration."""
    words = _configured_by(docket)
    return None if words is None else _SOURCES.get(words, "saved_profile")


def _configured_by(docket: Docket) -> str | None:
    if not is_anybody_asked(docket):
        return None
    found = (remark.removeprefix(_FROM) for remark in docket.remarks if remark.startswith(_FROM))
    return next(found, "whoever opened the case")


def state_of(case: LoadedCase) -> ProposeState:
    assert isinstance(case.state, ProposeState), "a view of propose shows its cases"
    return case.state


def result_of(case: LoadedCase) -> dict[str, Any]:
    """Return what `result.json` says, as a JSON object."""
    state, outcome = state_of(case), case.outcome
    opened, why, head = state.case, ended(state), case.blocks[-1]
    shown = _shown(state)
    is_demo = config_source(opened.docket) == "demo"
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": case.name,
        "protocol": opened.protocol,
        "rules_version": opened.rules_version,
        "started_at": case.blocks[0].stamp,
        "finished_at": head.stamp if state.closed else None,
        "question": opened.docket.question,
        "context": opened.docket.context,
        "files": opened.docket.tree or None,
        "remarks": [remark for remark in opened.docket.remarks if not remark.startswith(_FROM)],
        "config": _config(state),
        "roles": [_role(seat) for seat in _roster(state)],
        "model_identity": _identity(state),
        "status": status_of(why).value,
        "stop_reason": None if why is None else why.value,
        "stop_detail": state.closed.detail if state.closed else "",
        "decision": DECISIONS[outcome.decision],
        "exit_code": PROPOSE.exit_code(outcome),
        "verification_status": "not_checked",
        "evidence_status": scope_of(state).value,
        "cleanup_status": "not_needed",
        "rounds_completed": _rounds_completed(state),
        "proposal": _written(state, state.written[-1]) if state.written else None,
        "last_reviewed_proposal": _written(state, state.last_reviewed) if state.last_reviewed else None,
        "headline_version": shown.version if shown else None,
        "proposal_history": [_written(state, written) for written in state.written],
        "review_history": [_review(reviewed) for reviewed in state.reviews],
        "independent_risk_scan": next(iter(_scans(state)), None),
        "independent_risk_scans": _scans(state),
        "last_review": _review(state.reviews[-1]) if state.reviews else None,
        "issues": [_issue(state, finding) for finding in state.findings],
        "core_exchanges": [_exchange(state, written) for written in state.written],
        "clarification_questions": _questions(state, why),
        "conditions": list(_unique(_conditions(state, shown))),
        "next_steps": list(_unique(_next_steps(state, shown))),
        "next_action": _next_action(case, why),
        "usage": usage_of(case),
        "calls": calls_in(case),
        "events": [_event(block.stamp, entry) for block, entry in zip(case.blocks, case.entries, strict=True)],
        "errors": [_error(failure) for failure in state.failures],
        "notes": [{"by": note.by, "text": note.text} for note in state.notes],
        "record": {"entries": head.n, "head": head.digest},
        **({"demo": True, "actual_model_calls": 0} if is_demo else {}),
    }


def _shown(state: ProposeState) -> Written | None:
    """Return the proposal that the report is about: the newest that was reviewed, or else the newest (SPEC A-42)."""
    return state.last_reviewed or (state.written[-1] if state.written else None)


def _config(state: ProposeState) -> dict[str, Any]:
    opened, limits = state.case, state.case.limits
    roster = _roster(state)
    models = [seal.model_requested for seal in state.seals.values() if seal.model_requested]
    return {
        "config_source": config_source(opened.docket),
        "configured_by": _configured_by(opened.docket),
        "authenticated": False,
        "provider": _one(seat.agent for seat in roster),
        "destination": _one(seat.destination for seat in roster),
        "model": _one(models),
        "reasoning_effort": _one([_effort(state, seat) for seat in roster]),
        "max_rounds": limits.max_rounds,
        "min_rounds": limits.min_rounds,
        "stall_rounds": limits.stall_rounds,
        "max_output_tokens": limits.max_output_tokens,
        "max_total_tokens": limits.max_tokens,
        "max_calls": most_calls(opened),
        "timeout_seconds": limits.call_timeout_s,
        "deadline": limits.deadline,
    }


def _roster(state: ProposeState) -> tuple[Seat, ...]:
    """Return who sits in it: nobody where nobody can be asked, whoever holds the places."""
    return state.case.roster if is_anybody_asked(state.case.docket) else ()


def _effort(state: ProposeState, seat: Seat) -> str:
    """Return what a seat's agent is asked for: its own where it was given for this case, else the case's."""
    given = json.loads(seat.given) if seat.given else {}
    return str(given.get("effort") or state.case.terms.effort.value)


def _one(values: Iterator[str] | Sequence[str]) -> str | None:
    """Return the one value that all have, or None where they differ or there is none."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _role(seat: Seat) -> dict[str, Any]:
    return {
        "seat": seat.name,
        "role": "proposer" if seat.kind is SeatKind.AUTHOR else "critic",
        "party": seat.party,
        "agent": seat.agent,
        "destination": seat.destination,
    }


def _identity(state: ProposeState) -> dict[str, Any]:
    seals = state.seals.values()
    seen = list(dict.fromkeys(s.model_reported for s in seals if s.model_reported not in NOT_SAID))
    return {
        "requested": _one([seal.model_requested for seal in seals]) or None,
        "returned": seen[0] if len(seen) == 1 else None,
        "models_seen": seen,
        "consistent": len(seen) == 1 if seen else None,
    }


def _rounds_completed(state: ProposeState) -> int:
    critics = set(critics_of(state))
    return sum(state.reviews_of(written.version).keys() >= critics for written in state.written)


# --- what was said


def _written(state: ProposeState, written: Written) -> dict[str, Any]:
    is_reviewed = state.reviews_of(written.version).keys() >= set(critics_of(state))
    offered = [entry.candidate for entry in state.offered if entry.revision == written.version]
    return {
        **encode_value(written.text),
        "version": written.version,
        "round": written.round,
        "reviewed": is_reviewed,
        "digest": offered[0] if offered else None,
    }


def _scans(state: ProposeState) -> list[dict[str, Any]]:
    return [{**encode_value(state.scans[seat]), "critic": seat} for seat in critics_of(state) if seat in state.scans]


def _review(reviewed: Reviewed) -> dict[str, Any]:
    return {**encode_value(reviewed.review), "critic": reviewed.seat, "round": reviewed.round}


def _exchange(state: ProposeState, written: Written) -> dict[str, Any]:
    reviews = state.reviews_of(written.version)
    return {
        "round": written.round,
        "version": written.version,
        "proposer": written.text.public_summary,
        "critics": [
            {"critic": seat, "assessment": review.assessment.value, "public_summary": review.public_summary}
            for seat, review in reviews.items()
        ],
    }


def _issue(state: ProposeState, finding: Tracked) -> dict[str, Any]:
    return {
        "id": finding.id,
        "raised_by": finding.seat,
        "severity": finding.severity.value,
        "title": finding.title,
        "description": finding.description,
        "target": finding.target,
        "resolution_criterion": finding.resolution_criterion,
        "status": finding.standing.value,
        "raised_round": finding.raised_round,
        "proposal_version": finding.version,
        "last_review_round": finding.last_review_round,
        "resolution_rationale": finding.rationale,
        "evidence": standing_of(state, finding).value,
        "responses": [
            {"round": given.round, "proposal_version": given.version, **encode_value(given.answer)}
            for given in finding.answers
        ],
        "history": [
            {
                "round": m.round,
                "from": m.before.value if m.before else "",
                "to": m.after.value,
                "rationale": m.rationale,
            }
            for m in finding.moves
        ],
    }


# --- what follows from it


def _unique(texts: Iterator[str]) -> Iterator[str]:
    return iter(dict.fromkeys(text for text in texts if text.strip()))


def _conditions(state: ProposeState, shown: Written | None) -> Iterator[str]:
    if shown is not None:
        yield from shown.text.conditions
        for review in state.reviews_of(shown.version).values():
            yield from review.conditions
    for finding in state.findings:
        if not finding.is_resolved:
            yield f"{finding.id} [{finding.severity}/{finding.standing}]: {finding.title}"
    if state.written and state.written[-1] is not state.last_reviewed:
        yield _UNREVIEWED


def _next_steps(state: ProposeState, shown: Written | None) -> Iterator[str]:
    if shown is not None:
        yield from shown.text.validation_steps
        for review in state.reviews_of(shown.version).values():
            yield from review.next_steps
    for finding in state.findings:
        if not finding.is_resolved:
            yield f"{finding.id}: {finding.resolution_criterion}"


def _questions(state: ProposeState, why: Ended | None) -> list[str]:
    if why is not Ended.NEEDS_CLARIFICATION:
        return []
    return [_BLANK] if is_blank(state.case.docket) else list(questions(state))


def _next_action(case: LoadedCase, why: Ended | None) -> str:
    if case.state.closed is None:
        return f"Go on with it: counterpoint resume {case.name}"
    if why is Ended.NEEDS_CLARIFICATION:
        return "Answer the questions, and propose anew with the answers in the context."
    if why is Ended.INVALID_RESPONSE:
        return "Propose anew: an answer that is not taken ends it, and nobody is asked twice."
    match case.outcome.decision:
        case Decision.APPROVED:
            return "Validate it by its validation steps; nothing has been tried yet."
        case Decision.CONDITIONAL:
            return "Decide on the conditions, then validate it; nothing has been tried yet."
        case Decision.REJECTED:
            return "Settle what blocks it before anything is built on it."
        case _:
            return "Build nothing on it; see why it ended, and propose anew."


def _event(stamp: str, entry: Entry) -> dict[str, Any]:
    name = "event_callback_error" if isinstance(entry, ObserverDropped) else entry_type(entry).replace("-", "_")
    turn = getattr(entry, "turn", None)
    number = turn.round if turn else getattr(entry, "round", None)
    return {
        "at": stamp,
        "event": name,
        "round": number,
        "seat": turn.seat if turn else None,
        "detail": _detail(entry),
    }


def _detail(entry: Entry) -> str:
    match entry:
        case RevisionOffered():
            return f"version {entry.revision}, {entry.candidate}"
        case RoundOpened():
            return entry.reason
        case AttemptFailed() | ObserverDropped() | CaseClosed():
            return entry.detail
        case SubmissionSealed():
            return entry.digest
        case NoteAdded():
            return entry.text
        case _:
            return ""


def _error(failure: AttemptFailed) -> dict[str, Any]:
    return {
        "seat": failure.turn.seat,
        "phase": failure.turn.phase,
        "round": failure.turn.round,
        "type": failure.reason.value,
        "message": failure.detail,
        "interrupted": failure.reason in {FailureReason.INTERRUPTED, FailureReason.DRIVER_LOST},
    }
