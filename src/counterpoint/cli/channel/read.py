"""`counterpoint channel read`: entries as they stand in the record, the open thread by default (SPEC C-043)."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape
from counterpoint.cli.channel.printing import print_bytes, print_json, tell
from counterpoint.drive.channels import find_channel, open_channels, shown_path
from counterpoint.drive.reading import Raw, open_thread, since, whole_thread

__all__ = ["SHAPE", "run"]

SHAPE: Final = Shape(
    summary="print entries: the open thread by default",
    options=(
        ROOT,
        CHANNEL,
        Option("thread", "SLUG", "a thread, what the archives hold of it too"),
        Option("since", "SEQ", "only entries with a number above this one", read=int),
        JSON,
    ),
    exits={0: "printed", 1: "the record cannot be read", 2: "the command line is wrong"},
    examples=(
        ("counterpoint channel read", "the open thread"),
        ("counterpoint channel read --thread retry", "a thread, wherever it lies"),
        ("counterpoint channel read --since 40", "what is new since MSG-40"),
    ),
)


def run(given: Mapping[str, Any]) -> int:
    """Print entries."""
    root = shown_path(given["root"])
    channel = find_channel(root, given["channel"])
    store, thread, seq = open_channels(root, os.environ), given["thread"], given["since"]
    found: Sequence[Raw] | None
    if thread is not None:
        found = [raw for raw in whole_thread(store, channel, thread) if seq is None or raw.n > seq]
    elif seq is not None:
        found = since(store, channel, seq)
    else:
        found = open_thread(store, channel)
    if given["json"]:
        return _print_json(found)
    if found is None:
        tell("no open thread")
        return 0
    for raw in found:
        print_bytes(raw.content + b"\n")
    return 0


def _print_json(found: Sequence[Raw] | None) -> int:
    # Only JSON needs the entries taken apart.
    from counterpoint.drive.reading import entry_fields  # noqa: PLC0415

    print_json({"entries": [entry_fields(raw) for raw in found or ()], "is_open": found is not None})
    return 0
