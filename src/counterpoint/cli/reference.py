"""Pages and schemas that are written from the program itself: `python -m counterpoint.cli.reference DIR`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Final

import click

from counterpoint.cli.main import counterpoint
from counterpoint.cli.manual import ManualWithMore
from counterpoint.views.schema import RESULT_SCHEMA

__all__ = ["PAGES", "commands", "main"]

_WIDTH: Final = 100
_HEAD: Final = """\
# The command line

Written by `make docs` from the commands themselves; a test fails where this page and the program differ.
`cpt` is the same program under a shorter name."""


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all below it, with the words that call each."""
    yield name, command
    if isinstance(command, ManualWithMore):
        for word, other in command.below.items():
            yield from commands(other, f"{name} {word}")
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None, f"{name} lists {word}, and has it not"
            yield from commands(below, f"{name} {word}")


def _page() -> str:
    parts = [_HEAD]
    for name, command in commands(counterpoint, "counterpoint"):
        context = click.Context(command, info_name=name, terminal_width=_WIDTH, help_option_names=["-h", "--help"])
        parts += [f"## {name}", f"```text\n{command.get_help(context).rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _schema() -> str:
    return json.dumps(dict(RESULT_SCHEMA), indent=2) + "\n"


PAGES: Final = MappingProxyType({"cli.md": _page, "result.schema.json": _schema})
"""By file name: what renders it."""


def main(folder: Path) -> None:
    """Write every page into `folder`."""
    for name, render in PAGES.items():
        (folder / name).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
