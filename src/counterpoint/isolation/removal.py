"""Removing a folder whose insides are read-only, or have become anything at all. No link is followed."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from counterpoint.errors import SourceError

__all__ = ["remove", "removed_on_failure"]

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(folder: Path) -> None:
    """Remove `folder` with all below it; a folder that is not there is no error.

    Raises:
        SourceError: something in it cannot be removed.
    """
    try:
        parent = os.open(folder.parent, _OPEN & ~os.O_NOFOLLOW)
        try:
            with suppress(FileNotFoundError):
                _remove(parent, folder.name)
        finally:
            os.close(parent)
    except (OSError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "its folders are nested too deep"
        raise SourceError(f"{str(folder)!r} cannot be removed: {why}", hint="remove it by hand") from None


@contextmanager
def removed_on_failure(folder: Path) -> Iterator[None]:
    """Remove `folder` if the block raises."""
    try:
        yield
    except BaseException:
        with suppress(SourceError):  # the failure itself is what the caller has to hear of
            remove(folder)
        raise


def _remove(parent: int, name: str) -> None:
    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode):
        os.unlink(name, dir_fd=parent)
        return
    if found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=parent)
    inside = os.open(name, _OPEN, dir_fd=parent)
    try:
        with os.scandir(inside) as entries:
            names = [entry.name for entry in entries]
        for inner in names:
            _remove(inside, inner)
    finally:
        os.close(inside)
    os.rmdir(name, dir_fd=parent)
