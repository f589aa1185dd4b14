"""A writable copy of an export, for programs that write where they work: the export itself stays as it is.

Blocks are shared with the original where the file system can do that. A link is refused; exports have none. Access
times in the copy begin equal to the modification times, so that they tell later what was read; the originals' are
left alone where the kernel allows it.
"""

import os
import shutil
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError

__all__ = ["copy_tree"]

_SHARED: Final = 1 << 30
_NOATIME: Final = getattr(os, "O_NOATIME", 0)


def copy_tree(source: Path, target: Path, *, stop: threading.Event | None = None) -> None:
    """Copy `source` to the new folder `target`; once `stop` is set, return with what there is.

    Raises:
        SourceError: it cannot be read or written, or holds something else than folders and plain files.
    """
    try:
        _copy_folder(source, target, stop or threading.Event())
    except OSError as error:
        place = error.filename or str(source)
        raise SourceError(f"{place!r} cannot be copied: {error.strerror}", hint="is the disk full?") from None


def _copy_folder(source: Path, target: Path, stop: threading.Event) -> None:
    target.mkdir(mode=0o755)
    with os.scandir(source) as entries:
        for entry in entries:
            if stop.is_set():
                return
            if entry.is_dir(follow_symlinks=False):
                _copy_folder(Path(entry.path), target / entry.name, stop)
            else:
                _copy_file(Path(entry.path), target / entry.name)


def _copy_file(source: Path, target: Path) -> None:
    reading = _open_quietly(source)
    try:
        found = os.fstat(reading)
        if not stat.S_ISREG(found.st_mode):
            raise SourceError(f"{str(source)!r} is not a plain file", hint="copy exports only")
        mode = stat.S_IMODE(found.st_mode) | stat.S_IWUSR
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            _copy_bytes(reading, writing)
            os.fchmod(writing, mode)
            os.utime(writing, ns=(found.st_mtime_ns, found.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _open_quietly(source: Path) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(PermissionError):  # another owner's file
        return os.open(source, flags | _NOATIME)
    return os.open(source, flags)


def _copy_bytes(reading: int, writing: int) -> None:
    if hasattr(os, "copy_file_range"):
        with suppress(OSError):  # another device, or a file system that cannot; what is copied then is written anew
            while os.copy_file_range(reading, writing, _SHARED):
                pass
            return
    os.lseek(reading, 0, os.SEEK_SET)
    os.lseek(writing, 0, os.SEEK_SET)
    with os.fdopen(reading, "rb", closefd=False) as original, os.fdopen(writing, "wb", closefd=False) as copy:
        shutil.copyfileobj(original, copy)
