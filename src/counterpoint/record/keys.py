"""Whose key signs: a party's own where the genesis names one, else the one of this machine (DESIGN section 5).

This machine's key is made without asking where there is none.
"""

import stat
from collections.abc import Callable
from typing import Final

from counterpoint.errors import RecordError, Refused, UnsafeFile
from counterpoint.record.fs import PRIVATE, Access, Files, Folder
from counterpoint.record.locks import hold
from counterpoint.record.safe import create, open_folder, open_own, read_all, typed
from counterpoint.record.signing import Signer, fingerprint, load_key, make_key
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
    signer: Callable[[], Signer] | None, genesis: Genesis, *, channel: str, sender: str
) -> Callable[[bytes], str] | None:
    """Return how an entry of `sender` is signed; `None`: it is not. "" signs as the channel does.

    Raises:
        Refused: SIGN-1: it takes a key of the sender's own, and that is not the one we have.
        RecordError: the channel is signed, and not by a key that we have.
    """
    keys = genesis.keys_of(sender)
    if not keys:
        return None
    key = signer() if signer else None
    if key is not None and key.public in keys:
        return key.sign
    if keys != genesis.keys:
        known = " or ".join(map(fingerprint, keys))
        ours = "there is no key here" if key is None else f"this one would be signed with {fingerprint(key.public)}"
        raise Refused(
            "SIGN-1",
            f"what {sender} says in this channel is signed with the key {known}; {ours}",
            seat=sender,
            hint="add `--sign-key FILE` with that key, or `--sign-agent` where an SSH agent holds it",
        )
    ours = "there is none here" if key is None else f"ours is {key.public!r}"
    raise RecordError(
        f"channel {channel!r} is signed by the {len(keys)} keys that its genesis names; {ours}",
        hint="write from the machine that began it",
    )
