"""What a watcher remembers between its ticks, in the bytes of the public tool (SPEC C-063).

It lies outside the channel. It is on disk before a command is run, so that no crash runs one twice. A file that says
something else than it should is left as it is, for a person to look at.
"""

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from counterpoint.core.canonical import NotCanonical, parse_json
from counterpoint.errors import ConfigError, RecordError
from counterpoint.record.fs import PRIVATE, Files
from counterpoint.record.header import parse_stamp
from counterpoint.record.safe import open_folder, read_file, typed
from counterpoint.record.safe import replace as replace_file

__all__ = [
    "Invocation",
    "Unreadable",
    "WatchState",
    "make_folder_of",
    "parse_state",
    "read_beside",
    "read_state",
    "write_beside",
]

MAX_STATE: Final = 16 << 20
KEPT_INVOCATIONS: Final = 1000
"""Only the newest is ever decided on; the others are for people."""
FOLDER: Final = 0o700
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
_OURS: Final = frozenset({"channel_root", "last_mirrored_seq", "invocations", "escalated", "last_anomaly"})


class Unreadable(RecordError):
    """The watcher's memory is not what a watcher writes; nothing is done on it."""

    code = "watcher.state"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"unreadable watcher state {path}: {reason}", hint="look at the file; delete it to begin anew"
        )
        self.path = path
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """How often a party was called for one number of the doorbell, and when last."""

    count: int
    last_at: str

    @property
    def when(self) -> datetime | None:
        return parse_stamp(self.last_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    channel_root: str = ""
    """The folder of the channel that it belongs to; empty: whoever comes first takes it."""
    mirrored: int = 0
    """The newest entry that was shown."""
    invocations: Mapping[int, Invocation] = field(default_factory=dict)
    """By the number of the doorbell."""
    escalated: frozenset[str] = frozenset()
    """`thread:number` of what a person was told of."""
    anomaly: str = ""
    """The last reading that did not add up; the same again is no writer at work."""
    other: Mapping[str, Any] = field(default_factory=dict)
    """Keys of other versions, kept as they are."""

    def has_escalated(self, thread: str, n: int) -> bool:
        return f"{thread}:{n}" in self.escalated

    def with_escalated(self, thread: str, n: int) -> "WatchState":
        return replace(self, escalated=self.escalated | {f"{thread}:{n}"})

    def with_invoked(self, n: int, stamp: str) -> "WatchState":
        """Return the state once a party is called for doorbell `n`."""
        before = self.invocations.get(n)
        now = Invocation(count=1 if before is None else before.count + 1, last_at=stamp)
        every = {**self.invocations, n: now}
        return replace(self, invocations={number: every[number] for number in sorted(every)[-KEPT_INVOCATIONS:]})

    def with_mirrored(self, n: int) -> "WatchState":
        return replace(self, mirrored=max(self.mirrored, n))

    def __bytes__(self) -> bytes:
        fields: dict[str, Any] = {
            **self.other,
            "last_mirrored_seq": self.mirrored,
            "invocations": {
                str(n): {"count": each.count, "last_at": each.last_at} for n, each in self.invocations.items()
            },
            "escalated": sorted(self.escalated),
        }
        if self.channel_root:
            fields["channel_root"] = self.channel_root
        if self.anomaly:
            fields["last_anomaly"] = self.anomaly
        return json.dumps(fields, indent=2, sort_keys=True).encode()


def parse_state(content: bytes, *, path: str) -> WatchState:
    """Return the state in `content`.

    Raises:
        Unreadable: a watcher does not write that.
    """
    try:
        found = parse_json(content, max_bytes=MAX_STATE)
    except NotCanonical as error:
        raise Unreadable(path, str(error)) from None
    if not isinstance(found, dict):
        raise Unreadable(path, f"a JSON object was expected, not {type(found).__name__}")
    reader = _Reader(found, path)
    return WatchState(
        channel_root=reader.text("channel_root"),
        mirrored=reader.number(found.get("last_mirrored_seq", 0), "last_mirrored_seq"),
        invocations=reader.invocations(),
        escalated=reader.escalated(),
        anomaly=reader.text("last_anomaly"),
        other={key: value for key, value in found.items() if key not in _OURS},
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    found: Mapping[str, Any]
    path: str

    def refused(self, key: str, expected: str, got: object) -> Unreadable:
        return Unreadable(self.path, f"{key}: expected {expected}; got {got!r}")

    def text(self, key: str) -> str:
        value = self.found.get(key, "")
        if not isinstance(value, str):
            raise self.refused(key, "text", value)
        return value

    def number(self, value: object, key: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.refused(key, "a number of an entry", value)
        return value

    def invocations(self) -> Mapping[int, Invocation]:
        value = self.found.get("invocations", {})
        if not isinstance(value, dict):
            raise self.refused("invocations", "an object", value)
        found = dict(self._invocation(n, each) for n, each in value.items())
        return {n: found[n] for n in sorted(found)}

    def _invocation(self, n: str, value: object) -> tuple[int, Invocation]:
        key = f"invocations.{n}"
        if not _NUMBER.fullmatch(n):
            raise self.refused(key, "the number of an entry as key", n)
        match value:
            case {"count": int(count), "last_at": str(last_at)} if not isinstance(count, bool):
                return int(n), Invocation(count=count, last_at=last_at)
            case _:
                raise self.refused(key, "a count and an instant", value)

    def escalated(self) -> frozenset[str]:
        value = self.found.get("escalated", [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.refused("escalated", "a list of text", value)
        return frozenset(value)


def read_state(fs: Files, path: str) -> WatchState | None:
    """Return what stands at `path`; `None` where there is nothing yet.

    Raises:
        Unreadable: a watcher does not write that.
        RecordError: it cannot be read, or is no plain file.
    """
    content = read_beside(fs, path, max_bytes=MAX_STATE)
    return None if content is None else parse_state(content, path=path)


def read_beside(fs: Files, path: str, *, max_bytes: int) -> bytes | None:
    """Return the bytes of a file of the watcher's; `None` where it, or its folder, is missing.

    Raises:
        RecordError: it cannot be read, or is no plain file.
    """
    folder, name = _split(path)
    try:
        with open_folder(fs, folder) as opened:
            return read_file(fs, opened, name, max_bytes=max_bytes)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}", hint=f"look at {path}") from None


def write_beside(fs: Files, path: str, content: bytes) -> None:
    """Have `content` on disk at `path`, whole or not at all.

    Raises:
        RecordError: it cannot be written.
    """
    folder, name = _split(path)
    with typed(f"{path} cannot be written"), open_folder(fs, folder) as opened:
        replace_file(fs, opened, name, content, PRIVATE)
        fs.sync(opened)


def make_folder_of(fs: Files, path: str) -> None:
    """Make the folder that a file of the watcher's lies in.

    Raises:
        ConfigError: it cannot be made.
    """
    folder = _split(path)[0]
    parts = folder.split("/")
    try:
        for end in range(len(parts)):
            _make(fs, "/".join(parts[: end + 1]) or "/")
    except OSError as error:
        raise ConfigError(
            "state_path", "a file in a folder that can be made", got=f"{folder}: {error.strerror}"
        ) from None


def _make(fs: Files, folder: str) -> None:
    above, name = _split(folder)
    try:
        fs.close(fs.folder(folder))
    except FileNotFoundError:
        with open_folder(fs, above) as opened, suppress(FileExistsError):
            fs.make_folder(opened, name, FOLDER)
            fs.sync(opened)


def _split(path: str) -> tuple[str, str]:
    folder, name = os.path.split(path)
    return folder or ".", name
