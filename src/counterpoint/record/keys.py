"""Whose key signs: the one of this machine, made without asking where there is none (DESIGN section 5, signing)."""

import stat
from collections.abc import Callable
from typing import Final

from counterpoint.errors import RecordError, UnsafeFile
from counterpoint.record.fs import PRIVATE, Access, Files, Folder
from counterpoint.record.locks import hold
from counterpoint.record.safe import create, open_folder, open_own, read_all, typed
from counterpoint.record.signing import Signer, load_key, make_key
from counterpoint.record.store import Genesis

__all__ = ["load_or_make_key", "sign_with"]

_MAX_KEY: Final = 64 * 1024
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def load_or_make_key(fs: Files, path: str, *, seed: bytes, sleep: Callable[[float], None]) -> Signer:
    """Return the signer of this machine; its key file is made from `seed` where it is missing, by one process only.

    Args:
        fs: the file operations.
        path: of the private key file, in a folder that exists.
        seed: 32 random bytes.
        sleep: how to wait for another process that makes the key.

    Raises:
        UnsafeFile: the file is not ours alone.
        RecordError: it holds no key that we can use, or cannot be made.
    """
    above, _, name = path.rpartition("/")
    with typed(f"the key {path}"), open_folder(fs, above or ("/" if path.startswith("/") else ".")) as folder:
        content = _read_key(fs, folder, name)
        if content is None:
            with hold(fs, folder, name, shared=False, sleep=sleep):
                content = _read_key(fs, folder, name)
                if content is None:
                    content = make_key(seed)
                    create(fs, folder, name, content, PRIVATE)
    return load_key(content, source=path)


def _read_key(fs: Files, folder: Folder, name: str) -> bytes | None:
    try:
        fd = open_own(fs, folder, name, Access.READ)
    except FileNotFoundError:
        return None
    try:
        mode = fs.stat(fd).mode
        if mode & _OTHERS:
            raise UnsafeFile(folder.of(name), f"is open to others (mode {mode:04o}); a private key has mode 0600")
        return read_all(fs, fd, end=_MAX_KEY)
    finally:
        fs.close(fd)


def sign_with(
    signer: Callable[[], Signer] | None, genesis: Genesis, *, channel: str
) -> Callable[[bytes], str] | None:
    """Return how the channel's entries are signed; `None`: they are not.

    Raises:
        RecordError: the channel is signed, and not by a key that we have.
    """
    if not genesis.keys:
        return None
    key = signer() if signer else None
    if key is None or key.public not in genesis.keys:
        ours = "there is none here" if key is None else f"ours is {key.public!r}"
        raise RecordError(
            f"channel {channel!r} is signed by the {len(genesis.keys)} keys that its genesis names; {ours}",
            hint="write from the machine that began it",
        )
    return key.sign
