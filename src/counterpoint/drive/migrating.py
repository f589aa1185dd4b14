"""Giving a channel of the public tool's first layout a name (SPEC C-046)."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from counterpoint.drive.beginning import label_of, project_of
from counterpoint.drive.channels import beside, free_name, open_channels
from counterpoint.errors import RecordError
from counterpoint.protocols.mailbox import Parties, read_parties
from counterpoint.protocols.mailbox.parties import SLUG
from counterpoint.record.names import settings_file

__all__ = ["Migrated", "migrate"]


class Migrated(NamedTuple):
    name: str
    parties: Parties
    has_own_cap: bool
    """The settings state the cap."""
    is_resumed: bool
    """An earlier migration was cut short, and is finished now."""


def migrate(root: str, environment: Mapping[str, str], *, label: str | None, draw: Callable[[int], int]) -> Migrated:
    """Rename a channel of the first layout, or go on where that was cut short.

    Raises:
        LockBusy: another writer held the channel for too long.
        ConfigError: the label or the settings cannot be used.
        RecordError: there is no such channel, or the disk failed.
    """
    store = open_channels(root, environment)
    file = settings_file("")
    if not store.has_settings(""):
        raise RecordError(
            f"refused: no legacy channel at {root} (nothing named {file}); named channels never need migrating",
            hint="name the folder of a channel that is not named yet",
        )
    with store.migrating() as renaming:
        settings = dict(renaming.settings)
        recorded = settings.get("name")
        if isinstance(recorded, str) and SLUG.fullmatch(recorded):
            name, is_resumed = recorded, True
        else:
            name, is_resumed = free_name(root, label_of(root, label), draw), False
            settings["name"] = name
            settings.setdefault("project", project_of(root))
        parties = read_parties(settings, source=beside(root, file))
        renaming.rename(name, settings, is_resumed=is_resumed)
    return Migrated(name, parties, "thread_cap" in settings, is_resumed)
