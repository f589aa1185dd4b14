"""Write one more agent into the person's own settings.

- The file is added to at its end; what stands in it stays as it is, comments and order too.
- An agent of that name is never written over.
- What the file would be is read strictly, and the agent is built, before anything is put in its place.
- It is put there at once: a crash leaves the old file or the new one. Where the file is a link, what it points to is
  replaced, and the link stays.
"""

import fcntl
import json
import os
import secrets
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterpoint.drive.config import MAX_BYTES, load_own, read_document
from counterpoint.drive.keys import read_agents
from counterpoint.drive.paths import Folders, make_private, path_text, read_plain
from counterpoint.drive.registry import Registry
from counterpoint.drive.settings import BUILT_IN, AgentKind, AgentSettings, Home, Origin, Settings, Source
from counterpoint.drive.shapes import Place
from counterpoint.errors import ConfigError
from counterpoint.frozen import dataclass

__all__ = ["Added", "add_agent", "add_line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What was written."""

    path: Path
    text: str
    """The table, as it stands in the file."""


def add_agent(name: str, table: Mapping[str, object], *, folders: Folders, environment: Mapping[str, str]) -> Added:
    """Add `[agents.<name>]` to the person's settings.

    Args:
        name: the agent's.
        table: its keys, with values as TOML has them.
        folders: where the person's settings lie.
        environment: the process's variables, where its program is looked for.

    Raises:
        ConfigError: there is such an agent already, it cannot be built, or the file cannot be read or written.
    """
    path = folders.settings_file
    source = Source(origin=Origin.PERSON, name=path_text(path))
    agent = read_agents({name: table}, Place(path="agents", source=source))[name]
    with _alone(folders.config):
        before = _content(path)
        document: Mapping[str, Any] = read_document(before, source)
        _demand_new(name, document, source)
        _demand_built(name, agent, folders, environment)
        newline = "\r\n" if b"\r\n" in before else "\n"
        text = newline.join([f"[agents.{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items()), ""])
        after = before + (_gap(before, newline) + text).encode()
        wanted = {**document, "agents": {**document.get("agents", {}), name: dict(table)}}
        result = read_document(after, source)
        assert result == wanted, "the file says what it said, and the new table"
        _put(path, before, after)
    return Added(path=path, text=text.replace("\r\n", "\n"))


def add_line(name: str, table: Mapping[str, object]) -> str:
    """Return the command line that adds this agent.

    Of its keys it names those that `counterpoint agents add` does not fill in by itself.
    """
    words = ["counterpoint", "agents", "add", name]
    for key, value in table.items():
        is_filled_in = (key == "kind" and value == name) or (key == "home" and value == Home.USER)
        for each in () if is_filled_in else value if isinstance(value, list) else (value,):
            words += [f"--{key.replace('_', '-')}", str(each)]
    return shlex.join(words)


def _demand_new(name: str, document: Mapping[str, Any], source: Source) -> None:
    hint = f"take another name, or change [agents.{name}] in {source.name} by hand"
    if name in document.get("agents", {}):
        raise ConfigError(f"agents.{name}", "a name that no agent has yet", source=source.name, hint=hint)
    if name in BUILT_IN and name != AgentKind.LOCAL:  # the one of them that has settings
        raise ConfigError(f"agents.{name}", "another name; this agent is built in", hint="take another name")


def _demand_built(name: str, agent: AgentSettings, folders: Folders, environment: Mapping[str, str]) -> None:
    """Build the agent as a case would: its program is there, its model and effort are known."""
    own = load_own(flags={}, environment=environment, settings_file=folders.settings_file)
    settings = _with(own, name, agent, path_text(folders.settings_file))
    registry = Registry(
        settings,
        read_at_base=lambda _: None,
        environment=environment,
        resume="",
        drafts=folders.state / "agents" / "drafts",
    )
    try:
        registry.agent(name)
    except ConfigError as error:
        raise ConfigError(error.path, "", sentence=str(error), hint=f"nothing was written; {error.hint}") from None


def _with(settings: Settings, name: str, agent: AgentSettings, source: str) -> Settings:
    sources = {**settings.sources, f"agents.{name}": Source(origin=Origin.PERSON, name=source)}
    return replace(settings, agents={**settings.agents, name: agent}, sources=sources)


def _gap(before: bytes, newline: str) -> str:
    if not before:
        return ""
    return newline if before.endswith(b"\n") else newline * 2


def _toml(value: object) -> str:
    match value:
        case int():
            return str(value)
        case str():
            # TOML's basic strings are JSON's, but for one character that JSON leaves as it is.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            raise AssertionError(f"no setting is {value!r}")


def _content(path: Path) -> bytes:
    found = read_plain(path, max_bytes=MAX_BYTES, follow=True)
    return b"" if found is None else found[0]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep every other process that adds an agent waiting meanwhile."""
    make_private(folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _put(path: Path, before: bytes, after: bytes) -> None:
    place = Path(os.path.realpath(path))
    half = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        mode = place.stat().st_mode & 0o777 if place.exists() else 0o600
        with os.fdopen(os.open(half, flags, 0o600), "wb") as file:
            file.write(after)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        if _content(path) != before:
            hint = "close the editor that holds it, then run the command again"
            raise ConfigError(path_text(path), "a file that nobody changes meanwhile", hint=hint)
        half.rename(place)
        _sync(place.parent)
    except OSError as error:
        hint = "look at that folder and its permissions"
        got = error.strerror or str(error)
        raise ConfigError(path_text(place), "a file that can be written", got=got, hint=hint) from None
    finally:
        with suppress(OSError):
            half.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
