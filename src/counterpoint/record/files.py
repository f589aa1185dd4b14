"""Channels as files: the store that everybody can read, and that the public tool can work on beside us.

- A *shared* channel lies directly under the root and is locked for both tools; a *case* channel lies in a folder of
  its own name and is strict. Everything of a channel begins with its name; docs/record-files.md says what is what.
- Reading takes no lock and changes nothing. What a writer has half written at that moment is not there yet.
- Writing is `held`. Vault and claims are written under the same flock.
"""

import errno
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from counterpoint.core.canonical import digest
from counterpoint.errors import Corrupt, RecordError
from counterpoint.record.bell import FRESH_BELL, MAX_BELL, read_bell, write_object
from counterpoint.record.block import ZEROS, render
from counterpoint.record.fs import SHARED, Files, Folder, RealFiles, Stat
from counterpoint.record.header import is_name
from counterpoint.record.heads import Heads, Kept
from counterpoint.record.held import HeldFiles, keep_index
from counterpoint.record.index import IndexDamaged
from counterpoint.record.listing import first_stamp
from counterpoint.record.locks import hold
from counterpoint.record.names import SETTINGS, bell_file, channel_file, own_file, settings_file
from counterpoint.record.safe import create, open_folder, read_file, read_start, replace, typed, typed_error
from counterpoint.record.scan import places
from counterpoint.record.settings import MAX_SETTINGS, read_settings, whole_settings
from counterpoint.record.store import Block, Claim, Genesis, Store, Vault
from counterpoint.record.view import View, open_view

if TYPE_CHECKING:
    from counterpoint.record.contents import Everything
    from counterpoint.record.findings import Checkpoint, Verification
    from counterpoint.record.migration import Renaming
    from counterpoint.record.signing import Signer
    from counterpoint.record.speakers import Vouch

__all__ = ["FileStore", "Layout"]

_PAUSE_S: Final = 0.1
_FIRST_BYTES: Final = 64 * 1024
_MAX_BEGUN: Final = 1 << 30

T = TypeVar("T")


class Layout(StrEnum):
    SHARED = "shared"
    """Channels of both tools, directly under the root."""
    CASES = "cases"
    """Strict channels, each in a folder of its own."""


