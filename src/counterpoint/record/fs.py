"""Every file operation of the record, behind one small interface, so that a test can record, fail or cut each.

`Files` is the interface, `RealFiles` the kernel's own. A path is a held folder and one name in it, so that swapping
the folder for a link after it was opened changes nothing (SECURITY R21). Files are opened without following links and
closed on exec. Everything here raises `OSError`; `safe` is what the record's modules call.
"""

import fcntl
import os
import stat
from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Final, NamedTuple

__all__ = ["PRIVATE", "SHARED", "Access", "Files", "Folder", "RealFiles", "Stat"]

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


class Folder(NamedTuple):
    """An open folder."""

    fd: int
    path: str
    """For messages alone."""

    def of(self, name: str) -> str:
        return name if self.path == "." else f"{self.path.rstrip('/')}/{name}"


class Stat(NamedTuple):
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
    def wait_lock(self, fd: int) -> None:
        """Take the flock of an open file, waiting as long as it takes: only where it is held for an instant."""

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
        # pathlib knows no open folder
        return os.listdir(folder.fd)  # noqa: PTH208

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

    def wait_lock(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)

    def touch(self, fd: int) -> None:
        os.utime(fd)


def _stat(found: os.stat_result) -> Stat:
    mode = found.st_mode
    # By place and not by name: a turn looks at some thirty files.
    return Stat(
        stat.S_ISREG(mode),
        stat.S_ISDIR(mode),
        found.st_size,
        (found.st_dev, found.st_ino),
        found.st_uid,
        found.st_nlink,
        stat.S_IMODE(mode),
        found.st_mtime_ns,
    )
