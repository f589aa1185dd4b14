"""Removing a folder whose insides are read-only, or have become anything at all.

No link is followed, and folders nested beyond any depth are no difficulty: what lies too deep is moved up to the top.
"""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError

__all__ = ["remove", "removed_on_failure"]

_DEPTH: Final = 64
"""Folders that are open at a time."""


def remove(folder: Path) -> None:
    """Remove `folder` with all below it; a folder that is not there is no error.

    Raises:
        SourceError: something in it cannot be removed.
    """
    try:
        with _opened(folder.parent) as parent, suppress(FileNotFoundError):
            if not _is_unlinked(parent, folder.name):
                with _opened(folder.name, dir_fd=parent) as top:
                    _Emptying(top).run()
                os.rmdir(folder.name, dir_fd=parent)
    except OSError as error:
        raise SourceError(f"{str(folder)!r} cannot be removed: {error.strerror}", hint="remove it by hand") from None


@contextmanager
def removed_on_failure(folder: Path) -> Iterator[None]:
    """Remove `folder` if the block raises."""
    try:
        yield
    except BaseException:
        with suppress(SourceError):  # the failure itself is what the caller has to hear of
            remove(folder)
        raise


class _Emptying:
    """Empties one folder."""

    def __init__(self, top: int) -> None:
        self._top = top
        # Nothing that lies there already can have such a name.
        self._names = (f"{secrets.token_hex(16)}-{number}" for number in count())

    def run(self) -> None:
        self._moved = True
        while self._moved:
            self._moved = False
            self._empty(self._top, 0)

    def _empty(self, folder: int, depth: int) -> None:
        for name in os.listdir(folder):
            if _is_unlinked(folder, name):
                continue
            if depth == _DEPTH:
                os.rename(name, next(self._names), src_dir_fd=folder, dst_dir_fd=self._top)
                self._moved = True
                continue
            with _opened(name, dir_fd=folder) as inside:
                self._empty(inside, depth + 1)
            os.rmdir(name, dir_fd=folder)


def _is_unlinked(parent: int, name: str) -> bool:
    """Unlink what is no folder; give the owner all rights to a folder and return False."""
    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode):
        os.unlink(name, dir_fd=parent)
        return True
    if found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=parent)
    return False


@contextmanager
def _opened(folder: str | Path, *, dir_fd: int | None = None) -> Iterator[int]:
    follow = os.O_NOFOLLOW if dir_fd is not None else 0
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | follow, dir_fd=dir_fd)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
