"""The help of channel commands, each of which stands alone."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from counterpoint.cli.channel import COMMANDS, command
from counterpoint.cli.channel.parsing import Option, Shape
from counterpoint.cli.channel.printing import print_lines

__all__ = ["EXAMPLES", "help_of", "print_help"]

EXAMPLES: Final = (("counterpoint channel status", "whose turn it is, and for how long"),)
"""Of the mailbox as a whole."""

_WIDTH: Final = 100
_COLUMN: Final = 26
_OVERVIEW: Final = (
    "The mailbox: two parties take turns in a Markdown file, a supervisor may speak at any time. Commands, flags, "
    "files and exit codes are those of the public tool `debate`; both may work on one channel at once."
)


def print_help(name: str) -> int:
    """Print the help of a command, or of all where `name` is empty; return the exit code."""
    print_lines(help_of(name))
    return 0


def help_of(name: str) -> str:
    """Return the help of a command, or the overview where `name` is empty."""
    if not name:
        rows = [(known, command(known).SHAPE.summary) for known in COMMANDS]
        usage = "usage: counterpoint channel COMMAND [options]"
        about = textwrap.wrap(_OVERVIEW, _WIDTH)
        return "\n".join([usage, "", *about, "", "commands:", *_table(rows), *_examples(EXAMPLES)])
    shape: Shape = command(name).SHAPE
    return "\n".join(_manual(name, shape))


def _manual(name: str, shape: Shape) -> Iterator[str]:
    needed = [_spelled(option) for option in shape.options if option.required]
    if shape.one_of:
        choices = [_spelled(option) for option in shape.options if option.name in shape.one_of]
        needed.append(f"({' | '.join(choices)})")
    yield " ".join(["usage: counterpoint channel", name, *needed, "[options]"])
    yield ""
    yield from textwrap.wrap(f"{shape.summary[:1].upper()}{shape.summary[1:]}. {shape.about}".strip(), _WIDTH)
    yield ""
    yield "options:"
    yield from _table([("-h, --help", "print this help"), *((_spelled(one), one.about) for one in shape.options)])
    yield from _examples(shape.examples)
    yield ""
    yield "exit codes:"
    yield from _table([(str(code), meaning) for code, meaning in shape.exits.items()])


def _examples(examples: Sequence[tuple[str, str]]) -> Iterator[str]:
    if examples:
        yield ""
        yield "examples:"
    for line, what in examples:
        yield f"  # {what}"
        yield f"  {line}"


def _spelled(option: Option) -> str:
    return f"{option.flag} {option.takes}".rstrip()


def _table(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    for left, right in rows:
        first, *rest = textwrap.wrap(right, _WIDTH - _COLUMN)
        yield f"  {left:<{_COLUMN - 4}}  {first}"
        for line in rest:
            yield f"{'':{_COLUMN}}{line}"
