"""The attacks of SECURITY B.6 on a signed record of a strict channel, each with the answer that its table gives."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from counterpoint.errors import Corrupt
from counterpoint.record.block import render
from counterpoint.record.checkpoint import parse_checkpoint, render_checkpoint
from counterpoint.record.findings import Checkpoint, Finding, Forked, Level, Remembered, Torn, Verification
from counterpoint.record.signing import Signer
from counterpoint.record.store import Draft
from counterpoint.record.verify import verify
from tests.records import CHANNEL, CHANNEL_ID, STAMP, case_drafts, draft, file_of, head_of, record, signer

DRAFTS = case_drafts()
BLOCKS = record(DRAFTS, key=signer())
NEWEST = len(BLOCKS) - 1
KNOWN = Remembered(genesis=head_of(BLOCKS[:1]), n=NEWEST, head=head_of(BLOCKS))


def _verify(
    blocks: Sequence[bytes] | bytes, remembered: Remembered | None = None, checkpoint: Checkpoint | None = None
) -> Verification:
    content = blocks if isinstance(blocks, bytes) else file_of(blocks)
    return verify(CHANNEL, content, remembered=remembered, checkpoint=checkpoint, mode="strict", now=STAMP)


def _refused(
    blocks: Sequence[bytes] | bytes, entry: int, reason: str = "MSG", remembered: Remembered | None = None
) -> Corrupt:
    with pytest.raises(Corrupt, match=reason) as caught:
        _verify(blocks, remembered)
    assert caught.value.channel == CHANNEL
    assert caught.value.entry == entry
    return caught.value


def _codes(verification: Verification) -> list[str]:
    return [finding.code for finding in verification.findings]


def _rewritten(changed: Draft, n: int, *, key: Signer, until: int = NEWEST) -> list[bytes]:
    """Return the record with another entry `n`, and all after it made anew, by whoever has the key."""
    return record([*DRAFTS[: n - 1], changed, *DRAFTS[n:until]], key=key)


def test_untouched_record_verifies() -> None:
    """The other tests damage this one; `verify` says who vouches for what."""
    found = _verify(BLOCKS, KNOWN)
    assert (found.mode, found.entries, found.n, found.head) == ("strict", 6, 5, KNOWN.head)
    assert (found.plain, found.tamper_evident_from, found.end) == ((), 0, len(file_of(BLOCKS)) - 1)
    assert found.is_clean
    assert found.findings == ()
    assert found.remembered() == KNOWN
    assert _codes(_verify(BLOCKS)) == ["first-seen", "unanchored"]
    assert _codes(_verify(record(DRAFTS))) == ["first-seen", "unanchored", "unsigned"]


def test_r1_one_byte_of_a_text_is_refused() -> None:
    """SECURITY R1; every byte is tried in test_flips."""
    _refused(file_of(BLOCKS).replace(b"Review the", b"Reviev the"), 1, "hashes to")


def test_r2_edited_text_with_its_digest_mended_is_refused() -> None:
    """SECURITY R2: the signature is over the block, trailer and all."""
    forged = render(replace(DRAFTS[1], text="PASS"), n=2, channel_id=CHANNEL_ID, prev=head_of(BLOCKS[:2]))
    sig = BLOCKS[2].rpartition(b" sig=")[2]
    _refused(
        [*BLOCKS[:2], forged.removesuffix(b" -->") + b" sig=" + sig, *BLOCKS[3:]], 2, "signature is not of these"
    )
    _refused([*BLOCKS[:2], forged, *BLOCKS[3:]], 2, "has no signature")


def test_r2_in_an_unsigned_record_shows_at_the_next_entry() -> None:
    """SECURITY R2: there, `prev` of the entry after it; the newest is pinned by the remembered head alone."""
    blocks = record(DRAFTS)
    forged = render(replace(DRAFTS[1], text="PASS"), n=2, channel_id=CHANNEL_ID, prev=head_of(blocks[:2]))
    _refused([*blocks[:2], forged, *blocks[3:]], 3, "follows a block")
    newest = render(replace(DRAFTS[-1], text="PASS"), n=5, channel_id=CHANNEL_ID, prev=head_of(blocks[:5]))
    assert "unanchored" in _codes(_verify([*blocks[:5], newest]))
    known = Remembered(genesis=head_of(blocks[:1]), n=5, head=head_of(blocks))
    _refused([*blocks[:5], newest], 5, "memory has", known)


def test_r5_rewritten_by_whoever_has_the_key_needs_a_head_from_elsewhere() -> None:
    """SECURITY R5: clean by itself, and said to be unanchored; refused against a memory or a checkpoint."""
    rewritten = _rewritten(replace(DRAFTS[1], text="PASS"), 2, key=signer())
    assert _codes(_verify(rewritten)) == ["first-seen", "unanchored"]
    _refused(rewritten, 5, "memory has", KNOWN)
    note = render_checkpoint(
        Checkpoint(channel_id=CHANNEL_ID, genesis=KNOWN.genesis, n=5, head=KNOWN.head), signer(2)
    )
    checkpoint = parse_checkpoint(note, keys=[signer(2).public], source="note")
    with pytest.raises(Forked, match="checkpoint"):
        _verify(rewritten, checkpoint=checkpoint)
    assert _verify(BLOCKS, checkpoint=checkpoint).findings == ()


def test_r6_rolled_back_record_needs_a_head_from_elsewhere() -> None:
    """SECURITY R6: a shorter record is a whole one, unanchored since its first entry; the memory knows more."""
    shorter = _verify(BLOCKS[:-1])
    assert shorter.findings[1] == Finding(
        level=Level.INFO,
        code="unanchored",
        detail="unanchored since MSG-0: no head from elsewhere vouches for what follows",
        entry=0,
    )
    _refused(BLOCKS[:-1], 5, "gone.*MSG-5.*ends at MSG-4", KNOWN)
    _refused(BLOCKS[:3], 3, "gone", KNOWN)
    longer = _verify(BLOCKS, replace(KNOWN, n=3, head=head_of(BLOCKS[:4])))
    assert [finding.detail[:22] for finding in longer.findings] == ["unanchored since MSG-4"]


def test_r6_doorbell_ahead_of_the_record_is_an_anomaly() -> None:
    """SECURITY R6, SPEC C-044: the doorbell rings after the entry is on disk, never before."""
    ahead = verify(CHANNEL, file_of(BLOCKS[:-1]), doorbell=5)
    assert not ahead.is_clean
    assert "doorbell-ahead" in _codes(ahead)
    behind = verify(CHANNEL, file_of(BLOCKS), doorbell=4)
    assert behind.is_clean
    assert "mailbox-ahead-of-doorbell" in _codes(behind)
    assert verify(CHANNEL, file_of(BLOCKS), remembered=KNOWN, doorbell=5).findings == ()


def test_r7_deleted_swapped_and_doubled_entries_are_refused() -> None:
    """SECURITY R7: every number once, in its place."""
    _refused([*BLOCKS[:2], *BLOCKS[3:]], 2, "missing; MSG-3 comes after MSG-1")
    _refused([BLOCKS[0], BLOCKS[2], BLOCKS[1], *BLOCKS[3:]], 1, "missing")
    _refused([*BLOCKS[:3], BLOCKS[2], *BLOCKS[3:]], 2, "stands twice")
    _refused(BLOCKS[1:], 0, "genesis entry is missing")
    other = _rewritten(draft("another"), 3, key=signer())[3]
    _refused([*BLOCKS[:4], other, *BLOCKS[4:]], 3, "stands twice")
    _refused([*BLOCKS[:3], other, *BLOCKS[4:]], 4, "follows a block")


@pytest.mark.parametrize("lost", [1, 2, 80, 400])
def test_r8_record_torn_in_an_entry_is_refused_and_says_how_much_is_whole(lost: int) -> None:
    """SECURITY R8: typed, so that the writer can cut it; `verify` itself mends nothing."""
    error = _refused(file_of(BLOCKS)[:-lost], 5)
    assert isinstance(error, Torn)
    assert error.keep == len(file_of(BLOCKS[:5]))


def test_r8_half_a_batch_at_the_end_is_refused() -> None:
    """SECURITY R8, DESIGN section 5: entries that belong together stand together, or not at all."""
    pair = record(DRAFTS, key=signer(), pairs=[4])
    error = _refused(pair[:-1], 5, "batch ends with part 1 of 2")
    assert isinstance(error, Torn)
    assert error.keep == len(file_of(pair[:4]))
    single = render(DRAFTS[-1], n=5, channel_id=CHANNEL_ID, prev=head_of(pair[:5]), batch=(1, 1), sign=signer().sign)
    _refused([*pair[:5], single], 5, "part 1/1 of a batch; 2/2 has to come")
    second = render(
        DRAFTS[-1], n=5, channel_id=CHANNEL_ID, prev=head_of(BLOCKS[:5]), batch=(2, 2), sign=signer().sign
    )
    _refused([*BLOCKS[:5], second], 5, "part 2/2 of a batch; 1/2 has to come")


def test_r9_fork_is_refused_with_both_heads_as_evidence() -> None:
    """SECURITY R9: two heads of one key for one number; without a known head each is whole."""
    fork = _rewritten(replace(DRAFTS[-1], text="closed otherwise"), 5, key=signer())
    assert _verify(fork).is_clean
    error = _refused(fork, 5, "memory", KNOWN)
    assert isinstance(error, Forked)
    assert (error.known, error.found) == (head_of(BLOCKS), head_of(fork))
    assert error.fields()["code"] == "record.forked"


def test_r10_entry_or_record_of_another_channel_is_refused() -> None:
    """SECURITY R10: the channel's id is in every entry, so that the same keys elsewhere do not help."""
    other = record(DRAFTS, key=signer(), channel_id="f" * 32)
    _refused([*BLOCKS[:5], other[5]], 5, "entry of channel f")
    error = _refused(other, 0, "memory", KNOWN)
    assert isinstance(error, Forked)
    elsewhere = Checkpoint(channel_id="f" * 32, genesis=KNOWN.genesis, n=5, head=KNOWN.head)
    with pytest.raises(Corrupt, match="the checkpoint is of"):
        _verify(BLOCKS, checkpoint=elsewhere)


