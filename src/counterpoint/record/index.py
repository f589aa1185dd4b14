"""Where each entry of a channel file lies, so that no step reads the whole file.

`<id>.index` is ours and can be rebuilt. A header names the channel file's inode, what the archives hold and where
the genesis is; then comes one row for each entry of the file, in the order of the file. Rows are only added:

- a row carries its own checksum and the digest of its block, so that a stale or torn index shows itself;
- `previous` leads to the thread's entry before this one and `count` says how many there are, so that the open
  thread is read at the cost of the thread;
- `siblings` makes each row the root of a trie over thread names that shares all older rows: `siblings[d]` is the
  newest row whose thread's key has the same first d bits as this one's and another bit d. So the newest row of any
  thread is found in some log2(threads) steps, and adding a row changes no other.

A row is written before its entry: where the block is not what the row says, the entry was never finished.
"""

import hashlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from functools import partial
from typing import Any, Final, NamedTuple

from counterpoint.record.fs import Files
from counterpoint.record.safe import read_all, write_all

__all__ = ["NO_HEAD", "Base", "GenesisAt", "Head", "Index", "IndexDamaged", "Row", "Span", "load", "store"]

_MAGIC: Final = b"cpindex1"
_LEVELS: Final = 24
_HEADER: Final = struct.Struct("<8sQQBq32s")
_ROW: Final = struct.Struct(f"<QQQQIII32s{_LEVELS}I")
_CHECKSUM: Final = struct.Struct("<I")
_HEADER_BYTES: Final = _HEADER.size + _CHECKSUM.size
_ROW_BYTES: Final = _ROW.size + _CHECKSUM.size
_MAX_UNFINISHED: Final = 4096
"""More rows than this without their entries are no crash of ours."""


class IndexDamaged(Exception):
    """The index is not what we wrote; whoever meets it builds a new one."""


class GenesisAt(IntEnum):
    """Where the channel's entry 0 lies."""

    NOWHERE = 0
    FIRST = 1
    ARCHIVE = 2


class Head(NamedTuple):
    """The newest entry by number."""

    n: int
    digest: str


NO_HEAD: Final = Head(-1, "0" * 64)


class Base(NamedTuple):
    """What the index knows beside its rows."""

    inode: tuple[int, int]
    archived: Head
    """The newest entry that lies in an archive; `NO_HEAD` where there is none."""
    genesis: GenesisAt


class Span(NamedTuple):
    """An entry found in the channel file, or about to be written there."""

    n: int
    thread: str
    offset: int
    length: int
    digest: str

    @property
    def end(self) -> int:
        return self.offset + self.length


class Row(NamedTuple):
    number: int
    n: int
    top: int
    """The highest number up to here; the public tool may have begun anew."""
    offset: int
    length: int
    key: int
    """64 bits that stand for the thread's name."""
    entries: int
    """How many entries the thread has up to here."""
    previous: int | None
    """The row of the thread's entry before this one."""
    digest: str
    siblings: tuple[int, ...]
    """Row numbers plus one; 0 is none."""

    @property
    def end(self) -> int:
        return self.offset + self.length


_Read = Callable[[int, int], bytes]
"""Given size and offset, bytes of the index file."""


def _nothing(_size: int, _offset: int) -> bytes:
    return b""


