"""The compact comment that a review leaves on its pull request (SPEC D-19, FIELD-FAULTS F39).

- A line that says who sat there, on whose behalf and by what it was posted, and that it is not an approval; a header;
  a row for each commit of the case; a line for each finding. Nothing else: the report has the rest.
- Text of others is plain words or code. A forge makes nothing of it: no mention, link, picture, reference to an issue
  or a commit, closing keyword, table or HTML.
- It has at most as many characters as GitHub takes. What is cut is counted.
"""

import re
from collections.abc import Sequence
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.findings import Finding, FindingStatus
from counterpoint.core.values import StopReason
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.pull_request import MARKER, MAX_BODY
from counterpoint.views.markdown import code, counted, inline
from counterpoint.views.report import DECISIONS
from counterpoint.views.rounds import (
    DISPOSITIONS,
    Round,
    answers_in,
    author_of,
    is_unevidenced,
    readings_in,
    rounds_of,
)

__all__ = ["render_comment"]

_SHORT: Final = 12
_MAX_NAMED: Final = 20
_MAX_TABLE: Final = 20_000
_NOTE_ROOM: Final = 200
"""Characters that are left free for the lines that say what was cut."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REFERENCE: Final = re.compile(r"[A-Za-z0-9]-[0-9]|[0-9A-Fa-f]{7}")
"""What a forge may link although every character is plain: `GH-12`, the key of a tracker, the id of a commit."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s")
_DIGITS: Final = re.compile(r"([0-9]+)")


def render_comment(case: LoadedCase, *, by: str) -> str:
    """Return the comment as Markdown, without the marker; `by` is on whose behalf it is posted."""
    parts = [_signature(case, by), _header(case)]
    if rows := _rows(case):
        fitting, more = _fitting(rows, _MAX_TABLE)
        cut = [f"| and {counted(more, 'commit')} more | | |"] if more else []
        parts.append("\n".join(["| Commit | Round | Answers |", "| --- | --- | --- |", *fitting, *cut]))
    room = MAX_BODY - len(f"{MARKER}\n") - _NOTE_ROOM - sum(len(part) + 2 for part in parts)
    legend, more = _fitting([_line(finding) for finding in sorted(case.state.ledger, key=_numeric)], room)
    if more:
        legend.append(f"- and {counted(more, 'finding')} more, left out here; the report of the case has them all")
    if legend:
        parts.append("\n".join(legend))
    return "\n\n".join(parts) + "\n"


def _fitting(lines: Sequence[str], room: int) -> tuple[list[str], int]:
    """Return the first lines that fit into `room` characters, and how many do not."""
    taken: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        taken.append(line)
    return taken, len(lines) - len(taken)


def _signature(case: LoadedCase, by: str) -> str:
    roster = case.state.case.roster
    more = len(roster) - _MAX_NAMED
    seats = ", ".join(_seat(seat) for seat in roster[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    return (
        f"Posted by the program Counterpoint on behalf of {code(by)}. It is not an approval, and nobody wrote it by "
        f"hand. Seats: {seats}."
    )


def _seat(seat: Seat) -> str:
    kind = "author, " if seat.kind is SeatKind.AUTHOR else ""
    return f"{code(seat.name)} ({kind}{code(seat.party)}, a {code(seat.agent)} agent)"


def _header(case: LoadedCase) -> str:
    state, opened = case.state, case.state.case
    rounds = counted(readings_in(state), "reading")
    if author_of(state) is not None:
        rounds += f", {counted(answers_in(state), 'answer')}"
    effort, base = f"effort {opened.terms.effort}", f"base {code(opened.docket.base[:_SHORT])}"
    uncommitted = "" if opened.terms.commits else "; edits were not committed"
    return f"**{_decision(case)}**: {rounds}; {effort}; {base}{uncommitted}"


def _decision(case: LoadedCase) -> str:
    if case.state.closed is None:
        return "Open, nothing is decided"
    return "Failed" if case.outcome.stop_reason is StopReason.FAILED else DECISIONS[case.outcome.decision]


def _rows(case: LoadedCase) -> list[str]:
    if not case.state.case.terms.commits:
        return []
    return [
        f"| {_commit(found.offered.entry.candidate)} | {found.number} | {_answered(found)} |"
        for found in rounds_of(case)
        if found.offered
    ]


def _commit(candidate: str) -> str:
    """Return a commit's short id bare: a forge links it."""
    return candidate[:_SHORT] if _COMMIT.fullmatch(candidate) else code(candidate[:_SHORT])


def _answered(found: Round) -> str:
    given, more = found.dispositions[:_MAX_NAMED], len(found.dispositions) - _MAX_NAMED
    said = ", ".join(f"{code(entry.id)} {DISPOSITIONS[entry.disposition]}" for entry in given)
    return said + (f" and {more} more" if more > 0 else "")


def _line(finding: Finding) -> str:
    return f"- {code(finding.id)} {_status(finding)}: {_quiet(_first_sentence(finding.issue))}"


def _status(finding: Finding) -> str:
    if finding.status is FindingStatus.SETTLED:
        return "settled without a reason" if is_unevidenced(finding) else "settled"
    if finding.status is FindingStatus.DEFERRED:
        return "must happen before this ships"
    if not finding.blocks:
        return "refuted by evidence"
    return "open, disputed by the author" if finding.is_disputed else "open"


def _first_sentence(text: str) -> str:
    return _SENTENCE_END.split(visible(text).strip(), maxsplit=1)[0]


def _quiet(text: str) -> str:
    return code(text) if _REFERENCE.search(text) else inline(text)


def _numeric(finding: Finding) -> list[str | int]:
    """Order F2 before F10."""
    return [int(part) if part.isdecimal() else part for part in _DIGITS.split(finding.id)]