def test_r11_other_keys_or_roster_are_refused() -> None:
    """SECURITY R11: another genesis is not the pinned one; without a pin it is a channel first seen here."""
    substituted = record(DRAFTS, key=signer(2))
    assert _codes(_verify(substituted)) == ["first-seen", "unanchored"]
    assert isinstance(_refused(substituted, 0, "memory", KNOWN), Forked)
    with pytest.raises(Forked, match="checkpoint"):
        _verify(
            substituted, checkpoint=Checkpoint(channel_id=CHANNEL_ID, genesis=KNOWN.genesis, n=5, head=KNOWN.head)
        )
    _refused([BLOCKS[0], *substituted[1:]], 1, "does not name")
    _refused(record(DRAFTS, key=signer(2), keys=[signer().public]), 0, "does not name")
    stripped = [block.rpartition(b" sig=")[0] + b" -->" for block in record(DRAFTS, key=signer())]
    _refused(stripped, 0, "has no signature")
    _refused([*record(DRAFTS)[:1], *BLOCKS[1:]], 1, "is signed; the channel is not")


def test_r11_downgrade_of_the_mode_is_refused() -> None:
    """SECURITY R11: a case channel is strict, whatever its genesis says, and never without one."""
    shared = record(DRAFTS, mode="shared", key=signer())
    _refused(shared, 0, "begins a shared channel; the settings promise a strict one")
    _refused(b"", 0, "genesis entry is missing")
    plain = b"\n## MSG-1 | z | from: a | type: b | thread: c | refs: -\n\ntext\n"
    _refused(plain, 0, "genesis entry is missing")


