"""`counterpoint report`: report.md, result.json and the page of a case, from its record alone."""

from pathlib import Path

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.drive.paths import path_text
from counterpoint.views.kinds import view_of
from counterpoint.views.writing import render_result, write_reports

__all__ = ["report"]


@click.command(
    cls=Manual,
    examples=[
        ("counterpoint report last", "write them into the newest case's folder"),
        ("counterpoint report last --stdout", "print report.md and write nothing"),
        ("counterpoint report last --stdout --json", "print result.json and write nothing"),
        ("counterpoint report last --out build/review", "write them elsewhere"),
    ],
)
@case_argument
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write into this folder."
)
@click.option("--stdout", "to_stdout", is_flag=True, help="Print instead of writing.")
@json_option
@where_options
def report(where: Where, case: str, out: Path | None, *, to_stdout: bool, as_json: bool) -> None:
    """Write report.md and result.json of CASE, from its record alone; of a proposal report.html, too.

    CASE is a case's name, any unambiguous beginning or end of it, or `last`. The same record gives the same bytes.
    Each is replaced whole. The code says whether they were written, not what was decided: that is in them.
    """
    if to_stdout and out is not None:
        raise click.UsageError("--stdout writes nothing; leave --out away")
    loaded = where.load(case)
    if to_stdout:
        # Both renderings have written out every hidden character of others already.
        click.echo(render_result(loaded) if as_json else view_of(loaded).report(loaded), nl=False)
        return
    written = write_reports(loaded, out)
    if as_json:
        keys = ("report", "result", "page")[: len(written)]
        print_json({"case": loaded.name, **{key: path_text(path) for key, path in zip(keys, written, strict=True)}})
        return
    for path in written:
        say(path_text(path))
