"""`counterpoint channel migrate`: name a channel of the public tool's first layout (SPEC C-046)."""

import os
import secrets
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.cli.channel.parsing import JSON, ROOT, Option, Shape
from counterpoint.cli.channel.printing import print_json, print_lines
from counterpoint.drive.channels import shown_path
from counterpoint.drive.migrating import migrate

__all__ = ["SHAPE", "run"]

SHAPE: Final = Shape(
    summary="give a channel of the first layout (CHANNEL.md) a name",
    about="Its files are renamed and not rewritten; one that was cut short is finished under the same name.",
    options=(
        ROOT,
        Option("label", "LABEL", "the channel is called LABEL and five digits  [default: the repository's name]"),
        JSON,
    ),
    exits={0: "renamed", 1: "there is no such channel, or it cannot be renamed", 2: "the command line is wrong"},
    examples=(("counterpoint channel migrate --root collab --label project", "CHANNEL.md becomes project-04711"),),
)


def run(given: Mapping[str, Any]) -> int:
    """Migrate a channel."""
    root = shown_path(given["root"])
    done = migrate(root, os.environ, label=given["label"], draw=secrets.randbelow)
    name, shown = done.name, os.path.realpath(root)
    if given["json"]:
        print_json(
            {"channel": name, "root": shown, "thread_cap": done.parties.thread_cap, "resumed": done.is_resumed}
        )
        return 0
    source = "explicit legacy config" if done.has_own_cap else "default (field absent)"
    print_lines(
        f"migrated legacy channel at {shown} -> {name!r}",
        f"thread cap: {done.parties.thread_cap} from {source}",
        "",
        "The operator owes two edits before the next watcher tick:",
        f"  1. watcher config: rename the state_path file stem to {name!r}",
        f"     (e.g. state_path: .../{name}.json) so the watcher's memory",
        "     follows the channel's identity, and keep any prompt paths pointing",
        f"     at {shown}",
        f"  2. scheduler unit: rename it debate-watch-{name}",
        "",
        f"Then confirm one clean tick: debate watch-status --root {shown} --config <watcher.json>",
    )
    return 0
