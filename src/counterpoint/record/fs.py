"""Every file operation of the record, behind one small interface, so that a test can record, fail or cut each.

- `Files` is the interface, `RealFiles` the kernel's own. Paths are a held folder and one name in it: what swaps a
  folder for a link after it was opened changes nothing (SECURITY R21).
- A file is opened without following links and closed on exec. `open_own` refuses what is no plain file, has a
  second name, or belongs to somebody else; `open_plain` is the same for files that are only read.
- Primitives raise `OSError`; `typed` turns one into a `RecordError` at the edge of the store.
- A failed `sync` is never repeated here: the kernel may have dropped the bytes, so what was written counts as lost.
"""

import errno
import fcntl
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from counterpoint.errors import RecordError, UnsafeFile

__all__ = [
    "Access",
    "Files",
    "Folder",
    "RealFiles",
    "Stat",
    "create",
    "open_folder",
    "open_own",
    "open_plain",
    "read_all",
    "read_file",
    "replace",
    "typed",
    "write_all",
]

PRIVATE: Final = 0o600
SHARED: Final = 0o666
"""Less the umask, as everybody's tools do it."""


class Access(StrEnum):
    READ = "read"
    WRITE = "write"
    """Read and write at offsets; the file exists."""
    APPEND = "append"
    """Read, and write at the end; the file exists."""
    NEW = "new"
    """Read and write a file that this call makes; fails where the name is taken."""
    KEEP = "keep"
    """As WRITE, and the file is made where it is missing."""


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder."""

    fd: int
    path: str
    """For messages alone."""

    def of(self, name: str) -> str:
        return f"{self.path}/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    is_file: bool
    is_folder: bool
    size: int
    inode: tuple[int, int]
    """Device and inode: the same file whatever its name."""
    owner: int
    links: int
    mode: int
    modified_ns: int


class Files(ABC):
    """What the record needs of a file system."""

    user: int
    """Whose files are ours."""

    @abstractmethod
    def folder(self, path: str) -> Folder:
        """Open a folder by path; links on the way are the user's own choice."""

    @abstractmethod
    def subfolder(self, folder: Folder, name: str) -> Folder:
        """Open a folder inside another; a link is refused."""

    @abstractmethod
    def make_folder(self, folder: Folder, name: str, mode: int) -> None: ...

    @abstractmethod
    def names(self, folder: Folder) -> list[str]: ...

    @abstractmethod
    def open(self, folder: Folder, name: str, access: Access, mode: int = PRIVATE) -> int: ...

    @abstractmethod
    def close(self, opened: int | Folder) -> None: ...

    @abstractmethod
    def read(self, fd: int, size: int, offset: int) -> bytes: ...

    @abstractmethod
    def write(self, fd: int, content: bytes, offset: int | None = None) -> int:
        """Write at `offset`, or at the end of a file opened to append; return how many bytes were taken."""

    @abstractmethod
    def truncate(self, fd: int, size: int) -> None: ...

    @abstractmethod
    def sync(self, opened: int | Folder) -> None:
        """Return once the file's bytes, or the folder's names, are on disk."""

    @abstractmethod
    def stat(self, fd: int) -> Stat: ...

    @abstractmethod
    def look(self, folder: Folder, name: str) -> Stat | None:
        """Return what stands under `name`, a link itself and not what it points to."""

    @abstractmethod
    def rename(self, folder: Folder, name: str, to: str) -> None: ...

    @abstractmethod
    def unlink(self, folder: Folder, name: str) -> None: ...

    @abstractmethod
    def lock(self, fd: int) -> bool:
        """Take the flock of an open file if it is free now."""

    @abstractmethod
    def touch(self, fd: int) -> None:
        """Set the file's time to now, by the file system's clock."""


_FLAGS: Final = {
    Access.READ: os.O_RDONLY,
    Access.WRITE: os.O_RDWR,
    Access.APPEND: os.O_RDWR | os.O_APPEND,
    Access.NEW: os.O_RDWR | os.O_CREAT | os.O_EXCL,
    Access.KEEP: os.O_RDWR | os.O_CREAT,
}
# A named pipe under the record's name must not hang us: it is opened without waiting and then refused.
_SAFE: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FULL_SYNC: Final[int | None] = getattr(fcntl, "F_FULLFSYNC", None)


