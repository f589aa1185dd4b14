"""What a driver that was killed has left, and the next one clears away: folders, and programs that run on.

Both carry the case's name. Call `clear` under the case's lease alone: then no live driver owns them.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from counterpoint.errors import SourceError
from counterpoint.isolation.marks import end_marked, marked
from counterpoint.isolation.removal import remove

__all__ = ["clear", "folder_for", "programs_of"]


def folder_for(case: str) -> Path:
    """Make a new private folder outside every repository for a case, and return it."""
    return Path(tempfile.mkdtemp(prefix=_prefix(case)))


@contextmanager
def programs_of(case: str) -> Iterator[None]:
    """Mark every program that is started in the block as the case's; none of them outlives it."""
    with marked(_mark(case)):
        try:
            yield
        finally:
            end_marked(_mark(case))


def clear(case: str) -> None:
    """End what a killed driver of this case has left running, and remove its folders. What resists is left alone."""
    end_marked(_mark(case))
    for folder in Path(tempfile.gettempdir()).glob(f"{_prefix(case)}*"):
        with suppress(OSError, SourceError):
            if folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                remove(folder)


def _prefix(case: str) -> str:
    return f"counterpoint-{case}-"


def _mark(case: str) -> str:
    return f"case.{case}"
