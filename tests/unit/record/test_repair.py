"""What the next append puts right, what it leaves alone, and what it refuses to touch (DESIGN 5, SPEC C-140)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import Corrupt, RecordError
from counterpoint.record.files import Layout
from tests.channels import CASE, SHARED, begin, draft, file_store
from tests.places import Place, add, plain_entry, ring

TORN: Final = [b"\n## MSG-3 | 2026", b"\n", b"\n\0\0\0\0", b"\0" * 40, b"\n## MSG-3 | x\n\nno header"]


@pytest.mark.parametrize("torn", TORN)
@pytest.mark.parametrize("with_index", [True, False])
def test_a_torn_tail_is_cut_and_kept_aside_by_the_next_append(place: Place, torn: bytes, *, with_index: bool) -> None:
    """Reading passes over it and changes nothing; the append cuts it, says where it is kept, and goes on."""
    if not with_index:
        place.path("index").unlink()
    whole = place.record.read_bytes()
    add(place.record, torn)
    assert place.texts() == ["one", "two"]
    assert place.record.read_bytes() == whole + torn
    place.say("three")
    assert place.texts() == ["one", "two", "three"]
    if torn == b"\n" and place.layout is Layout.SHARED:  # a blank line, which this mode allows
        assert place.aside() == []
    else:
        assert place.record.read_bytes().startswith(whole + b"\n## MSG-3 |")
        assert place.aside() == [torn]
    assert place.store.verify(place.channel).is_clean


def test_half_a_batch_is_cut(place: Place) -> None:
    """A batch is there whole or not at all: its first entry alone was never acknowledged (DESIGN 5)."""
    whole = place.record.read_bytes()
    place.say("three", "four")
    both = place.record.read_bytes()
    first = both[: both.index(b"\n## MSG-4 |")]
    place.record.write_bytes(first)
    place.path("signal.json").write_bytes(ring(2))
    place.forget()
    assert place.texts() == ["one", "two"]
    place.say("other")
    assert place.texts() == ["one", "two", "other"]
    assert place.aside() == [first[len(whole) :]]


@pytest.mark.parametrize("by", ["doorbell", "memory"])
def test_a_torn_tail_that_was_acknowledged_is_corrupt(place: Place, by: str) -> None:
    """Only what lies beyond both the doorbell's number and the remembered head may be cut (DESIGN 5)."""
    place.say("three")
    content = place.record.read_bytes()[:-30]
    place.record.write_bytes(content)
    if by == "doorbell":
        place.forget()
    else:
        place.path("signal.json").unlink()
    for step in (lambda: place.say("four"), place.texts):
        with pytest.raises(Corrupt) as caught:
            step()
        assert caught.value.entry == 3
    assert place.record.read_bytes() == content
    assert place.aside() == []


def test_an_entry_that_vanished_is_corrupt_until_a_person_gives_it_up(place: Place) -> None:
    """The doorbell knows of an entry that is not in the record; removing the doorbell accepts the loss."""
    place.path("signal.json").write_bytes(ring(3))
    with pytest.raises(Corrupt) as caught:
        place.say("three")
    assert "remove the doorbell" in caught.value.hint
    place.path("signal.json").unlink()
    place.say("three")
    assert (place.texts(), place.bell()) == (["one", "two", "three"], 3)


@pytest.mark.parametrize("bell", [None, b"", b"{", b"[1]", b'{"seq": true}', b'{"seq": "x"}', b"\xff", ring(1)])
def test_a_doorbell_that_is_lost_torn_or_stale_is_rebuilt(place: Place, bell: bytes | None) -> None:
    """Numbers go on from the record, never anew (SPEC C-140; the public tool's next entry would be MSG-1)."""
    if bell is None:
        place.path("signal.json").unlink()
    else:
        place.path("signal.json").write_bytes(bell)
    with place.store.hold(place.channel) as held:
        assert (held.n, held.bell) == (2, None)
    place.say("three")
    assert (place.texts(), place.bell()) == (["one", "two", "three"], 3)


def test_a_doorbells_number_may_be_written_as_text(place: Place) -> None:
    """SPEC C-008."""
    place.path("signal.json").write_bytes(ring(2).replace(b'"seq": 2', b'"seq": "2"'))
    with place.store.hold(place.channel) as held:
        assert held.bell is not None


@pytest.mark.parametrize("damage", ["removed", "emptied", "of another file", "one byte"])
def test_an_index_that_is_lost_or_wrong_is_rebuilt(place: Place, damage: str) -> None:
    """It is ours and says nothing that the record does not say (DESIGN 5)."""
    path = place.path("index")
    content = path.read_bytes()
    if damage == "removed":
        path.unlink()
    elif damage == "emptied":
        path.write_bytes(b"")
    elif damage == "of another file":
        place.record.write_bytes(place.record.read_bytes())
        place.record.rename(place.record.with_suffix(".old"))
        place.record.write_bytes(place.record.with_suffix(".old").read_bytes())
    else:
        path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    assert [block.text for block in place.store.read_thread(place.channel, "retry")] == ["one", "two"]
    with place.store.hold(place.channel) as held:
        assert held.count("retry") == 2
    place.say("three")
    assert place.texts() == ["one", "two", "three"]
    assert place.store.verify(place.channel).is_clean


