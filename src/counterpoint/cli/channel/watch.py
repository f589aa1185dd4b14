"""`counterpoint channel watch`: drive the open thread in the foreground (SPEC C-049)."""

import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from counterpoint.cli.channel.clock import now
from counterpoint.cli.channel.parsing import CHANNEL, ROOT, Option, Shape, whole_number
from counterpoint.cli.channel.printing import print_lines
from counterpoint.cli.channel.watch_once import CONFIG
from counterpoint.drive.channels import shown_path
from counterpoint.drive.watching.loop import watch
from counterpoint.drive.watching.opening import open_watcher

if TYPE_CHECKING:
    from counterpoint.cli.channel.live import Live
    from counterpoint.drive.watching.tick import Watcher

__all__ = ["SHAPE", "run"]

_INTERVAL_S: Final = 180

SHAPE: Final = Shape(
    summary="drive the open thread in the foreground",
    about=(
        "Holds the watcher's lock for as long as it runs and ticks at an interval. On a terminal it shows who holds "
        "the turn, for how long, and what was said last; elsewhere it prints plain lines, each with the watcher's "
        "name."
    ),
    options=(
        ROOT,
        CHANNEL,
        CONFIG,
        Option(
            "interval",
            "SECONDS",
            f"between two ticks  [default: {_INTERVAL_S}]",
            read=whole_number(1),
            default=_INTERVAL_S,
        ),
        Option("until-close", about="end once no thread is open"),
        Option("max-ticks", "N", "end after so many ticks", read=whole_number(1)),
        Option("json", about="print each line as one JSON object", ours=True),
    ),
    exits={
        0: "with --until-close: no thread is open any more",
        1: "refused: the state belongs to another channel, or a file cannot be read",
        2: "the command line is wrong",
        4: "a person is needed: the last line says ESCALATE or STUCK",
        5: "with --max-ticks: they are spent",
        6: "another watcher is at work",
        130: "interrupted; the command that ran is ended",
    },
    examples=(
        (
            "counterpoint channel watch --root collab --config watcher.json --until-close",
            "until the thread is closed",
        ),
    ),
)


def run(given: Mapping[str, Any]) -> int:
    """Watch until something ends it."""
    root = shown_path(given["root"])
    emit = _print_object if given["json"] else _print_at_once
    watcher = open_watcher(root, given["channel"], given["config"], os.environ, now=now, emit=emit)
    with _live(watcher, root, on=not given["json"] and sys.stdout.isatty()) as live:
        if live is not None:
            watcher.emit = live.say
        return watch(
            watcher,
            interval_s=given["interval"],
            until_close=given["until-close"],
            max_ticks=given["max-ticks"],
            sleep=time.sleep,
        )


def _print_at_once(line: str) -> None:
    """Print a line that has left this process when this returns: a log that lags reads as a watcher that died."""
    print_lines(line)
    sys.stdout.flush()


def _print_object(line: str) -> None:
    print_lines(json.dumps({"at": now().isoformat(timespec="seconds"), "line": line}, sort_keys=True))
    sys.stdout.flush()


def _live(watcher: "Watcher", root: str, *, on: bool) -> "AbstractContextManager[Live | None]":
    if not on:
        return nullcontext()
    # Cold start: only a terminal has it.
    from counterpoint.cli.channel.live import Live, describer  # noqa: PLC0415

    return Live(describer(watcher, root, now=now), colour=not os.environ.get("NO_COLOR"))
