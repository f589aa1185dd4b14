"""Sealed replies of one channel: a private folder of files that are written once (DESIGN section 4, sealing)."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from counterpoint.errors import RecordError
from counterpoint.record.fs import PRIVATE, Access, Files, Folder
from counterpoint.record.safe import create, open_own, read_all, subfolder
from counterpoint.record.store import Vault

__all__ = ["FileVault", "check_vault_name", "refuse_other"]

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")
_UNFINISHED: Final = ".new"


def check_vault_name(name: str) -> None:
    assert _NAME.fullmatch(name), f"{name!r} is no name of a sealed reply"
    assert not name.endswith(_UNFINISHED), f"{name!r} ends as an unfinished file does"


def refuse_other(name: str) -> RecordError:
    return RecordError(f"{name} holds other bytes already; a sealed reply is written once", hint="keep the first one")


class FileVault(Vault):
    """A vault as a folder.

    Args:
        fs: the file operations.
        name: of the folder, inside the channel's.
        reading: opens the channel's folder.
        writing: opens the channel's folder and keeps every other writer away.
        synced: the folders whose names this process has seen on disk; shared by the vaults of one store.
    """

    def __init__(
        self,
        fs: Files,
        name: str,
        reading: Callable[[], AbstractContextManager[Folder]],
        writing: Callable[[], AbstractContextManager[Folder]],
        synced: set[tuple[int, int]],
    ) -> None:
        self.fs = fs
        self.name = name
        self.reading = reading
        self.writing = writing
        self.synced = synced

    def put(self, name: str, content: bytes) -> None:
        with self._writing(name) as vault:
            kept = self._read(vault, name)
            if kept is None:
                create(self.fs, vault, name, content, PRIVATE)
                return
            if kept != content:
                raise refuse_other(vault.of(name))
            self.fs.sync(vault)

    def put_new(self, name: str, content: bytes) -> bool:
        with self._writing(name) as vault:
            try:
                create(self.fs, vault, name, content, PRIVATE)
            except FileExistsError:
                return False
            return True

    @contextmanager
    def _writing(self, name: str) -> Iterator[Folder]:
        check_vault_name(name)
        with self.writing() as folder:
            self._make(folder)
            vault = subfolder(self.fs, folder, self.name)
            try:
                yield vault
            finally:
                self.fs.close(vault)

    def _make(self, folder: Folder) -> None:
        found = self.fs.look(folder, self.name)
        if found is None:
            self.fs.make_folder(folder, self.name, 0o700)
            found = self.fs.look(folder, self.name)
        if found is not None and found.inode in self.synced:
            return
        # Also where it was there: a crash may have come between its making and this.
        self.fs.sync(folder)
        if found is not None:
            self.synced.add(found.inode)

    def get(self, name: str) -> bytes | None:
        check_vault_name(name)
        with self._opened() as vault:
            return None if vault is None else self._read(vault, name)

    def names(self) -> tuple[str, ...]:
        with self._opened() as vault:
            found = [] if vault is None else self.fs.names(vault)
        return tuple(sorted(name for name in found if not name.endswith(_UNFINISHED)))

    @contextmanager
    def _opened(self) -> Iterator[Folder | None]:
        with self.reading() as folder:
            if self.fs.look(folder, self.name) is None:
                yield None
                return
            vault = subfolder(self.fs, folder, self.name)
            try:
                yield vault
            finally:
                self.fs.close(vault)

    def _read(self, vault: Folder, name: str) -> bytes | None:
        try:
            fd = open_own(self.fs, vault, name, Access.READ)
        except FileNotFoundError:
            return None
        try:
            return read_all(self.fs, fd)
        finally:
            self.fs.close(fd)
