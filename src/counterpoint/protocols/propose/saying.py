"""What an answer says to people: the Markdown above its typed fields in the record."""

from collections.abc import Iterator
from typing import Any, Final

from counterpoint.core.entries import SubmissionRevealed
from counterpoint.core.forms import read_text
from counterpoint.core.wording import describe, in_line, quoted
from counterpoint.errors import Refused
from counterpoint.protocols.propose.forms import JudgeCandidate, OfferCandidate, ScanRisks

__all__ = ["say"]

_FORMS: Final = (OfferCandidate, ScanRisks, JudgeCandidate)


def say(entry: SubmissionRevealed) -> str:
    """Return a revealed reply in words; one that is of no form as it stands."""
    match _read(entry.reply):
        case OfferCandidate() as text:
            return _paragraphs(_of_candidate(entry.turn.seat, text))
        case ScanRisks() as scan:
            return _paragraphs(_of_scan(entry.turn.seat, scan))
        case JudgeCandidate() as review:
            return _paragraphs(_of_review(entry.turn.seat, review))
        case _:
            return describe(entry)


def _read(reply: str) -> Any:
    for form in _FORMS:
        try:
            return read_text(form, reply)
        except Refused:
            continue
    return None


def _paragraphs(parts: Iterator[str]) -> str:
    return "\n\n".join(parts)


def _listed(lines: Iterator[str]) -> str:
    return "\n".join(f"- {in_line(line)}" for line in lines)


def _questions(asked: tuple[str, ...]) -> Iterator[str]:
    if asked:
        yield "A person is asked:"
        yield _listed(iter(asked))


def _of_candidate(seat: str, text: OfferCandidate) -> Iterator[str]:
    yield in_line(f"{seat} proposes {text.recommended_option_id or 'nothing yet'}:")
    yield quoted(text.recommendation)
    yield from _questions(text.clarification_questions)
    if text.responses:
        yield _listed(f"{a.issue_id}: **{a.action}**, {a.summary}" for a in text.responses)


def _of_scan(seat: str, scan: ScanRisks) -> Iterator[str]:
    yield in_line(f"{seat} looked for risks before any proposal:")
    yield quoted(scan.public_summary)
    yield from _questions(scan.clarification_questions)
    if scan.risk_areas:
        yield _listed(f"{area.id} ({area.severity}): {area.concern}" for area in scan.risk_areas)


def _of_review(seat: str, review: JudgeCandidate) -> Iterator[str]:
    yield in_line(f"{seat} reviewed version {review.reviewed_version}: **{review.assessment}**.")
    yield quoted(review.public_summary)
    yield from _questions(review.clarification_questions)
    if review.issue_evaluations:
        yield _listed(f"{r.issue_id} is **{r.status}**: {r.rationale}" for r in review.issue_evaluations)
    if review.new_issues:
        yield _listed(f"**{n.id}** ({n.severity}) {n.title}: {n.description}" for n in review.new_issues)
