"""`counterpoint cases`: what there is, and what it came to."""

import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import print_json, say, styled, tell
from counterpoint.cli.where import Where, where_options
from counterpoint.core.canonical import visible
from counterpoint.drive.paths import path_text
from counterpoint.views.overview import CaseLine, list_lines

__all__ = ["cases"]

_COLUMNS: Final = 100
"""How wide the table is where there is no screen."""
_LEAST: Final = 30
_COLOURS: Final = {
    "approved": "green",
    "rejected": "red",
    "unreadable": "red",
    "undetermined": "yellow",
    "waiting": "yellow",
    "open": "cyan",
}


@click.command(
    cls=Manual,
    examples=[
        ("counterpoint cases", "those of the repository around the current folder"),
        ("counterpoint cases --repo ../shop", "those of another one"),
        ("counterpoint cases --json", "for a program"),
    ],
)
@json_option
@where_options
def cases(where: Where, *, as_json: bool) -> None:
    """List the cases of a repository, the newest last.

    A name has the protocol and when the case began. The state is the decision of a closed case, `open`, or `waiting`
    where nobody drives it and a person owes an answer. A case whose record cannot be read is listed with what is
    wrong with it.
    """
    lines = tuple(list_lines(where.store, where.cases, datetime.now(UTC)))
    if as_json:
        print_json({"folder": path_text(where.cases), "cases": [line.fields() for line in lines]})
    elif lines:
        _print_table(lines)
    else:
        tell(f"there is no case in {path_text(where.cases)}")
        tell("hint: start one; `counterpoint` says which command does what")


def _print_table(lines: Sequence[CaseLine]) -> None:
    rows = [("CASE", "STATE", "ABOUT"), *(_row(line) for line in lines)]
    name, state = (max(len(row[column]) for row in rows) for column in range(2))
    columns = shutil.get_terminal_size((_COLUMNS, 0)).columns if sys.stdout.isatty() else _COLUMNS
    left = max(_LEAST, columns - name - state - 4)
    for number, row in enumerate(rows):
        shown = row[1].ljust(state)
        if number:
            shown = styled(shown, _COLOURS.get(row[1]), sys.stdout)
        about = row[2] if len(row[2]) <= left else f"{row[2][: left - 1]}…"
        # Cells are visible already; the only control characters here are our own colours.
        click.echo(f"{row[0].ljust(name)}  {shown}  {about}".rstrip())
        if number:
            _print_more(lines[number - 1])


def _print_more(line: CaseLine) -> None:
    if line.error:
        say(f"    {line.error}")
    if line.open_findings:
        say(f"    {line.open_findings} open finding{'s' if line.open_findings > 1 else ''}")
    if line.holder:
        say(f"    driven by {line.holder.name} since {line.holder.since}")


def _row(line: CaseLine) -> tuple[str, str, str]:
    return visible(line.name), visible(line.state), visible(line.about)
