"""Find the settings of a run: flags, environment, the person's file, the repository's file (DESIGN "Trust").

- The first of these that sets a key wins. An agent is one key: its table is taken whole.
- The repository's settings are the bytes at the merge base, which the caller reads from the object store. Never the
  working copy, never the change under review; a working copy that differs is named in a notice.
- Strict: a key that is not known, a value of another type or out of its range, a credential: `ConfigError`, naming
  the dotted key, what was expected and the source. Nothing is skipped over.
"""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.canonical import visible
from counterpoint.drive import shapes
from counterpoint.drive.keys import KEYS, SECTIONS, Key, read_agents
from counterpoint.drive.paths import path_text, read_plain
from counterpoint.drive.settings import (
    BUILT_IN,
    AgentSettings,
    AnswerSettings,
    BallotSettings,
    ChecksSettings,
    LimitSettings,
    Origin,
    ProposeSettings,
    ReviewSettings,
    ScriptedAgent,
    Settings,
    Source,
    how_to_add,
)
from counterpoint.drive.shapes import Place
from counterpoint.errors import ConfigError

__all__ = [
    "MAX_BYTES",
    "REPOSITORY_FILES",
    "Loaded",
    "RepositoryFiles",
    "check_seated",
    "load",
    "load_own",
    "read_document",
]

MAX_BYTES: Final = 256 << 10
MAX_DOTS: Final = 500
"""In one line. A key of 32,000 parts costs `tomllib` twenty seconds."""
MAX_NAMED: Final = 5
"""Keys that a notice names."""
OWN_FILE: Final = "counterpoint.toml"
SHARED_FILE: Final = "pyproject.toml"
REPOSITORY_FILES: Final = (OWN_FILE, SHARED_FILE)
"""What the caller looks up at the top of the repository, at the merge base and in the working copy."""


