"""`counterpoint channel status`: the doorbell, whose turn it is and for how long, the open thread (SPEC C-042)."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

from counterpoint.cli.channel.clock import now
from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape, whole_number
from counterpoint.cli.channel.printing import print_json, print_lines, tell
from counterpoint.drive.channels import find_channel, open_channels, shown_path
from counterpoint.drive.reading import Standing, standing

__all__ = ["SHAPE", "run"]

STUCK: Final = 3

SHAPE: Final = Shape(
    summary="print the doorbell and the open thread",
    options=(
        ROOT,
        CHANNEL,
        Option(
            "stale-after",
            "SECONDS",
            "exit 3 where the open thread waits this long; one without a turn, or of unknown age, always does",
            read=whole_number(0),
        ),
        JSON,
    ),
    exits={
        0: "printed",
        1: "the record cannot be read",
        2: "the command line is wrong",
        3: "with --stale-after: the open thread is stuck",
    },
    examples=(("counterpoint channel status --stale-after 3600", "for a scheduler: exit 3 after an hour"),),
)


def run(given: Mapping[str, Any]) -> int:
    """Print how the channel stands."""
    root = shown_path(given["root"])
    channel = find_channel(root, given["channel"])
    found = standing(open_channels(root, os.environ), channel, now=now())
    stale_after: int | None = given["stale-after"]
    is_stuck = _is_stuck(found, stale_after)
    if found.doorbell.rebuilt:
        tell(f"{found.doorbell.rebuilt}; shown as the record has it")
    fields = dict(found.doorbell.fields)
    if found.parked is not None and found.parked.age_s is not None:
        fields["turn_age_seconds"] = found.parked.age_s
    if given["json"]:
        print_json({"doorbell": fields, "is_stuck": is_stuck, "entries": list(map(_entry, found.thread))})
    else:
        print_lines(json.dumps(fields, indent=2), *_lines(found))
    return STUCK if is_stuck and stale_after is not None else 0


def _is_stuck(found: Standing, stale_after: int | None) -> bool:
    if not found.doorbell.state.thread:
        return False
    if found.parked is None or found.parked.age_s is None:
        return True
    return stale_after is not None and found.parked.age_s >= stale_after


def _lines(found: Standing) -> Iterator[str]:
    turn, thread = found.doorbell.state.turn, found.doorbell.state.thread
    if not thread:
        return
    if found.parked is None:
        yield f"thread '{thread}' open with no turn - supervisor close required"
    elif found.parked.age_s is None:
        seq = found.parked.seq
        yield f"turn '{turn}' parked (age unknown; malformed stamps) on '{thread}' (seq {seq})"
    else:
        hours, seconds = divmod(found.parked.age_s, 3600)
        yield f"turn '{turn}' parked {hours}h{seconds // 60:02d}m on '{thread}' (seq {found.parked.seq})"
    for block in found.thread:
        yield f"  MSG-{block.n} {block.sender} {block.type}"


def _entry(block: Any) -> Mapping[str, Any]:
    return {"n": block.n, "sender": block.sender, "type": block.type, "stamp": block.stamp}
