"""The pair of model and effort that `propose` gives both seats, and where it comes from (SPEC A-03, A-04, A-52).

A source brings its pair whole or not at all; no half is filled from another one. In this order:

1. `--session-config FILE`: JSON with exactly `model` and `reasoning_effort`, whose caller says what it likes.
2. `--model` with `--reasoning-effort`.
3. `--config FILE`, a saved profile that is named.
4. `DEBATE_MODEL` with `DEBATE_REASONING_EFFORT`.
5. The saved profile, which `counterpoint propose setup` writes. It never holds a key.
"""

import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.capabilities import find, known_models
from counterpoint.core.canonical import NotCanonical, parse_json
from counterpoint.drive.paths import make_private, path_text, read_plain
from counterpoint.errors import ConfigError

__all__ = ["PROVIDERS", "Pair", "Wanted", "choose_pair", "profile_path", "save_profile"]

PROVIDERS: Final[Mapping[str, str]] = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "openai-compatible": "chat",
}
"""Presets, and the kind of agent that each is."""
_GENERIC: Final = "openai-compatible"
_PROVIDER_DEFAULT: Final = "provider_default"
_INHERITED: Final = frozenset({"auto", "inherit", "inherited", "current", "default"})
_MAX_SESSION: Final = 4 << 10
_MAX_PROFILE: Final = 16 << 10
_ENVIRONMENT: Final = ("DEBATE_MODEL", "DEBATE_REASONING_EFFORT")
_UNKNOWN: Final = (
    "name it with --provider openai-compatible and its --base-url, or set up an agent with `controls` and `efforts`"
    " and name that with --proposer and --critic"
)
_KEYS: Final = ("provider", "model", "reasoning_effort", "base_url", "api_key_env")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A model with its effort, and who offers it."""

    provider: str
    model: str
    reasoning_effort: str
    base_url: str = ""
    api_key_env: str = ""
    source: str = "explicit"

    def table(self) -> Mapping[str, object]:
        """Return it as the settings of an agent."""
        table: dict[str, object] = {
            "kind": PROVIDERS[self.provider],
            "model": self.model,
            "effort": self.reasoning_effort,
        }
        if self.base_url:
            table["base_url"] = self.base_url
        if self.api_key_env:
            table["key_variable"] = self.api_key_env
        if self.provider == _GENERIC:
            # Whoever names a server says by that what it takes: no table knows it.
            table["controls"] = ["schema", "max_tokens"]
            if self.reasoning_effort != _PROVIDER_DEFAULT:
                table["efforts"] = [self.reasoning_effort]
        return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a command line says of the pair."""

    provider: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    session_config: Path | None = None
    config: Path | None = None
    base_url: str | None = None
    api_key_env: str | None = None


def choose_pair(wanted: Wanted, *, environment: Mapping[str, str], default: Path | None) -> Pair | None:
    """Return the pair of the first source that has one, or None where none has.

    Args:
        wanted: what the command line says.
        environment: the process's variables.
        default: where the saved profile is, unless one is named; None: no profile is read.

    Raises:
        ConfigError: a source has half a pair, two of them disagree, or a value is not possible.
    """
    if wanted.session_config is not None:
        found = _of_session(wanted.session_config)
        _demand_agreement(wanted, found, "--session-config")
        return _checked(wanted, found, source="session_config")
    given = {"model": wanted.model, "reasoning_effort": wanted.reasoning_effort}
    if wanted.config is None and any(given.values()):
        return _checked(wanted, _whole(given, "--model and --reasoning-effort"), source="explicit")
    if wanted.config is not None:
        saved = _read_profile(wanted.config)
        if saved is None:
            raise ConfigError("--config", "a profile that is there", got=path_text(wanted.config))
        _demand_agreement(wanted, saved, "--config")
        return _checked(wanted, saved, source="saved_profile", file=wanted.config)
    named = {key: environment.get(variable) for key, variable in zip(given, _ENVIRONMENT, strict=True)}
    if any(named.values()):
        provider = {"provider": environment.get("DEBATE_PROVIDER", "")}
        return _checked(wanted, _whole(named, " and ".join(_ENVIRONMENT)) | provider, source="environment")
    saved = _read_profile(default) if default is not None else None
    if default is None or saved is None:
        return None
    _demand_agreement(wanted, saved, path_text(default))
    return _checked(wanted, saved, source="saved_profile", file=default)


def _whole(pair: Mapping[str, str | None], where: str) -> dict[str, str]:
    if missing := [key for key, value in pair.items() if not value]:
        hint = "give both, or neither; a pair is never completed from another source"
        raise ConfigError(where, "a model and its effort together", got=f"no {missing[0]}", hint=hint)
    return {key: value for key, value in pair.items() if value}


def _demand_agreement(wanted: Wanted, found: Mapping[str, str], where: str) -> None:
    for key in ("provider", "model", "reasoning_effort", "base_url", "api_key_env"):
        flag, value = getattr(wanted, key), found.get(key)
        if flag is not None and value and flag != value:
            option = f"--{key.replace('_', '-')}"
            raise ConfigError(option, f"{value!r}, as {where} has it", got=flag, hint=f"leave {option} out")


