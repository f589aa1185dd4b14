"""A person's answers, kept in their state folder: the one place where grants and trust answers are written and read.

- One file for each answer: its canonical JSON, mode 0600, named by the digest of that JSON. So two processes that
  answer at once do not meet, and one changed byte shows.
- Nothing is edited. An answer is revoked by a second file beside it.
- Reading fails closed: a file that is damaged, is a link, or could have been written by somebody else is an error,
  never an answer and never skipped.
"""

import os
import pwd
import re
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.core.canonical import NotCanonical, canonical_json, digest, parse_json
from counterpoint.drive.clock import format_stamp
from counterpoint.drive.paths import check_private, make_private, path_text, read_plain
from counterpoint.errors import ConfigError, RecordError

__all__ = ["AnswerBook", "Kept", "login_name", "unreadable"]

_NAME: Final = re.compile(r"([0-9a-f]{64})\.(json|revoked)")
_MAX_BYTES: Final = 16 << 10
_SHORTEST: Final = 6
"""Hex digits that name an answer at least."""


def login_name() -> str:
    """Return who answers: the login name of this process's user, which no variable changes."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"uid {os.geteuid()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One answer as it lies in the folder."""

    digest: str
    fields: Mapping[str, Any]
    is_revoked: bool


class AnswerBook:
    """The answers of one kind, in `<state folder>/<kind>`."""

    def __init__(self, state: Path, kind: str) -> None:
        self._state = state
        self._folder = state / kind

    def all(self) -> tuple[Kept, ...]:
        """Return every answer, revoked ones too, by digest.

        Raises:
            ConfigError: the folder or a file in it is not as this program left it.
        """
        if not self._is_there():
            return ()
        try:
            names = sorted(path.name for path in self._folder.iterdir())
        except OSError as error:
            raise unreadable(self._folder, "a folder that can be read", error.strerror or str(error)) from None
        found = [match for match in map(_NAME.fullmatch, names) if match]
        revoked = {match[1] for match in found if match[2] == "revoked"}
        answers = {match[1]: _read(self._folder / match[0]) for match in found if match[2] == "json"}
        return tuple(
            Kept(digest=name, fields=fields, is_revoked=name in revoked)
            for name, fields in answers.items()
            if fields is not None
        )

    def keep(self, fields: Mapping[str, Any]) -> str:
        """Put an answer on disk and return its digest."""
        text = canonical_json(fields)
        name = digest(text.encode())
        self._write(f"{name}.json", text)
        return name

    def revoke(self, prefix: str, *, by: str, now: datetime) -> Kept:
        """Revoke the one answer whose digest begins with `prefix`, and return it.

        Raises:
            ConfigError: no answer's digest, or more than one, begins so.
        """
        found = [each for each in self.all() if each.digest.startswith(prefix)]
        if len(prefix) < _SHORTEST or len(found) != 1:
            expected = f"the first {_SHORTEST} or more digits of one digest in {path_text(self._folder)}"
            kind = self._folder.name
            raise ConfigError(
                kind, expected, got=prefix, hint=f"run `counterpoint {kind} list`, and name one of them"
            )
        fields = {"answer": found[0].digest, "by": by, "revoked_at": format_stamp(now), "v": 1}
        self._write(f"{found[0].digest}.revoked", canonical_json(fields))
        return found[0]

    def _is_there(self) -> bool:
        if not check_private(self._state):
            return False
        if self._folder.is_symlink():
            raise unreadable(self._folder, "a folder", "a symbolic link")
        return check_private(self._folder)

    def _write(self, name: str, text: str) -> None:
        make_private(self._state)
        if not self._is_there():
            make_private(self._folder)
        half = self._folder / f".{name}.{os.getpid()}.{threading.get_ident()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            half.unlink(missing_ok=True)
            with os.fdopen(os.open(half, flags, 0o600), "wb") as file:
                file.write(text.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            half.rename(self._folder / name)
            _sync_folder(self._folder)
        except OSError as error:
            with suppress(OSError):
                half.unlink(missing_ok=True)
            where = path_text(self._folder)
            hint = "make room or mend its permissions, then answer again"
            raise RecordError(f"the answer could not be written to {where}: {error.strerror}", hint=hint) from None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> Mapping[str, Any] | None:
    """Return the fields of one answer, or None when the file went away since it was listed."""
    file = read_plain(path, max_bytes=_MAX_BYTES)
    if file is None:
        return None
    content, found = file
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.geteuid() or mode & 0o077:
        raise unreadable(path, f"mode 0600 of uid {os.geteuid()}", f"mode {mode:04o} of uid {found.st_uid}")
    try:
        fields = parse_json(content, max_bytes=_MAX_BYTES)
        text = canonical_json(fields)
    except NotCanonical as error:
        raise unreadable(path, "one answer in JSON", str(error)) from None
    if content != text.encode() + b"\n" or digest(text.encode()) != path.stem or not isinstance(fields, Mapping):
        raise unreadable(path, "the bytes that it is named by", f"bytes of digest {digest(content)[:12]}")
    return fields


def unreadable(path: Path, expected: str, got: str) -> ConfigError:
    """Return the error for an answer, or a folder of answers, that nobody may rely on."""
    shown = path_text(path)
    return ConfigError(shown, expected, got=got, hint=f"look at {shown}, remove it, and answer again")
