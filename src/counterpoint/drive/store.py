"""The file store of a repository's cases: signed with this machine's key, watched by its memory of heads.

The one place that knows the concrete stores. Opening a store for reading makes nothing, neither folder nor key: the
key is made when the first entry is written.
"""

import secrets
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from counterpoint.drive.paths import Folders, make_private
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.heads import Heads
from counterpoint.record.machine_key import load_or_make_key

if TYPE_CHECKING:
    from counterpoint.record.signing import Signer

__all__ = ["machine_key", "open_store"]

_HEADS = "heads"


@cache
def machine_key(folders: Folders) -> "Signer":
    """Return this machine's key, made silently where there is none.

    Raises:
        ConfigError: the state folder cannot be made, or is not ours alone.
        RecordError: the key file is not ours alone, or holds no key.
    """
    return load_or_make_key(RealFiles(), str(make_private(folders.state)), random_bytes=secrets.token_bytes)


def open_store(cases: Path, folders: Folders) -> FileStore:
    """Return the store of the cases in a folder."""
    return FileStore(
        str(cases),
        Layout.CASES,
        signer=lambda: machine_key(folders),
        heads=Heads(RealFiles(), str(folders.state / _HEADS)),
    )
