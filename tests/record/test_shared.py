"""Shared channels: plain entries of the public tool beside ours, compaction, going on from a verified head."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterpoint.errors import Corrupt
from counterpoint.record.block import render, render_plain
from counterpoint.record.findings import Checkpoint, Forked, Level, Remembered, Torn, Verification
from counterpoint.record.verify import verify, verify_more
from tests.records import (
    CHANNEL,
    CHANNEL_ID,
    STAMP,
    case_drafts,
    draft,
    file_of,
    head_of,
    record,
    shared_drafts,
    signer,
)

BANNER = (
    f"> Older closed threads relocate verbatim to archive/ (see archive/{CHANNEL}-INDEX.md). "
    "Entries are never edited - `debate compact` only moves them.\n"
).encode()


def _mixed(kinds: str) -> list[bytes]:
    """Return a shared record: a genesis, then for each `c` an entry of ours, for each `p` one of the public tool."""
    blocks = record([], mode="shared", key=signer())
    for n, kind in enumerate(kinds, 1):
        entry = draft(f"post {n}", sender="claude", type="info", thread="retry")
        if kind == "p":
            blocks.append(render_plain(entry, n))
        else:
            prev = head_of(blocks)
            blocks.append(render(entry, n=n, channel_id=CHANNEL_ID, prev=prev, sign=signer().sign, strict=False))
    return blocks


def _details(found: Verification, code: str) -> list[str]:
    return [finding.detail for finding in found.findings if finding.code == code]


@pytest.mark.parametrize(
    ("kinds", "plain", "evident_from"), [("cc", (), 0), ("cpc", (2,), 3), ("ppcpp", (1, 2, 4, 5), 6), ("p", (1,), 2)]
)
def test_plain_entries_are_named(kinds: str, plain: tuple[int, ...], evident_from: int) -> None:
    """DESIGN section 5: allowed, named, and the record tamper-evident from the entry after the last of them."""
    found = verify(CHANNEL, file_of(_mixed(kinds)), mode="shared")
    assert (found.plain, found.tamper_evident_from, found.n) == (plain, evident_from, len(kinds))
    named = ", ".join(f"MSG-{n}" for n in plain)
    said = [f"{named} by the public tool; tamper-evident from MSG-{evident_from}"] if plain else []
    assert _details(found, "plain-entries") == said
    assert found.is_clean


def test_many_plain_entries_are_counted() -> None:
    """The message stays readable; the field has them all."""
    found = verify(CHANNEL, file_of(_mixed("p" * 23)))
    assert "MSG-20 and 3 more by the public tool" in _details(found, "plain-entries")[0]
    assert len(found.plain) == 23


def test_plain_entry_is_pinned_by_the_entry_of_ours_after_it() -> None:
    """`prev` covers it: edited or taken away behind our back, it shows at the next entry."""
    blocks = _mixed("cpc")
    edited = blocks[2].replace(b"post 2", b"post 3")
    with pytest.raises(Corrupt, match="MSG-3: it follows a block"):
        verify(CHANNEL, file_of([*blocks[:2], edited, blocks[3]]))
    with pytest.raises(Corrupt, match="MSG-2: it is missing"):
        verify(CHANNEL, file_of([*blocks[:2], blocks[3]]))


def test_stripped_trailer_in_a_shared_channel_shows_at_the_next_entry() -> None:
    """As the newest it becomes a plain entry, a remark without authority; the remembered head knows better."""
    blocks = _mixed("ccc")
    stripped = [block.rpartition(b"\n\n<!-- cp1 ")[0] for block in blocks]
    with pytest.raises(Corrupt, match="MSG-3: it follows"):
        verify(CHANNEL, file_of([*blocks[:2], stripped[2], blocks[3]]))
    newest = file_of([*blocks[:3], stripped[3]])
    assert verify(CHANNEL, newest).plain == (3,)
    known = Remembered(genesis=head_of(blocks[:1]), n=3, head=head_of(blocks))
    with pytest.raises(Forked, match="MSG-3"):
        verify(CHANNEL, newest, remembered=known)


def test_checkpoint_pins_the_genesis_behind_plain_entries() -> None:
    """SECURITY R11: a plain newest entry says nothing of what was before it, so the checkpoint names the genesis."""
    blocks = _mixed("pp")
    checkpoint = Checkpoint(channel_id=CHANNEL_ID, genesis=head_of(blocks[:1]), n=2, head=head_of(blocks))
    other = record([], mode="shared", key=signer(2))
    assert verify(CHANNEL, file_of(blocks), checkpoint=checkpoint).n == 2
    with pytest.raises(Forked, match="MSG-0: the checkpoint"):
        verify(CHANNEL, file_of([*other, *blocks[1:]]), checkpoint=checkpoint)


def test_what_the_public_tool_may_leave_between_is_allowed() -> None:
    """SPEC C-013, C-045: a preamble, the banner, blank lines; text behind a trailer is not (SECURITY R18)."""
    blocks = _mixed("cpc")
    content = file_of(blocks)
    assert (
        verify(CHANNEL, b"# Our channel\n\n" + BANNER + content.replace(b"\n\n## MSG-", b"\n\n\n \n## MSG-")).n == 3
    )
    with pytest.raises(Corrupt, match="MSG-2"):
        verify(CHANNEL, content.replace(b"\n\n## MSG-2", b"\nPASS\n\n## MSG-2"))
    with pytest.raises(Corrupt, match="MSG-2"):
        verify(CHANNEL, content.replace(b"\n\n## MSG-2", b"\n\xff\n\n## MSG-2"))
    with pytest.raises(Torn, match="MSG-4") as caught:
        verify(CHANNEL, content + b"PASS\n")
    assert caught.value.keep == len(content)


def test_doorbell_behind_a_shared_channel_is_an_anomaly() -> None:
    """SPEC C-044: the public tool calls it mailbox-ahead-of-doorbell, and so do we."""
    found = verify(CHANNEL, file_of(_mixed("cp")), doorbell=1)
    assert [finding.code for finding in found.findings if finding.level is Level.ANOMALY] == [
        "mailbox-ahead-of-doorbell"
    ]


def test_stamps_of_plain_entries_are_read_as_the_public_tool_reads_them() -> None:
    """SPEC C-012: `Z`, naive and other zones are UTC; what is none is said; order stays the number (SECURITY R15)."""
    blocks = record([], mode="shared")
    stamps = [
        "2026-07-06T14:07:48Z",
        "2026-07-06T14:07:49",
        "2026-07-06T16:07:50+02:00",
        "noon",
        "0001-01-01T00:00:00+14:00",
    ]
    for n, stamp in enumerate(stamps, 1):
        header = f"## MSG-{n} | {stamp} | from: a | type: info | thread: t | refs: -"
        blocks.append(f"{header}\n\ntext".encode())
    found = verify(CHANNEL, file_of(blocks), now=STAMP)
    expected = [(2, "clock-ahead"), (3, "clock-ahead"), (4, "unreadable-stamp"), (5, "unreadable-stamp")]
    assert [(note.entry, note.code) for note in found.notes] == expected


def _compacted(blocks: list[bytes], moved: set[int]) -> tuple[bytes, bytes]:
    """Return channel file and archive as the public tool's `compact` leaves them (SPEC C-045)."""
    archive = b"".join(b"\n" + block + b"\n\n" for n, block in enumerate(blocks) if n in moved)
    kept = b"\n".join(block + b"\n" for n, block in enumerate(blocks) if n not in moved)
    return BANNER + kept, archive


