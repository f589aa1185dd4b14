"""`counterpoint settings`: every setting, its value and where it comes from."""

import json
import os

import click

from counterpoint.cli.manual import READ_EXITS, Manual, json_option
from counterpoint.cli.output import print_json, say, tell
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.config import load
from counterpoint.drive.ground import settings_here
from counterpoint.drive.settings import explain

__all__ = ["settings"]


@click.command(
    cls=Manual,
    exits=READ_EXITS,
    examples=[
        ("counterpoint settings", "what a review of the current branch would use"),
        ("counterpoint settings --base HEAD~3", "with the repository's settings as that merge base has them"),
    ],
)
@where_options
@click.option("--base", metavar="REV", help="As for `review`.")
@json_option
def settings(*, where: Where, base: str | None, as_json: bool) -> int:
    """Print every setting with its value and its source: flag, environment, your file, the repository, or default.

    The repository's settings are read at the merge base, never from the change. Outside a repository, or where no
    merge base can be found, they are left out, and that is said.
    """
    flags = {"review.base": base}
    files, why = settings_here(where.repo, flags=flags, folders=where.folders, environment=os.environ)
    loaded = load(flags=flags, environment=os.environ, settings_file=where.folders.settings_file, repository=files)
    for notice in (*loaded.notices, *([why] if why else ())):
        tell(f"note: {notice}", colour="yellow")
    rows = explain(loaded.settings)
    if as_json:
        print_json({"settings": [{"key": r.key, "value": json.loads(r.value), "source": r.source} for r in rows]})
        return 0
    width = max(len(row.key) for row in rows)
    for row in rows:
        say(f"{row.key:{width}}  {row.value}  ({row.source})")
    return 0
