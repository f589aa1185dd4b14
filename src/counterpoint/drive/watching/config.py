"""What a watcher is told: `<id>.watcher.json`, read strictly and refused by name (SPEC C-060 to C-062, C-068).

    {"state_path": "~/.local/state/debate/shop-04711.json",
     "commands": {"claude": ["claude", "-p", "{prompt}"], "codex": ["codex", "exec", "{prompt}"]},
     "prompts": {"claude": "It is your turn …", "codex": "It is your turn …"}}

Keys that the public tool's own controller reads are left alone, as the tool leaves them.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from counterpoint.errors import ConfigError
from counterpoint.protocols.mailbox import Parties
from counterpoint.record.fs import RealFiles
from counterpoint.record.safe import read_all

__all__ = ["WatcherConfig", "WatcherFile", "bind", "parse_config", "read_config"]

MAX_CONFIG: Final = 1 << 20
DEFAULT_S: Final = 1800
_MAX_S: Final = 10**9
_SECONDS: Final = re.compile(r"[0-9]{1,10}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatcherFile:
    """What the file says by itself."""

    source: str
    state_path: str
    commands: Mapping[str, tuple[str, ...]]
    prompts: Mapping[str, str]
    debounce_s: Mapping[str, int]
    retry_s: int
    timeout_s: int
    brokered: bool
    """It names seats of the public tool's controller, which we do not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatcherConfig:
    """A watcher's settings, bound to the channel that it watches."""

    root: str
    """The channel's folder, absolute and without links."""
    channel: str
    """Its name; empty in the public tool's first layout."""
    parties: tuple[str, str]
    managed: bool
    """Every turn is the watcher's to bring about; otherwise a party without a command speaks for itself."""
    brokered: bool
    """The public tool's controller speaks for the parties."""
    state_path: str
    commands: Mapping[str, tuple[str, ...]]
    prompts: Mapping[str, str]
    debounce_s: Mapping[str, int]
    retry_s: int = DEFAULT_S
    timeout_s: int = DEFAULT_S

    @property
    def name(self) -> str:
        """What units, locks and logs of this watcher are called: the name of its state, without the ending."""
        name = self.state_path.rpartition("/")[2]
        return name.rpartition(".")[0] or name

    @property
    def problem(self) -> str:
        """Why a managed channel cannot be watched with these settings; empty: it can."""
        if not self.managed:
            return ""
        if self.brokered:
            return "managed-version 2 requires two seat adapter profiles"
        missing = sorted(set(self.parties) - set(self.commands))
        if missing:
            return f"missing adapter command for managed parties: {', '.join(missing)}"
        extra = sorted(set(self.commands) - set(self.parties))
        if extra:
            return f"commands configured for non-party names: {', '.join(extra)}"
        return ""

    def command(self, party: str) -> tuple[str, ...]:
        """Return the program and arguments for a party, each placeholder filled in once and never read again."""
        prompt = self.prompts.get(party, "").replace("{channel_root}", self.root)
        prompt = prompt.replace("{channel_name}", self.channel)
        return tuple(part.replace("{prompt}", prompt) for part in self.commands[party])


