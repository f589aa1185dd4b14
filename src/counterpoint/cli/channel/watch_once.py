"""`counterpoint channel watch-once`: one tick of the watcher, for a scheduler (SPEC C-047, C-146)."""

import os
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.cli.channel.clock import now, stamp_now
from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape
from counterpoint.cli.channel.printing import print_json, print_lines
from counterpoint.drive.channels import shown_path
from counterpoint.drive.watching.lock import hold_watcher
from counterpoint.drive.watching.opening import open_watcher
from counterpoint.drive.watching.state import make_folder_of

__all__ = ["CONFIG", "SHAPE", "run"]

ESCALATED: Final = 4

CONFIG: Final = Option("config", "FILE", "the watcher's settings, as `setup` writes them", required=True)

SHAPE: Final = Shape(
    summary="do one tick of the watcher, for a scheduler",
    about=(
        "New entries are printed, one line each; whoever's turn it is has its command run, once for each new "
        "doorbell and once more after `retry_seconds` without a reply. Nothing changed: nothing runs, nothing is "
        "printed."
    ),
    options=(ROOT, CHANNEL, CONFIG, JSON),
    exits={
        0: "done, also where there was nothing to do",
        1: "refused: another watcher is at work, the state belongs to another channel, or a file cannot be read",
        2: "the command line is wrong",
        4: "a person is needed: a line says ESCALATE or STUCK",
        130: "interrupted; the command that ran is ended",
    },
    examples=(("counterpoint channel watch-once --root collab --config watcher.json", "every minute, from cron"),),
)


def run(given: Mapping[str, Any]) -> int:
    """Do one tick."""
    lines: list[str] = []
    emit = lines.append if given["json"] else print_lines
    root = shown_path(given["root"])
    watcher = open_watcher(root, given["channel"], given["config"], os.environ, now=now, emit=emit)
    config = watcher.config
    make_folder_of(watcher.fs, config.state_path)
    with hold_watcher(config.state_path, root=config.root, stamp=stamp_now()):
        done = watcher.tick()
    if given["json"]:
        print_json({"lines": lines, "called": done.called or None, "escalated": done.escalated})
    return ESCALATED if done.escalated else 0
