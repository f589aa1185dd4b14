"""What this machine remembers of each channel: its genesis and its newest head (DESIGN section 5).

It lies in the user's state folder, where no repository writes, and finds what a chain alone cannot: a record rolled
back, forked, or begun anew under another genesis (SECURITY R6, R9, R11). A channel not known here is new, no fault.

A strict channel is also remembered by its name, so that no other record passes for it there.

One file for each channel id holds two slots of one line; the older one is overwritten, so that a torn write leaves
the other. After a power cut the memory may be one entry behind the record, never ahead of it.
"""

import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from counterpoint.core.canonical import digest
from counterpoint.errors import Corrupt
from counterpoint.record.fs import Access, Files, Folder
from counterpoint.record.safe import open_folder, open_own, write_all

__all__ = ["Heads", "Kept", "compare"]

_CHECKED: Final = 64 + 1 + 16 + 1 + 64 + 1
_SLOT: Final = _CHECKED + 8 + 1
_SPELT: Final = re.compile(rb"([0-9a-f]{64}) ([0-9]{16}) ([0-9a-f]{64}) ([0-9a-f]{8})\n")
_HEX: Final = frozenset("0123456789abcdef")
_ID_DIGITS: Final = 32


class Kept(NamedTuple):
    """A channel as it stood when this machine last wrote or verified it."""

    genesis: str
    """Digest of entry 0."""
    n: int
    head: str
    """Digest of entry `n`."""


class Heads:
    """The memory of heads in one folder, named at once or when it is first needed, and made for the first head."""

    def __init__(self, fs: Files, path: str | Callable[[], str]) -> None:
        self._fs = fs
        self._given = path

    @property
    def _path(self) -> str:
        if not isinstance(self._given, str):
            self._given = self._given()
        return self._given

    def get(self, channel_id: str) -> Kept | None:
        """Return what is remembered of a channel.

        Raises:
            UnsafeFile: the file is a link, has a second name, or belongs to somebody else.
        """
        assert _is_id(channel_id), channel_id
        with suppress(FileNotFoundError), open_folder(self._fs, self._path) as folder:
            fd = open_own(self._fs, folder, channel_id, Access.READ)
            try:
                return self._newest(fd)[0]
            finally:
                self._fs.close(fd)
        return None

    def of(self, channel: str, channel_id: str) -> Kept | None:
        """Return what is remembered of a channel by its id, or else what was pinned to its name."""
        return self.get(channel_id) or self.get(_pin(channel))

    def pin(self, channel: str, genesis: str) -> None:
        """Bind the name of a strict channel to its genesis: no other record passes for it under that name.

        Raises:
            Corrupt: the name is bound to another genesis.
        """
        self.remember(channel, _pin(channel), Kept(genesis=genesis, n=0, head=genesis))

    def remember(self, channel: str, channel_id: str, seen: Kept) -> None:
        """Keep `seen` where it is not older than what is kept.

        Raises:
            Corrupt: another genesis, or another entry under the same number, is remembered.
        """
        assert _is_id(channel_id), channel_id
        folder = self._folder()
        try:
            fd = open_own(self._fs, folder, channel_id, Access.KEEP)
            try:
                self._fs.wait_lock(fd)
                kept, slot = self._newest(fd)
                if kept is not None:
                    compare(channel, kept, seen)
                if kept is None or seen.n > kept.n:
                    write_all(self._fs, fd, _write(seen), slot * _SLOT)
            finally:
                self._fs.close(fd)
        finally:
            self._fs.close(folder)

    def _folder(self) -> Folder:
        """Open the folder; for the first head it is made."""
        with suppress(FileNotFoundError):
            return self._fs.folder(self._path)
        self._make(self._path.rstrip("/"))
        return self._fs.folder(self._path)

    def _make(self, path: str) -> None:
        """Make a folder of the user's own, and those above it, where they are missing."""
        above, _, name = path.rpartition("/")
        try:
            self._fs.close(self._fs.folder(path))
        except FileNotFoundError:
            if above:
                self._make(above)
            with open_folder(self._fs, above or ".") as parent:
                with suppress(FileExistsError):
                    self._fs.make_folder(parent, name, 0o700)
                self._fs.sync(parent)

    def _newest(self, fd: int) -> tuple[Kept | None, int]:
        """Return the newest slot that is whole, and which one to write next."""
        content = self._fs.read(fd, 2 * _SLOT, 0)
        slots = [_read(content[:_SLOT]), _read(content[_SLOT:])]
        first, second = slots
        if first is not None and (second is None or first.n >= second.n):
            return first, 1
        return second, 0


def _is_id(text: str) -> bool:
    return len(text) == _ID_DIGITS and _HEX.issuperset(text)


def _pin(channel: str) -> str:
    return digest(f"channel {channel}".encode())[:32]


def compare(channel: str, kept: Kept, seen: Kept) -> None:
    """Refuse what contradicts the memory.

    Raises:
        Corrupt: another genesis, or another entry under the same number.
    """
    if kept.genesis != seen.genesis:
        raise Corrupt(channel, 0, f"its digest is {seen.genesis}; this machine remembers {kept.genesis}")
    if kept.n == seen.n and kept.head != seen.head:
        raise Corrupt(channel, seen.n, f"its digest is {seen.head}; this machine remembers {kept.head}")


def _write(seen: Kept) -> bytes:
    line = f"{seen.genesis} {seen.n:016d} {seen.head} ".encode()
    return line + b"%08x\n" % zlib.crc32(line)


def _read(slot: bytes) -> Kept | None:
    # One spelling of each slot: digits and hex digits where they belong, and the checksum of just these bytes.
    found = _SPELT.fullmatch(slot)
    if found is None or int(found[4], 16) != zlib.crc32(slot[:_CHECKED]):
        return None
    return Kept(genesis=found[1].decode(), n=int(found[2]), head=found[3].decode())
