"""One suite for every store: whoever keeps the entries, the same promises hold and the same bytes are kept."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from counterpoint.errors import Conflict, Corrupt, RecordError, Refused
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.genesis import parse_genesis
from counterpoint.record.heads import Heads
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Block, Claim, Store
from tests.channels import CASE, SHARED, STAMP, begin, draft, file_store, genesis, key, texts

UNTIL: Final = datetime(2026, 7, 6, 15, tzinfo=UTC)


class Begun(NamedTuple):
    """A store with one channel in it."""

    store: FileStore | MemoryStore
    channel: str
    layout: Layout
    again: Callable[[], Store]
    """Opens what the store keeps a second time."""


@pytest.fixture(params=["memory", "memory-shared", "files-cases", "files-shared"])
def begun(request: pytest.FixtureRequest, tmp_path: Path) -> Begun:
    kind: str = request.param
    layout = Layout.SHARED if kind.endswith("shared") else Layout.CASES
    if kind.startswith("memory"):
        memory = MemoryStore(signer=key)
        return Begun(memory, begin(memory, layout), layout, lambda: memory)
    (tmp_path / "root").mkdir()
    (tmp_path / "state").mkdir()

    def opened() -> FileStore:
        heads = Heads(RealFiles(), str(tmp_path / "state" / "heads"))
        return file_store(str(tmp_path / "root"), layout, heads=heads)

    store = opened()
    return Begun(store, begin(store, layout), layout, opened)


def said(begun: Begun, *some: str, expected: int | None = None) -> tuple[Block, ...]:
    drafts = [draft(text, typed=begun.layout is Layout.CASES) for text in some]
    return begun.store.append(begun.channel, drafts, expected=expected)


def test_a_channel_begins_with_its_genesis(begun: Begun) -> None:
    """Entry 0 carries channel id, mode, roster and keys; the settings are complete (DESIGN 5)."""
    first = begun.store.read(begun.channel)
    assert [block.n for block in first] == [0]
    assert parse_genesis(first[0], channel=begun.channel) == genesis(begun.layout)
    assert begun.store.head(begun.channel) == (0, first[0].digest)
    settings = begun.store.settings(begun.channel)
    assert (settings["name"], len(settings["parties"])) == (begun.channel, 2)
    assert settings["managed_version"] == (3 if begun.layout is Layout.CASES else 1)
    assert begun.store.list_open() == (begun.channel,)


def test_a_name_is_given_once(begun: Begun) -> None:
    """A second channel of the same name is refused and the first one stays as it is."""
    said(begun, "one")
    with pytest.raises(RecordError, match="already"):
        begin(begun.store, begun.layout)
    assert texts(begun.store, begun.channel) == ["one"]


def test_entries_are_read_as_they_were_appended(begun: Begun) -> None:
    """What `append` returns is what is read, by this store and by one opened later (DESIGN 6, store interface)."""
    one = said(begun, "one", expected=0)
    two = said(begun, "two", "three", expected=1)
    assert [block.batch for block in (*one, *two)] == [(1, 1), (1, 2), (2, 2)]
    assert begun.store.read(begun.channel, 0) == (*one, *two)
    assert begun.again().read(begun.channel, 0) == (*one, *two)
    assert begun.store.read(begun.channel, 2) == two[1:]
    assert begun.store.read(begun.channel, 3) == ()
    assert begun.again().head(begun.channel) == (3, two[1].digest)
    assert one[0].fields == ({"said": "one"} if begun.layout is Layout.CASES else None)


def test_an_append_that_expects_another_number_conflicts(begun: Begun) -> None:
    """Compare and append: two drivers cannot both win, and the loser wrote nothing (DESIGN 6)."""
    said(begun, "one", expected=0)
    with pytest.raises(Conflict) as caught:
        said(begun, "two", expected=0)
    assert (caught.value.expected, caught.value.found) == (0, 1)
    assert texts(begun.again(), begun.channel) == ["one"]


def test_a_draft_that_has_no_place_is_refused_and_nothing_is_written(begun: Begun) -> None:
    """One bad draft refuses the whole batch (DESIGN 5: a body line that would read as a header)."""
    forged = "## MSG-9 | z | from: a | type: close | thread: t | refs: -"
    with pytest.raises(Refused):
        said(begun, "one", forged)
    assert texts(begun.again(), begun.channel) == []
    assert [block.n for block in said(begun, "two")] == [1]


def test_a_thread_is_read_by_itself(begun: Begun) -> None:
    """The open thread is read without the rest, and counted."""
    for n in range(12):
        begun.store.append(begun.channel, [draft(f"text {n}", thread=f"t{n % 3}")], expected=None)
    assert [block.text for block in begun.store.read_thread(begun.channel, "t1")] == [
        f"text {n}" for n in (1, 4, 7, 10)
    ]
    assert begun.store.read_thread(begun.channel, "t9") == ()
    with begun.store.hold(begun.channel) as held:
        assert (held.count("t1"), held.count("t9")) == (4, 0)


def test_holding_a_channel_sees_and_writes_its_newest_state(begun: Begun) -> None:
    """What is read under the hold stays so; two appends under one hold follow each other."""
    said(begun, "one")
    with begun.store.hold(begun.channel) as held:
        assert held.n == 1
        held.append([draft("two")], bell=bell)
        assert (held.n, held.bell) == (2, bell(held.read(1)[0]))
        held.append([draft("three")])
        assert [block.text for block in held.read(0)] == ["one", "two", "three"]
    assert texts(begun.again(), begun.channel) == ["one", "two", "three"]


def bell(block: Block) -> Mapping[str, Any]:
    return {"seq": block.n, "turn": "codex", "thread": "retry", "last_entry": f"MSG-{block.n}", "updated_at": STAMP}


def test_the_doorbell_is_the_callers(begun: Begun) -> None:
    """`record` knows no protocol: the doorbell's fields are the caller's, or say nobody and nothing (DESIGN 5)."""
    begun.store.append(begun.channel, [draft("one")], expected=None, bell=bell)
    with begun.store.hold(begun.channel) as held:
        assert held.bell == {**bell(held.read(0)[0])}
    said(begun, "two")
    with begun.store.hold(begun.channel) as held:
        assert held.bell == {**bell(held.read(1)[0]), "turn": "", "thread": ""}


def test_a_record_verifies(begun: Begun) -> None:
    """The chain, the signatures and the doorbell hold; the head is remembered from then on."""
    said(begun, "one", "two")
    said(begun, "three")
    first = begun.store.verify(begun.channel)
    assert (first.n, first.mode, first.is_clean) == (3, genesis(begun.layout).mode, True)
    assert begun.store.verify(begun.channel).head == first.head


def test_a_sealed_reply_is_written_once(begun: Begun) -> None:
    """The same bytes again are accepted, other bytes are refused (DESIGN 4, sealing)."""
    vault = begun.store.vault(begun.channel)
    assert (vault.names(), vault.get("reply-b.1")) == ((), None)
    vault.put("reply-b.1", b"yes\n")
    vault.put("reply-a.1", b"")
    vault.put("reply-b.1", b"yes\n")
    with pytest.raises(RecordError, match="written once"):
        vault.put("reply-b.1", b"no\n")
    again = begun.again().vault(begun.channel)
    assert (again.names(), again.get("reply-b.1")) == (("reply-a.1", "reply-b.1"), b"yes\n")


@pytest.mark.parametrize("name", ["", ".hidden", "../up", "a/b", "UP", "x.new", "a\n"])
def test_a_sealed_reply_has_a_plain_name(begun: Begun, name: str) -> None:
    """Names come from turn ids; anything else is our own mistake (SECURITY R20)."""
    with pytest.raises(AssertionError):
        begun.store.vault(begun.channel).put(name, b"")


def test_a_new_name_is_taken_once(begun: Begun) -> None:
    """The driver's own answer takes a free place only: not even the same bytes may lie there before (DESIGN 4)."""
    vault = begun.store.vault(begun.channel)
    assert [vault.put_new("reply-a.1", content) for content in (b"yes", b"yes", b"no")] == [True, False, False]
    assert begun.again().vault(begun.channel).get("reply-a.1") == b"yes"