class FileStore(Store):
    """Keeps channels as files under one root.

    Args:
        root: the folder.
        layout: what kind of channels lie there.
        signer: gives the key to sign with, asked for when a signed channel is written.
        heads: the memory of heads in the user's state folder.
        fs: the file operations.
        sleep: how to wait for a lock, or for a new entry.
    """

    def __init__(
        self,
        root: str,
        layout: Layout,
        *,
        signer: "Callable[[], Signer] | None" = None,
        heads: Heads | None = None,
        fs: Files | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.root = root
        self.layout = layout
        self._signer = signer
        self._heads = heads
        self._fs = fs or RealFiles()
        self._sleep = sleep
        self._synced: set[tuple[int, int]] = set()
        self._ended: dict[str, tuple[int, Stat]] = {}
        """By channel: the number of the entry that this store wrote last, and the file just after that."""

    def create(self, channel: str, genesis: Genesis, *, stamp: str, sender: str, settings: Mapping[str, Any]) -> None:
        assert channel, "only the public tool began channels without a name"
        self._check_name(channel)
        from counterpoint.record.genesis import genesis_draft  # noqa: PLC0415 - cold start: only this needs it
        from counterpoint.record.keys import sign_with  # noqa: PLC0415 - the same

        strict = genesis.mode == "strict"
        assert strict or self.layout is Layout.SHARED, "a case channel is strict"
        sign = sign_with(self._signer, genesis, channel=channel, sender="")
        draft = genesis_draft(genesis, stamp=stamp, sender=sender)
        block = render(draft, n=0, channel_id=genesis.channel_id, prev=ZEROS, sign=sign, strict=strict)
        whole = whole_settings(channel, genesis, sender=sender, given=settings)
        with typed(f"channel {channel!r} cannot be begun in {self.root}"):
            if self.layout is Layout.CASES:
                self._make_folder(channel)
            with self._folder(channel) as folder, hold(self._fs, folder, channel, shared=False, sleep=self._sleep):
                self._begin(folder, channel, b"\n%b\n" % block, write_object(whole))
            if self._heads is not None:
                seen = Kept(genesis=digest(block), n=0, head=digest(block))
                self._heads.remember(channel, genesis.channel_id, seen)
                if strict:
                    self._heads.pin(channel, seen.genesis)

    def create_plain(self, channel: str, settings: Mapping[str, Any]) -> None:
        """Begin a channel as the public tool does: settings, an empty channel file, a fresh doorbell, no chain.

        Raises:
            RecordError: it cannot be made, or is there.
        """
        assert channel, "only the public tool began channels without a name"
        with self._reading(channel) as folder, hold(self._fs, folder, channel, shared=True, sleep=self._sleep):
            self._begin(folder, channel, b"", write_object(settings))

    def _begin(self, folder: Folder, channel: str, content: bytes, settings: bytes) -> None:
        self._refuse_existing(folder, channel)
        replace(self._fs, folder, channel_file(channel), content, SHARED)
        replace(self._fs, folder, bell_file(channel), write_object(FRESH_BELL), SHARED)
        self._fs.sync(folder)
        # The settings make it a channel, so they come last: a crash leaves a whole channel or none.
        create(self._fs, folder, settings_file(channel), settings, SHARED)

    def _make_folder(self, channel: str) -> None:
        with open_folder(self._fs, self.root) as root:
            with suppress(FileExistsError):
                self._fs.make_folder(root, channel, 0o777)
            self._fs.sync(root)

    def _refuse_existing(self, folder: Folder, channel: str) -> None:
        begun = read_file(self._fs, folder, channel_file(channel), max_bytes=_MAX_BEGUN)
        if self._fs.look(folder, settings_file(channel)) is not None or len(list(places(begun or b""))) > 1:
            raise RecordError(f"{folder.of(channel)} is a channel already", hint="choose another name")

    def has_entries(self, channel: str) -> bool:
        """Say whether the channel has a channel file."""
        return self._has(channel, channel_file(channel))

    def bell(self, channel: str) -> Mapping[str, Any] | None:
        """Return the doorbell's fields, believed or not; `None` where it is missing or torn.

        Raises:
            RecordError: it is no plain file, or cannot be read.
        """
        if not self._has(channel, bell_file(channel)):
            return None
        with self._reading(channel) as folder:
            found = read_bell(read_file(self._fs, folder, bell_file(channel), max_bytes=MAX_BELL))
        return None if found is None else found[1]

    def _has(self, channel: str, name: str) -> bool:
        with typed(f"refused: {self.root} cannot be read"):
            try:
                with self._folder(channel) as folder:
                    return self._fs.look(folder, name) is not None
            except FileNotFoundError:
                return False

    def has_settings(self, channel: str) -> bool:
        """Say whether the channel's settings are there."""
        return self._has(channel, settings_file(channel))

    @contextmanager
    def migrating(self) -> "Iterator[Renaming]":
        """Hold the channel without a name, to give it one.

        Raises:
            RecordError: there is none, or its settings are no object.
        """
        # Cold start: as in `create`.
        from counterpoint.record.migration import Renaming  # noqa: PLC0415

        with self._reading("") as folder, hold(self._fs, folder, "", shared=True, sleep=self._sleep):
            file = settings_file("")
            content = read_file(self._fs, folder, file, max_bytes=MAX_SETTINGS)
            yield Renaming(self._fs, folder, read_settings(content, channel="", source=folder.of(file)))

    def settings(self, channel: str) -> Mapping[str, Any]:
        name = settings_file(channel)
        with self._reading(channel) as folder:
            content = read_file(self._fs, folder, name, max_bytes=MAX_SETTINGS)
            return read_settings(content, channel=channel, source=folder.of(name))

    def head(self, channel: str) -> tuple[int, str]:
        head = self.look(channel, lambda view: view.head)
        return head.n, head.digest

    def read(self, channel: str, after: int = -1) -> tuple[Block, ...]:
        n, stat = self._ended.get(channel, (None, None))
        if n == after:
            # Whoever has written since has changed the file's size and time.
            with self._reading(channel) as folder:
                if self._fs.look(folder, channel_file(channel)) == stat:
                    return ()
        return self.look(channel, lambda view: view.read(after))

    def read_thread(self, channel: str, thread: str) -> tuple[Block, ...]:
        return self.look(channel, lambda view: view.read_thread(thread))

    def archived_thread(self, channel: str, thread: str) -> tuple[tuple[int, bytes], ...]:
        """Return number and bytes of a thread's entries in the archives, outer line ends left out.

        Raises:
            UnsafeFile: the archive folder or a file in it is a link or no plain file.
        """
        # Cold start: as in `create`.
        from counterpoint.record.archive import archived_thread  # noqa: PLC0415

        with self._reading(channel) as folder:
            return tuple(archived_thread(self._fs, folder, channel, thread))

    @contextmanager
    def hold(self, channel: str) -> Iterator[HeldFiles]:
        shared = self.layout is Layout.SHARED
        with (
            self._reading(channel) as folder,
            hold(self._fs, folder, channel, shared=shared, sleep=self._sleep) as lock,
        ):
            if self._fs.look(folder, settings_file(channel)) is None:
                raise self._no_channel(channel)
            with self._view(folder, channel, writing=True) as view:
                self._ended.pop(channel, None)
                held = HeldFiles(view, lock, self._signer, self._heads)
                yield held
                if view.genesis is not None and held.view is view and not held.is_spent and view.torn is None:
                    self._ended[channel] = view.head.n, self._fs.stat(view.fd)

    def verify(self, channel: str, *, checkpoint: "Checkpoint | None" = None, now: str = "") -> "Verification":
        """Verify the whole record: its own chain, its doorbell, what is remembered; then remember its head.

        Raises:
            Corrupt: it does not hold; the message names the first entry that does not.
        """
        with self._reading(channel) as folder:
            if self._fs.look(folder, settings_file(channel)) is None:
                raise self._no_channel(channel)
            # cold start: `post` must not pay for what verification needs
            from counterpoint.record.contents import verify_channel  # noqa: PLC0415

            return verify_channel(
                self._fs,
                folder,
                channel,
                mode="strict" if self.layout is Layout.CASES else None,
                heads=self._heads,
                checkpoint=checkpoint,
                now=now,
                wait=partial(self._sleep, _PAUSE_S),
            )

    def everything(self, channel: str) -> "Everything":
        """Return all the bytes of a channel as they stand together, while no writer is at work.

        Raises:
            RecordError: there is no such folder, a writer held the channel for too long, or a file is not readable.
        """
        # cold start: as in `verify`
        from counterpoint.record.contents import read_everything  # noqa: PLC0415

        with self._reading(channel) as folder, ExitStack() as stack:
            try:
                stack.enter_context(hold(self._fs, folder, channel, shared=True, sleep=self._sleep))
            except OSError as error:
                # Whoever may only read has no lock to take.
                if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
                    raise
            return read_everything(self._fs, folder, channel)

    def verify_shared(
        self, channel: str, contents: "Everything", *, now: str, vouch: "Vouch | None" = None
    ) -> "Verification | None":
        """Verify the chain in a shared channel's bytes, and remember its head; `None` where there is no chain.

        Raises:
            Corrupt: it does not hold.
        """
        # cold start: as in `verify`
        from counterpoint.record.contents import verify_everything  # noqa: PLC0415

        return verify_everything(channel, contents, heads=self._heads, now=now, vouch=vouch)

    def vault(self, channel: str) -> Vault:
        # Cold start: as in `create`.
        from counterpoint.record.vault import FileVault  # noqa: PLC0415

        name = "vault" if self.layout is Layout.CASES else own_file(channel, "vault")
        reading, writing = partial(self._reading, channel), partial(self._locked, channel)
        return FileVault(self._fs, name, reading, writing, self._synced)

    def claim_all(self, channel: str, turns: Sequence[tuple[str, datetime]], *, driver: str) -> tuple[Claim, ...]:
        # Cold start: as in `create`.
        from counterpoint.record.claims import add_claims  # noqa: PLC0415

        with self._locked(channel) as folder:
            return add_claims(self._fs, folder, own_file(channel, "claims"), turns, driver=driver)

    def claims(self, channel: str) -> tuple[Claim, ...]:
        # Cold start: as in `create`.
        from counterpoint.record.claims import read_claims  # noqa: PLC0415

        with self._reading(channel) as folder:
            return read_claims(self._fs, folder, own_file(channel, "claims"))

    def list_open(self) -> tuple[str, ...]:
        with typed(f"{self.root} cannot be read"), open_folder(self._fs, self.root) as root:
            names = self._fs.names(root)
        if self.layout is Layout.SHARED:
            names = [name.removesuffix(SETTINGS) for name in names if name.endswith(SETTINGS)]
        found = [name for name in names if is_name(name, strict=self.layout is Layout.CASES)]
        return tuple(sorted((name for name in found if self._is_channel(name)), key=self._begun))

    def watch(self, channel: str, *, after: int, timeout_s: float) -> bool:
        waited_s = 0.0
        while self.head(channel)[0] <= after:
            if waited_s >= timeout_s:
                return False
            self._sleep(_PAUSE_S)
            waited_s += _PAUSE_S
        return True

    def _is_channel(self, name: str) -> bool:
        try:
            with self._reading(name) as folder:
                return self._fs.look(folder, settings_file(name)) is not None
        except RecordError:  # a folder or a file that is no channel
            return False

    def _begun(self, channel: str) -> tuple[str, str]:
        """Return when a channel began, for sorting, and its name.

        One that cannot be read is listed too, first: whoever opens it is told why.
        """
        with suppress(RecordError), self._reading(channel) as folder:
            return first_stamp(read_start(self._fs, folder, channel_file(channel), size=_FIRST_BYTES)), channel
        return "", channel

    def look(self, channel: str, step: Callable[[View], T]) -> T:
        """Do a reading step on one view of the channel, without a lock.

        What looks damaged may be a writer at work, or an index that is wrong: it is looked at once more without.

        Raises:
            Corrupt: the record is damaged.
        """
        with self._reading(channel) as folder:
            try:
                return self._step(folder, channel, step, trusting=True)
            except (Corrupt, IndexDamaged):
                return self._step(folder, channel, step, trusting=False)

    def _step(self, folder: Folder, channel: str, step: Callable[[View], T], *, trusting: bool) -> T:
        with self._view(folder, channel, trusting=trusting) as view:
            done = step(view)
            keep_index(view)
            return done

    def _view(
        self, folder: Folder, channel: str, *, writing: bool = False, trusting: bool = True
    ) -> AbstractContextManager[View]:
        strict = self.layout is Layout.CASES
        return open_view(
            self._fs, folder, channel, strict=strict, heads=self._heads, writing=writing, trusting=trusting
        )

    @contextmanager
    def _reading(self, channel: str) -> Iterator[Folder]:
        self._check_name(channel)
        try:
            with self._folder(channel) as folder:
                yield folder
        except OSError as error:
            what = f"channel {channel!r} in {self.root}" if channel else f"refused: {channel_file('')} in {self.root}"
            raise typed_error(what, error) from None

    @contextmanager
    def _locked(self, channel: str) -> Iterator[Folder]:
        with self._reading(channel) as folder, hold(self._fs, folder, channel, shared=False, sleep=self._sleep):
            yield folder

    def _folder(self, channel: str) -> AbstractContextManager[Folder]:
        return open_folder(self._fs, self.root, channel if self.layout is Layout.CASES else "")

    def _no_channel(self, channel: str) -> RecordError:
        return RecordError(f"there is no channel {channel!r} in {self.root}", hint="name a channel that exists")

    def _check_name(self, channel: str) -> None:
        if channel == "" and self.layout is Layout.SHARED:
            return
        if not is_name(channel, strict=self.layout is Layout.CASES):
            hint = "use lower-case letters, digits and hyphens"
            raise RecordError(f"{channel!r} is no name of a channel", hint=hint)
