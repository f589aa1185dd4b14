"""What a question comes to, as an entry or in words."""

from typing import Final

from counterpoint.core.checks import Evidence, EvidenceStatus
from counterpoint.core.edits import CheckResult
from counterpoint.core.entries import AttemptFailed, FailureReason, SubmissionSealed
from counterpoint.core.sealing import seal, seal_evidence
from counterpoint.core.values import Turn, Usage
from counterpoint.drive.kept import KeptReply
from counterpoint.errors import AgentError, BadReply, CounterpointError, Refused, TurnTimeout, WrongIdentity

__all__ = ["NO_USAGE", "Planted", "interrupted_entry", "reason_of", "say_result", "sealed_entry"]

NO_USAGE: Final = Usage()


def sealed_entry(turn: Turn, kept: KeptReply, evidence: tuple[CheckResult, ...]) -> SubmissionSealed:
    return SubmissionSealed(
        turn=turn,
        digest=seal(kept.salt, kept.reply.content),
        evidence=seal_evidence(kept.salt, evidence),
        model_requested=kept.reply.model_requested,
        model_reported=kept.reply.model_reported,
        usage=kept.reply.usage,
        shown_paths=kept.shown_paths,
    )


def interrupted_entry(turn: Turn, attempt: int) -> AttemptFailed:
    return AttemptFailed(
        turn=turn,
        attempt=attempt,
        reason=FailureReason.INTERRUPTED,
        detail="the driver was interrupted before the answer came",
        usage=NO_USAGE,
    )


class Planted(AgentError):
    """The vault holds what this driver has not put there."""


def say_result(evidence: Evidence) -> str:
    said = {
        EvidenceStatus.VERIFIED: "passed",
        EvidenceStatus.REFUTED: "failed",
        EvidenceStatus.NOT_CHECKED: "not checked",
    }
    return f"{said[evidence.status]}, {evidence.detail}"


def reason_of(error: CounterpointError) -> FailureReason:
    match error:
        case BadReply():
            return FailureReason.BAD_REPLY
        case Refused():
            return FailureReason.REFUSED
        case TurnTimeout():
            return FailureReason.TIMEOUT
        case WrongIdentity():
            return FailureReason.WRONG_IDENTITY
        case Planted():
            return FailureReason.VAULT_TOUCHED
        case _:
            return FailureReason.UNREACHABLE
