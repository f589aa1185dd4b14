"""One byte of a signed record of a strict channel is changed, dropped or put in: refused, and the entry named."""

import pytest

from counterpoint.errors import Corrupt
from counterpoint.record.verify import verify
from tests.records import CHANNEL, case_drafts, file_of, record, signer

BLOCKS = record(case_drafts(), key=signer(), pairs=[3])
CONTENT = file_of(BLOCKS)


def _owners(blocks: list[bytes]) -> list[int]:
    return [n for n, block in enumerate(blocks) for _ in range(len(block) + 2)]


OWNER = _owners(BLOCKS)
"""Whose byte each one is: an entry's block with the line end before and the one behind it."""
OTHERS = (b"", b"\0", b"\n", b"\r", b" ", b"0", b"a", b"`", b"\x85", b"\xff", b"-->", "\u2028".encode(), b"\n\n")


def _is_refused(content: bytes, at: int) -> None:
    with pytest.raises(Corrupt) as caught:
        verify(CHANNEL, content, mode="strict")
    # What is put in before a block's first byte, or behind its last, is no entry's more than its neighbour's.
    near = {OWNER[at], OWNER[max(at - 1, 0)], OWNER[min(at + 1, len(OWNER) - 1)]}
    assert caught.value.entry in near or (caught.value.entry == len(BLOCKS) and at >= len(OWNER) - 1)
    assert f"MSG-{caught.value.entry}: " in str(caught.value)


def test_every_byte_of_a_record_counts() -> None:
    """SECURITY R1, B.1 (8): the lowest bit of each byte, every offset; the entry named is the one that holds it."""
    blocks = record(case_drafts()[2:4], key=signer(), pairs=[1])
    content, owners = file_of(blocks), _owners(blocks)
    for at, owner in enumerate(owners):
        flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        with pytest.raises(Corrupt) as caught:
            verify(CHANNEL, flipped, mode="strict")
        is_line_end = at + 1 == len(owners) or owners[at + 1] > owner
        assert caught.value.entry in ({owner, owner + 1} if is_line_end else {owner}), at


@pytest.mark.soak
@pytest.mark.parametrize("first", range(24))
def test_every_bit_and_every_odd_byte_at_every_offset_is_refused(first: int) -> None:
    """SECURITY R1: each bit of each byte, and what has a meaning elsewhere, in place of each byte and before it."""
    for at in range(first, len(CONTENT), 24):
        before, byte, behind = CONTENT[:at], CONTENT[at : at + 1], CONTENT[at + 1 :]
        for other in [*(bytes([byte[0] ^ 1 << bit]) for bit in range(8)), *OTHERS]:
            if other != byte:
                _is_refused(before + other + behind, at)
        for other in OTHERS[1:]:
            _is_refused(before + other + byte + behind, at)
