"""Who speaks in a shared channel, and the settings that bind them (SPEC C-004, C-006, C-007)."""

import re
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.errors import ConfigError
from counterpoint.frozen import dataclass

__all__ = ["BROKERED", "LETTERS", "MANAGED", "SLUG", "Parties", "make_parties", "read_parties"]

DEFAULT_CAP: Final = 12
MIN_CAP: Final = 2
MANAGED: Final = 1
BROKERED: Final = 2
"""The `managed_version` under which the public tool's controller speaks for the parties."""

MAX_DIGITS: Final = 4300
"""More Python does not read."""

VERSIONS: Final = (MANAGED, BROKERED)
LETTERS: Final = "lowercase alphanumerics and dashes"
SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parties:
    """Who speaks in a channel, and its settings that bind them."""

    parties: tuple[str, str]
    supervisor: str
    thread_cap: int = DEFAULT_CAP
    project: str | None = None
    """The repository whose commits refs may cite."""
    brokered: bool = False
    """The public tool's controller speaks for the parties."""

    def other(self, party: str) -> str:
        first, second = self.parties
        return second if party == first else first


def read_parties(settings: Mapping[str, Any], *, source: str = "the settings") -> Parties:
    """Return who speaks in the channel of these settings; what is unknown in them is left alone (SPEC C-007).

    Raises:
        ConfigError: a setting is missing or not what it should be.
    """
    for key in ("parties", "supervisor"):
        if key not in settings:
            raise _unfit(key, f"refused: channel config {source} is missing required key {key!r}")
    names, cap, project = settings["parties"], settings.get("thread_cap", DEFAULT_CAP), settings.get("project")
    if not isinstance(names, list) or len(names) != len(("one", "other")):
        raise _unfit("parties", f"config parties must be a two-item list, got {names!r}")
    return make_parties(
        parties=(str(names[0]), str(names[1])),
        supervisor=str(settings["supervisor"]),
        thread_cap=_read_cap(cap, source),
        project=None if project is None else str(project),
        version=_read_version(settings.get("managed_version"), source),
    )


def make_parties(
    *, parties: tuple[str, str], supervisor: str, thread_cap: int, project: str | None, version: int | None
) -> Parties:
    """Return who speaks in a channel, once the names and numbers are such as a channel can have.

    Raises:
        ConfigError: they are not.
    """
    everybody = (*parties, supervisor)
    if len(set(everybody)) < len(everybody):
        sentence = f"parties and supervisor must be three distinct names, got {everybody!r}"
        raise _unfit("parties", sentence)
    for name in everybody:
        if not SLUG.fullmatch(name):
            raise _unfit("parties", f"invalid party name {name!r} ({LETTERS})")
    if thread_cap < MIN_CAP:
        raise _unfit("thread_cap", f"thread_cap must be >= {MIN_CAP} (a request and a reply)")
    if version not in {None, *VERSIONS}:
        sentence = f"unsupported managed_version {version!r}; this release supports {VERSIONS!r}"
        raise _unfit("managed_version", sentence)
    return Parties(
        parties=parties,
        supervisor=supervisor,
        thread_cap=thread_cap,
        project=project,
        brokered=version == BROKERED,
    )


def _read_cap(cap: object, source: str) -> int:
    if isinstance(cap, int):
        return int(cap)
    if isinstance(cap, str) and cap.isascii() and cap.isdecimal() and len(cap) <= MAX_DIGITS:
        return int(cap)
    raise _unfit("thread_cap", f"refused: invalid channel config {source}: thread_cap is no number: {cap!r}")


def _read_version(version: object, source: str) -> int | None:
    if version is None or (isinstance(version, int) and not isinstance(version, bool)):
        return version
    file = source.rpartition("/")[2]
    raise _unfit("managed_version", f"refused: {file} records invalid managed_version {version!r}")


def _unfit(key: str, sentence: str) -> ConfigError:
    return ConfigError(key, "", sentence=sentence)
