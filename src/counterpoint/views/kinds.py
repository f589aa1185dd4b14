"""What each protocol shows of its cases: reports, the lines at the end of a run, and the words for who sits in them.

A protocol's view is `VIEW` in the module of this package that is called like it, imported when a case of it is shown.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.entries import CaseOpened
from counterpoint.drive.cases import PROTOCOLS, LoadedCase
from counterpoint.drive.imported import Imported

__all__ = ["VIEWS", "CaseView", "Paint", "SeatWords", "view_of"]

Paint = Callable[[str, str], str]
"""Given a text and a colour, the text as it is to be shown; the colour is a name as terminals know them."""


def _no_files(_case: LoadedCase) -> Mapping[str, str]:
    return MappingProxyType({})


def _no_name(_name: str) -> bool:
    return False


def _as_limited(opened: CaseOpened) -> int:
    return opened.limits.max_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatWords:
    """What people call the seats."""

    author: str
    """Whoever answers for what is judged; empty in a protocol without such a seat."""
    judges: str
    """All the others, as a plural."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """How the cases of one protocol are shown. Everything comes from the record: the same record, the same bytes."""

    report: Callable[[LoadedCase], str]
    """Return the text of `report.md`."""
    result: Callable[[LoadedCase], Mapping[str, Any]]
    """Return what `result.json` says, as a JSON object."""
    summary: Callable[[LoadedCase, Paint], Iterator[str]]
    """Yield lines for a terminal about a case that is closed; hidden characters are written out in them."""
    words: SeatWords
    phases: Mapping[str, str]
    """What is going on in each phase of the protocol's table, for people."""
    files: Callable[[LoadedCase], Mapping[str, str]] = _no_files
    """Return the text of each further file in the case's folder, by its name."""
    page: str = ""
    """The one of them that people read beside `report.md`; empty where there is none."""
    is_old_file: Callable[[str], bool] = field(default=_no_name)
    """Return whether a file of this name is one of these; it is removed where the case has it no more."""
    most_calls: Callable[[CaseOpened], int] = _as_limited
    """Return how many questions a case asks at most; zero: no limit."""


VIEWS: Final[Mapping[str, CaseView]] = Imported({name: f"counterpoint.views.{name}:VIEW" for name in PROTOCOLS})


def view_of(case: LoadedCase) -> CaseView:
    """Return the view of a case's protocol."""
    return VIEWS[case.state.case.protocol]
