"""How reviews are shown."""

from types import MappingProxyType
from typing import Final

from counterpoint.protocols.review.table import Phase
from counterpoint.views.files import files_of, is_old_file
from counterpoint.views.kinds import CaseView, SeatWords
from counterpoint.views.report import render_report
from counterpoint.views.result import result_of
from counterpoint.views.summary import summary_of

__all__ = ["VIEW"]

VIEW: Final = CaseView(
    report=render_report,
    result=result_of,
    summary=summary_of,
    words=SeatWords(author="author", judges="reviewers"),
    phases=MappingProxyType(
        {
            Phase.REVIEWING: "the reviewers read",
            Phase.REVEALED: "the record was cut in a reveal",
            Phase.ANSWERING: "the author answers",
            Phase.ANSWERED: "the record was cut in a reveal",
            Phase.CLOSED: "closed",
        }
    ),
    files=files_of,
    is_old_file=is_old_file,
)
