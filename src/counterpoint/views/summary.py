"""What a review came to, in lines for the terminal, when its run ends."""

from collections.abc import Iterator
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.findings import Finding
from counterpoint.core.outcome import Outcome
from counterpoint.core.values import Decision, Severity, StopReason
from counterpoint.core.wording import in_line
from counterpoint.drive.cases import LoadedCase
from counterpoint.views.kinds import Paint
from counterpoint.views.report import DECISIONS, STOPS

__all__ = ["COLOURS", "closing_line", "summary_of"]

COLOURS: Final = {Decision.APPROVED: "green", Decision.REJECTED: "red"}
"""Of a decision; any other is yellow."""
_HEAVY: Final = frozenset({Severity.BLOCKING, Severity.MAJOR})
_EVIDENCE: Final = {
    EvidenceStatus.VERIFIED: "verified: a test of the project ran on this candidate and passed",
    EvidenceStatus.REFUTED: "refuted: a command of the project ran on this candidate and failed",
    EvidenceStatus.NOT_CHECKED: "not checked: no test of the project ran on this candidate and passed",
}
_MAX_ISSUE: Final = 200
_SHORT: Final = 12


def summary_of(case: LoadedCase, paint: Paint) -> Iterator[str]:
    """Yield the lines about a closed review; hidden characters are written out in them."""
    outcome = case.outcome
    yield paint(closing_line(outcome), COLOURS.get(outcome.decision, "yellow"))
    for finding in outcome.open_findings:
        yield _line(finding, paint)
        for position in _positions(finding):
            yield f"           {position}"
    if outcome.refuted_findings:
        names = ", ".join(f.id for f in outcome.refuted_findings)
        yield f"  refuted by evidence, and not counted: {visible(names)}"
    docket, opened = case.state.docket, case.state.case.docket
    yield f"judged:   {docket.candidate[:_SHORT]} against {docket.base[:_SHORT]}"
    if docket.candidate != opened.candidate:
        offers = len(case.state.offers)
        what = "commit" if case.state.case.terms.commits else "edit"
        yield f"since:    {opened.candidate[:_SHORT]}, {offers} {what}{'' if offers == 1 else 's'} by the author"
        if not case.state.case.terms.commits:
            edited = sorted({path for offer in case.state.offers for path in offer.changed})
            yield f"edited:   {visible(', '.join(edited))}; nothing is committed"
    yield f"evidence: {_EVIDENCE[outcome.evidence]}"


def closing_line(outcome: Outcome) -> str:
    """Return the decision and why, in one sentence."""
    assert outcome.stop_reason is not None, "the case is closed"
    word, reasons = DECISIONS[outcome.decision], outcome.reasons
    if outcome.stop_reason is StopReason.FAILED:
        word, reasons = "Failed", reasons[1:]
    elif outcome.stop_reason is StopReason.STALLED:
        reasons = (STOPS[outcome.stop_reason], *reasons)
    elif outcome.stop_reason not in {StopReason.AGREED, StopReason.ROUNDS_SPENT}:
        # The first reason is the stop itself, as a word of the record.
        reasons = (STOPS[outcome.stop_reason], *reasons[1:])
    return f"{word}: {in_line('; '.join(reasons))}".removesuffix(".") + "."


def _positions(finding: Finding) -> Iterator[str]:
    """Yield what the author and the raiser said last of an open finding."""
    if finding.answers:
        answer = finding.answers[-1]
        yield f"the author: {answer.disposition}, {_short(answer.reasoning)}"
        if finding.rulings:
            yield f"{visible(finding.seat)}: {_short(finding.rulings[-1].reason)}"


def _short(text: str) -> str:
    line = visible(text).strip().splitlines()[0]
    return line if len(line) <= _MAX_ISSUE else f"{line[:_MAX_ISSUE]}…"


def _line(finding: Finding, paint: Paint) -> str:
    issue, severity = _short(finding.issue), f"{finding.severity:8}"
    severity = paint(severity, "red") if finding.severity in _HEAVY else severity
    # A failing command is its own location.
    at = "" if finding.issue.startswith(f"`{finding.location}`") else f" at {visible(finding.location)}"
    return f"  {severity} {visible(finding.id)}{at}: {issue}"
