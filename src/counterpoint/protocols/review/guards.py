"""Every rule of a review that can refuse, by its id. A guard returns the reason, or None where it has none.

Ids are headings in `docs/protocols/review.md`, the `rule` of the refusal, and the names of two examples each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.case import CaseState
from counterpoint.core.docket import Seat, SeatKind
from counterpoint.core.findings import FindingStatus
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import NAME, Turn
from counterpoint.protocols.review.codec import GiveVerdict, NameChecks
from counterpoint.protocols.review.table import Phase, owed, seat_of

__all__ = ["GUARDS", "OPENING_GUARDS", "Plan", "Spoken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a case is to be opened with."""

    roster: tuple[Seat, ...]
    quorum: int
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Who said what, in answer to which turn, and where the case stands."""

    state: CaseState
    speaker: str
    turn: Turn | None
    submission: Any


def _seats_are_named(plan: Plan) -> str | None:
    names = [seat.name for seat in plan.roster]
    if not names:
        return "the roster is empty; a review needs at least one reviewer"
    if bad := next((n for n in names if not NAME.fullmatch(n)), None):
        return f"seat {bad!r} is not named like {NAME.pattern}"
    twice = next((n for n in names if names.count(n) > 1), None)
    return f"seat {twice!r} stands twice in the roster" if twice else None


def _quorum_fits(plan: Plan) -> str | None:
    if 1 <= plan.quorum <= len(plan.roster):
        return None
    return f"a quorum of {plan.quorum} with {len(plan.roster)} seats; between 1 and {len(plan.roster)} is possible"


def _limits_allow_an_end(plan: Plan) -> str | None:
    limits = plan.limits
    if limits.max_asks < 1 or limits.call_timeout_s < 1 or limits.max_calls < 0 or limits.max_tokens < 0:
        return f"a limit is below what it can be: {limits}"
    if limits.max_calls and limits.max_calls < plan.quorum:
        return f"{limits.max_calls} calls cannot bring the {plan.quorum} answers of the quorum"
    return None


OPENING_GUARDS: Final[Mapping[str, Callable[[Plan], str | None]]] = MappingProxyType(
    {"ROSTER-1": _seats_are_named, "QUORUM-1": _quorum_fits, "LIMIT-1": _limits_allow_an_end}
)


def _case_is_open(said: Spoken) -> str | None:
    phase = said.state.phase
    return None if phase == Phase.REVIEWING else f"the case is {phase}; nothing more is taken in it"


def _unasked_speech_is_the_supervisors(said: Spoken) -> str | None:
    if isinstance(said.submission, AddNote | Withdraw):
        supervisor = said.state.case.supervisor
        return None if said.speaker == supervisor else f"{said.speaker!r} spoke unasked; only {supervisor!r} may"
    return "nobody was asked; a verdict needs a turn" if said.turn is None else None


def _speaker_owes_the_turn(said: Spoken) -> str | None:
    if said.turn is None:
        return None
    if said.speaker != said.turn.seat:
        return f"{said.speaker!r} answered; the turn is {said.turn.seat!r}'s"
    due = next((t for t in owed(said.state) if t.seat == said.speaker), None)
    if due is None:
        return f"{said.speaker!r} owes no turn in round {said.state.round}"
    return None if due == said.turn else f"{said.speaker!r} answered turn {said.turn.id}; {due.id} is owed"


def _answer_fits_the_seat(said: Spoken) -> str | None:
    seat = seat_of(said.state, said.speaker)
    wanted = NameChecks if seat is not None and seat.kind is SeatKind.CHECKS else GiveVerdict
    if said.turn is None or isinstance(said.submission, wanted):
        return None
    return f"{said.speaker!r} owes a {wanted.__name__}, not a {type(said.submission).__name__}"


def _candidate_is_current(said: Spoken) -> str | None:
    current = said.state.case.docket.candidate
    if not isinstance(said.submission, GiveVerdict) or said.submission.candidate in {None, current}:
        return None
    return f"the verdict is on {said.submission.candidate}; {current} is on the table"


def _open_ids(verdict: GiveVerdict) -> list[str]:
    return [f.own_id for f in verdict.findings if f.status is FindingStatus.OPEN]


def _approval_has_nothing_open(said: Spoken) -> str | None:
    if isinstance(said.submission, GiveVerdict) and said.submission.approved and (ids := _open_ids(said.submission)):
        return f"approved is true, but {', '.join(ids)} is open"
    return None


def _disapproval_names_a_finding(said: Spoken) -> str | None:
    if isinstance(said.submission, GiveVerdict) and not said.submission.approved and not _open_ids(said.submission):
        return "approved is false, but no finding is open; name one or approve"
    return None


def _no_rebuttal_in_round_one(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict) or said.state.round > 1:
        return None
    words = said.submission.response_to_rebuttal.strip()
    return f"responseToRebuttal has {len(words)} characters; in round 1 it is empty" if words else None


def _finding_ids_differ(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict):
        return None
    ids = [f.own_id for f in said.submission.findings]
    twice = next((i for i in ids if ids.count(i) > 1), None)
    return f"finding id {twice!r} stands twice in one verdict" if twice else None


def _commands_are_the_dockets(said: Spoken) -> str | None:
    if not isinstance(said.submission, NameChecks):
        return None
    listed = tuple(c.argv for c in said.state.case.docket.commands)
    if said.submission.commands == listed:
        return None
    strange = next((c for c in said.submission.commands if c not in listed), None)
    if strange is not None:
        return f"{' '.join(strange)!r} is not a command of the docket"
    return f"{len(said.submission.commands)} commands named; the docket's {len(listed)} decide, each once, in order"


GUARDS: Final[Mapping[str, Callable[[Spoken], str | None]]] = MappingProxyType(
    {
        "TURN-3": _case_is_open,
        "NOTE-1": _unasked_speech_is_the_supervisors,
        "TURN-1": _speaker_owes_the_turn,
        "TURN-2": _answer_fits_the_seat,
        "BINDING-1": _candidate_is_current,
        "VERDICT-2": _approval_has_nothing_open,
        "VERDICT-3": _disapproval_names_a_finding,
        "VERDICT-4": _no_rebuttal_in_round_one,
        "FINDING-1": _finding_ids_differ,
        "CHECKS-1": _commands_are_the_dockets,
    }
)
