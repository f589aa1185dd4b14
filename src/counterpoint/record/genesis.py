"""Entry 0 of a channel: what makes the rest of it checkable.

`MSG-0`, type `info`, thread `genesis`, with a sentence for people and the typed object
`{"channel": <32 hex>, "keys": [...], "mode": "strict" | "shared", "roster": [...], "v": 1}`. Where parties sign for
themselves `v` is 2, and `"party_keys": {"claude": ["ssh-ed25519 …"]}` stands there too.
The digest of its block is what a user's state folder remembers: another roster or key is another genesis.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from counterpoint.errors import Corrupt, Refused, UnknownEntry
from counterpoint.record.block import parse
from counterpoint.record.header import check_name
from counterpoint.record.signing import NotSigned, fingerprint, raw_public
from counterpoint.record.store import Block, Draft, Genesis

__all__ = [
    "GENESIS_THREAD",
    "GENESIS_TYPE",
    "MODES",
    "genesis_draft",
    "genesis_of",
    "parse_genesis",
    "party_keys_fault",
]

GENESIS_TYPE: Final = "info"
GENESIS_THREAD: Final = "genesis"
MODES: Final = ("strict", "shared")

_VERSION = 1
_WITH_PARTY_KEYS = 2
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
        "v": _WITH_PARTY_KEYS if genesis.party_keys else _VERSION,
        "channel": genesis.channel_id,
        "mode": genesis.mode,
        "roster": list(genesis.roster),
        "keys": list(genesis.keys),
        **({"party_keys": _by_party(genesis)} if genesis.party_keys else {}),
    }
    text = _SENTENCES[genesis.mode]
    return Draft(stamp=stamp, sender=sender, type=GENESIS_TYPE, thread=GENESIS_THREAD, text=text, fields=fields)


@lru_cache(maxsize=64)
def genesis_of(block: bytes, *, channel: str, strict: bool) -> Genesis:
    """Return what these bytes say as entry 0: they are read at every look at a channel, and say the same each time.

    Raises:
        Corrupt: they are no genesis entry.
        UnknownEntry: as `parse_genesis`.
    """
    return parse_genesis(parse(block, channel=channel, strict=strict), channel=channel)


def parse_genesis(block: Block, *, channel: str) -> Genesis:
    """Return what entry 0 says.

    Raises:
        Corrupt: `block` is no genesis entry.
        UnknownEntry: it has a version that this package does not know.
    """
    fields = block.fields
    if block.n or fields is None or (block.type, block.thread) != (GENESIS_TYPE, GENESIS_THREAD):
        raise Corrupt(channel, block.n, f"a {block.type} in thread {block.thread!r} where the genesis entry belongs")
    version = fields.get("v")
    if version not in (_VERSION, _WITH_PARTY_KEYS) or version is True:
        raise UnknownEntry("genesis", f"version {version!r}; this package knows {_VERSION} and {_WITH_PARTY_KEYS}")
    more = {"party_keys"} if version == _WITH_PARTY_KEYS else set()
    if fields.keys() != {"v", "channel", "mode", "roster", "keys", *more}:
        raise UnknownEntry("genesis", f"fields {sorted(fields)}")
    if not isinstance(fields["channel"], str) or not isinstance(fields["mode"], str):
        raise Corrupt(channel, 0, "its channel and mode are not strings")
    roster, keys = _strings(fields["roster"]), _strings(fields["keys"])
    party_keys = _pairs(fields["party_keys"]) if more else ()
    if roster is None or keys is None or party_keys is None:
        raise Corrupt(channel, 0, "its roster and keys are not lists of strings")
    genesis = Genesis(
        channel_id=fields["channel"], mode=fields["mode"], roster=roster, keys=keys, party_keys=party_keys
    )
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


def _by_party(genesis: Genesis) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for party, key in sorted(genesis.party_keys, key=itemgetter(0)):
        found.setdefault(party, []).append(key)
    return found


def _pairs(value: Any) -> tuple[tuple[str, str], ...] | None:
    """Return each party with each of its keys; `None` where `value` is not written as `_by_party` writes it."""
    if not isinstance(value, Mapping) or not value:
        return None
    pairs: list[tuple[str, str]] = []
    for party in sorted(value):
        if not (keys := _strings(value[party])):
            return None
        pairs += ((party, key) for key in keys)
    return tuple(pairs)


def party_keys_fault(roster: Sequence[str], keys: Sequence[str], party_keys: Sequence[tuple[str, str]]) -> str:
    """Return why a channel cannot have these keys; "": it can (SECURITY R12)."""
    owners = dict.fromkeys(keys, "the channel")
    for party, key in party_keys:
        if party not in roster:
            return f"it has a key for {party!r}, who is none of {', '.join(roster)}"
        if key in owners:
            return f"{party} and {owners[key]} share the key {fingerprint(key)}"
        owners[key] = party
    return ""


def _fault(genesis: Genesis) -> str:
    if not _CHANNEL_ID.fullmatch(genesis.channel_id):
        return f"channel {genesis.channel_id!r} is not 32 hex digits"
    if genesis.mode not in MODES:
        return f"mode {genesis.mode!r} is none of {', '.join(MODES)}"
    for what, items in (("roster", genesis.roster), ("keys", genesis.keys)):
        if len(set(items)) < len(items):
            return f"its {what} names one twice"
    try:
        for line in (*genesis.keys, *(key for _, key in genesis.party_keys)):
            raw_public(line)
    except NotSigned as error:
        return str(error)
    return party_keys_fault(genesis.roster, genesis.keys, genesis.party_keys)
