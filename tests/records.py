"""Small records to look at, damage and compare, made by the product's own code from fixed values."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from counterpoint.record.block import ZEROS, render
from counterpoint.record.genesis import genesis_draft
from counterpoint.record.signing import Signer, load_key, make_key
from counterpoint.record.store import Draft, Genesis

__all__ = [
    "CHANNEL",
    "CHANNEL_ID",
    "STAMP",
    "case_drafts",
    "draft",
    "file_of",
    "head_of",
    "record",
    "shared_drafts",
    "signer",
]

CHANNEL: Final = "case-12345"
CHANNEL_ID: Final = "0123456789abcdef" * 2
STAMP: Final = "2026-07-06T14:07:48+00:00"


def signer(number: int = 1) -> Signer:
    """Return one of the keys of the tests."""
    return load_key(make_key(bytes([number]) * 32), source=f"key {number}")


def draft(text: str = "", fields: dict[str, Any] | None = None, **header: str) -> Draft:
    known = {"stamp": STAMP, "sender": "counterpoint", "type": "note-added", "thread": "case", "refs": "-"}
    return Draft(**(known | header), text=text, fields=fields)


def case_drafts() -> list[Draft]:
    """Return what a short case records: text alone, typed alone, both, and text that looks like something else."""
    return [
        draft("Review the change.", {"protocol": "review", "rules": 1}, type="case-opened"),
        draft("No typed object here.\n\n```\n## not a header\n```"),
        draft("", {"digest": "ab" * 32, "turn": "reviewing.1.critic.1"}, type="submission-sealed"),
        draft(
            "Zażółć 漢字.", {"decision": "PASS", "said": "done ✓"}, type="submission-revealed", refs="x@4e9f21c, żółć"
        ),
        draft("```json counterpoint\n{}\n```\n\nand on", {"findings": []}, type="case-closed"),
    ]


def shared_drafts(count: int = 4) -> list[Draft]:
    """Return posts of two parties in one thread."""
    kinds = ["question", *["info"] * (count - 2), "close"]
    return [
        draft(f"post {number}", sender=("claude", "glm")[number % 2], type=kind, thread="retry")
        for number, kind in enumerate(kinds, 1)
    ]


def record(
    drafts: Sequence[Draft],
    *,
    mode: str = "strict",
    key: Signer | None = None,
    keys: Sequence[str] | None = None,
    channel_id: str = CHANNEL_ID,
    pairs: Sequence[int] = (),
    stamps: Sequence[str] = (),
    own: Mapping[str, Signer] = MappingProxyType({}),
    signs: Mapping[int, Signer] = MappingProxyType({}),
) -> list[bytes]:
    """Return the blocks of a record: a genesis, then `drafts`.

    Args:
        drafts: the entries after the genesis.
        mode: of the channel.
        key: signs every entry.
        keys: what the genesis names; by default `key` alone.
        channel_id: of the channel.
        pairs: numbers of entries that form a batch with the one after them.
        stamps: in place of the drafts' own, from the first on.
        own: parties that sign for themselves, and their keys.
        signs: what really signs an entry, by its number, where that is not as it should be.
    """
    named = tuple(keys) if keys is not None else ((key.public,) if key else ())
    party_keys = tuple((party, known.public) for party, known in own.items())
    genesis = Genesis(channel_id=channel_id, mode=mode, roster=("claude", "glm"), keys=named, party_keys=party_keys)
    entries = [genesis_draft(genesis, stamp=STAMP, sender="counterpoint"), *drafts]
    for number, stamp in enumerate(stamps, 1):
        entries[number] = replace(entries[number], stamp=stamp)
    blocks: list[bytes] = []
    for n, entry in enumerate(entries):
        by = signs.get(n) or (own.get(entry.sender, key) if n else key)
        batch = (1, 2) if n in pairs else (2, 2) if n - 1 in pairs else (1, 1)
        blocks.append(
            render(
                entry,
                n=n,
                channel_id=channel_id,
                prev=head_of(blocks),
                batch=batch,
                sign=by.sign if by else None,
                strict=mode == "strict",
            )
        )
    return blocks


def head_of(blocks: Sequence[bytes]) -> str:
    return hashlib.sha256(blocks[-1]).hexdigest() if blocks else ZEROS


def file_of(blocks: Sequence[bytes]) -> bytes:
    return b"".join(b"\n" + block + b"\n" for block in blocks)
