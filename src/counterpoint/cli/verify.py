"""`counterpoint verify`: is a record what it was when it was written?"""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import print_json, say, styled, tell
from counterpoint.cli.where import Where, complete_case, where_options
from counterpoint.core.canonical import visible
from counterpoint.drive.clock import format_stamp
from counterpoint.drive.paths import path_text
from counterpoint.drive.verifying import Verified, read_keys, read_note, sign_head, verify_case, verify_file
from counterpoint.views.verified import json_of, lines_of
from counterpoint.views.writing import put_whole

__all__ = ["verify"]

FAILED: Final = 1


@click.command(
    cls=Manual,
    exits={
        0: "clean: every entry is what its chain, its rules and what is known of it elsewhere say",
        1: "tampered with, damaged, at odds with what stands beside it, or not to be read; the entry is named",
        2: "the command line is wrong",
    },
    examples=[
        ("counterpoint verify last", "the newest case"),
        ("counterpoint verify ./copy/NAME.channel.md", "a channel file by its path, anybody's"),
        ("counterpoint verify last --write-checkpoint head.txt", "sign the head, to send it elsewhere"),
        ("counterpoint verify last --checkpoint head.txt --key alice.pub", "hold the record against such a head"),
    ],
)
@click.argument("what", metavar="CASE|FILE", shell_complete=complete_case)
@click.option(
    "--checkpoint",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A signed head that the record must contain.",
)
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Who may have signed it: public keys, one a line.  [default: this machine's, and those of the record]",
)
@click.option(
    "--write-checkpoint",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the head of the verified record, signed with this machine's key.",
)
@json_option
@where_options
def verify(
    where: Where, what: str, checkpoint: Path | None, key: Path | None, target: Path | None, *, as_json: bool
) -> int:
    """Check that a record is what it was when it was written.

    What has a dot or a slash in it is a FILE, a channel file by its path; anything else is a CASE: its name, any
    unambiguous beginning or end of it, or `last`.

    Every byte is held against the hash chain and its signatures, the chain against what this machine remembers and
    against a checkpoint, and the entries of a case against its rules. Nothing in the record is changed or repaired.
    Its head is remembered, so that a record that is rolled back or forked later is found; a channel not known yet is
    first seen here.
    """
    if key is not None and checkpoint is None:
        raise click.UsageError("--key says who may have signed a checkpoint; name one with --checkpoint")
    note = None if checkpoint is None else read_note(checkpoint, read_keys(key) if key else ())
    now = format_stamp(datetime.now(UTC))
    if "/" in what or "." in what:
        verified = verify_file(Path(what), folders=where.folders, note=note, now=now)
    else:
        verified = verify_case(where.store, where.cases, where.find(what), folders=where.folders, note=note, now=now)
    if target is not None:
        put_whole(target, sign_head(verified, where.folders))
    if as_json:
        print_json(json_of(verified))
    else:
        _print(verified, target)
    return 0 if verified.record.is_clean else FAILED


def _print(verified: Verified, target: Path | None) -> None:
    first, *others = lines_of(verified)
    colour = "green" if verified.record.is_clean else "red"
    click.echo(styled(visible(first), colour, sys.stdout))
    for line in others:
        say(line)
    if target is not None:
        tell(f"checkpoint written to {path_text(target)}")
