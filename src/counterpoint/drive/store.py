"""The file store of a repository's cases: signed with this machine's key, watched by its memory of heads.

The one place that knows the concrete stores. Opening a store for reading makes nothing, neither folder nor key: the
key is made when the first entry is written.
"""

import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from counterpoint.drive.paths import Folders, check_private, make_private
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.heads import Heads
from counterpoint.record.keys import load_or_make_key

if TYPE_CHECKING:
    from counterpoint.record.signing import Signer

__all__ = ["heads_of", "known_key", "machine_key", "open_store"]

_KEY = "machine-key"


@cache
def machine_key(folders: Folders) -> "Signer":
    """Return this machine's key, made silently where there is none.

    Raises:
        ConfigError: the state folder cannot be made, or is not ours alone.
        RecordError: the key file is not ours alone, or holds no key.
    """
    path = str(make_private(folders.state) / _KEY)
    return load_or_make_key(RealFiles(), path, seed=os.urandom(32), sleep=time.sleep)


def known_key(folders: Folders) -> "Signer | None":
    """Return this machine's key where there is one; none is made.

    Raises:
        ConfigError: the state folder is not ours alone.
        RecordError: the key file is not ours alone, or holds no key.
    """
    is_there = check_private(folders.state) and (folders.state / _KEY).exists()
    return machine_key(folders) if is_there else None


def heads_of(folders: Folders) -> Heads:
    """Return what this machine remembers of channels."""
    return Heads(RealFiles(), str(folders.state / "heads"))


def open_store(cases: Path, folders: Folders) -> FileStore:
    """Return the store of the cases in a folder."""
    return FileStore(str(cases), Layout.CASES, signer=lambda: machine_key(folders), heads=heads_of(folders))
