"""What the supervisor says into a case without being asked: the way there that `note` and `withdraw` share."""

from counterpoint.cli.where import Where
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.drive.api import SUPERVISOR, rules_of
from counterpoint.drive.casefile import CaseFile
from counterpoint.drive.cases import find_case, load_case
from counterpoint.drive.clock import SystemClock
from counterpoint.drive.registry import open_store

__all__ = ["speak"]


def speak(where: Where, case: str, submission: AddNote | Withdraw) -> tuple[str, int]:
    """Record what the supervisor says; return the case's name and the entry's number.

    Raises:
        Refused: the case is closed.
    """
    name = find_case(where.cases, case)
    store = open_store(where.cases, where.folders)
    opened = load_case(store, where.cases, name).state.case
    file = CaseFile(store, name, rules_of(opened.protocol))
    file.refresh()
    now = SystemClock().now()
    file.append_anyway(file.rules.admit(file.state, SUPERVISOR, None, submission, evidence=(), now=now), now)
    return name, file.number
