"""`counterpoint channel watch-status`: is anything driving this channel? (SPEC C-048)."""

import os
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.cli.channel.clock import now
from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape, whole_number
from counterpoint.cli.channel.printing import print_json, print_lines
from counterpoint.cli.channel.watch_once import CONFIG
from counterpoint.drive.channels import shown_path
from counterpoint.drive.watching.opening import open_config
from counterpoint.drive.watching.report import Report, report, report_lines
from counterpoint.drive.watching.verdict import ATTENTION
from counterpoint.record.fs import RealFiles

__all__ = ["SHAPE", "run"]

ATTENTION_CODE: Final = 4
_GRACE_S: Final = 120

SHAPE: Final = Shape(
    summary="say whether anything drives a channel, who, and what it waits for",
    about="Reads alone: nothing is made and nothing is held, so that asking changes nothing.",
    options=(
        ROOT,
        CHANNEL,
        CONFIG,
        Option(
            "grace",
            "SECONDS",
            f"how long a turn may wait for its first call beyond its debounce  [default: {_GRACE_S}]",
            read=whole_number(1),
            default=_GRACE_S,
        ),
        JSON,
    ),
    exits={
        0: "IDLE, DRIVING, INVOKED, MANUAL or TERMINAL",
        1: "a file cannot be read",
        2: "the command line is wrong",
        4: "a person should look: STALE, ESCALATED, INVALID or ERROR",
    },
    examples=(("counterpoint channel watch-status --root collab --config watcher.json", "who drives it?"),),
)


def run(given: Mapping[str, Any]) -> int:
    """Print how a channel is watched."""
    root, moment = shown_path(given["root"]), now()
    config, _ = open_config(root, given["channel"], given["config"], os.environ)
    found = report(RealFiles(), root, config, os.environ, now=moment, grace_s=given["grace"])
    if given["json"]:
        print_json(_fields(found))
    else:
        print_lines(*report_lines(found, config, now=moment))
        print_lines("", f"{found.verdict.word}: {found.verdict.detail}")
    return ATTENTION_CODE if found.verdict.word in ATTENTION else 0


def _fields(found: Report) -> Mapping[str, Any]:
    holder = found.holder
    return {
        "verdict": str(found.verdict.word),
        "detail": found.verdict.detail,
        "doorbell": dict(found.bell),
        "last_mirrored_seq": None if found.state is None else found.state.mirrored,
        "holder": holder
        and {"pid": holder.pid, "since": holder.since, "channel": holder.channel, "cwd": holder.cwd or None},
    }
