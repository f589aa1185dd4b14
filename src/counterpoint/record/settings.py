"""A channel's settings, `<id>.debate.json`, in the bytes and the order of the public tool (SPEC C-006, C-007).

A case channel carries `managed_version: 3`, which the public tool does not know: it reads and verifies the channel
and refuses to post. It looks at the parties before it looks at the version, so two are named.
"""

from collections.abc import Mapping
from typing import Any, Final

from counterpoint.errors import RecordError
from counterpoint.record.bell import read_object
from counterpoint.record.store import Genesis

__all__ = ["CASE_VERSION", "MAX_SETTINGS", "read_settings", "whole_settings"]

CASE_VERSION: Final = 3
MAX_SETTINGS: Final = 1 << 20
_ORDER: Final = ("parties", "supervisor", "thread_cap", "name", "project", "managed_version")
_CAP: Final = 12
_ABSENT: Final = "nobody"


def whole_settings(channel: str, genesis: Genesis, *, sender: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `given` completed and ordered: what a strict channel lacks is filled in from its genesis."""
    filled: dict[str, Any] = {**given, "name": channel}
    if genesis.mode == "strict":
        supervisor = str(given.get("supervisor", "owner"))
        seats = [name for name in genesis.roster if name not in {sender, supervisor}]
        filled.setdefault("parties", [sender, *seats, _ABSENT][:2])
        filled.setdefault("supervisor", supervisor)
        filled.setdefault("thread_cap", _CAP)
        filled["managed_version"] = CASE_VERSION
    return {**{key: filled[key] for key in _ORDER if key in filled}, **filled}


def read_settings(content: bytes | None, *, channel: str, source: str) -> Mapping[str, Any]:
    """Return the settings in `content`.

    Raises:
        RecordError: there are none, they are not a JSON object, or they name another channel.
    """
    if content is None:
        raise RecordError(f"there is no channel {channel!r}: {source} is missing", hint="name a channel that exists")
    found = read_object(content)
    if found is None:
        raise RecordError(f"{source} is not one JSON object", hint="restore it from a copy")
    if found.get("name", channel) != channel:
        raise RecordError(
            f"{source} names channel {found['name']!r}; its file name says {channel!r}", hint="correct the name"
        )
    return found
