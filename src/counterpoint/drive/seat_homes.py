"""The homes of a case's seats: where coding agents keep their sessions while the case is open, and no longer.

They lie below the state folder and not in the repository, where an author that may write the work tree reaches them.
"""

from collections.abc import Mapping
from pathlib import Path

from counterpoint.drive.homes import state_folder
from counterpoint.isolation.removal import remove

__all__ = ["homes_of", "remove_homes"]


def homes_of(environment: Mapping[str, str], case: str) -> Path:
    """Return the folder of a case's homes; each seat's lies below it under the seat's name.

    Raises:
        ConfigError: none of the variables leads to a state folder.
    """
    return Path(state_folder(environment), "homes", case)


def remove_homes(environment: Mapping[str, str], case: str) -> None:
    """Remove the homes of a case that is closed, with every session in them.

    Raises:
        ConfigError: as `homes_of`.
        SourceError: something in them cannot be removed.
    """
    folder = homes_of(environment, case)
    if folder.parent.is_dir():
        remove(folder)
