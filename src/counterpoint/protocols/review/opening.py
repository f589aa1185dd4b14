"""What a review may be opened with: the rules by their ids, each returning the reason it refuses, or None.

They hold when a case is opened and again when its record is read. Ids are headings in `docs/protocols/review.md`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from counterpoint.core.conduct import OPENING
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import CaseOpened
from counterpoint.core.wording import say_command
from counterpoint.protocols.review.table import reviewers_of

__all__ = ["OPENING_GUARDS"]


def _somebody_judges(case: CaseOpened) -> str | None:
    authors = [seat.name for seat in case.roster if seat.kind is SeatKind.AUTHOR]
    if len(authors) > 1:
        return f"{' and '.join(authors)} are authors; a review has one at most"
    return None if reviewers_of(case) else f"{authors[0]!r} is the author, and nobody reviews"


def _quorum_fits(case: CaseOpened) -> str | None:
    most = len(reviewers_of(case))
    if 1 <= case.quorum <= most:
        return None
    return f"a quorum of {case.quorum} with {most} reviewers; between 1 and {most} is possible"


def _something_is_judged(case: CaseOpened) -> str | None:
    docket = case.docket
    if not docket.candidate:
        return "the docket names no candidate"
    paths = [changed.path for changed in docket.paths]
    if docket.base and not paths:
        return f"no path differs between base {docket.base} and candidate {docket.candidate}"
    twice = next((p for p in paths if paths.count(p) > 1), None)
    return f"changed path {twice!r} stands twice in the docket" if twice is not None else None


def _commands_differ(case: CaseOpened) -> str | None:
    argvs = [command.argv for command in case.docket.commands]
    if () in argvs:
        return "a command of the docket has no words"
    twice = next((argv for argv in argvs if argvs.count(argv) > 1), None)
    return f"command {say_command(twice)!r} stands twice in the docket" if twice else None


OPENING_GUARDS: Final[Mapping[str, Callable[[CaseOpened], str | None]]] = MappingProxyType(
    {
        **OPENING,
        "ROSTER-3": _somebody_judges,
        "DOCKET-1": _something_is_judged,
        "DOCKET-2": _commands_differ,
        "QUORUM-1": _quorum_fits,
    }
)