def read_config(path: str) -> WatcherFile:
    """Return what the file at `path` says.

    Raises:
        ConfigError: it cannot be read, or says something else than it should.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            content = read_all(RealFiles(), descriptor, end=MAX_CONFIG + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        sentence = f"refused: cannot read watcher config {path}: {error}"
        raise _unfit(path, sentence, hint="run `counterpoint channel setup`") from None
    return parse_config(content, source=path)


def parse_config(content: bytes, *, source: str) -> WatcherFile:
    """Return what `content` says.

    Raises:
        ConfigError: it says something else than it should.
    """
    reader = _Reader(_parse(content, f"refused: watcher config {source}"), source)
    return WatcherFile(
        source=source,
        state_path=reader.state_path(),
        commands=reader.commands(),
        prompts=reader.prompts(),
        debounce_s=reader.debounce(),
        retry_s=reader.seconds("retry_seconds", reader.found.get("retry_seconds", DEFAULT_S), least=0),
        timeout_s=reader.seconds("timeout_seconds", reader.found.get("timeout_seconds", DEFAULT_S), least=1),
        brokered=bool(reader.section("adapters")),
    )


def _parse(content: bytes, who: str) -> Mapping[str, Any]:
    try:
        found = json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise _unfit("", f"{who} is not valid UTF-8: {error}") from None
    except (ValueError, RecursionError) as error:
        raise _unfit("", f"{who} is not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise _unfit("", f"{who} must be a JSON object, got {type(found).__name__}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key stands twice in one object, among {', '.join(sorted(found))}")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _unfit(key: str, sentence: str, *, hint: str = "") -> ConfigError:
    return ConfigError(key, "", sentence=sentence, hint=hint or "correct the file; `setup` writes a whole one")


@dataclass(frozen=True, slots=True)
class _Reader:
    found: Mapping[str, Any]
    source: str

    def unfit(self, key: str, what: str) -> ConfigError:
        return _unfit(key, f"refused: {self.source}: {what}")

    def state_path(self) -> str:
        if "state_path" not in self.found:
            raise _unfit("state_path", f"refused: watcher config {self.source} has no 'state_path'")
        value = self.found["state_path"]
        if not isinstance(value, str) or not value or "\0" in value:
            raise self.unfit("state_path", f"'state_path' must be the path of a file, got {value!r}")
        home = os.environ.get("HOME", "")
        return f"{home}{value[1:]}" if home and value.startswith("~/") else value

    def section(self, key: str) -> Mapping[str, Any]:
        value = self.found.get(key, {})
        if not isinstance(value, dict):
            kind = type(value).__name__
            raise self.unfit(key, f"{key!r} must be an object mapping party -> value, got {kind}")
        return value

    def commands(self) -> Mapping[str, tuple[str, ...]]:
        return {party: self._command(party, argv) for party, argv in self.section("commands").items()}

    def _command(self, party: str, argv: object) -> tuple[str, ...]:
        key = f"commands.{party}"
        if not isinstance(argv, list):
            example = '["/path/to/agent", "{prompt}"]'
            kind = type(argv).__name__
            raise self.unfit(key, f"command for {party!r} must be a list of arguments (e.g. {example}), got {kind}")
        if not argv:
            what = "omit the party instead of configuring one that can never be invoked"
            raise self.unfit(key, f"command for {party!r} is empty; {what}")
        if not all(isinstance(part, str) and "\0" not in part for part in argv):
            raise _unfit(key, f"refused: command for {party!r} has non-string elements: {argv!r}")
        return tuple(argv)

    def prompts(self) -> Mapping[str, str]:
        section = self.section("prompts")
        for party, prompt in section.items():
            if not isinstance(prompt, str) or "\0" in prompt:
                raise self.unfit(f"prompts.{party}", f"prompt for {party!r} must be text, got {prompt!r}")
        return section

    def debounce(self) -> Mapping[str, int]:
        return {
            party: self.seconds(party, value, least=0) for party, value in self.section("debounce_seconds").items()
        }

    def seconds(self, key: str, value: object, *, least: int) -> int:
        match value:
            case bool() | None | list() | dict():
                raise self.unfit(key, f"{key!r} must be a number, got {value!r}")
            case int() | float() if value == int(value):
                number = int(value)
            case str() if _SECONDS.fullmatch(value.strip()):
                number = int(value)
            case _:
                number = -1
        if not least <= number <= _MAX_S:
            least_said = f", at least {least}" if number >= 0 else ""
            raise self.unfit(key, f"{key!r} must be a whole number of seconds{least_said}, got {value!r}")
        return number


def bind(file: WatcherFile, *, root: str, channel: str, parties: Parties, managed: bool) -> WatcherConfig:
    """Return the settings of a watcher for this channel.

    Args:
        file: what the file says.
        root: the channel's folder.
        channel: its name; empty in the public tool's first layout.
        parties: who speaks in it.
        managed: whether its settings carry a `managed_version`.

    Raises:
        ConfigError: the watcher's memory would lie inside the channel's folder, or somebody else drives the channel.
    """
    shown, root, state = root, os.path.realpath(root), os.path.realpath(file.state_path)
    if os.path.commonpath([root, state]) == root:
        sentence = (
            f"refused: state_path {file.state_path} resolves inside the channel root {shown}; "
            "the watcher's memory must live outside the shared folder"
        )
        raise _unfit("state_path", sentence, hint="name a file in your own state folder")
    if file.brokered:
        sentence = (
            f"refused: {file.source} names seats of the public tool's controller, which Counterpoint does not run"
        )
        raise _unfit("adapters", sentence, hint="let the public tool's own watcher drive this channel")
    return WatcherConfig(
        root=root,
        channel=channel,
        parties=parties.parties,
        managed=managed,
        brokered=parties.brokered,
        state_path=file.state_path,
        commands=file.commands,
        prompts=file.prompts,
        debounce_s=file.debounce_s,
        retry_s=file.retry_s,
        timeout_s=file.timeout_s,
    )
