"""Entry 0 of a channel: what makes the rest of it checkable.

`MSG-0`, type `info`, thread `genesis`, with a sentence for people and the typed object
`{"channel": <32 hex>, "keys": [...], "mode": "strict" | "shared", "roster": [...], "v": 1}`.
The digest of its block is what a user's state folder remembers: another roster or key is another genesis.
"""

import re
from typing import Any, Final

from counterpoint.errors import Corrupt, Refused, UnknownEntry
from counterpoint.record.header import check_name
from counterpoint.record.signing import NotSigned, raw_public
from counterpoint.record.store import Block, Draft, Genesis

__all__ = ["GENESIS_THREAD", "GENESIS_TYPE", "MODES", "genesis_draft", "parse_genesis"]

GENESIS_TYPE: Final = "info"
GENESIS_THREAD: Final = "genesis"
MODES: Final = ("strict", "shared")

_VERSION = 1
_CHANNEL_ID = re.compile(r"[0-9a-f]{32}")
_SENTENCES = {
    "strict": "This channel is kept by Counterpoint. Each entry carries the digest of the one before it.",
    "shared": (
        "From here on each entry that Counterpoint writes carries the digest of the one before it. "
        "Entries without that line are the public tool's."
    ),
}


def genesis_draft(genesis: Genesis, *, stamp: str, sender: str) -> Draft:
    """Return the draft of entry 0.

    Raises:
        Refused: NAME-1: a name of the roster is not one that the mode allows.
    """
    fault = _fault(genesis)
    assert not fault, fault
    for name in genesis.roster:
        check_name("party", name, strict=genesis.mode == "strict")
    fields = {
        "v": _VERSION,
        "channel": genesis.channel_id,
        "mode": genesis.mode,
        "roster": list(genesis.roster),
        "keys": list(genesis.keys),
    }
    text = _SENTENCES[genesis.mode]
    return Draft(stamp=stamp, sender=sender, type=GENESIS_TYPE, thread=GENESIS_THREAD, text=text, fields=fields)


def parse_genesis(block: Block, *, channel: str) -> Genesis:
    """Return what entry 0 says.

    Raises:
        Corrupt: `block` is no genesis entry.
        UnknownEntry: it has a version that this package does not know.
    """
    fields = block.fields
    if block.n or fields is None or (block.type, block.thread) != (GENESIS_TYPE, GENESIS_THREAD):
        raise Corrupt(channel, block.n, f"a {block.type} in thread {block.thread!r} where the genesis entry belongs")
    if fields.get("v") != _VERSION or fields["v"] is True:
        raise UnknownEntry("genesis", f"version {fields.get('v')!r}; this package knows {_VERSION}")
    if fields.keys() != {"v", "channel", "mode", "roster", "keys"}:
        raise UnknownEntry("genesis", f"fields {sorted(fields)}")
    if not isinstance(fields["channel"], str) or not isinstance(fields["mode"], str):
        raise Corrupt(channel, 0, "its channel and mode are not strings")
    roster, keys = _strings(fields["roster"]), _strings(fields["keys"])
    if roster is None or keys is None:
        raise Corrupt(channel, 0, "its roster and keys are not lists of strings")
    genesis = Genesis(channel_id=fields["channel"], mode=fields["mode"], roster=roster, keys=keys)
    try:
        fault = _fault(genesis)
        for name in genesis.roster:
            check_name("party", name, strict=genesis.mode == "strict")
    except Refused as error:
        fault = error.reason
    if fault:
        raise Corrupt(channel, 0, fault)
    return genesis


def _strings(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _fault(genesis: Genesis) -> str:
    if not _CHANNEL_ID.fullmatch(genesis.channel_id):
        return f"channel {genesis.channel_id!r} is not 32 hex digits"
    if genesis.mode not in MODES:
        return f"mode {genesis.mode!r} is none of {', '.join(MODES)}"
    for what, items in (("roster", genesis.roster), ("keys", genesis.keys)):
        if len(set(items)) < len(items):
            return f"its {what} names one twice"
    try:
        for line in genesis.keys:
            raw_public(line)
    except NotSigned as error:
        return str(error)
    return ""
