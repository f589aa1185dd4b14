"""A recorded case as a folder: what each seat was asked, as a digest, and what it answered, as bytes.

    cassette.json       what was recorded: the case, the commits, who sat in it
    config.toml         settings under which it is played again; no command, no address, no key
    turns/<turn>.json   the brief's digest, what is known of the answer, the paths of the edit
    bytes/<sha256>      answers and edited files

Strict: a key that is not known, a digest that does not fit or a link is a `RecordError`. Files are written whole or
not at all, for nobody else to read. No session id is kept. Format: `docs/howto/record-and-replay.md`.
"""

import json
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote_from_bytes, unquote_to_bytes

from counterpoint.core.canonical import NotCanonical, canonical_json, digest, parse_json, visible
from counterpoint.core.codec import decode_value, encode_value
from counterpoint.core.values import Usage
from counterpoint.errors import RecordError, UnknownEntry
from counterpoint.isolation.names import unsafe
from counterpoint.isolation.patches import MODES, FileEdit

__all__ = [
    "SETTINGS",
    "Cassette",
    "Header",
    "TapedEdit",
    "TapedFailure",
    "TapedFile",
    "TapedReply",
    "TapedSeat",
    "TapedTurn",
]

_VERSION: Final = 1
_MAX_TABLE: Final = 4 << 20
_MAX_BYTES: Final = 64 << 20
_TURN: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+){3}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_OBJECT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_HEADER: Final = "cassette.json"
SETTINGS: Final = "config.toml"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedSeat:
    """Who sat where."""

    party: str
    kind: str
    destination: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was recorded."""

    v: int = _VERSION
    case: str
    base: str
    candidate: str
    seats: tuple[TapedSeat, ...]
    settings: str
    """Digest of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedReply:
    """An answer, but for its session."""

    content: str
    """Digest of its bytes."""
    model_requested: str
    model_reported: str
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedFailure:
    """How a call failed instead."""

    code: str
    message: str
    hint: str
    asked: str = ""
    """With a wrong identity: the models that were asked for and answered."""
    got: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedFile:
    """One path of an edit."""

    path: str
    """Percent-encoded bytes."""
    mode: str
    content: str
    """Digest of its bytes; empty where the path is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedEdit:
    """What an author did to the files."""

    before: str
    after: str
    """The trees of the files as they lay."""
    files: tuple[TapedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedTurn:
    """One question and what came of it: a reply or a failure."""

    v: int = _VERSION
    brief: str
    reply: TapedReply | None = None
    failure: TapedFailure | None = None
    edit: TapedEdit | None = None
    lost: str = ""
    """Why this turn cannot be played again; empty where it can."""


class Cassette:
    """One folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    # --- the whole

    def begin(self, header: Header, settings: str) -> None:
        """Make the folder, private; what it is about is on disk when this returns.

        Raises:
            RecordError: something lies there, or the disk refuses.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            if any(self.folder.iterdir()):
                raise RecordError(f"{self._shown()} is not empty", hint="name a new folder for each recording")
            for name in ("turns", "bytes"):
                (self.folder / name).mkdir(mode=0o700)
        except OSError as error:
            raise self._refused(error) from None
        self._put(SETTINGS, settings.encode())
        self._put(_HEADER, _line(header))

    def header(self) -> Header:
        """Return what was recorded.

        Raises:
            RecordError: there is no cassette, or it is damaged.
        """
        found = self._table(Header, _HEADER)
        if not (_OBJECT.fullmatch(found.base) and _OBJECT.fullmatch(found.candidate)):
            raise self._damaged(_HEADER, "base and candidate are no ids")
        return found

    def settings(self) -> bytes:
        """Return the bytes of the settings under which it is played.

        Raises:
            RecordError: there are none.
        """
        return self._get(SETTINGS, max_bytes=_MAX_TABLE)

    def turns(self) -> frozenset[str]:
        """Return the ids of the turns that were recorded."""
        try:
            names = [path.name for path in (self.folder / "turns").iterdir()]
        except OSError as error:
            raise self._refused(error) from None
        return frozenset(name.removesuffix(".json") for name in names if name.endswith(".json"))

    # --- one turn

    def keep(self, turn: str, taped: TapedTurn) -> None:
        """Keep a turn, in the place of what was kept of it before; on disk when this returns."""
        assert _TURN.fullmatch(turn), turn
        self._put(f"turns/{turn}.json", _line(taped))

    def turn(self, turn: str) -> TapedTurn | None:
        """Return what was recorded of a turn, or None.

        Raises:
            RecordError: it is damaged.
        """
        name = f"turns/{turn}.json"
        if not _TURN.fullmatch(turn) or not os.path.lexists(self.folder / name):
            return None
        found = self._table(TapedTurn, name)
        if not _DIGEST.fullmatch(found.brief):
            raise self._damaged(name, "brief: expected a digest")
        if not found.lost and (found.reply is None) == (found.failure is None):
            raise self._damaged(name, "expected either a reply or a failure")
        if found.edit is not None:
            self._check_edit(name, found.edit)
        return found

    def _check_edit(self, name: str, edit: TapedEdit) -> None:
        if not (_OBJECT.fullmatch(edit.before) and _OBJECT.fullmatch(edit.after)):
            raise self._damaged(name, "edit: before and after are no trees")
        paths = [unquote_to_bytes(file.path) for file in edit.files]
        for path, file in zip(paths, edit.files, strict=True):
            if quote_from_bytes(path) != file.path or b"\0" in path:
                raise self._damaged(name, f"edit: {visible(file.path)!r} is no percent-encoded path")
            if reason := next(filter(None, map(unsafe, path.split(b"/"))), ""):
                raise self._damaged(name, f"edit: {visible(file.path)!r} is never written: {reason}")
            if bool(file.mode) != bool(file.content) or (file.mode and file.mode not in MODES):
                raise self._damaged(name, f"edit: {visible(file.path)!r} has mode {visible(file.mode)!r}")
        if len(set(paths)) < len(paths):
            raise self._damaged(name, "edit: a path stands twice")

    # --- bytes

    def keep_bytes(self, content: bytes) -> str:
        """Keep bytes under their digest, and return it."""
        name = digest(content)
        if not os.path.lexists(self.folder / "bytes" / name):
            self._put(f"bytes/{name}", content)
        return name

    def bytes_of(self, name: str) -> bytes:
        """Return the bytes with that digest.

        Raises:
            RecordError: they are missing, or are others.
        """
        if not _DIGEST.fullmatch(name):
            raise RecordError(f"{visible(name[:80])!r} in {self._shown()} is no digest", hint=_HINT)
        content = self._get(f"bytes/{name}", max_bytes=_MAX_BYTES)
        if digest(content) != name:
            raise self._damaged(f"bytes/{name}", f"its bytes have the digest {digest(content)}")
        return content

    def tape_files(self, files: tuple[FileEdit, ...]) -> tuple[TapedFile, ...]:
        return tuple(
            TapedFile(
                path=quote_from_bytes(file.path),
                mode=file.mode,
                content=self.keep_bytes(file.content) if file.mode else "",
            )
            for file in files
        )

    def files_of(self, edit: TapedEdit) -> tuple[FileEdit, ...]:
        """Return the files of an edit with their bytes.

        Raises:
            RecordError: some are missing, or are others.
        """
        return tuple(
            FileEdit(
                path=unquote_to_bytes(file.path),
                mode=file.mode,
                content=self.bytes_of(file.content) if file.mode else b"",
            )
            for file in edit.files
        )

    # --- files

    def _table(self, kind: type[T], name: str) -> T:
        content = self._get(name, max_bytes=_MAX_TABLE)
        try:
            plain: Any = parse_json(content, max_bytes=_MAX_TABLE)
            found = decode_value(kind, plain)
        except (NotCanonical, UnknownEntry) as error:
            raise self._damaged(name, str(error)) from None
        if (version := getattr(found, "v", None)) != _VERSION:
            raise self._damaged(name, f"version {version}; this program reads {_VERSION}")
        return found

    def _get(self, name: str, *, max_bytes: int) -> bytes:
        try:
            file = os.open(self.folder / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise self._damaged(name, error.strerror or str(error)) from None
        with os.fdopen(file, "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise self._damaged(name, "it is no plain file")
            content = opened.read(max_bytes + 1)
        if len(content) > max_bytes:
            raise self._damaged(name, f"it is larger than {max_bytes} bytes")
        return content

    def _put(self, name: str, content: bytes) -> None:
        target = self.folder / name
        passing = target.with_name(f".{target.name}.new")
        try:
            with suppress(FileNotFoundError):
                passing.unlink()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(passing, flags, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            passing.rename(target)
            folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._refused(error) from None

    def _shown(self) -> str:
        return visible(os.fsencode(self.folder).decode("utf-8", "replace"))

    def _refused(self, error: OSError) -> RecordError:
        return RecordError(
            f"the cassette {self._shown()} cannot be used: {error.strerror or error}",
            hint="name a folder that you may read and write",
        )

    def _damaged(self, name: str, why: str) -> RecordError:
        return RecordError(f"{name} of the cassette {self._shown()} cannot be read: {why}", hint=_HINT)


_HINT: Final = "take a copy that nobody edited, or record the case anew"


def _line(value: object) -> bytes:
    # Indented, because people compare cassettes line by line.
    return (json.dumps(json.loads(canonical_json(encode_value(value))), indent=1, ensure_ascii=False) + "\n").encode()
