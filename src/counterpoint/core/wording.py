"""What an entry says to people: the Markdown text that stands above its typed fields in the record.

Deterministic, and lossless only together with the typed fields. Text of seats is quoted line by line, so that none
of it can read as anything but a quotation.
"""

import shlex
from typing import Final, assert_never

from counterpoint.core.canonical import visible
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus
from counterpoint.core.docket import Docket, Seat, SeatKind
from counterpoint.core.entries import (
    AnswerRequested,
    AttemptFailed,
    CandidateKept,
    CandidateOffered,
    CaseClosed,
    CaseOpened,
    ChallengeOpened,
    ClaimChecked,
    ConsentGranted,
    DispositionGiven,
    Entry,
    EvidenceGathered,
    FindingRaised,
    FindingRuled,
    NoteAdded,
    ObserverDropped,
    RevisionOffered,
    RoundOpened,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)
from counterpoint.core.findings import Ruling
from counterpoint.core.values import Severity

__all__ = ["describe", "in_line", "quoted", "say_command"]


_MAX_QUOTED: Final = 50_000
_MAX_LINE: Final = 10_000


_RULED: Final = {Ruling.SETTLED: "is settled", Ruling.STANDS: "stands", Ruling.DEFERRED: "is deferred"}


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
    return in_line(shlex.join(argv))


def in_line(text: str) -> str:
    """Return `text` in one line, hidden characters written out, and cut where no line would be read to its end."""
    shown = visible(text).replace("\n", "\\n")
    return shown if len(shown) <= _MAX_LINE else shown[:_MAX_LINE] + "..."


def describe(entry: Entry) -> str:
    """Return what the entry says, as Markdown: text of others in one line or in a quotation, never in the open."""
    match entry:
        case CaseOpened():
            return _opened(entry)
        case ConsentGranted():
            words = f"{entry.by} allows {entry.scope} to be sent to {entry.destination} until {entry.until}."
            return in_line(words)
        case SubmissionSealed():
            model = f" (model {entry.model_requested}, {entry.model_reported})" if entry.model_requested else ""
            return in_line(f"{entry.turn.seat} answered{model}; sealed as {entry.digest}.")
        case SubmissionRevealed():
            return _said(f"{entry.turn.seat} had answered:", entry.reply)
        case EvidenceGathered():
            return _evidence(entry.evidence)
        case AttemptFailed():
            return _said(f"Question {entry.turn.id} brought no answer ({entry.reason}):", entry.detail)
        case NoteAdded():
            return _said(f"{entry.by} notes:", entry.text)
        case ObserverDropped():
            return _said("An observer failed and is called no more:", entry.detail)
        case CaseClosed():
            return _said(f"Closed: **{entry.decision}** ({entry.stop_reason}).", entry.detail)
        case _:
            return _judgement(entry)


def _said(lead: str, text: str) -> str:
    return f"{in_line(lead)}\n\n{quoted(text)}"


_Answer = (
    AnswerRequested
    | DispositionGiven
    | CandidateOffered
    | CandidateKept
    | RevisionOffered
    | RoundOpened
    | ChallengeOpened
)


def _judgement(entry: ClaimChecked | FindingRaised | FindingRuled | VerdictGiven | _Answer) -> str:
    match entry:
        case ClaimChecked():
            says = "passes" if entry.says_passes else "fails"
            held = f"Held against the command itself: **{entry.status}** ({entry.detail})."
            return (
                f"{_said(f'{entry.seat} states that `{entry.command}` {says}:', entry.statement)}\n\n{in_line(held)}"
            )
        case FindingRaised():
            parts = [_said(f"**{entry.id}** ({entry.severity}) at {entry.location}", entry.issue)]
            if entry.suggestion:
                parts.append(_said("It would be settled by:", entry.suggestion))
            parts.append(in_line(f"Evidence: **{entry.evidence}**. {entry.detail}".rstrip()))
            return "\n\n".join(parts)
        case FindingRuled():
            return _said(f"{entry.seat} rules that {entry.id} {_RULED[entry.ruling]}:", entry.reason)
        case VerdictGiven():
            word = "approves" if entry.claimed else "holds nothing that must be settled on"
            word = word if entry.approved else "does not approve"
            return _said(f"{entry.seat} {word} {entry.candidate}:", entry.summary)
        case _:
            return _answer(entry)


