"""One channel's files as they stand: the index, the doorbell, the genesis, and what a crash left at the end.

A view is read in an order that a writer at work cannot upset: doorbell and memory first, the channel file after. It
changes nothing. `held` puts right what a view has found, under the locks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from counterpoint.core.canonical import digest
from counterpoint.errors import Corrupt
from counterpoint.frozen import dataclass
from counterpoint.record.archive import archived_blocks, archived_digests
from counterpoint.record.batches import batches
from counterpoint.record.bell import MAX_BELL, read_bell
from counterpoint.record.block import parse
from counterpoint.record.ending import Part, batch_of, find_ending, has_trailer
from counterpoint.record.fs import Access, Files, Folder
from counterpoint.record.header import line_end
from counterpoint.record.heads import Heads, Kept, compare
from counterpoint.record.index import NO_HEAD, Base, GenesisAt, Head, Index, IndexDamaged, Row, Span, load
from counterpoint.record.listing import Listed, list_entries
from counterpoint.record.names import bell_file, channel_file, own_file
from counterpoint.record.safe import open_own, open_plain, read_all, read_file
from counterpoint.record.scan import places
from counterpoint.record.store import Block, Genesis
from counterpoint.record.windows import windows

_CUT_IT = "look at both; if one was never finished, or repeats a number, cut that one out by hand"
_LAST = 2
"""How many batches at the end of a file are looked at for what a crash left."""

__all__ = ["View", "archived_genesis", "genesis_in", "open_view"]


@dataclass(slots=True, kw_only=True)
class View:
    fs: Files
    folder: Folder
    channel: str
    fd: int
    """The channel file."""
    index_fd: int | None
    size: int
    """Of the channel file."""
    index: Index
    torn: int | None
    """Where an unfinished rest begins."""
    strict: bool
    """Every byte counts, and a plain entry is tampering."""
    genesis: Genesis | None
    """`None` in a channel that the public tool began."""
    genesis_digest: str
    bell: tuple[int, Mapping[str, Any]] | None
    """The doorbell's number and fields; `None` where it is missing or torn."""
    rebuilt: Callable[[], "View"]
    """Makes the same view without the index file; for when a row in it turns out to be damaged."""

    @property
    def end(self) -> int:
        """Where the whole entries end."""
        return self.size if self.torn is None else self.torn

    @property
    def head(self) -> Head:
        """The newest entry. A channel of the public tool may have lost entries; its doorbell counts on."""
        head = self.index.head
        if self.genesis is None and self.bell is not None and self.bell[0] > head.n:
            return Head(self.bell[0], head.digest)
        return head

    @property
    def believed(self) -> Mapping[str, Any] | None:
        """The doorbell's fields; `None` where it is missing, torn, or not at the newest entry."""
        return self.bell[1] if self.bell is not None and self.bell[0] == self.head.n else None

    def read(self, after: int) -> tuple[Block, ...]:
        """Return the entries above `after`, those in the archives too.

        Raises:
            Corrupt: one is not in its form.
        """
        content = read_all(self.fs, self.fd, start=self._start(after), end=self.end)
        found = [self._parse(content[at:end]) for n, at, end, _, _, _ in places(content) if n > after]
        if len(found) < self.index.head.n - max(after, -1 if self.genesis else 0):
            known = {(block.n, block.digest) for block in found}
            archived = archived_blocks(self.fs, self.folder, self.channel)
            found += [self._parse(old) for key, old in archived.items() if key[0] > after and key not in known]
            found.sort(key=lambda block: block.n)
        return tuple(found)

    def _start(self, after: int) -> int:
        """Return where to begin to look for entries above `after`."""
        row = self.first_row(after)
        if row == 0:
            return 0
        return self.index.row(row).offset if row < len(self.index) else self.end

    def first_row(self, after: int) -> int:
        """Return the number of the first row at which an entry above `after` can be."""
        # The public tool may have begun its numbers anew.
        return 0 if self.genesis is None else self.index.place(after)

    def read_thread(self, thread: str) -> tuple[Block, ...]:
        """Return the thread's entries in the channel file, oldest first, at the cost of the thread alone.

        Raises:
            IndexDamaged: an entry is not where its row says.
        """
        found = [self.read_row(row) for row in self.index.thread(thread)]
        return tuple(reversed(found))

    def read_row(self, row: Row) -> Block:
        block = read_all(self.fs, self.fd, start=row.offset, end=row.end)
        if digest(block) != row.digest:
            raise IndexDamaged
        return self._parse(block)

    def raw(self, row: Row) -> bytes:
        """Return all that stands from a row's entry to the next, as it lies in the file, without outer line ends.

        Raises:
            IndexDamaged: the entry is not where the row says.
        """
        following = row.number + 1
        stop = self.index.row(following).offset if following < len(self.index) else self.end
        content = read_all(self.fs, self.fd, start=row.offset, end=stop)
        if digest(content[: row.length]) != row.digest:
            raise IndexDamaged
        return content.strip(b"\n")

    def _parse(self, block: bytes) -> Block:
        return parse(block, channel=self.channel, strict=self.strict)