def test_r13_signature_for_another_purpose_is_refused() -> None:
    """SECURITY R13: the namespace is signed with the bytes; the checkpoint's kind of signature is none either."""
    unsigned = render(DRAFTS[-1], n=5, channel_id=CHANNEL_ID, prev=head_of(BLOCKS[:5]))
    raw = signer().sign_raw(unsigned.removesuffix(b" -->")).hex()
    _refused([*BLOCKS[:5], unsigned.removesuffix(b" -->") + f" sig={raw} -->".encode()], 5, "does not name")


@pytest.mark.parametrize(
    ("stamps", "notes"),
    [
        (["2026-07-06T14:00:00+00:00", "2026-07-06T13:00:00+00:00"], [(1, "clock-back"), (2, "clock-back")]),
        (["2026-07-06T14:07:48+00:00", "2027-01-01T00:00:00+00:00"], [(2, "clock-ahead"), (3, "clock-back")]),
    ],
)
def test_r15_clock_that_went_back_or_ahead_is_a_warning(stamps: list[str], notes: list[tuple[int, str]]) -> None:
    """SECURITY R15: the order is the number, never the stamp."""
    found = _verify(record(DRAFTS, key=signer(), stamps=stamps))
    assert [(note.entry, note.code) for note in found.notes] == notes
    assert {note.level for note in found.notes} == {Level.WARNING}
    assert found.is_clean


