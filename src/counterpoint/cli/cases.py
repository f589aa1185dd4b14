"""`counterpoint cases`: what there is, and what it came to."""

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

    The state is the decision of a closed case, `open`, or `waiting` where nobody drives it and a person owes an
    answer. A case whose record cannot be read is listed with what is wrong with it.
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
    heads = ("CASE", "PROTOCOL", "STATE", "STARTED", "OPEN FINDINGS", "DRIVEN BY")
    rows = [heads, *(_row(line) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        if number:
            cells[2] = styled(cells[2], _COLOURS.get(row[2]), sys.stdout)
        # Cells are visible already; the only control characters here are our own colours.
        click.echo("  ".join(cells).rstrip())
        if number and (error := lines[number - 1].error):
            say(f"    {error}")


def _row(line: CaseLine) -> tuple[str, ...]:
    holder = f"{line.holder.name} since {line.holder.since}" if line.holder else ""
    findings = str(line.open_findings) if line.error is None else ""
    cells = (line.name, line.protocol, line.state, line.opened_at, findings, holder)
    return tuple(visible(cell) for cell in cells)