def test_a_damaged_row_is_met_late_and_the_index_built_anew(place: Place) -> None:
    """Only the newest row is looked at when a channel is opened; later steps may meet a wrong one (DESIGN 5)."""
    store = file_store(str(place.root), place.layout)  # whoever remembers heads looks one up, and meets it early
    for n in range(9):
        store.append(place.channel, [draft(f"text {n}", thread=f"t{n}")], expected=None)
    path = place.path("index")
    content = bytearray(path.read_bytes())
    for at in range(
        300, len(content) - 200, 100
    ):  # neither the first row, which says where the genesis is, nor the last
        content[at] ^= 1
    path.write_bytes(content)
    with store.hold(place.channel) as held:
        assert held.count("t0") == 1
    with store.hold(place.channel) as held:
        assert [block.n for block in held.read(1)] == list(range(2, 12))
    path.write_bytes(content)
    store.append(place.channel, [draft("text 9", thread="t1"), draft("text 10", thread="t2")], expected=None)
    assert [len(store.read_thread(place.channel, f"t{n}")) for n in range(4)] == [1, 2, 2, 1]
    assert store.verify(place.channel).is_clean


def test_a_case_channel_without_its_genesis_is_corrupt(tmp_path: Path) -> None:
    """A strict channel cannot be made a plain one by taking its genesis away (SECURITY R11)."""
    (tmp_path / "root").mkdir()
    place = Place(tmp_path, Layout.CASES, CASE)
    store = file_store(str(place.root), Layout.CASES)
    begin(store, Layout.CASES)
    store.append(CASE, [draft("one", typed=True)], expected=0)
    content = place.record.read_bytes()
    for left in (content[content.index(b"\n## MSG-1 |") :], plain_entry(1, "one").encode(), b""):
        place.record.write_bytes(left)
        with pytest.raises(Corrupt) as caught:
            store.read(CASE)
        assert caught.value.entry == 0


def test_a_shared_channel_without_its_genesis_is_corrupt_while_others_have_trailers(shared: Place) -> None:
    """An entry with a trailer belongs to a chain that begins somewhere (SECURITY R11)."""
    content = shared.record.read_bytes()
    shared.record.write_bytes(content[content.index(b"\n## MSG-1 |") :])
    with pytest.raises(Corrupt) as caught:
        shared.say("three")
    assert caught.value.entry == 0


def test_numbers_that_begin_anew_are_corrupt(shared: Place) -> None:
    """The public tool with a lost doorbell repeats MSG-1; a chain has no place for that (SPEC C-140)."""
    add(shared.record, plain_entry(1, "again").encode())
    shared.path("signal.json").write_bytes(ring(1))
    with pytest.raises(Corrupt) as caught:
        shared.say("three")
    assert caught.value.entry == 1


def test_a_plain_entry_beside_ours_is_kept_and_chained(shared: Place) -> None:
    """The public tool may post between two of ours; the next of ours seals it in (DESIGN 5, shared mode)."""
    add(shared.record, plain_entry(3, "theirs").encode())
    shared.path("signal.json").write_bytes(ring(3))
    shared.say("four")
    assert shared.texts() == ["one", "two", "theirs", "four"]
    verified = shared.store.verify(shared.channel)
    assert (verified.plain, verified.tamper_evident_from, verified.is_clean) == ((3,), 4, True)


def test_a_plain_entry_whose_writer_died_before_the_doorbell_is_kept(shared: Place) -> None:
    """It is whole, nobody of ours was writing there, and the doorbell is rebuilt."""
    add(shared.record, plain_entry(3, "theirs").encode())
    shared.say("four")
    assert shared.texts() == ["one", "two", "theirs", "four"]
    assert shared.aside() == []


@pytest.mark.parametrize("rung", [True, False])
def test_zeros_behind_a_plain_entry_are_cut_and_it_is_kept_if_it_was_acknowledged(
    shared: Place, *, rung: bool
) -> None:
    """What grew and was never written may be the rest of that entry, unless somebody was told that it is whole."""
    whole, theirs, zeros = shared.record.read_bytes(), plain_entry(3, "theirs").encode(), bytes(50)
    shared.record.write_bytes(whole + theirs + zeros)
    if rung:
        shared.path("signal.json").write_bytes(ring(3))
    kept = ["one", "two", "theirs"] if rung else ["one", "two"]
    assert (shared.texts(), shared.store.head(shared.channel)[0]) == (kept, len(kept))
    shared.say("after")
    assert shared.texts() == [*kept, "after"]
    assert shared.aside() == [zeros if rung else theirs + zeros]
    assert shared.store.verify(shared.channel).is_clean


