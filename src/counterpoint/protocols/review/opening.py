"""What a review may be opened with: the rules by their ids, each returning the reason it refuses, or None.

They hold when a case is opened and again when its record is read. Ids are headings in `docs/protocols/review.md`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import CaseOpened
from counterpoint.core.values import NAME
from counterpoint.core.wording import say_command
from counterpoint.protocols.review.table import reviewers_of

__all__ = ["OPENING_GUARDS"]


def _seats_are_named(case: CaseOpened) -> str | None:
    names = [seat.name for seat in case.roster]
    if not names:
        return "the roster is empty; a review needs at least one reviewer"
    if (bad := next((n for n in names if not NAME.fullmatch(n)), None)) is not None:
        return f"seat {bad!r} is not named like {NAME.pattern}"
    twice = next((n for n in names if names.count(n) > 1), None)
    return f"seat {twice!r} stands twice in the roster" if twice else None


def _supervisor_has_no_seat(case: CaseOpened) -> str | None:
    has_seat = any(seat.name == case.supervisor for seat in case.roster)
    return f"{case.supervisor!r} supervises the case and has a seat in it" if has_seat else None


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


def _limits_allow_an_end(case: CaseOpened) -> str | None:
    limits = case.limits
    least = {"max_asks": 1, "call_timeout_s": 1, "max_rounds": 0, "max_calls": 0, "max_tokens": 0}
    if low := next((name for name, floor in least.items() if getattr(limits, name) < floor), None):
        return f"{low} is {getattr(limits, low)}; at least {least[low]} is possible"
    if limits.max_calls and limits.max_calls < case.quorum:
        return f"{limits.max_calls} calls cannot bring the {case.quorum} answers of the quorum"
    return None


def _deadline_is_an_instant(case: CaseOpened) -> str | None:
    deadline = case.limits.deadline
    try:
        is_instant = deadline is None or datetime.fromisoformat(deadline).utcoffset() is not None
    except ValueError:
        is_instant = False
    return None if is_instant else f"the deadline {deadline!r} is not an ISO 8601 instant with its offset"


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
        "ROSTER-1": _seats_are_named,
        "ROSTER-2": _supervisor_has_no_seat,
        "ROSTER-3": _somebody_judges,
        "DOCKET-1": _something_is_judged,
        "DOCKET-2": _commands_differ,
        "QUORUM-1": _quorum_fits,
        "LIMIT-1": _limits_allow_an_end,
        "LIMIT-2": _deadline_is_an_instant,
    }
)