@contextmanager
def open_view(
    fs: Files,
    folder: Folder,
    channel: str,
    *,
    strict: bool,
    heads: Heads | None,
    writing: bool = False,
    trusting: bool = True,
) -> Iterator[View]:
    """Hold a view of a channel for the length of the block.

    Args:
        fs: where the files are.
        folder: the channel's.
        channel: its name.
        strict: the caller knows that every byte counts here, whatever the record says of itself.
        heads: the memory to compare with.
        writing: the channel file is opened to append, and the index is made where it is missing.
        trusting: the index file may be used.

    Raises:
        Corrupt: the record contradicts its own numbers, its doorbell, or what is remembered.
        UnsafeFile: a file of the channel is not what it should be.
    """
    bell = read_bell(read_file(fs, folder, bell_file(channel), max_bytes=MAX_BELL))
    name = channel_file(channel)
    fd = open_own(fs, folder, name, Access.APPEND) if writing else open_plain(fs, folder, name)
    index_fd = None
    try:
        if trusting:
            index_fd = _open_index(fs, folder, own_file(channel, "index"), writing=writing)
        yield _Opening(fs, folder, channel, strict, fd, index_fd, bell, heads).view()
    finally:
        fs.close(fd)
        if index_fd is not None:
            fs.close(index_fd)


def _open_index(fs: Files, folder: Folder, name: str, *, writing: bool) -> int | None:
    if writing:
        return open_own(fs, folder, name, Access.KEEP)
    with suppress(FileNotFoundError):
        return open_plain(fs, folder, name)
    return None


class _Known(NamedTuple):
    """What holds of a channel before its newest entries are looked at."""

    first: bytes
    """The genesis block; empty where there is none."""
    genesis: Genesis | None
    strict: bool
    remembered: Kept | None


