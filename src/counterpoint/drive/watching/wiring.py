"""Wiring the seats of a channel to commands: what `setup` asks for, checks and writes (SPEC C-110 to C-112).

Everything is checked before anything is written: the settings are read by the watcher's own reader first.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from counterpoint.drive.watching.config import DEFAULT_S, bind, parse_config
from counterpoint.drive.watching.prompts import prompt_for, protocol_page
from counterpoint.errors import ConfigError
from counterpoint.protocols.mailbox import Parties
from counterpoint.record.bell import read_object
from counterpoint.record.fs import SHARED, RealFiles
from counterpoint.record.safe import open_folder, replace, typed

__all__ = ["Remembered", "Wiring", "config_path", "defaults_path", "remembered", "state_path", "write"]

DEFAULTS_VARIABLE: Final = "DEBATE_SETUP_DEFAULTS"
_SECRET: Final = re.compile(
    r"api[-_]?key|token(?!s)|secret|bearer|passw(?:or)?d|credential|\bsk-[a-z0-9_-]{16}|\bgh[pousr]_[a-z0-9]{16}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The answers of the last `setup` on this machine: offered, never taken for granted."""

    channel: str = "?"
    commands: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    debounce_s: Mapping[str, int] = field(default_factory=dict)
    retry_s: int = DEFAULT_S
    timeout_s: int = DEFAULT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """All that is to be written."""

    root: str
    """The channel's folder, absolute."""
    channel: str
    parties: Parties
    managed: bool
    commands: Mapping[str, tuple[str, ...] | None]
    """`None`: a person speaks for that party."""
    config_path: str
    state_path: str
    debounce_s: Mapping[str, int] = field(default_factory=dict)
    retry_s: int = DEFAULT_S
    timeout_s: int = DEFAULT_S
    overwrite: bool = False

    @property
    def called(self) -> Mapping[str, tuple[str, ...]]:
        """The parties that a command speaks for."""
        return {party: argv for party, argv in self.commands.items() if argv}

    @property
    def settings(self) -> bytes:
        """The watcher's settings, as they will stand in the file."""
        fields = {
            "state_path": self.state_path,
            "commands": {party: list(argv) for party, argv in self.called.items()},
            "prompts": {party: prompt_for(party) for party in self.called},
            "debounce_seconds": {party: self.debounce_s.get(party, 0) for party in self.called},
            "retry_seconds": self.retry_s,
            "timeout_seconds": self.timeout_s,
        }
        return json.dumps(fields, indent=2).encode()


def config_path(root: str, channel: str, project: str | None) -> str:
    """Return where the watcher's settings lie: at the top of the project, or above the channel's folder."""
    return str((Path(project) if project else Path(root).resolve().parent) / f"{channel}.watcher.json")


def state_path(channel: str) -> str:
    """Return where the watcher's memory lies; the public tool's own place, so that both cannot drive one channel."""
    return str(Path("~/.local/state/debate").expanduser() / f"{channel}.json")


def defaults_path(environment: Mapping[str, str]) -> str:
    """Return where the last answers are remembered."""
    return str(Path(environment.get(DEFAULTS_VARIABLE) or "~/.config/debate/setup-defaults.json").expanduser())


def remembered(path: str) -> Remembered:
    """Return the last answers; what cannot be read counts as never answered."""
    try:
        found = read_object(Path(path).read_bytes()) or {}
    except OSError:
        return Remembered()
    commands = _section(found, "commands")
    return Remembered(
        channel=str(found.get("channel", "?")),
        commands={party: _argv(argv) for party, argv in commands.items() if argv is None or _argv(argv)},
        debounce_s={party: each for party, each in _section(found, "debounce_seconds").items() if _is_whole(each)},
        retry_s=_seconds(found, "retry_seconds"),
        timeout_s=_seconds(found, "timeout_seconds") or DEFAULT_S,
    )