def test_an_entry_of_ours_torn_between_two_lines_is_no_plain_entry(shared: Place) -> None:
    """It reads as one of the public tool; the index knows that another was begun there (DESIGN 5)."""
    whole = shared.record.read_bytes()
    before = shared.path("signal.json").read_bytes()
    shared.say("three\n\nThis part was torn off.")
    torn = shared.record.read_bytes()
    torn = torn[: torn.index(b"three\n") + len(b"three\n")]
    shared.record.write_bytes(torn)
    shared.path("signal.json").write_bytes(before)
    shared.forget()
    assert shared.texts() == ["one", "two"]
    shared.say("three, whole")
    assert shared.texts() == ["one", "two", "three, whole"]
    assert shared.aside() == [torn[len(whole) :]]


def test_a_plain_entry_in_the_place_of_one_that_was_never_written_is_kept(shared: Place) -> None:
    """We died before the first byte; the public tool then posted under that number, and rang."""
    content = shared.record.read_bytes()
    shared.say("never")
    shared.record.write_bytes(content + plain_entry(3, "theirs").encode())
    shared.path("signal.json").write_bytes(ring(3))
    shared.forget()
    assert shared.texts() == ["one", "two", "theirs"]
    shared.say("four")
    assert shared.texts() == ["one", "two", "theirs", "four"]
    assert shared.aside() == []


def test_text_put_behind_an_entry_by_hand_changes_that_entry(shared: Place) -> None:
    """The index does not hide it: the next of ours would follow another block, and verification says so."""
    shared.say("three")
    content = shared.record.read_bytes()
    at = content.index(b"\n## MSG-3 |")
    plain = content[:at] + plain_entry(3, "theirs").encode()
    shared.record.write_bytes(plain)
    shared.path("index").unlink()
    shared.forget()
    shared.say("four")
    changed = shared.record.read_bytes().replace(b"\ntheirs\n", b"\ntheirs\n\nand more\n")
    shared.record.write_bytes(changed)
    shared.forget()
    with pytest.raises(Corrupt) as caught:
        shared.store.verify(shared.channel)
    assert caught.value.entry == 4


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"name": "other"}'])
def test_settings_that_are_not_the_channels_are_told(shared: Place, content: bytes) -> None:
    """SPEC C-007."""
    shared.path("debate.json").write_bytes(content)
    with pytest.raises(RecordError):
        shared.store.settings(shared.channel)


@pytest.mark.parametrize("name", ["../up", "a/b", "a\0b", "A", "a\nb"])
def test_names_that_lead_elsewhere_are_refused(place: Place, name: str) -> None:
    """SECURITY R20."""
    with pytest.raises(RecordError):
        place.store.read(name)
    with pytest.raises(RecordError):
        place.store.settings(name)
    with pytest.raises(RecordError):
        place.store.vault(name).names()
    with pytest.raises(RecordError):
        place.store.claims(name)


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON",
        b"[]",
        b'{"attempt":"1","driver":"a","turn":"t","until":"2026-07-06T15:00:00+00:00"}',
        b'{"attempt":1,"driver":"a","turn":"t","until":"soon"}',
        b"longer than any claim " * 20,
    ],
)
def test_a_journal_with_a_line_that_is_no_claim_is_told(place: Place, line: bytes) -> None:
    """A whole line that does not read is damage, and the line is named; one without its end is passed over."""
    until = datetime(2026, 7, 6, 15, tzinfo=UTC)
    place.store.claim(place.channel, "t.1", driver="a", until=until)
    path = place.path("claims")
    whole = path.read_bytes()
    path.write_bytes(whole + line)
    assert len(place.store.claims(place.channel)) == 1
    path.write_bytes(whole + line + b"\n")
    with pytest.raises(RecordError, match=r"claims:2"):
        place.store.claims(place.channel)
    path.write_bytes(whole + line)
    assert place.store.claim(place.channel, "t.1", driver="a", until=until).attempt == 2
    assert path.read_bytes().endswith(b"\n")
    assert len(place.store.claims(place.channel)) == 2


def test_one_channel_that_cannot_be_read_does_not_hide_the_others(shared: Place) -> None:
    """It is listed as well, and whoever opens it is told why."""
    (shared.root / "bad-00001.debate.json").write_bytes(b"{}")
    (shared.root / "Bad name.debate.json").write_bytes(b"{}")
    assert shared.store.list_open() == ("bad-00001", SHARED)
    with pytest.raises(RecordError):
        shared.store.read("bad-00001")