class RealFiles(Files):
    """The operating system's files."""

    def __init__(self) -> None:
        self.user = os.geteuid()

    def folder(self, path: str) -> Folder:
        return Folder(os.open(path, _FOLDER), path)

    def subfolder(self, folder: Folder, name: str) -> Folder:
        return Folder(os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder.fd), folder.of(name))

    def make_folder(self, folder: Folder, name: str, mode: int) -> None:
        os.mkdir(name, mode, dir_fd=folder.fd)

    def names(self, folder: Folder) -> list[str]:
        return os.listdir(folder.fd)

    def open(self, folder: Folder, name: str, access: Access, mode: int = PRIVATE) -> int:
        return os.open(name, _FLAGS[access] | _SAFE, mode, dir_fd=folder.fd)

    def close(self, opened: int | Folder) -> None:
        os.close(opened.fd if isinstance(opened, Folder) else opened)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        return os.pread(fd, size, offset)

    def write(self, fd: int, content: bytes, offset: int | None = None) -> int:
        return os.write(fd, content) if offset is None else os.pwrite(fd, content, offset)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def sync(self, opened: int | Folder) -> None:
        fd = opened.fd if isinstance(opened, Folder) else opened
        if _FULL_SYNC is None:
            os.fsync(fd)
        else:  # macOS: fsync alone leaves the bytes in the drive's own cache
            fcntl.fcntl(fd, _FULL_SYNC)

    def stat(self, fd: int) -> Stat:
        return _stat(os.fstat(fd))

    def look(self, folder: Folder, name: str) -> Stat | None:
        try:
            return _stat(os.stat(name, dir_fd=folder.fd, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def rename(self, folder: Folder, name: str, to: str) -> None:
        os.rename(name, to, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)

    def unlink(self, folder: Folder, name: str) -> None:
        os.unlink(name, dir_fd=folder.fd)

    def lock(self, fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def touch(self, fd: int) -> None:
        os.utime(fd)


def _stat(found: os.stat_result) -> Stat:
    return Stat(
        is_file=stat.S_ISREG(found.st_mode),
        is_folder=stat.S_ISDIR(found.st_mode),
        size=found.st_size,
        inode=(found.st_dev, found.st_ino),
        owner=found.st_uid,
        links=found.st_nlink,
        mode=stat.S_IMODE(found.st_mode),
        modified_ns=found.st_mtime_ns,
    )


@contextmanager
def typed(what: str) -> Iterator[None]:
    """Turn an `OSError` of the block into a `RecordError` about `what`."""
    try:
        yield
    except OSError as error:
        hint = _HINTS.get(error.errno or 0, "look at the disk and the folder, then repeat the step")
        raise RecordError(f"{what}: {error.strerror or error}", hint=hint) from None


_HINTS: Final = {
    errno.ENOSPC: "free some space, then repeat the step",
    errno.EDQUOT: "free some space, then repeat the step",
    errno.EROFS: "use a folder that can be written",
    errno.EACCES: "use a folder that you may read and write",
    errno.EPERM: "use a folder that you may read and write",
    errno.ENOENT: "name a channel and a folder that exist",
}


@contextmanager
def open_folder(fs: Files, path: str, inside: str = "") -> Generator[Folder]:
    """Hold a folder, or the one named `inside` in it, for the length of the block."""
    folder = fs.folder(path)
    try:
        if inside:
            outer, folder = folder, _subfolder(fs, folder, inside)
            fs.close(outer)
        yield folder
    finally:
        fs.close(folder)


def _subfolder(fs: Files, folder: Folder, name: str) -> Folder:
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
    while end is None or start < end:
        part = fs.read(fd, (1 << 20) if end is None else end - start, start)
        if not part:
            break
        parts.append(part)
        start += len(part)
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


def write_all(fs: Files, fd: int, content: bytes, offset: int | None = None) -> None:
    """Write all of `content`, however short each write of the kernel is."""
    view = memoryview(content)
    while view:
        taken = fs.write(fd, bytes(view), offset)
        if taken <= 0:
            raise OSError(errno.EIO, "a write took nothing")
        view = view[taken:]
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
    """Put `content` under `name`, whole or not at all: its bytes are on disk before the name moves.

    The caller holds a lock, and syncs the folder where the name has to be on disk as well.
    """
    # What stands under the temporary name is what a crash left, or an attack.
    temporary = f"{name}.new"
    with suppress(FileNotFoundError):
        fs.unlink(folder, temporary)
    fd = open_own(fs, folder, temporary, Access.NEW, mode)
    try:
        try:
            write_all(fs, fd, content)
            fs.sync(fd)
        finally:
            fs.close(fd)
        fs.rename(folder, temporary, name)
    except OSError:
        with suppress(OSError):
            fs.unlink(folder, temporary)
        raise