class _Opening(NamedTuple):
    """The steps to a view."""

    fs: Files
    folder: Folder
    channel: str
    strict: bool
    fd: int
    index_fd: int | None
    bell: tuple[int, Mapping[str, Any]] | None
    heads: Heads | None

    def view(self) -> View:
        with suppress(IndexDamaged):
            if self.index_fd is not None:
                return self._from_index(self.index_fd)
        return self.from_file()

    def _from_index(self, index_fd: int) -> View:
        index, unfinished = load(self.fs, index_fd, self.fd, self.fs.stat(self.fd).inode)
        known = self._known(self._first_block(index))
        floor = index.head.n
        if self._step_back(index):
            floor = -1 if index.last is None else index.last.n
        offset = 0 if index.last is None else self._behind(index.last)
        content = read_all(self.fs, self.fd, start=offset)
        return self._surveyed(index, known, content, offset=offset, floor=floor, unfinished=unfinished)

    def _first_block(self, index: Index) -> bytes | None:
        match index.base.genesis:
            case GenesisAt.FIRST:
                row = index.row(0)
                block = read_all(self.fs, self.fd, start=row.offset, end=row.end)
                if digest(block) != row.digest:
                    raise IndexDamaged
                return block
            case GenesisAt.ARCHIVE:
                return archived_genesis(archived_blocks(self.fs, self.folder, self.channel))
            case GenesisAt.NOWHERE:
                return None

    def _step_back(self, index: Index) -> bool:
        """Drop the newest rows while they have to be looked at again; say whether there were any."""
        stored = len(index)
        while index.last is not None and (rows := self._unsure(index.last)):
            for _ in range(rows):
                index.drop_last()
        return len(index) < stored

    def _unsure(self, row: Row) -> int:
        """Return how many rows up to this one are unsure: a batch whose end is not here, or a line without end."""
        number, total = batch_of(read_all(self.fs, self.fd, start=row.offset, end=row.end))
        if number < total:
            return min(number, row.number + 1)
        return 0 if self._behind(row) > row.end else 1

    def from_file(self) -> View:
        archived, archived_first = archived_digests(self.fs, self.folder, self.channel)
        entries = (content for _, content in windows(self.fs, self.fd) if next(places(content), None))
        first = genesis_in(next(entries, b""))
        genesis = GenesisAt.FIRST if first else GenesisAt.NOWHERE
        if first is None and (first := archived_first):
            genesis = GenesisAt.ARCHIVE
        newest = max(archived, default=(NO_HEAD.n, NO_HEAD.digest))
        base = Base(inode=self.fs.stat(self.fd).inode, archived=Head(*newest), genesis=genesis)
        known = self._known(first)
        index = Index(base)
        offset = self._index_all_but_last(index, known)
        content = read_all(self.fs, self.fd, start=offset)
        floor = -1 if index.last is None else index.last.n
        view = self._surveyed(index, known, content, offset=offset, floor=floor, unfinished=None)
        if first is None:
            self._refuse_trailers(list_entries(content))
        else:
            self._refuse_repeated(view.index, archived)
        return view

    def _index_all_but_last(self, index: Index, known: _Known) -> int:
        """Add rows for all entries but those of the last two batches; return where the line after them begins."""
        last: list[list[Span]] = []
        floor = -1
        for batch in batches(self.fs, self.fd, check=self._refuse_trailers if not known.first else _accept):
            last.append(batch)
            if len(last) > _LAST:
                floor = self._add(index, known, last.pop(0), floor)
        return 0 if index.last is None else self._behind(index.last)

    def _add(self, index: Index, known: _Known, spans: Iterable[Span], floor: int) -> int:
        """Add rows for entries that follow the one numbered `floor`; return the number of the last.

        Raises:
            Corrupt: the channel is chained, and a number does not grow.
        """
        for span in spans:
            if known.genesis and span.n <= floor:
                raise Corrupt(self.channel, span.n, f"it stands after MSG-{floor}", hint=_CUT_IT)
            floor = span.n
            index.add(span)
        return floor

    def _known(self, first: bytes | None) -> _Known:
        """Read what is known of the channel beside its newest entries; those are read after it."""
        if first is None:
            return _Known(b"", None, self.strict, None)
        # Cold start: a channel of the public tool has none.
        from counterpoint.record.genesis import genesis_of  # noqa: PLC0415

        genesis = genesis_of(first, channel=self.channel, strict=self.strict)
        remembered = self.heads.of(self.channel, genesis.channel_id) if self.heads else None
        return _Known(first, genesis, self.strict or genesis.mode == "strict", remembered)

    def _refuse_trailers(self, rows: Iterable[Listed]) -> None:
        for row in rows:
            if row.is_ours:
                raise Corrupt(self.channel, 0, f"no genesis entry, and MSG-{row.n} has a trailer")

    def _refuse_repeated(self, index: Index, archived: Iterable[tuple[int, str]]) -> None:
        for n, archived_digest in archived:
            row = index.find(n)
            if row is not None and row.digest != archived_digest:
                raise Corrupt(
                    self.channel, n, "the channel file and an archive hold different entries of this number"
                )

    def _behind(self, row: Row) -> int:
        """Return where the line after an entry begins."""
        return row.end + line_end(read_all(self.fs, self.fd, start=row.end, end=row.end + 3), 0)[1]

    def _surveyed(
        self, index: Index, known: _Known, content: bytes, *, offset: int, floor: int, unfinished: int | None
    ) -> View:
        part = Part(
            content=content,
            offset=offset,
            channel=self.channel,
            strict=known.strict,
            chained=known.genesis is not None,
            acknowledged=max(self.bell[0] if self.bell else -1, known.remembered.n if known.remembered else -1),
            unfinished=unfinished,
        )
        ending = find_ending(part)
        self._add(index, known, ending.spans, floor)
        view = View(
            fs=self.fs,
            folder=self.folder,
            channel=self.channel,
            fd=self.fd,
            index_fd=self.index_fd,
            size=offset + len(content),
            index=index,
            torn=ending.torn,
            strict=known.strict,
            genesis=known.genesis,
            genesis_digest=digest(known.first),
            bell=self.bell,
            rebuilt=self.from_file,
        )
        self._compare(view, known.remembered)
        return view

    def _compare(self, view: View, remembered: Kept | None) -> None:
        """Refuse a record that lacks or contradicts what is known of it.

        Raises:
            Corrupt: so it does.
        """
        head = view.index.head
        if view.genesis is None:
            if self.strict:
                raise Corrupt(self.channel, 0, "no genesis entry")
            if view.torn is None:
                return
        if self.bell is not None and self.bell[0] > head.n:
            raise Corrupt(
                self.channel,
                head.n + 1,
                f"not in the record, or damaged; the doorbell says MSG-{self.bell[0]}",
                hint="restore the record from a copy; remove the doorbell to go on without what is lost",
            )
        if remembered is None:
            return
        compare(self.channel, remembered, Kept(genesis=view.genesis_digest, n=head.n, head=head.digest))
        if remembered.n > head.n:
            raise Corrupt(
                self.channel, head.n + 1, f"not in the record, or damaged; this machine remembers MSG-{remembered.n}"
            )
        row = view.index.find(remembered.n)
        if row is not None and row.digest != remembered.head:
            raise Corrupt(
                self.channel, row.n, f"its digest is {row.digest}; this machine remembers {remembered.head}"
            )


def _accept(_rows: Iterable[Listed]) -> None:
    """Trailers are in order where there is a genesis."""


def genesis_in(content: bytes) -> bytes | None:
    """Return the first block of a channel file where it is a genesis entry."""
    first = next(places(content), None)
    return content[first[1] : first[2]] if first and first[0] == 0 and first[4] else None


def archived_genesis(archived: Mapping[tuple[int, str], bytes]) -> bytes | None:
    """Return the genesis entry where it was archived."""
    return next((block for (n, _), block in archived.items() if n == 0 and has_trailer(block)), None)
