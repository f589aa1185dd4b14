"""What `result.json` says of a case whatever its protocol."""

from typing import Any

from counterpoint.core.case import CaseState
from counterpoint.core.codec import encode_value
from counterpoint.core.entries import NoteAdded
from counterpoint.core.outcome import SeatStatus
from counterpoint.drive.cases import LoadedCase

__all__ = ["every_result", "every_seat"]


def every_result(case: LoadedCase, *, exit_code: int) -> dict[str, Any]:
    """Return the keys that the results of all protocols share."""
    state, outcome, head = case.state, case.outcome, case.blocks[-1]
    opened, usage = state.case, outcome.spent.usage
    return {
        "case": case.name,
        "protocol": opened.protocol,
        "rules_version": opened.rules_version,
        "opened_at": case.blocks[0].stamp,
        "closed_at": head.stamp if state.closed else None,
        "docket": encode_value(opened.docket),
        "terms": encode_value(opened.terms),
        "candidate": state.docket.candidate,
        "decision": outcome.decision.value,
        "stop_reason": outcome.stop_reason.value if outcome.stop_reason else None,
        "exit_code": exit_code,
        "reasons": list(outcome.reasons),
        "evidence": outcome.evidence.value,
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


def every_seat(state: CaseState, status: SeatStatus) -> dict[str, Any]:
    """Return what a result says of a seat: who it was, who answered for it, how it ended."""
    sealed = state.last_seal(status.seat)
    return {
        **encode_value(state.case.seat(status.seat)),
        "end": status.end.value,
        "approved": status.approved,
        "attempts": status.attempts,
        "model_requested": sealed.model_requested if sealed else None,
        "model_reported": sealed.model_reported if sealed else None,
    }
