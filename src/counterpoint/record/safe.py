"""Files opened, read and written with care (SECURITY C.1, R21).

- `open_own` refuses a file that is a link, no plain file, has a second name, or belongs to somebody else;
  `open_plain` is the same for a file that is only read, whoever owns it.
- A write goes on until all bytes are taken. A file made or replaced has its bytes on disk before it has its name.
- A failed `sync` is never repeated: the kernel may have dropped the bytes, so what was written counts as lost.
- `typed` turns an `OSError` into a `RecordError` at the edge of the store.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Final

from counterpoint.errors import RecordError, UnsafeFile
from counterpoint.record.fs import PRIVATE, Access, Files, Folder, Stat

__all__ = [
    "create",
    "open_folder",
    "open_own",
    "open_plain",
    "prepared",
    "read_all",
    "read_file",
    "read_start",
    "replace",
    "subfolder",
    "typed",
    "typed_error",
    "write_all",
]


@contextmanager
def typed(what: str) -> Iterator[None]:
    """Turn an `OSError` of the block into a `RecordError` about `what`."""
    try:
        yield
    except OSError as error:
        raise typed_error(what, error) from None


def typed_error(what: str, error: OSError) -> RecordError:
    """Return the `RecordError` about `what` that an `OSError` comes to."""
    hint = _HINTS.get(error.errno or 0, "look at the disk and the folder, then repeat the step")
    return RecordError(f"{what}: {error.strerror or error}", hint=hint)


_PIECE: Final = 1 << 20
_HINTS: Final = {
    errno.ENOSPC: "free some space, then repeat the step",
    errno.EDQUOT: "free some space, then repeat the step",
    errno.EROFS: "use a folder that can be written",
    errno.EACCES: "use a folder that you may read and write",
    errno.EPERM: "use a folder that you may read and write",
    errno.ENOENT: "name a channel and a folder that exist",
}


class open_folder:  # noqa: N801 - it reads as the function that it stands for, at a third of the cost
    """Hold a folder, or the one named `inside` in it, for the length of the block."""

    __slots__ = ("_fs", "_inside", "_path", "folder")

    def __init__(self, fs: Files, path: str, inside: str = "") -> None:
        self._fs = fs
        self._path = path
        self._inside = inside

    def __enter__(self) -> Folder:
        self.folder = self._fs.folder(self._path)
        if self._inside:
            outer = self.folder
            try:
                self.folder = subfolder(self._fs, outer, self._inside)
            finally:
                self._fs.close(outer)
        return self.folder

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fs.close(self.folder)


def subfolder(fs: Files, folder: Folder, name: str) -> Folder:
    """Open a folder inside another.

    Raises:
        UnsafeFile: it is a link or no folder.
    """
    try:
        return fs.subfolder(folder, name)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise UnsafeFile(folder.of(name), "is no folder of its own") from None
        raise


def open_own(fs: Files, folder: Folder, name: str, access: Access, mode: int = PRIVATE) -> int:
    """Open a file that must be ours alone to write.

    Raises:
        UnsafeFile: it is a link, no plain file, has a second name, or belongs to somebody else.
    """
    return _open(fs, folder, name, access, mode, own=True)


def open_plain(fs: Files, folder: Folder, name: str) -> int:
    """Open a plain file with one name to read it.

    Raises:
        UnsafeFile: it is a link, no plain file, or has a second name.
    """
    return _open(fs, folder, name, Access.READ, PRIVATE, own=False)


def _open(fs: Files, folder: Folder, name: str, access: Access, mode: int, *, own: bool) -> int:
    try:
        fd = fs.open(folder, name, access, mode)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise UnsafeFile(folder.of(name), "is a link or no plain file") from None
        raise
    reason = _unsafe(fs.stat(fd), fs.user if own else None)
    if reason:
        fs.close(fd)
        raise UnsafeFile(folder.of(name), reason)
    return fd


def _unsafe(found: Stat, user: int | None) -> str:
    if not found.is_file:
        return "is no plain file"
    # None at all is well: it was replaced, by whoever holds the lock, while we opened it.
    if found.links > 1:
        return f"has {found.links} names"
    if user is not None and found.owner != user:
        return f"belongs to uid {found.owner}; this is uid {user}"
    return ""


def read_all(fs: Files, fd: int, *, start: int = 0, end: int | None = None) -> bytes:
    """Return the bytes from `start` to `end`, or to the end of the file."""
    parts: list[bytes] = []
    # All that is there in one piece: pieces would have to be joined, which takes as much memory again.
    size = max(fs.stat(fd).size - start, _PIECE) if end is None else end - start
    while size > 0:
        part = fs.read(fd, size, start)
        if not part:
            break
        parts.append(part)
        start += len(part)
        size = _PIECE if end is None else end - start
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_file(fs: Files, folder: Folder, name: str, *, max_bytes: int) -> bytes | None:
    """Return a small file's bytes, `None` where there is none.

    Raises:
        RecordError: it is larger than `max_bytes`.
        UnsafeFile: as `open_plain`.
    """
    try:
        fd = open_plain(fs, folder, name)
    except FileNotFoundError:
        return None
    try:
        content = read_all(fs, fd, end=max_bytes + 1)
    finally:
        fs.close(fd)
    if len(content) > max_bytes:
        raise RecordError(f"{folder.of(name)} is larger than {max_bytes} bytes")
    return content


def read_start(fs: Files, folder: Folder, name: str, *, size: int) -> bytes:
    """Return the first bytes of a file, at most `size`.

    Raises:
        UnsafeFile: as `open_plain`.
    """
    fd = open_plain(fs, folder, name)
    try:
        return read_all(fs, fd, end=size)
    finally:
        fs.close(fd)


def write_all(fs: Files, fd: int, content: bytes, offset: int | None = None) -> None:
    """Write all of `content`, however short each write of the kernel is."""
    while content:
        taken = fs.write(fd, content, offset)
        if taken <= 0:
            raise OSError(errno.EIO, "a write took nothing")
        content = content[taken:]
        offset = None if offset is None else offset + taken


def create(fs: Files, folder: Folder, name: str, content: bytes, mode: int) -> None:
    """Make a file whose bytes are on disk under that name when this returns; the caller holds a lock.

    Raises:
        FileExistsError: the name is taken.
    """
    if fs.look(folder, name) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), folder.of(name))
    replace(fs, folder, name, content, mode)
    fs.sync(folder)


def replace(fs: Files, folder: Folder, name: str, content: bytes, mode: int) -> None:
    """Put `content` under `name`, whole or not at all; the caller holds a lock.

    The caller syncs the folder where the new name has to be on disk as well.
    """
    with prepared(fs, folder, name, content, mode) as temporary:
        fs.rename(folder, temporary, name)


@contextmanager
def prepared(
    fs: Files, folder: Folder, name: str, content: bytes, mode: int, *, durable: bool = True
) -> Iterator[str]:
    """Have `content` on disk under a temporary name, to be renamed to `name` in the block or else removed.

    Without `durable` a power cut may leave other bytes under the name; only for what is rebuilt from the record.
    """
    temporary = f"{name}.new"
    try:
        fd = open_own(fs, folder, temporary, Access.NEW, mode)
    except FileExistsError:
        # What stands there is what a crash left, or an attack.
        fs.unlink(folder, temporary)
        fd = open_own(fs, folder, temporary, Access.NEW, mode)
    try:
        try:
            write_all(fs, fd, content, 0)
            if durable:
                fs.sync(fd)
        finally:
            fs.close(fd)
        yield temporary
    except BaseException:
        with suppress(OSError):
            fs.unlink(folder, temporary)
        raise
