"""Entry 0: what it says, and what is no genesis."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.errors import Corrupt, Refused, UnknownEntry
from counterpoint.record.block import ZEROS, parse, render
from counterpoint.record.genesis import genesis_draft, parse_genesis
from counterpoint.record.store import Block, Genesis
from tests.records import CHANNEL_ID, STAMP, signer

GENESIS = Genesis(channel_id=CHANNEL_ID, mode="strict", roster=("claude", "glm"), keys=(signer().public,))


def _block(genesis: Genesis) -> Block:
    draft = genesis_draft(genesis, stamp=STAMP, sender="counterpoint")
    strict = genesis.mode == "strict"
    block = render(draft, n=0, channel_id=genesis.channel_id, prev=ZEROS, strict=strict)
    return parse(block, channel="c", strict=strict)


@given(
    roster=st.lists(st.from_regex(r"[b-k][a-z0-9-]{3,9}", fullmatch=True), max_size=4, unique=True),
    mode=st.sampled_from(["strict", "shared"]),
    keys=st.sets(st.integers(1, 5), max_size=2),
)
def test_genesis_is_read_as_it_was_written(roster: list[str], mode: str, keys: set[int]) -> None:
    """DESIGN section 5: `MSG-0`, type info, thread genesis, typed fields, a sentence for people."""
    public = tuple(signer(key).public for key in sorted(keys))
    genesis = Genesis(channel_id=CHANNEL_ID, mode=mode, roster=tuple(roster), keys=public)
    block = _block(genesis)
    assert (block.n, block.type, block.thread, block.sender) == (0, "info", "genesis", "counterpoint")
    assert "Counterpoint" in block.text
    assert parse_genesis(block, channel="c") == genesis


def _fields(change: Callable[[dict[str, Any]], object]) -> Block:
    block = _block(GENESIS)
    fields = dict(block.fields or {})
    change(fields)
    return replace(block, fields=fields)


@pytest.mark.parametrize(
    "block",
    [
        replace(_block(GENESIS), n=1),
        replace(_block(GENESIS), type="question"),
        replace(_block(GENESIS), thread="case"),
        replace(_block(GENESIS), fields=None),
        _fields(lambda fields: fields.update(channel="AB" * 16)),
        _fields(lambda fields: fields.update(channel=["ab" * 16])),
        _fields(lambda fields: fields.update(mode="plain")),
        _fields(lambda fields: fields.update(mode=None)),
        _fields(lambda fields: fields.update(roster="claude")),
        _fields(lambda fields: fields.update(roster=["claude", 1])),
        _fields(lambda fields: fields.update(roster=["claude", "claude"])),
        _fields(lambda fields: fields.update(roster=["Claude"])),
        _fields(lambda fields: fields.update(keys=["ssh-ed25519 AAAA"])),
        _fields(lambda fields: fields.update(keys=["ssh-rsa AAAA"])),
        _fields(lambda fields: fields.update(keys=[signer().public + " comment"])),
        _fields(lambda fields: fields.update(keys=[signer().public] * 2)),
        _fields(lambda fields: fields.update(keys={})),
    ],
)
def test_block_that_is_no_genesis_is_corrupt(block: Block) -> None:
    """The wrong place, mode, roster or key: nothing after it can be relied on."""
    with pytest.raises(Corrupt):
        parse_genesis(block, channel="c")


@pytest.mark.parametrize(
    "block",
    [
        _fields(lambda fields: fields.update(v=2)),
        _fields(lambda fields: fields.update(v=True)),
        _fields(lambda fields: fields.pop("v")),
        _fields(lambda fields: fields.update(witness="x")),
        _fields(lambda fields: fields.pop("keys")),
    ],
)
def test_genesis_of_another_version_is_unknown(block: Block) -> None:
    """Unknown version or field fails closed and says so (STYLE section 4)."""
    with pytest.raises(UnknownEntry, match="genesis"):
        parse_genesis(block, channel="c")


def test_roster_that_the_mode_forbids_is_refused() -> None:
    """NAME-1: a strict channel has strict names; a shared one those of the public tool."""
    with pytest.raises(Refused, match="NAME-1"):
        _block(replace(GENESIS, roster=("a" * 65,)))
    assert _block(replace(GENESIS, mode="shared", roster=("a" * 65,))).n == 0