@pytest.mark.parametrize("mode", ["strict", "shared"])
@pytest.mark.parametrize("moved", [{2}, {1, 2, 3}, {4, 5}, {1, 3, 5}, {0}, {0, 1, 2, 3, 4, 5}])
def test_compaction_keeps_the_chain(mode: str, moved: set[int]) -> None:
    """Moved from the middle, the genesis or the newest too, with banner and one more blank line: by number, whole."""
    drafts = case_drafts() if mode == "strict" else [*shared_drafts(), draft("after")]
    blocks = record(drafts, mode=mode, key=signer())
    content, archive = _compacted(blocks, moved)
    name = f"{CHANNEL}-2026-07.md"
    whole = verify(CHANNEL, file_of(blocks), mode=mode)
    found = verify(CHANNEL, content, archives=[(name, archive)], mode=mode)
    assert replace(found, end=0) == replace(whole, end=0)
    kept = [block for n, block in enumerate(blocks) if n not in moved]
    assert content[found.end - len(kept[-1]) : found.end] == kept[-1] if kept else found.end == 0
    with pytest.raises(Corrupt):
        verify(CHANNEL, content, mode=mode, remembered=whole.remembered())


@pytest.mark.parametrize("mode", ["strict", "shared"])
def test_interrupted_compaction_leaves_a_copy_and_no_doubt(mode: str) -> None:
    """SPEC C-045: the archive is written first, so a crash leaves the same block in both; other bytes are a fork."""
    blocks = record(shared_drafts(), mode=mode, key=signer())
    _, archive = _compacted(blocks, {1, 2})
    found = verify(CHANNEL, file_of(blocks), archives=[("a", archive + archive)])
    assert [(note.code, note.entry) for note in found.notes] == [("copied-entry", n) for n in (1, 1, 2, 2)]
    other = record([draft("other"), *shared_drafts()[1:]], mode=mode, key=signer())
    with pytest.raises(Corrupt, match="MSG-1: it stands twice"):
        verify(CHANNEL, file_of(blocks), archives=[("a", _compacted(other, {1})[1])])


