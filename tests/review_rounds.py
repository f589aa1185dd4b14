"""Reviews with an author, played to where their rounds stand."""

from typing import Any, Final

from counterpoint.core.checks import Evidence
from counterpoint.core.docket import Seat
from counterpoint.core.limits import Limits
from counterpoint.core.values import Decision, StopReason
from counterpoint.protocols.review.judging import entries_of
from tests.review_case import AUTHOR, CRITIC, Play, answered, finding, verdict

__all__ = ["NEW", "OPEN", "ROUNDS", "SETTLED", "TIMER", "asked", "disputed", "edited", "end", "open_reply", "play"]

ROUNDS: Final = Limits(max_rounds=3)
TIMER: Final = "src/timer.py"
NEW: Final = {"id": "F9", "issue": "the edit drops the lock"}
OPEN: Final = verdict(finding())
SETTLED: Final = verdict(finding(status="resolved", reason="it returns early"))


def play(*seats: Seat, rounds: int = 3, **setting: Any) -> Play:
    return Play(AUTHOR, *(seats or (CRITIC,)), **{"limits": Limits(max_rounds=rounds), **setting})


def end(case: Play) -> tuple[StopReason | None, Decision]:
    return case.outcome.stop_reason, case.outcome.decision


def asked(*findings: dict[str, Any], seats: tuple[Any, ...] = (AUTHOR, CRITIC), **setting: Any) -> Play:
    """Return a case in which the first reviewer has raised these findings, and the author owes its answer."""
    case = Play(*seats, **{"limits": ROUNDS, **setting})
    case.read(verdict(*(findings or (finding(),))), *(verdict() for _ in seats[2:]))
    return case


def edited(*findings: dict[str, Any], changed: tuple[str, ...] = (TIMER,), **setting: Any) -> Play:
    """Return a case in which the author has edited these paths for the first finding."""
    case = asked(*findings, **setting)
    open_ids = [f.id for f in case.state.ledger.unsettled()]
    case.reply(answered("fix", open_ids[0]), *(answered("rebut", i) for i in open_ids[1:]), changed=changed)
    return case


def disputed(*findings: dict[str, Any], **setting: Any) -> Play:
    """Return a case in which the author has denied every finding and edited nothing."""
    case = asked(*findings, **setting)
    case.reply(*(answered("rebut", f.id) for f in case.state.ledger.unsettled()))
    return case


def open_reply(case: Play, seat: str) -> None:
    """Open one sealed verdict in the record, by itself."""
    turn = case.state.sealed[seat].turn
    kept = case.vault[turn.id]
    found = tuple(e for e in kept.evidence if isinstance(e, Evidence))
    case.append(case.revealed(seat), *entries_of(case.state, turn, kept.submission, found))