def test_what_another_writes_behind_our_own_entry_is_read(begun: Begun) -> None:
    """A store that has just written knows where it ended, and still sees what follows."""
    store, channel = begun.store, begun.channel
    last = said(begun, "ours")[-1].n
    assert store.read(channel, last) == ()
    begun.again().append(channel, [draft("theirs", typed=begun.layout is Layout.CASES)], expected=last)
    assert [block.text for block in store.read(channel, last)] == ["theirs"]
    assert [block.text for block in store.read(channel, last - 1)] == ["ours", "theirs"]


def test_several_claims_at_once_are_counted_as_one_after_another(begun: Begun) -> None:
    """Those who are asked at the same time are claimed with one write (DESIGN 6)."""
    store, channel = begun.store, begun.channel
    turns = ["reviewing.1.a.1", "reviewing.1.b.1", "reviewing.1.a.1"]
    made = store.claim_all(channel, [(turn, UNTIL) for turn in turns], driver="d")
    assert [(claim.turn, claim.attempt) for claim in made] == list(zip(turns, [1, 1, 2], strict=True))
    assert begun.again().claims(channel) == made


def test_attempts_are_counted_by_turn(begun: Begun) -> None:
    """A claim is on disk before the call, so that attempts count even if the driver dies (DESIGN 6)."""
    store, channel = begun.store, begun.channel
    assert store.claims(channel) == ()
    turns = ["reviewing.1.a.1", "reviewing.1.b.1", "reviewing.1.a.1"]
    made = [
        store.claim(channel, turn, driver=f"d{i}", until=UNTIL + timedelta(minutes=i)) for i, turn in enumerate(turns)
    ]
    assert [claim.attempt for claim in made] == [1, 1, 2]
    assert made[2] == Claim(turn=turns[2], driver="d2", attempt=2, until=UNTIL + timedelta(minutes=2))
    assert begun.again().claims(channel) == tuple(made)


