"""What the supervisor says into a case without being asked: the way there that `note` and `withdraw` share."""

from typing import Any

import click

from counterpoint.cli.output import print_json, say
from counterpoint.cli.where import Where
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.drive.casefile import CaseFile
from counterpoint.drive.cases import PROTOCOLS
from counterpoint.drive.clock import SystemClock

__all__ = ["Words", "speak"]


class Words(click.ParamType[str]):
    """A text that says something."""

    name = "TEXT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value).strip()
        if not text:
            self.fail("a text that is not blank is needed", param, ctx)
        return text


def speak(where: Where, case: str, submission: AddNote | Withdraw, *, did: str, as_json: bool) -> int:
    """Record what the supervisor says, print which entry it became, and return the exit code.

    Raises:
        Refused: the case is closed.
    """
    loaded = where.load(case)
    opened, now = loaded.state.case, SystemClock().now()
    file = CaseFile(where.store, loaded.name, PROTOCOLS[opened.protocol])
    file.refresh()
    file.append_anyway(file.rules.admit(file.state, opened.supervisor, None, submission, evidence=(), now=now), now)
    if as_json:
        print_json({"case": loaded.name, "entry": file.number})
    else:
        say(f"{did} {loaded.name} as MSG-{file.number}")
    return 0
