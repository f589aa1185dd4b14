"""`counterpoint show`: the record, for reading."""

import shutil
import sys
from typing import Final

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import print_json, styled
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.errors import SourceError
from counterpoint.record.store import Block
from counterpoint.views.transcript import block_of, render_entry, render_transcript, transcript_of

__all__ = ["show"]

_WIDTH: Final = 100
_COLOURS: Final = {"number": "cyan", "type": "yellow", "quote": "bright_black", "strong": "bright_white"}


@click.command(
    cls=Manual,
    examples=[
        ("counterpoint show last", "the newest case, every entry in words"),
        ("counterpoint show review-20261130 --entry 7", "one entry whole: header, words, typed fields"),
        ("counterpoint show last --json", "one object with every entry, for a program"),
    ],
)
@case_argument
@click.option("--entry", "number", type=click.IntRange(min=0), metavar="N", help="Print entry N alone, and whole.")
@json_option
@where_options
def show(where: Where, case: str, number: int | None, *, as_json: bool) -> None:
    """Print the record of CASE for reading, every entry in words.

    CASE is a case's name, any unambiguous beginning or end of it, or `last`. What an entry holds beyond its words is
    printed with --entry or --json. Hidden characters are written out. Nothing is written.
    """
    name = where.find(case)
    blocks = where.store.read(name)
    if number is not None:
        found = _entry(blocks, name, number)
        if as_json:
            print_json(block_of(found))
        else:
            click.echo(render_entry(found, paint=_paint), nl=False)
    elif as_json:
        print_json(transcript_of(name, blocks))
    else:
        click.echo(render_transcript(blocks, width=_width(), paint=_paint), nl=False)


def _entry(blocks: tuple[Block, ...], case: str, number: int) -> Block:
    found = next((block for block in blocks if block.n == number), None)
    if found is None:
        raise SourceError(
            f"{case} has no MSG-{number}; its newest is MSG-{blocks[-1].n}", hint="name an entry it has"
        )
    return found


def _paint(text: str, what: str) -> str:
    return styled(text, _COLOURS.get(what), sys.stdout)


def _width() -> int:
    return min(shutil.get_terminal_size().columns, _WIDTH) if sys.stdout.isatty() else _WIDTH