def _checked(wanted: Wanted, found: Mapping[str, str], *, source: str, file: Path | None = None) -> Pair:
    provider = found.get("provider") or wanted.provider or ""
    if provider not in PROVIDERS:
        hint = "name it with --provider"
        raise ConfigError("--provider", f"one of {', '.join(PROVIDERS)}", got=provider or "nothing", hint=hint)
    pair = Pair(
        provider=provider,
        model=found["model"],
        reasoning_effort=found["reasoning_effort"],
        base_url=found.get("base_url") or wanted.base_url or "",
        api_key_env=found.get("api_key_env") or wanted.api_key_env or "",
        source=source,
    )
    check_pair(pair, file=file)
    return pair


def check_pair(pair: Pair, *, file: Path | None = None) -> None:
    """Hold a pair to what A-03 and A-48 allow.

    Args:
        pair: as a source has it.
        file: the profile that it was read from.

    Raises:
        ConfigError: the model is not named or not known, or it does not take the effort.
    """
    for key in ("model", "reasoning_effort"):
        value = getattr(pair, key)
        if not value or any(character.isspace() for character in value):
            raise ConfigError(key, "a name without blanks", got=value)
    if pair.model.lower() in _INHERITED:
        raise ConfigError("model", "the name of one model; nothing is inherited from whoever calls", got=pair.model)
    if pair.reasoning_effort == _PROVIDER_DEFAULT and pair.provider != _GENERIC:
        raise ConfigError("reasoning_effort", f"an effort; {pair.provider} has efforts", got=pair.reasoning_effort)
    if pair.provider == _GENERIC and not pair.base_url:
        raise ConfigError("--base-url", "the address of the API", got="nothing", hint="name it with --base-url")
    if pair.provider != _GENERIC:
        _check_known(pair, file)


def _check_known(pair: Pair, file: Path | None) -> None:
    kind = PROVIDERS[pair.provider]
    found = find(kind, pair.model)
    where = path_text(file) if file is not None else ""
    if found is None:
        known = ", ".join(known_models(kind))
        expected = f"one whose controls are known ({known})"
        raise ConfigError("model", expected, got=pair.model, source=where, hint=_UNKNOWN)
    if pair.reasoning_effort not in found.efforts:
        expected = f"one of {', '.join(found.efforts)}, which {pair.model} takes"
        if not found.efforts:
            expected = f"a model that takes an effort; {pair.model} takes none"
        hint = "name another effort, or another model"
        if where:
            hint = f"mend {where}, or write it anew with `counterpoint propose setup --overwrite`"
        raise ConfigError("--reasoning-effort", expected, got=pair.reasoning_effort, source=where, hint=hint)


# --- files


def _object(path: Path, *, most: int, option: str) -> Mapping[str, str] | None:
    file = read_plain(path, max_bytes=most, follow=True)
    if file is None:
        return None
    content, _ = file
    try:
        found: Any = parse_json(content, max_bytes=most)
    except NotCanonical as error:
        raise ConfigError(option, f"one JSON object in {path_text(path)} ({error})") from None
    if not isinstance(found, dict) or any(not isinstance(value, str) for value in found.values()):
        raise ConfigError(option, f"one JSON object of texts in {path_text(path)}")
    return found


def _of_session(path: Path) -> Mapping[str, str]:
    found = _object(path, most=_MAX_SESSION, option="--session-config")
    if found is None:
        raise ConfigError("--session-config", "a file that is there", got=path_text(path))
    if found.keys() != {"model", "reasoning_effort"}:
        got = ", ".join(sorted(found)) or "nothing"
        raise ConfigError("--session-config", "exactly model and reasoning_effort", got=got)
    return found


def profile_path(environment: Mapping[str, str], config: Path) -> Path:
    """Return where the saved profile is: `DEBATE_CONFIG`, or among the person's settings."""
    named = environment.get("DEBATE_CONFIG")
    return Path(named) if named else config / "propose.json"


def _read_profile(path: Path) -> Mapping[str, str] | None:
    found = _object(path, most=_MAX_PROFILE, option=path_text(path))
    if found is None:
        return None
    if unknown := sorted(found.keys() - set(_KEYS)):
        raise ConfigError(
            path_text(path), f"no other keys than {', '.join(_KEYS)}; a key itself never", got=unknown[0]
        )
    if missing := [key for key in _KEYS[:3] if not found.get(key)]:
        raise ConfigError(path_text(path), "provider, model and reasoning_effort", got=f"no {missing[0]}")
    return found


def save_profile(path: Path, pair: Pair, *, overwrite: bool) -> bool:
    """Write a profile, and return whether anything changed: the same again is left as it is.

    Raises:
        ConfigError: there is another one and `overwrite` is not set, a link lies there, or it cannot be written.
    """
    check_pair(pair)
    shown = path_text(path)
    if path.is_symlink():
        raise ConfigError(shown, "a file of its own", got="a symbolic link", hint="remove the link")
    fields = {key: getattr(pair, key) for key in _KEYS if getattr(pair, key)}
    content = (json.dumps(fields, indent=2, sort_keys=True, ensure_ascii=True) + "\n").encode()
    before = read_plain(path, max_bytes=_MAX_PROFILE)
    if before is not None and before[0] == content:
        return False
    if before is not None and not overwrite:
        raise ConfigError(shown, "no other profile", got="one that differs", hint="replace it with --overwrite")
    _put(path, content)
    return True


def _put(path: Path, content: bytes) -> None:
    if not path.parent.is_dir():
        make_private(path.parent)
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as error:
        with suppress(OSError):
            half.unlink()
        hint = "name another with --config"
        raise ConfigError(path_text(path), "a file that can be written", got=error.strerror, hint=hint) from None
