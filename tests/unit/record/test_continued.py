"""Channels that somebody else began, or has moved about, are continued (DESIGN 5, SPEC C-028, C-045, C-140)."""

import pytest

from counterpoint.errors import Corrupt
from tests.channels import draft
from tests.places import PLAIN, Place, add, archive_thread, plain_entry, ring


def test_a_channel_of_the_public_tool_is_continued_byte_for_byte(plain: Place) -> None:
    """No genesis, no trailer, no typed object (DESIGN 5)."""
    before = plain.record.read_bytes()
    plain.store.append(PLAIN, [draft("three", sender="codex")], expected=2)
    assert plain.record.read_bytes() == before + plain_entry(3, "three", sender="codex").encode()
    assert plain.bell() == 3
    assert plain.store.verify(PLAIN).mode == "plain"


def test_text_put_behind_a_plain_entry_belongs_to_it(plain: Place) -> None:
    """It is part of the entry for every reader, so the index, which knows the entry without it, is built anew."""
    plain.say("three")
    add(plain.record, f"\nby hand\n{plain_entry(4, 'four')}".encode())
    plain.path("signal.json").write_bytes(ring(4))
    plain.say("five")
    read = [block.text for block in plain.store.read(PLAIN)]
    assert read == ["one", "two", "three\n\nby hand", "four", "five"]
    assert [block.text for block in plain.store.read_thread(PLAIN, "retry")] == read


def test_a_pair_in_a_channel_of_the_public_tool_is_one_replacement(plain: Place) -> None:
    """Plain entries name no batch, so both come with one rename (DESIGN 5, durability)."""
    before, inode = plain.record.read_bytes(), plain.record.stat().st_ino
    plain.store.append(PLAIN, [draft("three"), draft("four")], expected=2)
    expected = plain_entry(3, "three", sender="owner") + plain_entry(4, "four", sender="owner")
    assert plain.record.read_bytes() == before + expected.encode()
    assert plain.record.stat().st_ino != inode
    plain.store.append(PLAIN, [draft("five")], expected=4)
    assert plain.texts() == ["one", "two", "three", "four", "five"]


def test_an_empty_channel_of_the_public_tool_begins_at_one(plain: Place) -> None:
    """SPEC C-028."""
    plain.record.write_bytes(b"")
    plain.path("signal.json").write_bytes(ring(0))
    plain.say("one")
    assert plain.record.read_bytes() == plain_entry(1, "one", sender="owner").encode()


def test_a_plain_channel_counts_on_from_its_doorbell(plain: Place) -> None:
    """Entries that the public tool lost, or archived elsewhere, are not numbered a second time (SPEC C-028)."""
    plain.path("signal.json").write_bytes(ring(7))
    assert plain.store.head(PLAIN)[0] == 7
    plain.store.append(PLAIN, [draft("eight")], expected=7)
    assert [block.n for block in plain.store.read(PLAIN)] == [1, 2, 8]


def test_a_plain_channel_whose_numbers_began_anew_goes_on_from_the_highest(plain: Place) -> None:
    """What the public tool repeated stays as it is; nothing is repeated once more (SPEC C-140)."""
    add(plain.record, plain_entry(1, "again").encode())
    plain.path("signal.json").write_bytes(ring(1))
    plain.say("three")
    assert [(block.n, block.text) for block in plain.store.read(PLAIN)] == [
        (1, "one"),
        (2, "two"),
        (1, "again"),
        (3, "three"),
    ]


def test_the_last_line_end_may_be_missing_in_a_plain_channel(plain: Place) -> None:
    """An editor may have taken it; the entry was acknowledged and is kept (DESIGN 5, shared mode)."""
    plain.record.write_bytes(plain.record.read_bytes().rstrip(b"\n"))
    plain.path("index").unlink(missing_ok=True)
    plain.say("three")
    assert plain.texts() == ["one", "two", "three"]


@pytest.mark.parametrize("newest_too", [False, True])
def test_a_compaction_in_the_middle_of_a_chain_keeps_it_whole(shared: Place, *, newest_too: bool) -> None:
    """The chain goes by number, wherever a block lies; the newest entry may be an archived one (issue 2)."""
    shared.store.append(shared.channel, [draft("three", thread="other")], expected=2)
    for thread in ("retry", "other") if newest_too else ("retry",):
        archive_thread(shared, thread)
    assert shared.texts() == ["one", "two", "three"]
    assert shared.store.head(shared.channel)[0] == 3
    shared.say("four")
    assert [block.n for block in shared.store.read(shared.channel)] == [0, 1, 2, 3, 4]
    assert [block.text for block in shared.store.read(shared.channel, 1)] == ["two", "three", "four"]
    verified = shared.store.verify(shared.channel)
    assert (verified.n, verified.is_clean) == (4, True)
    shared.say("five")
    with shared.store.hold(shared.channel) as held:
        assert held.count("retry") == 2


def test_a_genesis_that_was_archived_is_found(shared: Place) -> None:
    """Somebody closed the thread `genesis` and compacted: entry 0 is in an archive then."""
    archive_thread(shared, "genesis")
    shared.say("three")
    shared.say("four")
    assert shared.texts() == ["one", "two", "three", "four"]
    assert shared.store.verify(shared.channel).is_clean


def test_two_different_entries_of_one_number_are_corrupt(shared: Place) -> None:
    """One in the channel file and one in an archive; the same bytes twice are a compaction cut short (SPEC C-045)."""
    whole = shared.record.read_bytes()
    archive_thread(shared, "retry")
    shared.record.write_bytes(whole)
    assert shared.texts() == ["one", "two"]
    archive = shared.folder / "archive" / f"{shared.channel}-2026-07.md"
    archive.write_bytes(archive.read_bytes().replace(b"\none\n", b"\n0ne\n"))
    with pytest.raises(Corrupt):
        shared.say("three")
