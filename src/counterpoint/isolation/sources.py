"""A folder of plain files that a text may quote from: copied, and known by the digest of what was copied.

Nothing in it is followed or started. A link, a pipe or a device is withheld, and so is a name that could mislead or a
file that is too large; the copy holds plain files alone. The digest is of every path with the SHA-256 of its content,
so that the copy of a copy has the same.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import digest
from counterpoint.errors import SourceError
from counterpoint.isolation.export import STAMP_NS, ExportedFile, ExportReport, Limits, Remark
from counterpoint.isolation.names import unsafe, visible_path
from counterpoint.isolation.removal import removed_on_failure

__all__ = ["LIMITS", "copy_sources"]

LIMITS: Final = Limits(blob_bytes=32 << 20, total_bytes=256 << 20, entries=10_000)
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def copy_sources(folder: Path, out: Path, *, writable: bool = False) -> ExportReport:
    """Copy the plain files of `folder` below the new folder `out`; the report's source is their digest.

    Args:
        folder: where they are.
        out: the folder to make.
        writable: leave files and folders writable by their owner, for a copy that people may remove.

    Raises:
        SourceError: it cannot be read or copied, or holds too much. Nothing is left at `out` then.
    """
    copying = _Copying(folder, out, write_bit=0o200 if writable else 0)
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise SourceError(f"{str(folder)!r} is no folder", hint="name a folder of plain files")
        out.mkdir(mode=0o700)
        with removed_on_failure(out):
            copying.run()
    except OSError as error:
        raise SourceError(
            f"the sources in {str(folder)!r} cannot be copied: {error.strerror}",
            hint="name a folder of plain files that you can read",
        ) from None
    return copying.report()


class _Copying:
    """One pass over a folder."""

    def __init__(self, folder: Path, out: Path, *, write_bit: int) -> None:
        self._from = folder
        self._out = out
        self._write_bit = write_bit
        self._files: dict[str, ExportedFile] = {}
        self._folders: set[bytes] = set()
        self._withheld: list[Remark] = []
        self._entries = 0
        self._total = 0

    def run(self) -> None:
        for path, inside, name in self._walk():
            self._take(path, inside, name)
        for folder in (*sorted(self._folders, reverse=True), b""):
            made = self._at(folder)
            made.chmod(0o555 | self._write_bit)
            os.utime(made, ns=(STAMP_NS, STAMP_NS))

    def report(self) -> ExportReport:
        lines = [f"{file.sha256} {path}" for path, file in sorted(self._files.items())]
        return ExportReport(
            source=digest("\n".join(lines).encode("utf-8")),
            tree="",
            files=self._files,
            folders=frozenset(self._folders),
            total_bytes=self._total,
            withheld=tuple(sorted(self._withheld, key=lambda remark: remark.path)),
            links=(),
            submodules=(),
            odd=(),
            is_writable=bool(self._write_bit),
        )

    def _walk(self) -> Iterator[tuple[bytes, int, bytes]]:
        """Yield each file by its path, the open folder that it is in, and its name; folders are made on the way."""
        top = os.fsencode(self._from)
        for place, folders, files, inside in os.fwalk(top, onerror=_refuse, follow_symlinks=False):
            below = os.path.relpath(place, top)
            prefix = b"" if below == b"." else below + b"/"
            self._count(len(folders) + len(files))
            if prefix.count(b"/") > LIMITS.depth:
                raise SourceError(f"the sources are more than {LIMITS.depth} folders deep")
            folders[:] = sorted(name for name in folders if self._is_entered(prefix + name, inside, name))
            for name in sorted(files):
                yield prefix + name, inside, name

    def _is_entered(self, path: bytes, inside: int, name: bytes) -> bool:
        reason = unsafe(name)
        if not reason and not stat.S_ISDIR(os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode):
            reason = "it is a link"
        if reason:
            self._withhold(path, reason)
            return False
        self._at(path).mkdir(0o700)
        self._folders.add(path)
        return True

    def _take(self, path: bytes, inside: int, name: bytes) -> None:
        found = os.stat(name, dir_fd=inside, follow_symlinks=False)
        reason = unsafe(name)
        if not reason and not stat.S_ISREG(found.st_mode):
            reason = "it is a link" if stat.S_ISLNK(found.st_mode) else "it is no plain file"
        if not reason and found.st_size > LIMITS.blob_bytes:
            reason = f"it has {found.st_size} bytes; at most {LIMITS.blob_bytes} are copied"
        if reason:
            self._withhold(path, reason)
            return
        with os.fdopen(os.open(name, _READ, dir_fd=inside), "rb") as file:
            content = file.read(LIMITS.blob_bytes + 1)
        self._total += len(content)
        if self._total > LIMITS.total_bytes:
            raise SourceError(f"the sources hold more than {LIMITS.total_bytes} bytes")
        self._write(path, content)

    def _write(self, path: bytes, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self._at(path), flags, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), 0o444 | self._write_bit)
            os.utime(file.fileno(), ns=(STAMP_NS, STAMP_NS))
        self._files[visible_path(path)] = ExportedFile(
            raw=path, size=len(content), sha256=digest(content), is_executable=False
        )

    def _at(self, path: bytes) -> Path:
        return self._out / os.fsdecode(path)

    def _count(self, more: int) -> None:
        self._entries += more
        if self._entries > LIMITS.entries:
            raise SourceError(f"the sources have more than {LIMITS.entries} files and folders")

    def _withhold(self, path: bytes, reason: str) -> None:
        self._withheld.append(Remark(path=visible_path(path), reason=reason))


def _refuse(error: OSError) -> None:
    raise error
