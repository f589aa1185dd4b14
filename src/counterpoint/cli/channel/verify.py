"""`counterpoint channel verify`: is the record in order, and is it what it was (SPEC C-044, C-141)?"""

import gc
import os
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.cli.channel.clock import stamp_now
from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape
from counterpoint.cli.channel.printing import print_json, print_lines
from counterpoint.drive.auditing import Audit, audit
from counterpoint.drive.channels import find_channel, open_channels, parties_of, shown_path
from counterpoint.record.signing import fingerprint

__all__ = ["SHAPE", "run"]

ANOMALY: Final = 4

SHAPE: Final = Shape(
    summary="check the record against itself",
    about=(
        "Numbers, archives and doorbell are held against each other, every entry against the rules of turns, "
        "openers and caps, and the chain of a channel that Counterpoint began against what this machine "
        "remembers. Nothing is repaired."
    ),
    options=(
        ROOT,
        CHANNEL,
        Option(
            "signers",
            "FILE",
            "hold parties to an OpenSSH allowed_signers file: their keys, and until when",
            ours=True,
        ),
        JSON,
    ),
    exits={
        0: "the record verifies clean",
        1: "there is nothing to verify, or it cannot be read",
        2: "the command line is wrong",
        4: "the record disagrees with itself; a person should look",
    },
    examples=(("counterpoint channel verify --root collab", "the one channel of a folder"),),
)


def run(given: Mapping[str, Any]) -> int:
    """Verify a channel."""
    root = shown_path(given["root"])
    channel = find_channel(root, given["channel"])
    store = open_channels(root, os.environ)
    vouch = None
    if given["signers"] is not None:
        # Only who asks for it pays for it.
        from counterpoint.drive.vouching import read_signers  # noqa: PLC0415

        vouch = read_signers(given["signers"], parties_of(store, channel))
    # An entry is a tuple, and none is garbage before the command ends: looking for some was a fifth of the work.
    gc.disable()
    try:
        found = audit(store, channel, now=stamp_now(), vouch=vouch)
    finally:
        gc.enable()
    if given["json"]:
        print_json(_fields(found))
    else:
        print_lines(*(f"{one.level.upper()}: {one.code} - {one.detail}" for one in found.findings))
        if found.is_clean:
            print_lines("record verifies clean")
    return 0 if found.is_clean else ANOMALY


def _fields(found: Audit) -> Mapping[str, Any]:
    findings = [
        {"level": str(one.level), "code": one.code, "detail": one.detail, "entry": one.entry}
        for one in found.findings
    ]
    chain = found.chain
    head = None if chain is None else {"n": chain.n, "head": chain.head, "genesis": chain.genesis_digest}
    begins = None if chain is None else chain.tamper_evident_from
    signed = [{**one._asdict(), "fingerprint": fingerprint(one.key)} for one in (chain.signed if chain else ())]
    return {
        "is_clean": found.is_clean,
        "findings": findings,
        "chain": head,
        "tamper_evident_from": begins,
        "signed": signed,
    }
