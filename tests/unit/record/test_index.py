"""The index finds what a plain list would find, adds without changing, and shows its own damage."""

from collections import Counter
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.core.canonical import digest
from counterpoint.record.fs import Access, Folder
from counterpoint.record.index import (
    _HEADER_BYTES,
    _ROW_BYTES,
    NO_HEAD,
    Base,
    GenesisAt,
    Head,
    Index,
    IndexDamaged,
    Span,
    load,
    store,
)
from tests.disk import Disk

INODE: Final = (1, 99)
BASE: Final = Base(inode=INODE, archived=NO_HEAD, genesis=GenesisAt.FIRST)
NAMES: Final = [f"thread-{i}" for i in range(40)]


def span(n: int, thread: str) -> Span:
    return Span(n=n, thread=thread, offset=10 * n, length=9, digest=f"{n:064x}")


def filled(threads: list[str]) -> Index:
    index = Index(BASE)
    for n, thread in enumerate(threads):
        index.add(span(n, thread))
    return index


@given(st.lists(st.sampled_from(NAMES), max_size=60))
def test_threads_are_found_and_counted_as_in_a_list(threads: list[str]) -> None:
    """Newest entry, count and every entry of each thread, those that never spoke too."""
    index = filled(threads)
    counts = Counter(threads)
    for name in [*NAMES, "never"]:
        expected = [n for n, thread in reversed(list(enumerate(threads))) if thread == name]
        assert [row.n for row in index.thread(name)] == expected
        assert index.count(name) == counts[name]
    assert index.head == (Head(len(threads) - 1, f"{len(threads) - 1:064x}") if threads else NO_HEAD)


