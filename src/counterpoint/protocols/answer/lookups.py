"""What code looks up for an objection or a change of mind: a quote, or a line, in the files that the case names.

A quote has to stand in the named file; without one, the file has to have the named line. Nothing else is looked up: a
file alone shows nothing. What code finds says that it stands there, never that it shows what it is said to show.
"""

import re
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.checks import EvidenceStatus, LookUp, PathCheck, QuoteCheck
from counterpoint.core.docket import Docket

__all__ = ["request_of", "standing"]

_PLACE: Final = re.compile(r"(?P<path>[^\s:]+)(?::(?P<line>[0-9]{1,7})(?:[-:][0-9]{1,7})?)?")


def request_of(docket: Docket, where: str, quote: str) -> LookUp | None:
    """Return what is to be looked up, or None where there is nothing that code could look for."""
    found = _PLACE.fullmatch(where.strip()) if docket.tree else None
    if found is None:
        return None
    path = found["path"].removeprefix("./")
    if path.startswith("/") or ".." in path.split("/"):
        return None
    if quote.strip():
        return QuoteCheck(path=path, text=quote, candidate=docket.tree)
    return PathCheck(path=path, line=int(found["line"]), candidate=docket.tree) if found["line"] else None


def standing(state: CaseState, where: str, quote: str) -> tuple[EvidenceStatus, str]:
    """Return what code found of a place and a quote, and a sentence about it."""
    if not where.strip() and not quote.strip():
        return EvidenceStatus.NOT_CHECKED, "no evidence is named"
    request = request_of(state.docket, where, quote)
    if request is None:
        missing = "names no line or quote of a file" if state.docket.tree else "this case has no files to look in"
        return EvidenceStatus.NOT_CHECKED, missing
    found = next(e for e in state.evidence if e.request == request)
    return found.status, found.detail