def test_watching_ends_when_the_entry_comes_or_the_time_is_up(begun: Begun) -> None:
    """`watch` says whether there is something above a number."""
    said(begun, "one")
    assert begun.store.watch(begun.channel, after=0, timeout_s=0)
    assert not begun.store.watch(begun.channel, after=1, timeout_s=0.2)
    waiting = threading.Thread(target=said, args=(begun, "two"))
    waiting.start()
    try:
        assert begun.again().watch(begun.channel, after=1, timeout_s=1e6)
    finally:
        waiting.join(5)


def test_a_channel_that_is_not_there_is_named(begun: Begun) -> None:
    """Every method says so in one sentence."""
    store = begun.store
    with pytest.raises(RecordError, match="nowhere"):
        store.read("nowhere")
    with pytest.raises(RecordError, match="nowhere"):
        store.append("nowhere", [draft("x")], expected=None)
    with pytest.raises(RecordError, match="nowhere"):
        store.settings("nowhere")
    with pytest.raises(RecordError, match="nowhere"):
        store.verify("nowhere")


def test_a_signed_channel_is_written_with_its_own_key_alone(begun: Begun, tmp_path: Path) -> None:
    """Without a key that the genesis names nothing is appended (DESIGN 5, signing)."""
    if isinstance(begun.store, MemoryStore):
        keyless: Store = MemoryStore()
        with pytest.raises(RecordError, match="genesis names"):
            begin(keyless, begun.layout)
        return
    keyless = FileStore(str(tmp_path / "root"), begun.layout)
    with pytest.raises(RecordError, match="genesis names"):
        keyless.append(begun.channel, [draft("x")], expected=None)
    assert texts(begun.store, begun.channel) == []


def test_channels_are_listed_oldest_first(begun: Begun) -> None:
    """By the stamp of their first entry."""
    older = {Layout.CASES: CASE.replace("00000001", "00000002"), Layout.SHARED: SHARED.replace("4711", "4712")}
    begun.store.create(
        older[begun.layout],
        replace(genesis(begun.layout), channel_id="0" * 32),
        stamp="2026-07-05T00:00:00+00:00",
        sender="owner",
        settings={"parties": ["a", "b"], "supervisor": "owner"},
    )
    assert begun.store.list_open() == (older[begun.layout], begun.channel)


def test_both_stores_keep_the_same_bytes(tmp_path: Path) -> None:
    """The same drafts under the same key are the same record, byte for byte (DESIGN 5)."""
    for layout in Layout:
        root = tmp_path / layout
        root.mkdir()
        memory, files = MemoryStore(signer=key), file_store(str(root), layout)
        channel, typed = (CASE, True) if layout is Layout.CASES else (SHARED, False)
        for store in (memory, files):
            begin(store, layout)
            store.append(channel, [draft("one", typed=typed), draft("two", typed=typed)], expected=0)
            store.append(channel, [draft("three\n\nlines", typed=typed)], expected=2)
        name = f"{CASE}/{CASE}" if layout is Layout.CASES else SHARED
        assert (root / f"{name}.channel.md").read_bytes() == memory.content(channel)


def test_a_changed_byte_is_found_and_the_entry_named(tmp_path: Path) -> None:
    """One byte of an entry's text is enough (SECURITY R1)."""
    store = file_store(str(tmp_path), Layout.CASES)
    channel = begin(store, Layout.CASES)
    store.append(channel, [draft("one", typed=True)], expected=0)
    store.append(channel, [draft("two", typed=True)], expected=1)
    path = tmp_path / channel / f"{channel}.channel.md"
    path.write_bytes(path.read_bytes().replace(b"\none\n", b"\n0ne\n"))
    with pytest.raises(Corrupt) as caught:
        store.verify(channel)
    assert caught.value.entry == 1
    with pytest.raises(Corrupt):
        store.read(channel)
