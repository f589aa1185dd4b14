"""Writing a channel's files, under its locks: one order, so that no crash loses, doubles or tears an entry.

1. What a crash left is put right: a rest that was never finished is kept aside, then cut off.
2. The doorbell's new bytes are written under another name. The new rows go to the index; on shared channels they are
   synced, so that an entry that was begun there and not finished is known as ours.
3. The entries are appended in one write and synced. That is the moment at which they exist.
4. The head is remembered, the doorbell moves.

A failure before the end of 3 takes back what was written; nothing was acknowledged then. In a channel that the
public tool began, several entries are one atomic replacement of the file, since plain entries name no batch.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, TypeVar

from counterpoint.core.canonical import digest
from counterpoint.errors import RecordError
from counterpoint.frozen import dataclass
from counterpoint.record.bell import default_bell, next_bell, write_object
from counterpoint.record.block import ZEROS, parse, render, render_plain, rendered
from counterpoint.record.fs import SHARED, Access
from counterpoint.record.heads import Heads, Kept
from counterpoint.record.index import IndexDamaged, Span, store
from counterpoint.record.locks import Lock
from counterpoint.record.names import bell_file, channel_file, own_file
from counterpoint.record.safe import create, open_own, prepared, read_all, write_all
from counterpoint.record.store import Bell, Block, Draft, Held
from counterpoint.record.view import View

if TYPE_CHECKING:
    from counterpoint.record.signing import Signer

__all__ = ["HeldFiles", "keep_index"]

T = TypeVar("T")

_WORTH_KEEPING: Final = 1 << 16


@dataclass(slots=True)
class HeldFiles(Held):
    """A channel's files, opened to write and locked."""

    view: View
    lock: Lock
    signer: "Callable[[], Signer] | None"
    heads: Heads | None
    is_spent: bool = False
    """The files are no longer what the view says; nothing more is written under this hold."""

    @property
    def n(self) -> int:
        return self.view.head.n

    @property
    def bell(self) -> Mapping[str, Any] | None:
        return self.view.believed

    def count(self, thread: str) -> int:
        return self._indexed(lambda view: view.index.count(thread))

    def newest(self, thread: str) -> Iterator[Block]:
        for row in self._indexed(lambda view: tuple(view.index.thread(thread))):
            yield self._indexed(methodcaller("read_row", row))

    def read(self, after: int = -1) -> tuple[Block, ...]:
        return self._indexed(lambda view: view.read(after))

    def _indexed(self, step: Callable[[View], T]) -> T:
        """Do what looks into the index; where a row in it is damaged, once more with a new one."""
        try:
            return step(self.view)
        except IndexDamaged:
            self.view = self.view.rebuilt()
            return step(self.view)

    def append(self, drafts: Sequence[Draft], *, bell: Bell | None = None) -> tuple[Block, ...]:
        assert drafts, "an append has at least one entry"
        assert not self.is_spent, "the file was replaced; hold the channel anew"
        self.repair()
        view = self.view
        blocks, parsed = self._render(drafts)
        before = view.bell[1] if view.bell is not None else None
        fields = next_bell(before, (bell or default_bell)(parsed[-1]))
        bell_name = bell_file(view.channel)
        # Where the public tool works too, it shall not meet a torn doorbell after a power cut: it would not go on.
        durable = bool(self.lock.shared)
        bell_bytes = write_object(fields)
        with prepared(view.fs, view.folder, bell_name, bell_bytes, SHARED, durable=durable) as temporary:
            if view.genesis is None and len(blocks) > 1:
                self._replace(blocks)
            else:
                self._append(blocks, parsed)
            self._ring(temporary, bell_name, parsed[-1].n)
        self.view.bell = parsed[-1].n, fields
        return parsed

    def repair(self) -> None:
        view = self.view
        if view.torn is None:
            return
        torn = read_all(view.fs, view.fd, start=view.torn)
        name = own_file(view.channel, f"torn-{view.index.head.n + 1}-{digest(torn)[:8]}")
        if view.fs.look(view.folder, name) is None:
            create(view.fs, view.folder, name, torn, SHARED)
        self.lock.check()
        view.fs.truncate(view.fd, view.torn)
        view.fs.sync(view.fd)
        view.size = view.torn
        view.torn = None

    def _render(self, drafts: Sequence[Draft]) -> tuple[list[bytes], tuple[Block, ...]]:
        first, view = self.n + 1, self.view
        genesis = view.genesis
        if genesis is None:
            plain = [render_plain(draft, max(first, 1) + i) for i, draft in enumerate(drafts)]
            return plain, tuple(parse(block, channel=view.channel, strict=view.strict) for block in plain)
        # Cold start: a channel of the public tool has no keys.
        from counterpoint.record.keys import sign_with  # noqa: PLC0415

        blocks: list[bytes] = []
        entries: list[Block] = []
        prev = view.head.digest if first else ZEROS
        for i, draft in enumerate(drafts):
            batch = (i + 1, len(drafts))
            block = render(
                draft,
                n=first + i,
                channel_id=genesis.channel_id,
                prev=prev,
                batch=batch,
                sign=sign_with(self.signer, genesis, channel=view.channel, sender=draft.sender),
                strict=view.strict,
            )
            blocks.append(block)
            entries.append(rendered(draft, block, n=first + i, batch=batch))
            prev = entries[-1].digest
        return blocks, tuple(entries)

    def _append(self, blocks: Sequence[bytes], parsed: Sequence[Block]) -> None:
        offset = self.view.size
        content = b"".join(b"\n%b\n" % block for block in blocks)
        self._add_rows(offset, blocks, parsed)
        view = self.view
        self.is_spent = True
        self._store_rows()
        self.lock.check()
        try:
            write_all(view.fs, view.fd, content)
            view.fs.sync(view.fd)
            self._remember(parsed[-1])
        except (OSError, RecordError):
            with suppress(OSError):
                self._take_back(offset, len(content))
            raise
        self.is_spent = False
        view.size = offset + len(content)

    def _take_back(self, offset: int, length: int) -> None:
        """Cut off what this append wrote, unless somebody broke our lock and wrote behind it."""
        view = self.view
        if self.lock.is_ours() and view.fs.stat(view.fd).size <= offset + length:
            view.fs.truncate(view.fd, offset)

    def _add_rows(self, offset: int, blocks: Sequence[bytes], parsed: Sequence[Block]) -> None:
        spans: list[Span] = []
        for block, entry in zip(blocks, parsed, strict=True):
            at = offset + 1
            spans.append(Span(n=entry.n, thread=entry.thread, offset=at, length=len(block), digest=entry.digest))
            offset = at + len(block) + 1
        self._indexed(lambda view: view.index.add_all(spans))

    def _store_rows(self) -> None:
        view = self.view
        assert view.index_fd is not None, "a held channel has its index open"
        is_new = view.fs.stat(view.index_fd).size == 0
        store(view.fs, view.index_fd, view.index)
        if self.lock.shared:
            view.fs.sync(view.index_fd)
            if is_new:
                view.fs.sync(view.folder)

    def _replace(self, blocks: Sequence[bytes]) -> None:
        view = self.view
        name = channel_file(view.channel)
        content = read_all(view.fs, view.fd) + b"".join(b"\n%b\n" % block for block in blocks)
        self.is_spent = True
        with prepared(view.fs, view.folder, name, content, SHARED) as temporary:
            self.lock.check()
            found = view.fs.look(view.folder, name)
            if found is None or (found.inode, found.size) != (view.fs.stat(view.fd).inode, view.size):
                raise RecordError(f"{view.folder.of(name)} was replaced while we held its locks", hint="try again")
            view.fs.rename(view.folder, temporary, name)
        try:
            view.fs.sync(view.folder)
        except OSError as error:
            raise RecordError(
                f"{len(blocks)} entries are recorded, but may not outlast a power cut: {error.strerror}",
                hint="do not send them again; look at the disk",
            ) from None

    def _remember(self, newest: Block) -> None:
        view = self.view
        if self.heads is not None and view.genesis is not None:
            seen = Kept(genesis=view.genesis_digest, n=newest.n, head=newest.digest)
            self.heads.remember(view.channel, view.genesis.channel_id, seen)

    def _ring(self, temporary: str, name: str, n: int) -> None:
        try:
            self.view.fs.rename(self.view.folder, temporary, name)
        except OSError as error:
            raise RecordError(
                f"MSG-{n} is recorded, but its doorbell {name} is not: {error.strerror}",
                hint="do not send it again; the next entry writes the doorbell anew",
            ) from None


def keep_index(view: View) -> None:
    """Store what a look has added to the index where that is much, so that the next one is short.

    It is a help and no duty: where somebody writes at this moment, or where we may not write, nothing is stored.
    """
    if view.index.unsaved < _WORTH_KEEPING:
        return
    fs, folder = view.fs, view.folder
    with suppress(OSError, RecordError):
        own = open_own(fs, folder, own_file(view.channel, "flock"), Access.KEEP, SHARED)
        try:
            if fs.lock(own):
                fd = open_own(fs, folder, own_file(view.channel, "index"), Access.KEEP)
                try:
                    store(fs, fd, view.index)
                finally:
                    fs.close(fd)
        finally:
            fs.close(own)
