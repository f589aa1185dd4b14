"""`counterpoint note`: a word of the supervisor's in a case's record."""

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.speaking import Words, speak
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.core.rules import AddNote

__all__ = ["note"]

EXITS = {0: "recorded", 1: "refused, or the record cannot be written", 2: "the command line is wrong"}


@click.command(
    cls=Manual,
    exits=EXITS,
    examples=[("counterpoint note last 'the flaky test is known'", "say it into the newest case")],
)
@case_argument
@click.argument("text", type=Words())
@where_options
@json_option
def note(*, case: str, text: str, where: Where, as_json: bool) -> int:
    """Add a note of the supervisor's to an open case.

    It becomes an entry like any other. It is never a vote, and it changes no outcome. A driver may be at work.
    """
    return speak(where, case, AddNote(text=text), did="noted in", as_json=as_json)
