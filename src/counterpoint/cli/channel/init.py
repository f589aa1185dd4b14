"""`counterpoint channel init`: begin a channel (SPEC C-040)."""

import os
import secrets
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.cli.channel.clock import stamp_now
from counterpoint.cli.channel.parsing import JSON, ROOT, Option, Shape
from counterpoint.cli.channel.printing import print_json, print_lines
from counterpoint.drive.beginning import Form, begin
from counterpoint.drive.channels import shown_path
from counterpoint.errors import ConfigError

__all__ = ["FORM_VARIABLE", "SHAPE", "run"]

FORM_VARIABLE: Final = "COUNTERPOINT_CHANNEL_FORM"
_CAP: Final = 12

SHAPE: Final = Shape(
    summary="begin a channel",
    about=(
        "Its entries are chained and signed with this machine's key, and `counterpoint channel verify` finds what is "
        "changed later; the public tool reads, posts and compacts it as its own."
    ),
    options=(
        ROOT,
        Option("parties", "A,B", "the two names that take turns", required=True),
        Option("supervisor", "NAME", "who may speak at any time  [default: owner]", default="owner"),
        Option("thread-cap", "N", f"how many entries a thread may have  [default: {_CAP}]", read=int, default=_CAP),
        Option("label", "LABEL", "the channel is called LABEL and five digits  [default: the repository's name]"),
        Option("brokered", about="the public tool's controller will speak for the parties"),
        Option(
            "party-key",
            "PARTY=FILE",
            "who signs for itself, and its public key file; repeatable",
            repeats=True,
            ours=True,
        ),
        Option("unsigned", about="chain the entries without signing them", ours=True),
        Option("plain", about=f"no chain: what `debate init` writes; also {FORM_VARIABLE}=plain", ours=True),
        JSON,
    ),
    exits={0: "begun", 1: "the names cannot be used, or the files cannot be made", 2: "the command line is wrong"},
    examples=(
        ("counterpoint channel init --root collab --parties claude,glm", "a signed channel"),
        ("counterpoint channel init --parties claude,glm --party-key claude=claude.pub", "claude signs for itself"),
        ("counterpoint channel init --root collab --parties claude,glm --plain", "as the public tool makes it"),
    ),
)


def run(given: Mapping[str, Any]) -> int:
    """Begin a channel."""
    root = shown_path(given["root"])
    parties = tuple(name.strip() for name in given["parties"].split(",") if name.strip())
    if len(parties) != len(("one", "other")):
        raise ConfigError("parties", "", sentence=f"--parties needs exactly two names, got {parties!r}")
    begun = begin(
        root,
        os.environ,
        parties=(parties[0], parties[1]),
        supervisor=given["supervisor"],
        thread_cap=given["thread-cap"],
        label=given["label"],
        is_brokered=given["brokered"],
        form=_form(given),
        channel_id=secrets.token_hex(16),
        draw=secrets.randbelow,
        stamp=stamp_now(),
        party_keys=given["party-key"],
    )
    if given["json"]:
        print_json({"channel": begun.name, "root": root, "form": str(begun.form), "parties": list(parties)})
    else:
        first, second = parties
        print_lines(
            f"initialized channel {begun.name!r} at {root} "
            f"(parties {first!r}/{second!r}, supervisor {given['supervisor']!r})"
        )
    return 0


def _form(given: Mapping[str, Any]) -> Form:
    asked = os.environ.get(FORM_VARIABLE, "")
    if asked not in {"", Form.PLAIN, Form.UNSIGNED, Form.SIGNED}:
        raise ConfigError(FORM_VARIABLE, "plain, unsigned or signed", got=asked)
    if given["plain"]:
        return Form.PLAIN
    return Form.UNSIGNED if given["unsigned"] else Form(asked or Form.SIGNED)
