"""`counterpoint channel post`: say something, if the rules let it in, and ring the doorbell (SPEC C-020 to C-034)."""

import os
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.cli.channel.clock import stamp_now
from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape, one_of
from counterpoint.cli.channel.printing import print_json, print_lines, tell
from counterpoint.drive.channels import KEY_VARIABLE, FileStore, beside, find_channel, open_channels, shown_path
from counterpoint.drive.posting import post
from counterpoint.errors import RecordError
from counterpoint.protocols.mailbox import EntryType
from counterpoint.record.names import settings_file

__all__ = ["SHAPE", "run"]

MAX_BODY: Final = 16 << 20

SHAPE: Final = Shape(
    summary="append an entry and ring the doorbell",
    options=(
        ROOT,
        CHANNEL,
        Option("from", "PARTY", "who speaks", required=True),
        Option("type", "TYPE", f"one of {', '.join(EntryType)}", read=one_of(*EntryType), required=True),
        Option("thread", "SLUG", "the thread it belongs to", required=True),
        Option("refs", "REFS", "what it is about, commits as name@sha", default=""),
        Option("body", "TEXT", "what is said"),
        Option("body-file", "FILE", "a file with what is said"),
        Option("force", about="the supervisor's way past an open thread"),
        Option("verify-refs", "REPO", "refuse unless every name@sha in --refs is a commit of this repository"),
        Option(
            "sign-key", "FILE", "sign with this SSH key; a public key is the one that an SSH agent holds", ours=True
        ),
        Option("sign-agent", about="sign with the key of the party that the SSH agent holds", ours=True),
        JSON,
    ),
    one_of=("body", "body-file"),
    exits={
        0: "posted",
        1: "refused by a rule, or the record cannot be read or written; nothing was posted",
        2: "the command line is wrong",
    },
    examples=(
        ("counterpoint channel post --from claude --type question --thread retry --body 'Why 3?'", "open a thread"),
        ("counterpoint channel post --from glm --type close --thread retry --body-file done.md", "and close it"),
    ),
)


def run(given: Mapping[str, Any]) -> int:
    """Post one entry."""
    root = shown_path(given["root"])
    channel = find_channel(root, given["channel"])
    text = given["body"] if given["body"] is not None else _read(given["body-file"])
    verify_refs = given["verify-refs"]
    posted = post(
        _store(root, channel, given),
        channel,
        sender=given["from"],
        type=given["type"],
        thread=given["thread"],
        text=text,
        stamp=stamp_now(),
        refs=given["refs"],
        force=given["force"],
        verify_refs=None if verify_refs is None else shown_path(verify_refs),
        source=beside(root, settings_file(channel)),
    )
    if given["json"]:
        print_json({"posted": f"MSG-{posted.n}", "n": posted.n, "turn": posted.turn, "thread": posted.thread})
    else:
        print_lines(f"posted MSG-{posted.n} (turn -> {posted.turn or '-'})")
    if not channel:
        tell("note: this channel has no name, as in the first versions; `counterpoint channel migrate` gives it one")
    return 0


def _store(root: str, channel: str, given: Mapping[str, Any]) -> FileStore:
    if not (given["sign-key"] or given["sign-agent"] or os.environ.get(KEY_VARIABLE)):
        return open_channels(root, os.environ)
    # Cold start: only who signs for itself needs it.
    from counterpoint.cli.channel.signing import own_store  # noqa: PLC0415

    return own_store(root, channel, given)


def _read(path: str) -> str:
    """Return a file's text with every line end as a line feed, as the public tool reads it."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - cold start: pathlib is not loaded
            text = file.read(MAX_BODY + 1)
    except OSError as error:
        raise RecordError(f"refused: --body-file {path}: {error.strerror}", hint="name a text file") from None
    except UnicodeDecodeError as error:
        raise RecordError(f"refused: --body-file {path} is not UTF-8 at byte {error.start}") from None
    return text