def test_names_with_the_same_first_bits_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trie knows 24 bits of a name; two names that share them are kept apart by the other 40."""
    keys = {"a": 1 << 63, "b": (1 << 63) + 1, "c": 1 << 62}
    monkeypatch.setattr("counterpoint.record.index._key", keys.__getitem__)
    index = filled(["a", "b", "a", "c", "b", "a"])
    assert [row.n for row in index.thread("a")] == [5, 2, 0]
    assert [row.n for row in index.thread("b")] == [4, 1]
    assert [index.count(name) for name in "abc"] == [3, 2, 1]


def test_adding_changes_no_row() -> None:
    """Rows are only added, so that a reader without a lock sees whole ones."""
    index = filled([NAMES[i % 7] for i in range(20)])
    before = [index.row(n) for n in range(20)]
    for n in range(20, 40):
        index.add(span(n, NAMES[n % 11]))
    assert [index.row(n) for n in range(20)] == before


def test_an_entry_is_found_by_its_number() -> None:
    """Where numbers grow, with gaps that a compaction left."""
    index = Index(BASE)
    for n in (0, 1, 4, 9):
        index.add(span(n, "t"))
    found = [index.find(n) for n in (-1, 0, 1, 2, 4, 9, 10)]
    assert [None if row is None else row.n for row in found] == [None, 0, 1, None, 4, 9, None]
    assert [index.place(after) for after in (-1, 0, 3, 4, 9)] == [0, 1, 2, 3, 4]


def test_the_head_is_the_highest_number_wherever_it_lies() -> None:
    """The public tool may have begun its numbers anew, and the newest thread may be archived (SPEC C-140)."""
    index = Index(BASE)
    for n in (1, 2, 7, 1, 2):
        index.add(span(n, "t"))
    assert index.head == Head(7, f"{7:064x}")
    archived = Head(9, "9" * 64)
    assert Index(BASE._replace(archived=archived)).head == archived


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def folder(disk: Disk) -> Folder:
    return disk.folder("/")


def on_disk(disk: Disk, folder: Folder, blocks: list[bytes]) -> tuple[int, int, Index]:
    """Return descriptors of a channel file of these blocks and of its index, and the index."""
    channel = disk.open(folder, "channel", Access.NEW)
    fd = disk.open(folder, "index", Access.NEW)
    index = Index(BASE._replace(inode=disk.stat(channel).inode))
    at = 0
    for n, block in enumerate(blocks):
        disk.write(channel, block, at)
        index.add(Span(n=n, thread="t", offset=at, length=len(block), digest=digest(block)))
        at += len(block)
    store(disk, fd, index)
    return channel, fd, index


def test_a_stored_index_is_loaded_as_it_was(disk: Disk, folder: Folder) -> None:
    """Rows that were written are read back, and further ones are added behind them."""
    channel, fd, index = on_disk(disk, folder, [b"one", b"two"])
    index.add(Span(n=2, thread="u", offset=6, length=5, digest=digest(b"three")))
    disk.write(channel, b"three", 6)
    store(disk, fd, index)
    loaded, unfinished = load(disk, fd, channel, disk.stat(channel).inode)
    assert unfinished is None
    assert [loaded.row(n) for n in range(3)] == [index.row(n) for n in range(3)]
    assert (loaded.base, loaded.last) == (index.base, index.last)


def test_rows_without_their_entries_say_where_one_was_begun(disk: Disk, folder: Folder) -> None:
    """A row is written first: an entry that is not what its row says was never finished (DESIGN 5)."""
    channel, fd, _ = on_disk(disk, folder, [b"one", b"two", b"three"])
    disk.truncate(channel, 4)
    loaded, unfinished = load(disk, fd, channel, disk.stat(channel).inode)
    assert (len(loaded), unfinished) == (1, 3)


@pytest.mark.parametrize("lost", [1, 20, _ROW_BYTES - 1])
@pytest.mark.parametrize("zeroed", [False, True])
def test_a_torn_last_row_is_passed_over(disk: Disk, folder: Folder, lost: int, *, zeroed: bool) -> None:
    """A row that is not whole, or does not match its own checksum, is not there."""
    channel, fd, index = on_disk(disk, folder, [b"one", b"two"])
    whole = disk.stat(fd).size
    disk.truncate(fd, whole - lost)
    if zeroed:
        disk.truncate(fd, whole)
    loaded, _ = load(disk, fd, channel, disk.stat(channel).inode)
    assert loaded.last == index.row(0)


def test_an_index_of_another_file_is_not_used(disk: Disk, folder: Folder) -> None:
    """Trusted while the inode is the same and the bytes at the tail match (DESIGN 5)."""
    channel, fd, _ = on_disk(disk, folder, [b"one"])
    with pytest.raises(IndexDamaged):
        load(disk, fd, channel, (1, 1))
    disk.write(channel, b"0ne", 0)
    assert load(disk, fd, channel, disk.stat(channel).inode)[0].last is None


@pytest.mark.parametrize("at", range(0, _HEADER_BYTES, 4))
def test_a_damaged_header_is_noticed(disk: Disk, folder: Folder, at: int) -> None:
    """The header has its own checksum."""
    channel, fd, _ = on_disk(disk, folder, [b"one"])
    flip(disk, fd, at)
    with pytest.raises(IndexDamaged):
        load(disk, fd, channel, disk.stat(channel).inode)


@pytest.mark.parametrize("at", range(0, _ROW_BYTES, 8))
def test_a_damaged_row_in_the_middle_is_noticed_when_it_is_read(disk: Disk, folder: Folder, at: int) -> None:
    """Rows are checked one by one, since nobody reads all."""
    channel, fd, _ = on_disk(disk, folder, [b"one", b"two", b"three"])
    flip(disk, fd, _HEADER_BYTES + _ROW_BYTES + at)
    loaded, _ = load(disk, fd, channel, disk.stat(channel).inode)
    with pytest.raises(IndexDamaged):
        loaded.row(1)


def flip(disk: Disk, fd: int, at: int) -> None:
    disk.write(fd, bytes([disk.read(fd, 1, at)[0] ^ 1]), at)