class Index:
    """Rows read from a file or held in memory, and those that are not written yet."""

    def __init__(self, base: Base, *, read: _Read | None = None, stored: int = 0) -> None:
        self.base = base
        self._read = read or _nothing
        self._stored = stored
        self._new = bytearray()
        self.last = self.row(stored - 1) if stored else None

    def __len__(self) -> int:
        return self._stored + len(self._new) // _ROW_BYTES

    @property
    def unsaved(self) -> int:
        """How many bytes of rows the index file lacks."""
        return len(self._new)

    @property
    def head(self) -> Head:
        archived, last = self.base.archived, self.last
        if last is None or last.top < archived.n:
            return archived
        while last.n != last.top:
            last = self.row(last.number - 1)
        return Head(last.n, last.digest)

    def row(self, number: int) -> Row:
        """Return one row.

        Raises:
            IndexDamaged: its checksum is wrong.
        """
        at = number - self._stored
        if at >= 0:
            packed = bytes(self._new[at * _ROW_BYTES : (at + 1) * _ROW_BYTES])
        else:
            packed = self._read(_ROW_BYTES, _HEADER_BYTES + number * _ROW_BYTES)
        n, top, offset, key, length, entries, previous, digest, *siblings = _checked(_ROW, packed)
        return Row(
            number=number,
            n=n,
            top=top,
            offset=offset,
            length=length,
            key=key,
            entries=entries,
            previous=previous - 1 if previous else None,
            digest=digest.hex(),
            siblings=tuple(siblings),
        )

    def find(self, n: int) -> Row | None:
        """Return the row of entry `n` of a channel whose numbers grow."""
        if self.last is not None and self.last.n == n:
            return self.last
        number = self.place(n - 1)
        row = self.row(number) if number < len(self) else None
        return row if row is not None and row.n == n else None

    def place(self, after: int) -> int:
        """Return the number of the first row whose entry is above `after`, where numbers grow."""
        low, high = 0, len(self)
        if self.last is not None and self.last.n <= after:
            return high
        while low < high:
            middle = (low + high) // 2
            if self.row(middle).n > after:
                high = middle
            else:
                low = middle + 1
        return low

    def thread(self, name: str) -> Iterator[Row]:
        """Yield the rows of a thread, the newest first."""
        key = _key(name)
        row = self._newest(key)[0]
        while row is not None:
            if row.key == key:
                yield row
            row = None if row.previous is None else self.row(row.previous)

    def count(self, name: str) -> int:
        """Return how many entries the thread has in this file."""
        newest = next(self.thread(name), None)
        return 0 if newest is None else newest.entries

    def add(self, span: Span) -> None:
        key = _key(span.thread)
        newest, siblings = self._newest(key)
        same = newest
        while same is not None and same.key != key:  # another name with the same first bits
            same = None if same.previous is None else self.row(same.previous)
        last = self.last
        row = Row(
            number=len(self),
            n=span.n,
            top=span.n if last is None else max(span.n, last.top),
            offset=span.offset,
            length=span.length,
            key=key,
            entries=1 if same is None else same.entries + 1,
            previous=None if newest is None else newest.number,
            digest=span.digest,
            siblings=siblings,
        )
        self._new += _pack(row)
        self.last = row

    def add_all(self, spans: Iterable[Span]) -> None:
        for span in spans:
            self.add(span)

    def drop_last(self) -> None:
        """Forget the newest stored row."""
        assert self._stored, "no row is stored"
        assert not self._new, "new rows come after"
        self._stored -= 1
        self.last = self.row(self._stored - 1) if self._stored else None

    def unwritten(self) -> tuple[int, bytes]:
        """Return what the index file lacks and where it belongs; the header is part of it while there is no row."""
        header = b"" if self._stored else _sealed(_HEADER.pack(*_base(self.base)))
        return (_HEADER_BYTES + self._stored * _ROW_BYTES if self._stored else 0), header + self._new

    def written(self, read: _Read) -> None:
        """Take note that the index file holds every row now."""
        self._read = read
        self._stored = len(self)
        self._new.clear()

    def _newest(self, key: int) -> tuple[Row | None, tuple[int, ...]]:
        """Return the newest row whose key begins as `key` does, and the siblings of a row added for `key` now."""
        siblings = [0] * _LEVELS
        row = self.last
        level = 0
        while row is not None:
            apart = 64 - (row.key ^ key).bit_length()
            if apart >= _LEVELS:
                siblings[level:] = row.siblings[level:]
                break
            siblings[level:apart] = row.siblings[level:apart]
            siblings[apart] = row.number + 1
            level = apart + 1
            branch = row.siblings[apart]
            row = self.row(branch - 1) if branch else None
        return row, tuple(siblings)


def load(fs: Files, fd: int, channel_file: int, inode: tuple[int, int]) -> tuple[Index, int | None]:
    """Return the index in `fd` as far as it agrees with the channel file, and where an unfinished entry begins.

    Raises:
        IndexDamaged: it is of another file, or does not agree with this one.
    """
    magic, device, number, genesis, archived_n, archived = _checked(_HEADER, fs.read(fd, _HEADER_BYTES, 0))
    if magic != _MAGIC or (device, number) != inode or genesis not in set(GenesisAt):
        raise IndexDamaged
    base = Base(inode=inode, archived=Head(archived_n, archived.hex()), genesis=GenesisAt(genesis))
    stored = (fs.stat(fd).size - _HEADER_BYTES) // _ROW_BYTES
    unfinished = None
    for kept in range(stored, max(-1, stored - _MAX_UNFINISHED), -1):
        try:
            index = Index(base, read=partial(fs.read, fd), stored=kept)
        except IndexDamaged:  # a torn last row: its entry was not begun
            continue
        if index.last is None or _stands(fs, channel_file, index.last):
            return index, unfinished
        unfinished = index.last.offset
    raise IndexDamaged


def _stands(fs: Files, channel_file: int, row: Row) -> bool:
    block = read_all(fs, channel_file, start=row.offset, end=row.end)
    return hashlib.sha256(block).hexdigest() == row.digest


def store(fs: Files, fd: int, index: Index) -> None:
    """Write what the index file lacks, and cut what is there beyond the index."""
    at, content = index.unwritten()
    if fs.stat(fd).size > at:
        fs.truncate(fd, at)
    write_all(fs, fd, content, at)
    index.written(partial(fs.read, fd))


def _base(base: Base) -> tuple[object, ...]:
    return (_MAGIC, *base.inode, base.genesis, base.archived.n, bytes.fromhex(base.archived.digest))


def _pack(row: Row) -> bytes:
    previous = 0 if row.previous is None else row.previous + 1
    numbers = (row.n, row.top, row.offset, row.key, row.length, row.entries, previous)
    return _sealed(_ROW.pack(*numbers, bytes.fromhex(row.digest), *row.siblings))


def _sealed(packed: bytes) -> bytes:
    return packed + _CHECKSUM.pack(zlib.crc32(packed))


def _checked(shape: struct.Struct, packed: bytes) -> tuple[Any, ...]:
    if len(packed) != shape.size + _CHECKSUM.size:
        raise IndexDamaged
    if _CHECKSUM.unpack_from(packed, shape.size)[0] != zlib.crc32(packed[: shape.size]):
        raise IndexDamaged
    return shape.unpack_from(packed)


def _key(thread: str) -> int:
    return int.from_bytes(hashlib.sha256(thread.encode("utf-8", "surrogateescape")).digest()[:8], "big")
