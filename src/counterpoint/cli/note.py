"""`counterpoint note`: a word of the supervisor's in a case's record."""

import click

from counterpoint.cli.manual import Manual
from counterpoint.cli.output import say
from counterpoint.cli.speaking import speak
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
@click.argument("text")
@where_options
def note(case: str, text: str, where: Where) -> int:
    """Add a note of the supervisor's to an open case.

    It becomes an entry like any other. It is never a vote, and it changes no outcome. A driver may be at work.
    """
    name, number = speak(where, case, AddNote(text=text))
    say(f"noted in {name} as MSG-{number}")
    return 0