def _section(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = found.get(key)
    return value if isinstance(value, dict) else {}


def _argv(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return tuple(value)
    return None


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _seconds(found: Mapping[str, Any], key: str) -> int:
    value = found.get(key)
    return value if isinstance(value, int) and _is_whole(value) else DEFAULT_S


def write(wiring: Wiring, environment: Mapping[str, str]) -> Sequence[str]:
    """Check everything, then write settings, contract and remembered answers; return their paths.

    Raises:
        ConfigError: something cannot be used; nothing was written.
        RecordError: a file cannot be written.
    """
    _check_commands(wiring)
    _check_places(wiring)
    _check_by_reading(wiring)
    Path(wiring.state_path).parent.mkdir(parents=True, exist_ok=True)
    written = [_put(wiring.config_path, wiring.settings)]
    contract = f"{wiring.root}/PROTOCOL.md"
    if not os.path.lexists(contract):
        written.append(_put(contract, protocol_page(wiring.parties.thread_cap).encode()))
    return [*written, _put(defaults_path(environment), _answers(wiring))]


def _check_commands(wiring: Wiring) -> None:
    parties = wiring.parties.parties
    for party, argv in wiring.commands.items():
        if party not in parties:
            known = ", ".join(parties)
            raise _unfit(party, f"refused: {party!r} is not a party of channel {wiring.channel!r} (parties: {known})")
        if argv is None:
            continue
        if not argv:
            raise _unfit(party, f"refused: empty command for {party!r}")
        if any(_SECRET.search(part) for part in argv):
            raise _unfit(
                party,
                f"refused: the command for {party!r} looks like it carries a credential; keys never reach the config",
                hint="have a program of your own read the key and start the agent",
            )
        _check_program(party, argv[0])


def _check_program(party: str, program: str) -> None:
    if shutil.which(program) is None:
        raise _unfit(
            party,
            f"refused: {party!r} command {program!r} is neither on PATH nor an existing executable file",
            hint="install it, or give its full path",
        )


def _check_places(wiring: Wiring) -> None:
    if os.path.lexists(wiring.config_path) and not wiring.overwrite:
        raise _unfit(
            "config",
            f"refused: {wiring.config_path} exists; re-run confirming the overwrite (or pass --yes)",
            hint="look at it first",
        )
    folder = Path(wiring.state_path).parent
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        blocker = "not writable" if there.is_dir() else "not a directory"
        raise _unfit("state_path", f"refused: state directory {folder} is not creatable ({there} is {blocker})")


def _check_by_reading(wiring: Wiring) -> None:
    """Have the watcher's own reader look at the settings.

    Raises:
        ConfigError: it refuses them.
    """
    file = parse_config(wiring.settings, source=wiring.config_path)
    bound = bind(file, root=wiring.root, channel=wiring.channel, parties=wiring.parties, managed=wiring.managed)
    if bound.problem:
        raise _unfit(
            "commands",
            f"refused: this configuration would be INVALID to the watcher -- {bound.problem}. Managed channels need "
            "a watcher command for every party; the human-driven seat is the legacy/unmanaged pattern.",
            hint="give every party a command",
        )


def _unfit(key: str, sentence: str, *, hint: str = "") -> ConfigError:
    return ConfigError(key, "", sentence=sentence, hint=hint or "run `setup` again with other answers")


def _answers(wiring: Wiring) -> bytes:
    commands = {party: None if argv is None else list(argv) for party, argv in wiring.commands.items()}
    fields = {
        "channel": wiring.channel,
        "commands": commands,
        "debounce_seconds": dict(wiring.debounce_s),
        "retry_seconds": wiring.retry_s,
        "timeout_seconds": wiring.timeout_s,
    }
    return json.dumps(fields, indent=2).encode()


def _put(path: str, content: bytes) -> str:
    """Have `content` on disk at `path`, whole or not at all; return the path."""
    folder, name = os.path.split(path)
    fs = RealFiles()
    with typed(f"refused: {path} cannot be written"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        with open_folder(fs, folder) as opened:
            replace(fs, opened, name, content, SHARED)
            fs.sync(opened)
    return path