_OURS: Final = tuple(f"COUNTERPOINT_{section.upper()}_" for section in (*SECTIONS, "agents"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFiles:
    """The bytes of the repository's settings files, by name; a file that is not there has no key."""

    commit: str
    """Full id of the merge base."""
    at_base: Mapping[str, bytes]
    in_working_copy: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    settings: Settings
    notices: tuple[str, ...]
    """Lines for standard error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """What one source sets: values by dotted key, and agents by name."""

    values: Mapping[str, tuple[Any, Source]] = field(default_factory=dict)
    agents: Mapping[str, tuple[AgentSettings, Source]] = field(default_factory=dict)


def load(
    *,
    flags: Mapping[str, object],
    environment: Mapping[str, str],
    settings_file: Path | None,
    repository: RepositoryFiles | None,
    protocol: str = "review",
    defaults: Mapping[str, object] | None = None,
    proposed: Mapping[str, object] | None = None,
) -> Loaded:
    """Return the settings of a run and what to tell about them.

    Args:
        flags: values by dotted key (`limits.max_calls`); None and () mean that the flag was not given.
        environment: the process's variables.
        settings_file: the person's `config.toml`; it need not exist.
        repository: None outside a repository.
        protocol: of the case; whoever its settings seat has to be an agent. Empty: nobody is seated by them.
        defaults: values by dotted key that hold in it where no source sets them.
        proposed: tables of agents, by name, that hold as if they stood in the person's file, too.

    Raises:
        ConfigError: a source holds something else than settings, or a seat is no agent's.
    """
    own = _own_layers(flags, environment, settings_file)
    layers = [_default_layer(defaults or {}), *([_repository_layer(repository)] if repository else ())]
    layers += [_proposed_layer(proposed or {}, settings_file), *own]
    settings = _join(layers)
    if protocol:
        check_seated(settings, protocol)
    return Loaded(settings=settings, notices=tuple(_notices(repository)) if repository else ())


def load_own(*, flags: Mapping[str, object], environment: Mapping[str, str], settings_file: Path | None) -> Settings:
    """Return what is set outside the repository, to find the merge base by; its reviewers may be still unknown.

    Raises:
        ConfigError: as `load`.
    """
    return _join(_own_layers(flags, environment, settings_file))


def read_document(content: bytes, source: Source) -> Mapping[str, object]:
    """Return what a settings file says, as TOML has it, once all of it holds as settings.

    Raises:
        ConfigError: as `load`.
    """
    document = _toml(content, source)
    _document_layer(document, source)
    return document


def _own_layers(
    flags: Mapping[str, object], environment: Mapping[str, str], settings_file: Path | None
) -> list[_Layer]:
    person = _file_layer(settings_file) if settings_file else _Layer()
    return [person, _environment_layer(environment), _flag_layer(flags)]


def _join(layers: list[_Layer]) -> Settings:
    values: dict[str, tuple[Any, Source]] = {}
    agents: dict[str, tuple[AgentSettings, Source]] = {}
    for layer in layers:
        values |= layer.values
        agents |= layer.agents
    sources = {key: source for key, (_, source) in values.items()}
    sources |= {f"agents.{name}": source for name, (_, source) in agents.items()}

    def section(name: str) -> dict[str, Any]:
        return {key: values[found.path][0] for key, found in SECTIONS[name].items() if found.path in values}

    return Settings(
        review=ReviewSettings(**section("review")),
        answer=AnswerSettings(**section("answer")),
        propose=ProposeSettings(**section("propose")),
        ballot=BallotSettings(**section("ballot")),
        checks=ChecksSettings(**section("checks")),
        limits=LimitSettings(**section("limits")),
        agents=MappingProxyType({**BUILT_IN, **{name: agent for name, (agent, _) in agents.items()}}),
        sources=MappingProxyType(sources),
    )


def check_seated(settings: Settings, protocol: str) -> None:
    """Hold whoever the settings of a protocol seat to be an agent.

    Raises:
        ConfigError: one is none.
    """
    section = getattr(settings, protocol)
    named = [(section.author_key, getattr(section, section.author_key))] if section.author_key else []
    named += [(f"{section.judges_key}[{i}]", name) for i, name in enumerate(getattr(section, section.judges_key))]
    for key, name in named:
        if name and name not in settings.agents:
            path = f"{protocol}.{key}"
            place = Place(path=path, source=settings.source(path.partition("[")[0]))
            listing = ", ".join(sorted(settings.agents))
            near = shapes.did_you_mean(name, settings.agents)
            raise place.error(f"one of the agents {listing}", got=name, hint=near or how_to_add(name))


def _default_layer(defaults: Mapping[str, object]) -> _Layer:
    known, source = {key.path: key for key in KEYS}, Settings().source("")
    read = {path: known[path].read(value, Place(path=path, source=source)) for path, value in defaults.items()}
    return _Layer(values={path: (value, source) for path, value in read.items()})


def _proposed_layer(tables: Mapping[str, object], settings_file: Path | None) -> _Layer:
    source = Source(origin=Origin.PERSON, name=path_text(settings_file) if settings_file else "")
    return _document_layer({"agents": tables}, source)


def _flag_layer(flags: Mapping[str, object]) -> _Layer:
    known = {key.path: key for key in KEYS if key.flag}
    assert flags.keys() <= known.keys(), "a flag that no setting knows"
    given = {path: value for path, value in flags.items() if value is not None and value != ()}
    return _Layer(values={path: _value(known[path], value, Origin.FLAG) for path, value in given.items()})


def _environment_layer(environment: Mapping[str, str]) -> _Layer:
    known = {key.variable: key for key in KEYS if key.variable}
    values: dict[str, tuple[Any, Source]] = {}
    for variable in sorted(environment):
        if variable in known:
            key = known[variable]
            values[key.path] = _value(key, _untext(key, environment[variable]), Origin.ENVIRONMENT)
        elif variable.startswith(_OURS):
            raise _unknown_variable(variable, known)
    return _Layer(values=values)


def _unknown_variable(variable: str, known: Mapping[str, Key]) -> ConfigError:
    # Without the part that all of them share, or every name would be near to every other.
    common = "COUNTERPOINT_"
    near = shapes.nearest(variable.removeprefix(common), [name.removeprefix(common) for name in known])
    name = shapes.key_text(variable)
    hint = f"did you mean {common}{near}?" if near else f"unset {name}"
    return ConfigError(name, f"one of {', '.join(known)}", source="environment", hint=hint)


def _value(key: Key, value: object, origin: Origin) -> tuple[Any, Source]:
    source = Source(origin=origin, name=key.flag if origin is Origin.FLAG else key.variable)
    return key.read(value, Place(path=key.path, source=source)), source


def _untext(key: Key, value: str) -> object:
    if key.is_number:
        return int(value) if re.fullmatch(r"[0-9]{1,12}", value) else value
    return [item.strip() for item in value.split(",")] if key.is_list else value


def _file_layer(path: Path) -> _Layer:
    content = _read(path)
    if content is None:
        return _Layer()
    source = Source(origin=Origin.PERSON, name=path_text(path))
    layer = _document_layer(_toml(content, source), source)
    return replace(layer, agents={name: (_beside(path, agent), source) for name, (agent, _) in layer.agents.items()})


def _beside(path: Path, agent: AgentSettings) -> AgentSettings:
    return replace(agent, file=str(path.parent / agent.file)) if isinstance(agent, ScriptedAgent) else agent


def _read(path: Path) -> bytes | None:
    file = read_plain(path, max_bytes=MAX_BYTES, follow=True)
    if file is None:
        return None
    content, found = file
    if found.st_mode & stat.S_IWOTH or found.st_uid not in {0, os.geteuid()}:
        got = f"mode {stat.S_IMODE(found.st_mode):04o} of uid {found.st_uid}"
        shown = path_text(path)
        hint = f"run `chmod o-w {shown}` after looking through it"
        raise ConfigError(shown, "a file that no stranger can write to", got=got, hint=hint)
    return content


def _repository_layer(repository: RepositoryFiles) -> _Layer:
    found = list(_tables(repository.at_base, repository.commit))
    if len(found) > 1:
        both = " and ".join(source.name for _, source in found)
        hint = f"keep one of them: {OWN_FILE}, or [tool.counterpoint]"
        raise ConfigError("counterpoint", "settings in one file", got=both, hint=hint)
    return _document_layer(*found[0]) if found else _Layer()


def _tables(files: Mapping[str, bytes], commit: str) -> Iterator[tuple[Mapping[str, object], Source]]:
    """Yield the settings table of each file that has one."""
    at = f" at {commit[:12]}" if commit else ""
    if OWN_FILE in files:
        source = Source(origin=Origin.REPOSITORY, name=f"{OWN_FILE}{at}")
        yield _toml(files[OWN_FILE], source), source
    # A project file that never says the word holds no settings; that it may be broken is not our concern.
    if b"counterpoint" in files.get(SHARED_FILE, b""):
        source = Source(origin=Origin.REPOSITORY, name=f"[tool.counterpoint] of {SHARED_FILE}{at}")
        tool = _toml(files[SHARED_FILE], source).get("tool", {})
        if isinstance(tool, Mapping) and "counterpoint" in tool:
            table = tool["counterpoint"]
            if not isinstance(table, Mapping):
                raise Place(path="tool.counterpoint", source=source).error("a table", got=table)
            yield table, source


def _toml(content: bytes, source: Source) -> Mapping[str, object]:
    if len(content) > MAX_BYTES:
        raise Place(path="size", source=source).error(f"at most {MAX_BYTES} bytes of TOML")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _not_toml(line, f"byte {content[error.start]:#04x}, which is not UTF-8", source) from None
    for number, line_text in enumerate(text.split("\n"), 1):
        if line_text.count(".") > MAX_DOTS:
            raise _not_toml(number, f"more than {MAX_DOTS} dots", source)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Place(path="document", source=source).error("TOML that is not nested so deep") from None
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        at = re.search(r" \(at line ([0-9]+), column [0-9]+\)$", str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        why = str(error)[: at.start()] if at else str(error).removesuffix(" (at end of document)")
        raise _not_toml(line, why, source) from None


def _not_toml(line: int, why: str, source: Source) -> ConfigError:
    hint = f"mend line {line} of {source.name}"
    return ConfigError(f"line {line}", f"TOML ({visible(why[:200])})", source=source.name, hint=hint)


def _document_layer(document: Mapping[str, object], source: Source) -> _Layer:
    top = Place(path="", source=source)
    shapes.table(document, top, {*SECTIONS, "agents"})
    values: dict[str, tuple[Any, Source]] = {}
    for section, keys in SECTIONS.items():
        place = top.below(section)
        for name, value in shapes.table(document.get(section, {}), place, keys).items():
            values[f"{section}.{name}"] = keys[name].read(value, place.below(name)), source
    agents = read_agents(document.get("agents", {}), top.below("agents"))
    return _Layer(values=values, agents={name: (agent, source) for name, agent in agents.items()})


def _notices(repository: RepositoryFiles) -> Iterator[str]:
    """Name each settings file whose working copy says something else than the merge base."""
    base = f"the merge base {repository.commit[:12]}"
    for name in REPOSITORY_FILES:
        at_base, here = _leaves(repository.at_base, name), _leaves(repository.in_working_copy, name)
        if here is None:
            yield f"{name} in the working copy cannot be read as settings; what {base} says is used"
        elif at_base is not None and at_base != here:
            differing = sorted(key for key in at_base.keys() | here.keys() if at_base.get(key) != here.get(key))
            more = f" and {len(differing) - MAX_NAMED} more" if len(differing) > MAX_NAMED else ""
            where = ", ".join(differing[:MAX_NAMED]) + more
            yield f"{name} in the working copy differs from {base} in {where}; what {base} says is used"


def _leaves(files: Mapping[str, bytes], name: str) -> Mapping[str, object] | None:
    """Return what a settings file sets, by dotted key, or None where it cannot be read."""
    try:
        tables: list[tuple[str, object]] = [("", table) for table, _ in _tables({name: files[name]}, "")]
    except KeyError:
        return {}
    except ConfigError:
        return None
    found: dict[str, object] = {}
    while tables:
        path, value = tables.pop()
        if isinstance(value, Mapping):
            above = f"{path}." if path else ""
            tables += [(above + shapes.key_text(key), inner) for key, inner in value.items()]
        else:
            found[path] = value
    return found
