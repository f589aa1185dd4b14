"""`counterpoint channel compact`: move old closed threads to the archive (SPEC C-045)."""

import os
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.cli.channel.clock import now
from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape
from counterpoint.cli.channel.printing import print_json, print_lines
from counterpoint.drive.channels import find_channel, open_channels, shown_path
from counterpoint.drive.compacting import Move, compact_channel, plan_compaction
from counterpoint.record.names import month_file

__all__ = ["SHAPE", "run"]

_KEEP_DAYS: Final = 14.0

SHAPE: Final = Shape(
    summary="move old closed threads to archive/, byte for byte",
    options=(
        ROOT,
        CHANNEL,
        Option(
            "keep-days", "DAYS", "keep what was closed more recently  [default: 14]", read=float, default=_KEEP_DAYS
        ),
        Option("dry-run", about="say what would be moved, and write nothing"),
        JSON,
    ),
    exits={0: "moved, or nothing to move", 1: "the record cannot be read or written", 2: "the command line is wrong"},
    examples=(("counterpoint channel compact --keep-days 30 --dry-run", "what a month's order would move"),),
)


def run(given: Mapping[str, Any]) -> int:
    """Compact a channel."""
    root = shown_path(given["root"])
    channel = find_channel(root, given["channel"])
    work = plan_compaction if given["dry-run"] else compact_channel
    moves = work(open_channels(root, os.environ), channel, keep_days=given["keep-days"], now=now())
    if given["json"]:
        print_json({"dry_run": given["dry-run"], "archived": [_fields(channel, move) for move in moves]})
        return 0
    if not moves:
        print_lines("nothing to compact")
        return 0
    if given["dry-run"]:
        print_lines("dry-run, nothing written")
    for move in moves:
        first, last = move.numbers
        where = month_file(channel, move.month)
        print_lines(f"archived {move.thread}: MSG-{first}..MSG-{last} ({len(move.rows)} entries) -> {where}")
    return 0


def _fields(channel: str, move: Move) -> Mapping[str, Any]:
    first, last = move.numbers
    file = month_file(channel, move.month)
    return {"thread": move.thread, "first": first, "last": last, "entries": len(move.rows), "file": file}
