"""A disk that fails is told in one sentence, nothing is acknowledged, and the store works again afterwards.

SECURITY C.1: after a failed sync nothing is repeated and acknowledged; issue list of bad input: a full disk, a
read-only folder.
"""

import errno
from collections.abc import Callable
from typing import Final

import pytest

from counterpoint.errors import CounterpointError, RecordError
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.heads import Heads
from counterpoint.record.store import Block
from tests.channels import CASE, HEADS, SHARED, begin, draft, file_store, texts
from tests.disk import Disk

Failure = tuple[Disk, CounterpointError]

OPERATIONS: Final = ["write", "sync", "sync_folder", "rename", "open", "make", "read", "folder", "truncate"]


def store_on(disk: Disk, layout: Layout) -> FileStore:
    return file_store("/root", layout, fs=disk, heads=Heads(disk, HEADS))


@pytest.fixture(params=Layout)
def layout(request: pytest.FixtureRequest) -> Layout:
    found: Layout = request.param
    return found


@pytest.fixture
def base(layout: Layout) -> Disk:
    disk = Disk()
    disk.make_folder(disk.folder("/"), "root", 0o755)
    disk.make_folder(disk.folder("/"), "state", 0o700)
    store = store_on(disk, layout)
    store.append(begin(store, layout), [draft("before")], expected=0)
    return disk.settled()


def name_of(layout: Layout) -> str:
    return CASE if layout is Layout.CASES else SHARED


def failures(
    base: Disk, step: Callable[[Disk], object], number: int
) -> dict[str, list[tuple[Disk, CounterpointError]]]:
    """Let each operation of `step` fail once, on a disk of its own; return the disks and what was raised."""
    found: dict[str, list[Failure]] = {}
    for operation in OPERATIONS:
        for passed in range(100):
            disk = base.settled()
            disk.fail = {operation: (passed, number)}
            try:
                step(disk)
            except CounterpointError as error:
                found.setdefault(operation, []).append((disk, error))
            else:
                break
    return found


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EROFS])
def test_a_failed_append_acknowledges_nothing_and_the_store_goes_on(layout: Layout, base: Disk, number: int) -> None:
    """Whichever operation fails, at whichever call: a typed error, and one more append makes all well."""
    channel = name_of(layout)

    def append(disk: Disk) -> tuple[Block, ...]:
        return store_on(disk, layout).append(channel, [draft("new"), draft("second half")], expected=1)

    found = failures(base, append, number)
    assert {"write", "sync", "rename", "open", "read"} <= found.keys()
    for operation, cases in found.items():
        for disk, error in cases:
            assert isinstance(error, RecordError), operation
            disk.fail = {}
            recorded = "recorded" in error.message
            after = ["before", "new", "second half"] if recorded else ["before"]
            assert texts(store_on(disk, layout), channel) == after, (operation, error)
            store_on(disk, layout).append(channel, [draft("later")], expected=None)
            assert texts(store_on(disk, layout), channel) == [*after, "later"]
            assert store_on(disk, layout).verify(channel).is_clean


def record_of(disk: Disk, layout: Layout) -> bytes:
    folder = f"/root/{CASE}" if layout is Layout.CASES else "/root"
    return disk.get(f"{folder}/{name_of(layout)}.channel.md")


def test_a_failed_sync_takes_the_entry_back(layout: Layout, base: Disk) -> None:
    """The kernel may have dropped the bytes of a failed sync; who repeats the step writes them anew (C.1)."""
    syncs = 1 if layout is Layout.CASES else 3
    for passed in range(syncs):
        disk = base.settled()
        disk.fail = {"sync": (passed, errno.EIO)}
        with pytest.raises(RecordError, match="Input/output error"):
            store_on(disk, layout).append(name_of(layout), [draft("new")], expected=1)
        assert record_of(disk, layout) == record_of(base, layout)


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_an_entry_that_cannot_be_taken_back_is_whole_or_put_right(layout: Layout, base: Disk, operation: str) -> None:
    """When the file cannot even be cut, the next append goes on behind what is whole."""
    channel = name_of(layout)
    for passed in range(8):
        disk = base.settled()
        disk.short_writes = True
        disk.fail = {operation: (passed, errno.EIO), "truncate": (0, errno.EIO)}
        try:
            store_on(disk, layout).append(channel, [draft("new")], expected=1)
        except RecordError:
            disk.fail = {}
            found = texts(store_on(disk, layout), channel)
            assert found in (["before"], ["before", "new"])
            store_on(disk, layout).append(channel, [draft("later")], expected=None)
            assert texts(store_on(disk, layout), channel) == [*found, "later"]
            assert store_on(disk, layout).verify(channel).is_clean


def test_short_writes_are_carried_on(layout: Layout, base: Disk) -> None:
    """A write that takes less than it was given is repeated with the rest (SECURITY C.1)."""
    channel = name_of(layout)
    base.short_writes = True
    store = store_on(base, layout)
    store.append(channel, [draft("new")], expected=1)
    store.vault(channel).put("reply-a.1", b"x" * 100)
    assert texts(store, channel) == ["before", "new"]
    assert store.vault(channel).get("reply-a.1") == b"x" * 100
    assert store.verify(channel).is_clean


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_failed_beginning_can_be_repeated(layout: Layout, number: int) -> None:
    """A channel that could not be begun is none, and its name is free."""
    empty = Disk()
    empty.make_folder(empty.folder("/"), "root", 0o755)
    empty.make_folder(empty.folder("/"), "state", 0o700)

    def start(disk: Disk) -> str:
        return begin(store_on(disk, layout), layout)

    found = failures(empty.settled(), start, number)
    assert {"write", "sync", "sync_folder", "rename"} <= found.keys()
    for cases in found.values():
        for disk, error in cases:
            assert isinstance(error, RecordError)
            disk.fail = {}
            if name_of(layout) not in store_on(disk, layout).list_open():
                start(disk)
            assert store_on(disk, layout).head(name_of(layout))[0] == 0


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_failed_seal_or_claim_can_be_repeated(layout: Layout, base: Disk, number: int) -> None:
    """Neither half a reply nor a claim that counts twice is left."""
    channel = name_of(layout)

    def seal(disk: Disk) -> None:
        store_on(disk, layout).vault(channel).put("reply-a.1", b"yes")

    for cases in failures(base, seal, number).values():
        for disk, error in cases:
            assert isinstance(error, RecordError)
            disk.fail = {}
            assert store_on(disk, layout).vault(channel).get("reply-a.1") in {None, b"yes"}
            seal(disk)
            assert store_on(disk, layout).vault(channel).names() == ("reply-a.1",)


def test_a_replaced_file_whose_folder_cannot_be_synced_is_told_to_stand() -> None:
    """The new name cannot be taken back: the error says that the entries are there, not to be sent again."""
    disk = Disk()
    disk.make_folder(disk.folder("/"), "root", 0o755)
    disk.put("/root/plain-00001.channel.md", b"")
    disk.put("/root/plain-00001.debate.json", b"{}")
    store = file_store("/root", Layout.SHARED, fs=disk)
    store.append("plain-00001", [draft("one")], expected=None)
    disk.fail = {"sync_folder": (0, errno.EIO)}
    with pytest.raises(RecordError, match="2 entries are recorded") as caught:
        store.append("plain-00001", [draft("two"), draft("three")], expected=None)
    assert caught.value.hint.startswith("do not send them again")
    disk.fail = {}
    assert [block.text for block in store.read("plain-00001")] == ["one", "two", "three"]