def test_entry_that_stands_twice_in_the_channel_file_is_no_copy() -> None:
    """SECURITY R7: compaction copies from the channel file to an archive, never within it."""
    blocks = record(shared_drafts(), mode="shared", key=signer())
    content, archive = _compacted(blocks, {2})
    with pytest.raises(Corrupt, match="MSG-4: it stands twice"):
        verify(CHANNEL, content + b"\n" + blocks[4] + b"\n", archives=[("a", archive)])


@pytest.mark.parametrize("mode", ["strict", "shared"])
def test_damaged_archive_is_refused(mode: str) -> None:
    """An archive is part of the record: its entries count as those of the channel file do."""
    blocks = record(shared_drafts(), mode=mode, key=signer())
    content, archive = _compacted(blocks, {2})
    for damaged in (archive.replace(b"post 2", b"post 3"), archive[:-9], archive + b"PASS\n", b"", b"\n"):
        with pytest.raises(Corrupt) as caught:
            verify(CHANNEL, content, archives=[("a", damaged)])
        assert not isinstance(caught.value, Torn)
    if mode == "strict":
        with pytest.raises(Corrupt, match="no entry, but"):
            verify(CHANNEL, content, archives=[("a", archive), ("b", b"PASS\n")])
    with pytest.raises(Corrupt):
        verify(CHANNEL, b"", archives=[("a", b"\n" + blocks[0])])


def test_strict_channel_takes_no_other_preamble_when_compacted() -> None:
    """The banner of this very channel and line ends: nothing else may stand between (SECURITY R18)."""
    blocks = record(case_drafts(), key=signer())
    content, archive = _compacted(blocks, {2})
    assert verify(CHANNEL, content + b"\n\n", archives=[("a", b"\n\n" + archive)]).n == 5
    for damaged in (
        content.replace(CHANNEL.encode() + b"-INDEX", b"x-INDEX"),
        BANNER + content,
        b"note\n" + content,
        content.replace(b"\n\n## MSG-3", b"\n \n## MSG-3"),
        content + b" \n",
    ):
        with pytest.raises(Corrupt):
            verify(CHANNEL, damaged, archives=[("a", archive)])
    with pytest.raises(Corrupt):
        verify(CHANNEL, content, archives=[("a", BANNER + archive)])


@given(kinds=st.text("cp", min_size=1, max_size=8), cut=st.integers(0, 8))
@example(kinds="ccp", cut=1)
def test_verifying_on_from_a_head_says_what_verifying_all_says(kinds: str, cut: int) -> None:
    """DESIGN section 5: a watcher goes on from the last verified head, for any cut of any record."""
    blocks = _mixed(kinds)
    cut = min(cut, len(kinds))
    before = verify(CHANNEL, file_of(blocks[: cut + 1]), now=STAMP)
    content = file_of(blocks)
    known = Remembered(genesis=head_of(blocks[:1]), n=len(kinds), head=head_of(blocks))
    more = content[before.end :]
    assert verify_more(before, more, now=STAMP) == verify(CHANNEL, content, now=STAMP)
    assert verify_more(before, more, remembered=known, doorbell=2) == verify(
        CHANNEL, content, remembered=known, doorbell=2
    )


