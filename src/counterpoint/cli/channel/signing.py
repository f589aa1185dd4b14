"""The key that a post is signed with, and its passphrase, asked for at the terminal."""

import getpass
import os
from collections.abc import Mapping
from typing import Any

from counterpoint.drive.channels import FileStore
from counterpoint.drive.signers import Wanted, signing_store
from counterpoint.errors import NoKey

__all__ = ["own_store"]


def own_store(root: str, channel: str, given: Mapping[str, Any]) -> FileStore:
    """Return the store that signs with the key that the options of `post`, or else the environment, name.

    Raises:
        Refused: SIGN-1: the key is not one that signs for the party here.
        RecordError: it cannot be had.
    """
    wanted = Wanted(file=given["sign-key"] or "", agent=given["sign-agent"])
    return signing_store(root, channel, os.environ, sender=given["from"], wanted=wanted, ask=_ask)


def _ask(path: str) -> str:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        # Without one, `getpass` would read the passphrase from standard input, and show it.
        raise NoKey(
            f"refused: the key {path} has a passphrase, and there is no terminal to ask at",
            hint="add it to an SSH agent with `ssh-add`, and use --sign-agent",
        ) from None
    return getpass.getpass(f"Passphrase of {path}: ")
