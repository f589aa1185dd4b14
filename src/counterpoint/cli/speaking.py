"""What the supervisor says into a case without being asked: the way there that `note` and `withdraw` share."""

from counterpoint.cli.where import Where
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.drive.api import SUPERVISOR, rules_of
from counterpoint.drive.casefile import CaseFile
from counterpoint.drive.clock import SystemClock

__all__ = ["speak"]


def speak(where: Where, case: str, submission: AddNote | Withdraw) -> tuple[str, int]:
    """Record what the supervisor says; return the case's name and the entry's number.

    Raises:
        Refused: the case is closed.
    """
    loaded = where.load(case)
    file = CaseFile(where.store, loaded.name, rules_of(loaded.state.case.protocol))
    file.refresh()
    now = SystemClock().now()
    file.append_anyway(file.rules.admit(file.state, SUPERVISOR, None, submission, evidence=(), now=now), now)
    return loaded.name, file.number