def test_r17_lookalikes_in_a_text_are_inert() -> None:
    """SECURITY R17: forged header, fence closers and typed fence are text of one entry."""
    header = " ## MSG-9 | 2026-11-30T10:09:00+00:00 | from: owner | type: close | thread: case | refs: -"
    text = f"fixed\n```\n{header}\n```\n```json counterpoint\n{{}}\n```\n~~~\n<!-- \n --> \n## MSG-9\n"
    found = _verify(record([draft(text, {"real": True}), draft("next")], key=signer()))
    assert found.n == 2


@pytest.mark.parametrize(
    ("content", "entry"),
    [
        (file_of(BLOCKS).replace(b"\n", b"\r\n"), 0),
        (b"\xef\xbb\xbf" + file_of(BLOCKS), 0),
        (b"\n" + file_of(BLOCKS), 0),
        (file_of(BLOCKS)[1:], 0),
        (file_of(BLOCKS).replace(b"\n\n## MSG-3", b"\n\n\n## MSG-3"), 3),
        (file_of(BLOCKS).replace(b"\n\n## MSG-3", b"\n## MSG-3"), 3),
        (file_of(BLOCKS).replace(b"\n\n## MSG-3", b"\n\nsupervisor: PASS\n\n## MSG-3"), 3),
        (file_of(BLOCKS).replace(b"\n\n## MSG-3", b"\n \n## MSG-3"), 3),
        (file_of(BLOCKS).replace(b"refs: -\n", b"refs: - \n", 1), 0),
        (file_of(BLOCKS).replace(b"-->\n\n## MSG-3", b"--> \n\n## MSG-3"), 2),
        (file_of(BLOCKS) + b"\n", 6),
        (file_of(BLOCKS) + b" ", 6),
        (file_of(BLOCKS) + b"PASS\n", 6),
        (file_of(BLOCKS) + b"\0" * 4096, 6),
        (file_of(BLOCKS)[:-1], 5),
    ],
)
def test_r18_bytes_between_before_and_behind_entries_are_refused(content: bytes, entry: int) -> None:
    """SECURITY R18: CR LF, BOM, blanks, margin notes: in a strict channel every byte of the file counts."""
    _refused(content, entry)


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x9b", "\r", "\u2028", "\u202e", "\u200b", "\U000e0041"])
def test_r19_hidden_characters_are_refused_even_where_they_are_signed(character: str) -> None:
    """SECURITY R19, B.1 (6): written raw by whoever has the key, they are no entry of a strict channel."""
    blocks = record([draft(f"a{character}b")], mode="shared", key=signer())
    strict = record([], key=signer())
    forged = render(
        draft(f"a{character}b"), n=1, channel_id=CHANNEL_ID, prev=head_of(strict), sign=signer().sign, strict=False
    )
    _refused([*strict, forged], 1, "TEXT-5")
    assert verify(CHANNEL, file_of(blocks)).is_clean


@pytest.mark.parametrize("name", ["se\u0430t", "Retry", "con", "a" * 65, "a" * 200])
def test_r20_names_that_a_strict_channel_forbids_are_refused_even_where_they_are_signed(name: str) -> None:
    """SECURITY R19, R20: homoglyphs, case pairs, device names, long ones."""
    strict = record([], key=signer())
    good = render(draft("x"), n=1, channel_id=CHANNEL_ID, prev=head_of(strict))
    unsigned = good.replace(b"thread: case", f"thread: {name}".encode()).removesuffix(b" -->")
    forged = unsigned + f" sig={signer().sign(unsigned)} -->".encode()
    _refused([*strict, forged], 1, "NAME-1")


@pytest.mark.parametrize("n", range(len(BLOCKS)))
def test_stripped_trailer_is_tampering(n: int) -> None:
    """DESIGN section 5: in a strict channel a plain entry is tampering, the newest and the genesis too."""
    plain = BLOCKS[n].rpartition(b"\n\n<!-- cp1 ")[0]
    _refused([*BLOCKS[:n], plain, *BLOCKS[n + 1 :]], n, "trailer|genesis")


def test_plain_entry_in_a_strict_channel_is_tampering() -> None:
    """DESIGN section 5: what the public tool might append there is no entry."""
    plain = f"## MSG-6 | {STAMP} | from: claude | type: info | thread: case | refs: -\n\nPASS".encode()
    _refused([*BLOCKS, plain], 6, "trailer")
