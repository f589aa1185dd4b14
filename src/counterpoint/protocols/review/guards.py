"""Every rule of a review that can refuse, by its id. A guard returns the reason, or None where it has none.

- `OPENING_GUARDS`: what a case may be opened with;
- `GUARDS`: what may be said, by whom, in answer to what;
- `ENTRY_GUARDS`: what may stand in the record after what the table lets follow. They hold for every entry that is
  folded, also one that a driver makes by itself or reads from a file.

PHASE-1 is the table's and LEDGER-1 the ledger's (`core`). Ids are headings in `docs/protocols/review.md`, the `rule`
of the refusal, and the names of two examples each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.case import CaseState
from counterpoint.core.docket import SeatKind
from counterpoint.core.entries import (
    AttemptFailed,
    CaseClosed,
    CaseOpened,
    ClaimChecked,
    Entry,
    FindingRaised,
    FindingRuled,
    SubmissionRevealed,
    SubmissionSealed,
    VerdictGiven,
)
from counterpoint.core.findings import OWN_ID, FindingStatus
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.sealing import opens
from counterpoint.core.values import NAME, Turn
from counterpoint.core.wording import say_command
from counterpoint.protocols.review.codec import GiveVerdict, NameChecks
from counterpoint.protocols.review.table import Phase, owed, seat_of
from counterpoint.protocols.review.weighing import closing

__all__ = ["ENTRY_GUARDS", "GUARDS", "OPENING_GUARDS", "Spoken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Who said what, in answer to which turn, and where the case stands."""

    state: CaseState
    speaker: str
    turn: Turn | None
    submission: Any


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


def _quorum_fits(case: CaseOpened) -> str | None:
    if 1 <= case.quorum <= len(case.roster):
        return None
    return f"a quorum of {case.quorum} with {len(case.roster)} seats; between 1 and {len(case.roster)} is possible"


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
        "DOCKET-1": _something_is_judged,
        "DOCKET-2": _commands_differ,
        "QUORUM-1": _quorum_fits,
        "LIMIT-1": _limits_allow_an_end,
        "LIMIT-2": _deadline_is_an_instant,
    }
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
        return f"{said.speaker!r} answered the turn of {said.turn.seat!r}"
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
    return f"the verdict is on {said.submission.candidate!r}; {current!r} is on the table"


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


def _finding_ids_are_of_their_seat(said: Spoken) -> str | None:
    if not isinstance(said.submission, GiveVerdict):
        return None
    bad = next((f.own_id for f in said.submission.findings if not OWN_ID.fullmatch(f.own_id)), None)
    return f"finding id {bad!r} is not like {OWN_ID.pattern}" if bad is not None else None


_SHOWN: Final = 200


def _commands_are_the_dockets(said: Spoken) -> str | None:
    if not isinstance(said.submission, NameChecks):
        return None
    listed = tuple(c.argv for c in said.state.case.docket.commands)
    if said.submission.commands == listed:
        return None
    strange = next((c for c in said.submission.commands if c not in listed), None)
    if strange is not None:
        return f"{say_command(strange)[:_SHOWN]!r} is not a command of the docket"
    return f"{len(said.submission.commands)} commands named; the docket's {len(listed)} decide, each once, in order"


GUARDS: Final[Mapping[str, Callable[[Spoken], str | None]]] = MappingProxyType(
    {
        "TURN-3": _case_is_open,
        "NOTE-1": _unasked_speech_is_the_supervisors,
        "TURN-1": _speaker_owes_the_turn,
        "TURN-2": _answer_fits_the_seat,
        "BINDING-1": _candidate_is_current,
        "VERDICT-1": _approval_has_nothing_open,
        "VERDICT-2": _disapproval_names_a_finding,
        "VERDICT-3": _no_rebuttal_in_round_one,
        "FINDING-1": _finding_ids_differ,
        "FINDING-2": _finding_ids_are_of_their_seat,
        "CHECKS-1": _commands_are_the_dockets,
    }
)


def _turn_is_owed(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, SubmissionSealed | AttemptFailed) or entry.turn in owed(state):
        return None
    return f"turn {entry.turn.id} is not owed; it was answered, failed or never asked"


def _reply_is_the_sealed_one(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, SubmissionRevealed):
        return None
    sealed = state.sealed.get(entry.turn.seat)
    if sealed is None or sealed.turn != entry.turn:
        return f"turn {entry.turn.id} has no seal"
    if entry.turn.id in state.revealed:
        return f"turn {entry.turn.id} is revealed already"
    is_it = opens(sealed.digest, entry.salt, entry.reply.encode("utf-8", "surrogatepass"))
    return None if is_it else f"the reply to {entry.turn.id} is not the one that was sealed"


def _seat_has_revealed(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, ClaimChecked | FindingRaised | FindingRuled | VerdictGiven):
        return None
    sealed = state.sealed.get(entry.seat)
    is_revealed = sealed is not None and sealed.turn.id in state.revealed
    return None if is_revealed else f"{type(entry).__name__} of {entry.seat!r}, which has revealed no reply"


def _close_is_computed(state: CaseState, entry: Entry) -> str | None:
    if not isinstance(entry, CaseClosed):
        return None
    computed = closing(state, entry.stop_reason, entry.detail)
    if entry == computed:
        return None
    return (
        f"the entry says {entry.decision} ({entry.stop_reason});"
        f" the rules compute {computed.decision} ({computed.stop_reason})"
    )


ENTRY_GUARDS: Final[Mapping[str, Callable[[CaseState, Entry], str | None]]] = MappingProxyType(
    {
        "SEAL-1": _turn_is_owed,
        "SEAL-2": _reply_is_the_sealed_one,
        "REVEAL-1": _seat_has_revealed,
        "CLOSE-1": _close_is_computed,
    }
)
