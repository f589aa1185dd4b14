"""`counterpoint withdraw`: end a case without a decision."""

import click

from counterpoint.cli.manual import Manual
from counterpoint.cli.output import say
from counterpoint.cli.speaking import speak
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.core.rules import Withdraw

__all__ = ["withdraw"]

EXITS = {0: "withdrawn", 1: "refused, or the record cannot be written", 2: "the command line is wrong"}


@click.command(
    cls=Manual, exits=EXITS, examples=[("counterpoint withdraw last --reason 'wrong branch'", "end the newest case")]
)
@case_argument
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stands in the record.")
@where_options
def withdraw(case: str, reason: str, where: Where) -> int:
    """End an open case without a decision; it stays in the record as withdrawn and undetermined."""
    name, number = speak(where, case, Withdraw(reason=reason))
    say(f"withdrew {name} with MSG-{number}")
    return 0
