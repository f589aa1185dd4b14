"""What an entry says to people: the Markdown text that stands above its typed fields in the record.

Deterministic, and lossless only together with the typed fields. Text of seats is quoted line by line, so that none
of it can read as anything but a quotation.
"""

import shlex
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus
from counterpoint.core.docket import Docket
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    ClaimChecked,
    ConsentGranted,
    Entry,
    EvidenceGathered,
    FindingRaised,
    FindingRuled,
    NoteAdded,
    ObserverDropped,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)

__all__ = ["describe", "quoted", "say_command"]


_MAX_QUOTED: Final = 50_000


def quoted(text: str) -> str:
    """Return `text` as a Markdown block quotation, hidden characters written out.

    A text of a megabyte is cut: an entry's text has its limit, and its typed fields have the whole.
    """
    shown = visible(text)
    if len(shown) > _MAX_QUOTED:
        shown = f"{shown[:_MAX_QUOTED]}\n({len(shown) - _MAX_QUOTED} characters more in the typed fields)"
    return "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))


def say_command(argv: tuple[str, ...]) -> str:
    """Return a command as one would type it, hidden characters written out."""
    return visible(shlex.join(argv)).replace("\n", "\\n")


def describe(entry: Entry) -> str:
    """Return what the entry says, as Markdown."""
    match entry:
        case CaseOpened():
            return _opened(entry)
        case ConsentGranted():
            return f"{entry.by} allows {entry.scope} to be sent to {entry.destination} until {entry.until}."
        case SubmissionSealed():
            who = f"model {entry.model_requested or 'none'}, reported {entry.model_reported}"
            return f"{entry.turn.seat} answered; sealed as {entry.digest} ({who})."
        case SubmissionRevealed():
            return f"{entry.turn.seat} had answered:\n\n{quoted(entry.reply)}"
        case EvidenceGathered():
            return _evidence(entry.evidence)
        case AttemptFailed():
            return f"Question {entry.turn.id} brought no answer ({entry.reason}):\n\n{quoted(entry.detail)}"
        case NoteAdded():
            return f"{entry.by} notes:\n\n{quoted(entry.text)}"
        case ObserverDropped():
            return f"An observer failed and is called no more:\n\n{quoted(entry.detail)}"
        case CaseClosed():
            return f"Closed: **{entry.decision}** ({entry.stop_reason}).\n\n{quoted(entry.detail)}"
        case _:
            return _judgement(entry)


def _judgement(entry: ClaimChecked | FindingRaised | FindingRuled | VerdictGiven) -> str:
    match entry:
        case ClaimChecked():
            says = "passes" if entry.says_passes else "fails"
            held = f"Held against the command itself: **{entry.status}** ({visible(entry.detail)})."
            return f"{entry.seat} states that `{entry.command}` {says}:\n\n{quoted(entry.statement)}\n\n{held}"
        case FindingRaised():
            checked = f"\n\nEvidence: **{entry.evidence}**. {visible(entry.detail)}".rstrip()
            settle = f"\n\nIt would be settled by:\n\n{quoted(entry.suggestion)}" if entry.suggestion else ""
            return f"**{entry.id}** ({entry.severity}) at {entry.location}\n\n{quoted(entry.issue)}{settle}{checked}"
        case FindingRuled():
            return f"{entry.seat} rules that {entry.id} is {entry.ruling}:\n\n{quoted(entry.reason)}"
        case VerdictGiven():
            word = "approves" if entry.approved else "does not approve"
            return f"{entry.seat} {word} {entry.candidate}:\n\n{quoted(entry.summary)}"


def _opened(entry: CaseOpened) -> str:
    seats = "\n".join(f"- {seat.name}: {seat.party}, {seat.agent}, {seat.destination}" for seat in entry.roster)
    return f"{visible(entry.docket.question)}\n\n{_docket(entry.docket)}\n\nSeats:\n\n{seats}"


def _docket(docket: Docket) -> str:
    lines = [f"Candidate {docket.candidate}", f"Base {docket.base}"]
    lines += [f"Changed: {len(docket.paths)} paths"]
    lines += [
        f"Command: `{say_command(command.argv)}` ({command.purpose}, {command.why})" for command in docket.commands
    ]
    lines += [f"Remark: {visible(remark)}" for remark in docket.remarks]
    return "\n".join(f"- {line}" for line in lines)


def _evidence(evidence: Evidence) -> str:
    request = evidence.request
    if not isinstance(request, CommandCheck):
        return f"`{visible(request.path)}`: **{evidence.status}** ({visible(evidence.detail)})."
    said = {
        EvidenceStatus.VERIFIED: "passes",
        EvidenceStatus.REFUTED: "fails",
        EvidenceStatus.NOT_CHECKED: "was not checked",
    }[evidence.status]
    line = f"`{say_command(request.argv)}` {said} on {request.candidate}: {visible(evidence.detail)}."
    return f"{line}\n\n{quoted(evidence.output)}" if evidence.output else line
