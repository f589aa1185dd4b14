"""A watcher for a channel and a settings file, checked in the order of the public tool (SPEC C-047 to C-049)."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from counterpoint.drive.channels import FileStore, beside, find_channel, open_channels
from counterpoint.drive.watching.config import WatcherConfig, bind, read_config
from counterpoint.drive.watching.tick import Watcher
from counterpoint.protocols.mailbox import Parties, read_parties
from counterpoint.record.fs import RealFiles
from counterpoint.record.names import settings_file

if TYPE_CHECKING:
    from counterpoint.drive.watching.hands import Hands

__all__ = ["open_config", "open_watcher", "parties_and_care"]


def open_watcher(
    root: str,
    asked: str | None,
    config_path: str,
    environment: Mapping[str, str],
    *,
    now: Callable[[], datetime],
    emit: Callable[[str], None],
) -> Watcher:
    """Return a watcher of the channel that is meant.

    Args:
        root: the folder of the channel.
        asked: its name; `None`: the one there is.
        config_path: of its settings.
        environment: where this machine's memory is named.
        now: tells the time.
        emit: is told every line.

    Raises:
        ConfigError: the settings or those of the channel cannot be used.
        RecordError: there is no such channel, or it cannot be read.
    """
    config, parties = open_config(root, asked, config_path, environment)
    return Watcher(
        config=config,
        fs=RealFiles(),
        hands=partial(_hands, root, config.channel, parties, environment),
        now=now,
        emit=emit,
    )


def open_config(
    root: str, asked: str | None, config_path: str, environment: Mapping[str, str]
) -> tuple[WatcherConfig, Parties]:
    """Return a watcher's settings, bound to its channel, and who speaks there.

    Raises:
        ConfigError: the settings or those of the channel cannot be used.
        RecordError: there is no such channel, or it cannot be read.
    """
    channel = find_channel(root, asked)
    file = read_config(config_path)
    parties, managed = parties_and_care(open_channels(root, environment), channel)
    return bind(file, root=root, channel=channel, parties=parties, managed=managed), parties


def parties_and_care(store: FileStore, channel: str) -> tuple[Parties, bool]:
    """Return who speaks in a channel, and whether every turn in it is a watcher's to bring about.

    Raises:
        ConfigError: its settings cannot be used.
        RecordError: they cannot be read.
    """
    settings = store.settings(channel)
    parties = read_parties(settings, source=beside(store.root, settings_file(channel)))
    return parties, settings.get("managed_version") is not None


def _hands(root: str, channel: str, parties: Parties, environment: Mapping[str, str]) -> "Hands":
    # Cold start: a tick in which nothing moved neither reads an entry nor starts a program.
    from counterpoint.drive.watching.hands import Hands  # noqa: PLC0415

    return Hands(open_channels(root, environment), channel, parties)
