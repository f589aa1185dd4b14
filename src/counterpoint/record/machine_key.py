"""This machine's own key: made silently where there is none, read only where nobody else can.

Ed25519 in OpenSSH's private form, mode 0600, in the user's state folder. Two processes that need it at the same
moment make one: whoever holds the lock first.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from counterpoint.errors import RecordError
from counterpoint.record.fs import PRIVATE, Access, Files
from counterpoint.record.locks import hold
from counterpoint.record.safe import create, open_folder, open_own, read_all, typed
from counterpoint.record.signing import SEED_BYTES, load_key, make_key

if TYPE_CHECKING:
    from counterpoint.record.signing import Signer

__all__ = ["KEY_FILE", "load_or_make_key"]

KEY_FILE: Final = "machine-key"
_MAX_BYTES: Final = 16 << 10
_OTHERS: Final = 0o077


def load_or_make_key(
    fs: Files, folder: str, *, random_bytes: Callable[[int], bytes], sleep: Callable[[float], None] = time.sleep
) -> "Signer":
    """Return the signer with this machine's key, and make the key where there is none.

    Args:
        fs: the file operations.
        folder: the user's state folder; it is there.
        random_bytes: the source of a new key.
        sleep: how to wait for another process that is making it.

    Raises:
        RecordError: the key file can be read by others, holds no key, or cannot be written.
    """
    path = f"{folder}/{KEY_FILE}"
    with typed(path), open_folder(fs, folder) as place, hold(fs, place, KEY_FILE, shared=False, sleep=sleep):
        if fs.look(place, KEY_FILE) is None:
            create(fs, place, KEY_FILE, make_key(random_bytes(SEED_BYTES)), PRIVATE)
        fd = open_own(fs, place, KEY_FILE, Access.READ)
        try:
            mode = fs.stat(fd).mode
            content = read_all(fs, fd, end=_MAX_BYTES)
        finally:
            fs.close(fd)
    if mode & _OTHERS:
        raise RecordError(
            f"{path} has mode {mode & 0o777:04o}; a private key has 0600",
            hint=f"run `chmod 600 {path}` if nobody else has read it; else remove it and a new one is made",
        )
    return load_key(content, source=path)
