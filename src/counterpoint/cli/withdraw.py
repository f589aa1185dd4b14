"""`counterpoint withdraw`: end a case without a decision."""

import click

from counterpoint.cli.ending import put_away
from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import tell
from counterpoint.cli.speaking import Words, speak
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.core.rules import Withdraw

__all__ = ["withdraw"]

EXITS = {0: "withdrawn", 1: "refused, or the record cannot be written", 2: "the command line is wrong"}


@click.command(
    cls=Manual, exits=EXITS, examples=[("counterpoint withdraw last --reason 'wrong branch'", "end the newest case")]
)
@case_argument
@click.option("--reason", type=Words(), required=True, help="Why; it stands in the record.")
@where_options
@json_option
def withdraw(*, case: str, reason: str, where: Where, as_json: bool) -> int:
    """End an open case without a decision; it stays in the record as withdrawn and undetermined."""
    name = where.find(case)
    code = speak(where, name, Withdraw(reason=reason), did="withdrew", as_json=as_json)
    if unkept := put_away(where, name):
        tell(f"note: {unkept}", colour="yellow")
    return code
