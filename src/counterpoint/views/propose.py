"""How cases of `propose` are shown."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.wording import in_line
from counterpoint.drive.cases import LoadedCase
from counterpoint.protocols.propose.table import Phase
from counterpoint.protocols.propose.wire import CaseStatus
from counterpoint.views.kinds import CaseView, Paint, SeatWords
from counterpoint.views.propose_page import render_page
from counterpoint.views.propose_report import render_report
from counterpoint.views.propose_result import result_of
from counterpoint.views.propose_text import title_of
from counterpoint.views.propose_usage import most_calls

__all__ = ["PAGE", "VIEW"]

PAGE: Final = "report.html"
_COLOURS: Final = {"ready_to_validate": "green", "blocked": "red"}
_SHORT: Final = 200


def _summary(case: LoadedCase, paint: Paint) -> Iterator[str]:
    found = result_of(case)
    partial = ", partial" if found["status"] == CaseStatus.PARTIAL else ""
    colour = _COLOURS.get(found["decision"], "yellow")
    yield paint(f"{title_of(case)}{partial}: {in_line(found['stop_detail'])}.", colour)
    shown = found["last_reviewed_proposal"] or found["proposal"]
    if shown is not None:
        newest = found["proposal"]["version"]
        unread = f" (version {newest} is newer and not reviewed)" if newest != shown["version"] else ""
        said = _cut(shown["recommendation"])
        yield f"proposal: version {shown['version']}{unread}" + (
            f": {said}" if said else ", which recommends nothing yet"
        )
    for issue in found["issues"]:
        if issue["status"] != "resolved":
            yield f"  {issue['severity']:8} {visible(issue['id'])} {issue['status']}: {_cut(issue['title'])}"
    for error in found["errors"]:
        yield f"  {visible(error['seat'])}, {error['type']}: {_cut(error['message'])}"
    for question in found["clarification_questions"]:
        yield f"  question: {_cut(question)}"
    yield f"next:     {found['next_action']}"
    yield f"checked:  nothing by running it ({found['evidence_status']})"


def _cut(text: str) -> str:
    line = in_line(text.strip())
    return line if len(line) <= _SHORT else f"{line[:_SHORT]}…"


def _files(case: LoadedCase) -> Mapping[str, str]:
    return {PAGE: render_page(case)}


VIEW: Final = CaseView(
    report=render_report,
    result=result_of,
    summary=_summary,
    words=SeatWords(author="proposer", judges="critics"),
    phases=MappingProxyType(
        {
            Phase.PROPOSING: "a proposal is written, and risks are looked for",
            Phase.PROPOSED: "the record was cut in a reveal",
            Phase.REVIEWING: "the critics review",
            Phase.REVIEWED: "the record was cut in a reveal",
            Phase.REVISING: "the proposer revises",
            Phase.REVISED: "the record was cut in a reveal",
            Phase.CLOSED: "closed",
        }
    ),
    files=_files,
    page=PAGE,
    most_calls=most_calls,
)
