"""A channel's settings, `<id>.debate.json`, in the bytes and the order of the public tool (SPEC C-006, C-007).

A case channel carries `managed_version: 3`, which the public tool does not know: it reads and verifies the channel
and refuses to post. It looks at the parties before it looks at the version, so two are named.
"""

import errno
import json
import os
from collections.abc import Mapping
from typing import Any, Final

from counterpoint.errors import RecordError
from counterpoint.record.names import settings_file
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
        reason = f"[Errno {errno.ENOENT}] {os.strerror(errno.ENOENT)}: {source!r}"
        raise RecordError(f"refused: unreadable channel config {source}: {reason}", hint="name a channel that exists")
    try:
        found = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise RecordError(
            f"refused: unreadable channel config {source}: {error}", hint="restore it from a copy"
        ) from None
    if not isinstance(found, dict):
        raise RecordError(
            f"refused: channel config {source} must be a JSON object, got {type(found).__name__}",
            hint="restore it from a copy",
        )
    if channel and found.get("name") != channel:
        raise RecordError(
            f"refused: {settings_file(channel)} records name {found.get('name')!r}, which disagrees with its "
            "filename; fix the config before using this channel",
            hint="correct the name",
        )
    return found