def _answer(entry: _Answer) -> str:
    match entry:
        case AnswerRequested():
            return in_line(
                f"Round {entry.round} goes to {entry.seat}, who owes an answer to {_named(entry.findings)}."
            )
        case DispositionGiven():
            return _said(f"{entry.seat} answers {entry.id} with **{entry.disposition}**:", entry.reasoning)
        case CandidateOffered():
            changed = _listed([f"`{path}`" for path in entry.changed])
            words = f"{entry.seat} offers {entry.candidate} in place of {entry.previous}; it changes:"
            return f"{in_line(words)}\n\n{changed}"
        case CandidateKept():
            return in_line(f"{entry.seat} changed nothing; {entry.candidate} is read again.")
        case RevisionOffered():
            return in_line(f"Revision {entry.revision}, of {entry.seat}, is on the table: {entry.candidate}.")
        case RoundOpened():
            return _said(f"Round {entry.round} begins:", entry.reason)
        case ChallengeOpened():
            return in_line(f"Until round {entry.round} closes, any voter may challenge: {_named(entry.about)}.")
        case _:
            assert_never(entry)


def _named(findings: tuple[str, ...]) -> str:
    return ", ".join(findings)


def _opened(entry: CaseOpened) -> str:
    seats = [f"{seat.name}: party {seat.party}, agent {seat.agent}, {_where(seat)}" for seat in entry.roster]
    question = quoted(entry.docket.question) if "\n" in entry.docket.question else in_line(entry.docket.question)
    lines = [*_docket(entry.docket), *_terms(entry)]
    return "\n\n".join(filter(None, (question, _listed(lines), "Seats:", _listed(seats))))


def _terms(entry: CaseOpened) -> list[str]:
    """Say what differs from a review of one reading in which everything must be settled."""
    terms, most = entry.terms, entry.limits.max_rounds
    lines = [] if terms.block_on is Severity.NIT else [f"Findings below {terms.block_on} do not block"]
    if any(seat.kind is SeatKind.AUTHOR for seat in entry.roster):
        lines.append(f"Rounds: {most or 'until they agree, or nothing moves'}; effort: {terms.effort}")
        lines += [] if terms.commits else ["Edits are not committed"]
    return lines


def _where(seat: Seat) -> str:
    return "on this machine" if seat.destination == "local" else f"sent to {seat.destination}"


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {in_line(line)}" for line in lines)


def _docket(docket: Docket) -> list[str]:
    lines = [f"Candidate {docket.candidate}"] if docket.candidate else []
    if docket.tree:
        lines.append(f"Files that may be read: {docket.tree}")
    if docket.base:
        lines += [f"Base {docket.base}", f"Changed paths: {len(docket.paths)}"]
    lines += [
        f"Command: `{say_command(command.argv)}` ({command.purpose}, {command.why})" for command in docket.commands
    ]
    return [*lines, *(f"Remark: {remark}" for remark in docket.remarks)]


def _evidence(evidence: Evidence) -> str:
    request = evidence.request
    if not isinstance(request, CommandCheck):
        return in_line(f"`{request.path}`: **{evidence.status}** ({evidence.detail}).")
    said = {
        EvidenceStatus.VERIFIED: "passes",
        EvidenceStatus.REFUTED: "fails",
        EvidenceStatus.NOT_CHECKED: "was not checked",
    }[evidence.status]
    line = f"`{say_command(request.argv)}` {said} on {request.candidate}: {evidence.detail}."
    return _said(line, evidence.output) if evidence.output else in_line(line)
