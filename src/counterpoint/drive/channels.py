"""Which shared channel a command is about, and the store that keeps it (SPEC C-001 to C-003, C-052).

    channel = find_channel(root, asked)          # "" is the one of the public tool's first layout
    store = open_channels(root, os.environ)
    parties = parties_of(store, channel)

Paths are those that the public tool shows: `shown_path`. What it says of a wrong choice is said in its words.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from counterpoint.drive.homes import heads_folder
from counterpoint.errors import ConfigError, RecordError
from counterpoint.protocols.mailbox import Parties, read_parties
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.heads import Heads
from counterpoint.record.names import SETTINGS, settings_file
from counterpoint.record.safe import typed

if TYPE_CHECKING:
    from counterpoint.record.signing import Signer

__all__ = [
    "KEY_VARIABLE",
    "FileStore",
    "beside",
    "find_channel",
    "free_name",
    "machine_signer",
    "open_channels",
    "parties_of",
    "shown_path",
]

KEY_VARIABLE: Final = "COUNTERPOINT_CHANNEL_SIGN_KEY"
"""Names the key of a party that has one in a channel; read by `signers`, imported where it is set."""
_TRIES: Final = 100
_DIGITS: Final = 100_000


def shown_path(path: str) -> str:
    """Return a path in the form that the public tool shows: no doubled, trailing or empty part."""
    kept = "/".join(part for part in path.split("/") if part not in {"", "."})
    return f"/{kept}" if path.startswith("/") else kept or "."


def beside(root: str, name: str) -> str:
    """Return the path of a file in a folder, in the same form."""
    return name if root == "." else f"{root.rstrip('/')}/{name}"


def find_channel(root: str, asked: str | None) -> str:
    """Return the name of the channel that is meant; "" for one of the first layout, and where there is none.

    Args:
        root: the folder.
        asked: the name of a channel that has to be there; `None`: the one there is.

    Raises:
        RecordError: it is not there, or there are several.
    """
    files = _names(root)
    named = sorted(name.removesuffix(SETTINGS) for name in files if name.endswith(SETTINGS) and name != SETTINGS)
    if asked is not None:
        if asked in named:
            return asked
        known = ", ".join(named) or "none"
        raise RecordError(
            f"refused: no channel named {asked!r} in {root} (named channels here: {known})",
            hint="name a channel that is there",
        )
    found = [*([""] if settings_file("") in files else []), *named]
    if len(found) > 1:
        names = ", ".join(name or f"legacy ({settings_file('')})" for name in found)
        raise RecordError(
            f"refused: {root} holds more than one channel ({names}); pass --channel <id>", hint="name one"
        )
    return found[0] if found else ""


def _names(root: str) -> list[str]:
    with typed(f"refused: {root} cannot be read"):
        try:
            return os.listdir(root)  # noqa: PTH208 - cold start: pathlib costs as much as all of this
        except FileNotFoundError:
            return []


def free_name(root: str, label: str, draw: Callable[[int], int]) -> str:
    """Return `<label>-<five digits>`, such that nothing in the folder begins with it.

    Raises:
        ConfigError: a hundred draws found none.
    """
    taken = _names(root)
    for _ in range(_TRIES):
        name = f"{label}-{draw(_DIGITS):05d}"
        if not any(file.startswith(f"{name}.") for file in taken):
            return name
    sentence = f"refused: could not find a free channel id for label {label!r} in {root} after {_TRIES} tries"
    raise ConfigError("label", "", sentence=sentence, hint="choose another label")


def open_channels(
    root: str, environment: Mapping[str, str], *, signer: "Callable[[], Signer] | None" = None
) -> FileStore:
    """Return the store of the shared channels in a folder, which signs with this machine's key by default."""
    heads = Heads(RealFiles(), lambda: heads_folder(environment))
    return FileStore(root, Layout.SHARED, signer=signer or (lambda: machine_signer(environment)), heads=heads)


def machine_signer(environment: Mapping[str, str]) -> "Signer":
    """Return this machine's key, made where there is none."""
    # As above, and only who writes signs.
    from counterpoint.drive.paths import find_folders  # noqa: PLC0415

    # As above.
    from counterpoint.drive.store import machine_key  # noqa: PLC0415

    return machine_key(find_folders(environment))


def parties_of(store: FileStore, channel: str) -> Parties:
    """Return who speaks in a channel.

    Raises:
        ConfigError: its settings cannot be used.
        RecordError: they cannot be read.
    """
    return read_parties(store.settings(channel), source=beside(store.root, settings_file(channel)))
