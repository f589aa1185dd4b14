"""Whatever a power cut leaves, the store finds every acknowledged entry once, and goes on (SECURITY C.1, C.3).

The store's own code runs over a disk that writes down every change; every disk that a cut may leave is then handed to
a new store. A mutant that leaves out one of the precautions must lose something, or the model proves nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

import pytest

from counterpoint.errors import CounterpointError
from counterpoint.record.bell import read_bell, write_object
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import Access, Folder
from counterpoint.record.heads import Heads
from tests.channels import CASE, HEADS, SETTINGS, SHARED, STAMP, begin, draft, file_store, genesis, texts
from tests.disk import Disk
from tests.power import Cut, power_cuts

UNTIL: Final = datetime(2026, 7, 6, 15, tzinfo=UTC)
LONG: Final = "A text of two lines.\n\nIt may be cut anywhere."
PLAIN: Final = "plain-00001"

Check = Callable[[Cut], None]


def store_on(disk: Disk, layout: Layout) -> FileStore:
    return file_store("/root", layout, fs=disk, heads=Heads(disk, HEADS))


def folders() -> Disk:
    disk = Disk()
    root = disk.folder("/")
    disk.make_folder(root, "root", 0o755)
    disk.make_folder(root, "state", 0o700)
    return disk.settled()


def one_entry(layout: Layout) -> tuple[Disk, str]:
    """Return a disk with a channel that holds one entry, "before"."""
    disk = folders()
    store = store_on(disk, layout)
    channel = begin(store, layout, signed=False)
    store.append(channel, [draft("before", typed=layout is Layout.CASES)], expected=0)
    return disk.settled(), channel


def plain_channel() -> tuple[Disk, str]:
    """Return a disk with a channel that the public tool began, and one entry, "before"."""
    disk = folders()
    content = f"\n## MSG-1 | {STAMP} | from: claude | type: info | thread: retry | refs: -\n\nbefore\n"
    bell = {"seq": 1, "turn": "codex", "thread": "retry", "last_entry": "MSG-1", "updated_at": STAMP}
    disk.put(f"/root/{PLAIN}.channel.md", content.encode())
    disk.put(f"/root/{PLAIN}.signal.json", write_object(bell))
    disk.put(f"/root/{PLAIN}.debate.json", write_object({**SETTINGS, "name": PLAIN}))
    return disk.settled(), PLAIN


def started(layout: Layout | None) -> tuple[Disk, str, Layout]:
    if layout is None:
        return *plain_channel(), Layout.SHARED
    return *one_entry(layout), layout


def appended(disk: Disk, channel: str, layout: Layout, said: Sequence[str]) -> None:
    typed = layout is Layout.CASES
    store_on(disk, layout).append(channel, [draft(text, typed=typed) for text in said], expected=None)
    disk.ack("appended")


def goes_on(cut: Cut, channel: str, layout: Layout, before: Sequence[str], said: Sequence[str]) -> None:
    """Hold a disk to its promises: all or nothing of `said`, all if it was acknowledged, and it goes on."""
    store = store_on(cut.disk, layout)
    found = texts(store, channel)
    assert found in ([*before], [*before, *said]), found
    assert not cut.acks or found == [*before, *said], f"acknowledged and lost: {found}"
    appended(cut.disk, channel, layout, ["after"])
    assert texts(store, channel) == [*found, "after"]
    verified = store.verify(channel)
    folder = f"/root/{channel}" if layout is Layout.CASES else "/root"
    bell = read_bell(cut.disk.get(f"{folder}/{channel}.signal.json"))
    assert bell is not None
    assert bell[0] == verified.n == len(found) + 1


def faults(disk: Disk, base: Disk, check: Check) -> Iterator[str]:
    """Yield what went wrong after each cut of what `disk` did since `base`."""
    for cut in power_cuts(disk, base):
        try:
            check(cut)
        except (AssertionError, CounterpointError) as error:
            yield f"after change {cut.at}: {type(error).__name__}: {error}"


APPENDS: Final = [
    pytest.param(layout, said, id=f"{layout or 'plain'}-{len(said)}")
    for layout in (Layout.CASES, Layout.SHARED, None)
    for said in ([LONG], [LONG, "the other half of a pair"])
]


@pytest.mark.parametrize(("layout", "said"), APPENDS)
def test_an_append_survives_a_power_cut_at_any_moment(layout: Layout | None, said: list[str]) -> None:
    """Acknowledged entries are there once, a batch is there whole or not at all, and it goes on (C.3 level 1)."""
    base, channel, layout = started(layout)
    disk = base.settled()
    appended(disk, channel, layout, said)
    assert list(faults(disk, base, lambda cut: goes_on(cut, channel, layout, ["before"], said))) == []


def test_an_append_survives_a_power_cut_and_the_loss_of_its_index() -> None:
    """In a strict channel every entry tells by itself whether it is whole; the index is not needed (DESIGN 5)."""
    base, channel = one_entry(Layout.CASES)
    disk = base.settled()
    said = [LONG, "the other half of a pair"]
    appended(disk, channel, Layout.CASES, said)

    def check(cut: Cut) -> None:
        folder = cut.disk.folder(f"/root/{channel}")
        if cut.disk.look(folder, f"{channel}.index") is not None:
            cut.disk.unlink(folder, f"{channel}.index")
        goes_on(cut, channel, Layout.CASES, ["before"], said)

    assert list(faults(disk, base, check)) == []


def is_torn(cut: Cut, channel: str, layout: Layout) -> bool:
    """Say whether the next append finds something to put right, by trying it on a copy."""
    disk = cut.disk.settled()
    appended(disk, channel, layout, ["tried"])
    folder = f"/root/{channel}" if layout is Layout.CASES else "/root"
    return any(".torn-" in name for name in disk.listing(folder))


def repairs(layout: Layout, *, at_most: int) -> Iterator[str]:
    """Yield what goes wrong when the power is cut again while the next append puts right what a cut left."""
    base, channel = one_entry(layout)
    disk = base.settled()
    appended(disk, channel, layout, [LONG, "the other half of a pair"])
    torn = [cut for cut in power_cuts(disk, base) if is_torn(cut, channel, layout)]
    assert torn
    for cut in torn[:: max(1, len(torn) // at_most)]:
        before = texts(store_on(cut.disk.settled(), layout), channel)
        again = cut.disk.settled()
        appended(again, channel, layout, ["after"])
        yield from faults(
            again, cut.disk, partial(goes_on, channel=channel, layout=layout, before=before, said=["after"])
        )


@pytest.mark.parametrize("layout", Layout)
def test_putting_right_what_a_cut_left_survives_a_cut_itself(layout: Layout) -> None:
    """Repair is repeatable: a second cut in the middle of it loses nothing and doubles nothing (C.3 level 1)."""
    assert list(repairs(layout, at_most=1)) == []


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("layout", Layout)
def test_every_repair_survives_every_cut(layout: Layout) -> None:
    """As above, for every torn state."""
    assert list(repairs(layout, at_most=10_000)) == []


@pytest.mark.parametrize("layout", Layout)
def test_a_channel_is_begun_whole_or_not_at_all(layout: Layout) -> None:
    """A cut while a channel is begun leaves none, and the same name can be used, or all of it (C.3 level 1)."""
    base = folders()
    disk = base.settled()
    channel = begin(store_on(disk, layout), layout, signed=False)
    disk.ack("begun")

    def check(cut: Cut) -> None:
        store = store_on(cut.disk, layout)
        if not store.list_open():
            assert not cut.acks, "acknowledged and lost"
            begin(store, layout, signed=False)
        assert store.head(channel)[0] == 0
        appended(cut.disk, channel, layout, ["first"])
        assert texts(store, channel) == ["first"]
        assert store.verify(channel).genesis == genesis(layout, signed=False)

    assert list(faults(disk, base, check)) == []


@pytest.mark.parametrize("layout", Layout)
def test_a_sealed_reply_is_kept_once_it_is_acknowledged(layout: Layout) -> None:
    """A cut while a reply is sealed leaves none or all of it, and it can be sealed again (DESIGN 4, sealing)."""
    base, channel = one_entry(layout)
    disk = base.settled()
    store_on(disk, layout).vault(channel).put("reply-a.1", b"yes")
    disk.ack("sealed")

    def check(cut: Cut) -> None:
        vault = store_on(cut.disk, layout).vault(channel)
        kept = vault.get("reply-a.1")
        assert kept == b"yes" or (kept is None and not cut.acks), kept
        vault.put("reply-a.1", b"yes")
        assert (vault.get("reply-a.1"), vault.names()) == (b"yes", ("reply-a.1",))

    assert list(faults(disk, base, check)) == []


@pytest.mark.parametrize("earlier", [0, 1])
def test_a_claim_counts_once_it_is_acknowledged(earlier: int) -> None:
    """A cut while a claim is made leaves a journal that reads; the next attempt has the next number (DESIGN 6)."""
    base, channel = one_entry(Layout.CASES)
    for _ in range(earlier):
        store_on(base, Layout.CASES).claim(channel, "reviewing.1.critic.1", driver="a", until=UNTIL)
    base = base.settled()
    disk = base.settled()
    store_on(disk, Layout.CASES).claim(channel, "reviewing.1.critic.1", driver="b", until=UNTIL)
    disk.ack("claimed")

    def check(cut: Cut) -> None:
        store = store_on(cut.disk, Layout.CASES)
        found = len(store.claims(channel))
        assert found == earlier + 1 or (found == earlier and not cut.acks), found
        assert store.claim(channel, "reviewing.1.critic.1", driver="c", until=UNTIL).attempt == found + 1

    assert list(faults(disk, base, check)) == []


class NoSync(Disk):
    """Leaves out every sync of a file."""

    def sync(self, opened: int | Folder) -> None:
        if isinstance(opened, Folder):
            super().sync(opened)


class NoRecordSync(Disk):
    """Leaves out the sync of the channel file."""

    def sync(self, opened: int | Folder) -> None:
        if isinstance(opened, Folder) or not self.is_record(opened):
            super().sync(opened)

    def is_record(self, fd: int) -> bool:
        inode = self.stat(fd).inode[1]
        return any(
            node.names is not None and any(n.endswith(".channel.md") and i == inode for n, i in node.names.items())
            for node in self.nodes.values()
        )


class NoFolderSync(Disk):
    """Leaves out every sync of a folder."""

    def sync(self, opened: int | Folder) -> None:
        if not isinstance(opened, Folder):
            super().sync(opened)


class BellFirst(Disk):
    """Moves the doorbell as soon as its bytes are written, before the entry."""

    def __init__(self) -> None:
        super().__init__()
        self._bells: dict[int, tuple[Folder, str]] = {}

    def open(self, folder: Folder, name: str, access: Access, mode: int = 0o600) -> int:
        fd = super().open(folder, name, access, mode)
        if name.endswith(".signal.json.new"):
            self._bells[fd] = folder, name
        return fd

    def close(self, opened: int | Folder) -> None:
        if isinstance(opened, int) and opened in self._bells:
            folder, name = self._bells.pop(opened)
            super().rename(folder, name, name.removesuffix(".new"))
        super().close(opened)

    def rename(self, folder: Folder, name: str, to: str) -> None:
        if not name.endswith(".signal.json.new"):
            super().rename(folder, name, to)


class EarlyAck(NoRecordSync):
    """Acknowledges the entry before it is synced."""

    def sync(self, opened: int | Folder) -> None:
        if not isinstance(opened, Folder) and self.is_record(opened):
            self.ack("appended")
            Disk.sync(self, opened)
            return
        Disk.sync(self, opened)


def mutant(kind: type[Disk], base: Disk) -> Disk:
    disk, copy = kind(), base.settled()
    disk.nodes, disk.numbers, disk.clock_ns = copy.nodes, copy.numbers, copy.clock_ns
    return disk


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("kind", [NoSync, NoRecordSync, BellFirst, EarlyAck])
def test_an_append_without_one_of_its_precautions_is_caught(kind: type[Disk], layout: Layout) -> None:
    """Each precaution is needed: without it some power cut breaks a promise (SECURITY C.3 level 7)."""
    base, channel = one_entry(layout)
    disk = mutant(kind, base)
    appended(disk, channel, layout, [LONG])
    assert any(faults(disk, base, lambda cut: goes_on(cut, channel, layout, ["before"], [LONG])))


def test_a_replaced_file_without_a_sync_of_its_folder_is_caught() -> None:
    """A pair in a channel of the public tool is one replacement: its name has to be on disk (SECURITY C.1)."""
    base, channel = plain_channel()
    disk = mutant(NoFolderSync, base)
    appended(disk, channel, Layout.SHARED, ["one", "two"])
    found = faults(disk, base, lambda cut: goes_on(cut, channel, Layout.SHARED, ["before"], ["one", "two"]))
    assert any("acknowledged and lost" in fault for fault in found)


def test_a_sealed_reply_without_a_sync_of_its_folder_is_caught() -> None:
    """A reply whose name is not on disk is lost by a cut (SECURITY C.1: rename without directory fsync)."""
    base, channel = one_entry(Layout.CASES)
    disk = mutant(NoFolderSync, base)
    store_on(disk, Layout.CASES).vault(channel).put("reply-a.1", b"yes")
    disk.ack("sealed")

    def check(cut: Cut) -> None:
        assert not cut.acks or store_on(cut.disk, Layout.CASES).vault(CASE).get("reply-a.1") == b"yes"

    assert any(faults(disk, base, check))


def test_an_intent_that_is_not_on_disk_lets_a_torn_entry_pass_as_plain() -> None:
    """An entry of ours, torn off between two lines, reads as one of the public tool; the index tells (DESIGN 5)."""
    base, channel = one_entry(Layout.SHARED)

    class NoIntent(Disk):
        def sync(self, opened: int | Folder) -> None:
            if isinstance(opened, Folder) or not self.is_index(opened):
                super().sync(opened)

        def is_index(self, fd: int) -> bool:
            found = self.look(self.folder("/root"), f"{SHARED}.index")
            return found is not None and found.inode == self.stat(fd).inode

    disk = mutant(NoIntent, base)
    appended(disk, channel, Layout.SHARED, [LONG])
    assert any(faults(disk, base, lambda cut: goes_on(cut, channel, Layout.SHARED, ["before"], [LONG])))