def test_verifying_on_refuses_what_does_not_follow() -> None:
    """Torn, forged, of another record: with the entry, and with the place in the whole file."""
    blocks = record(case_drafts(), key=signer())
    content = file_of(blocks)
    before = verify(CHANNEL, file_of(blocks[:3]))
    more = content[before.end :]
    assert verify_more(before, b"\n") == before
    assert verify_more(before, more).end == len(content) - 1
    for damaged, entry in ((more[1:], 3), (b"\n" + more, 3), (more.replace(b"PASS", b"FAIL"), 4), (b"x" + more, 3)):
        with pytest.raises(Corrupt) as corrupt:
            verify_more(before, damaged)
        assert corrupt.value.entry == entry
    for torn, n in ((more[:-1], 5), (more[:-40], 5), (b"\n\n## MSG-3 | 2026", 3)):
        with pytest.raises(Torn) as caught:
            verify_more(before, torn)
        assert caught.value.entry == n
        assert caught.value.keep == len(file_of(blocks[:n]))
    with pytest.raises(Torn, match="MSG-2: its last line has no end"):
        verify_more(before, b"")
    other = record([draft("other"), *case_drafts()[1:]], key=signer())
    with pytest.raises(Corrupt, match="MSG-3: it follows"):
        verify_more(before, file_of(other)[len(file_of(other[:3])) - 1 :])
    known = Remembered(genesis=before.genesis_digest, n=9, head="0" * 64)
    with pytest.raises(Corrupt, match="MSG-6: it is gone"):
        verify_more(before, more, remembered=known)


def test_channel_of_the_public_tool_is_surveyed() -> None:
    """SPEC C-044, C-141: no chain; numbers twice, also in an archive, gaps, and the doorbell are looked at."""
    plain = [render_plain(entry, n) for n, entry in enumerate(shared_drafts(), 1)]
    found = verify(CHANNEL, file_of(plain), doorbell=4)
    assert (found.mode, found.n, found.head, found.genesis) == ("plain", 4, head_of(plain), None)
    assert found.tamper_evident_from == 5
    assert [finding.code for finding in found.findings] == ["no-chain"]
    assert found.is_clean

    def codes(*blocks: bytes, doorbell: int | None = None, archive: bytes = b"") -> list[str]:
        found = verify(CHANNEL, file_of(blocks), archives=[("a", archive)], doorbell=doorbell)
        return [finding.code for finding in found.findings if finding.code != "no-chain"]

    assert codes(plain[0], plain[0].replace(b"post", b"most")) == ["duplicate-seq"]
    assert codes(plain[1], archive=file_of([plain[1].replace(b"post", b"most")])) == ["duplicate-seq"]
    assert codes(plain[1], archive=file_of(plain[:2])) == ["copied-entry"]
    assert codes(plain[0], plain[3]) == ["gap"]
    assert codes(*plain, doorbell=3) == ["mailbox-ahead-of-doorbell"]
    assert codes(*plain, doorbell=5) == ["doorbell-ahead"]
    assert codes(doorbell=0) == []
    with pytest.raises(Corrupt, match="MSG-2 is chained"):
        verify(CHANNEL, file_of([plain[0], record(shared_drafts(), mode="shared")[2]]))
    with pytest.raises(Corrupt, match="UTF-8"):
        verify(CHANNEL, file_of([plain[0] + b"\xff"]))


NOISE = st.one_of(st.binary(max_size=200), st.text(max_size=80).map(str.encode))


@given(
    noise=NOISE, place=st.integers(0, 10), replaces=st.booleans(), mode=st.sampled_from(["shared", "strict", None])
)
def test_verify_raises_corrupt_and_nothing_else(
    noise: bytes, place: int, mode: str | None, *, replaces: bool
) -> None:
    """Fuzz: whatever stands in the file or in the archive, the answer is a verification or a typed error."""
    content = file_of(_mixed("cpc"))
    at = len(content) * place // 10
    noisy = content[:at] + noise + content[at + (len(noise) if replaces else 0) :]
    for first, archive in ((noisy, b""), (content, noise), (noise, content), (noise, b"")):
        with suppress(Corrupt):
            assert verify(CHANNEL, first, archives=[("a", archive)], mode=mode).channel == CHANNEL
