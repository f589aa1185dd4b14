"""The one trust question of DESIGN "Trust": may project commands run unboxed in this checkout?

- The answer lies in the state folder and names one checkout: the resolved path of its common git folder, and a random
  mark inside that folder. A clone that later stands at the same path has another mark, or none, and is asked anew.
- It covers the checkout's own branches, never a pull request fetched by number.
- Only "yes" is kept. It can be listed and revoked. `--trust-commands` answers for one run and keeps nothing.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.drive.answers import AnswerBook, unreadable
from counterpoint.drive.clock import format_stamp, parse_stamp
from counterpoint.drive.paths import path_text, read_plain
from counterpoint.errors import ConfigError, RecordError

__all__ = ["KeptTrust", "TrustAnswer", "TrustBook"]

_VERSION: Final = 1
_MARK_FILE: Final = "counterpoint-checkout"
_MARK: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustAnswer:
    """One kept "yes"."""

    digest: str
    git_folder: str
    mark: str
    by: str
    answered_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTrust:
    answer: TrustAnswer
    is_revoked: bool


class TrustBook:
    """The trust answers in one person's state folder. `git_folder` is the checkout's common git folder throughout."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._book = AnswerBook(state, "trust")

    def find(self, git_folder: Path, *, own_branch: bool) -> TrustAnswer | None:
        """Return the answer that lets this checkout's commands run, or None.

        Args:
            git_folder: common git folder, of the main work tree and every linked one.
            own_branch: False for a pull request fetched by number: no kept answer covers it.

        Raises:
            ConfigError: a kept answer is damaged; then nothing is trusted.
        """
        if not own_branch:
            return None
        folder = Path(os.path.realpath(git_folder))
        mark = _read_mark(folder)
        found = [
            kept.answer
            for kept in self.answers()
            if not kept.is_revoked and (kept.answer.git_folder, kept.answer.mark) == (path_text(folder), mark)
        ]
        return found[-1] if found else None

    def keep(self, git_folder: Path, *, by: str, now: datetime, mark: str) -> TrustAnswer:
        """Keep the answer "yes" for this checkout.

        Args:
            git_folder: as for `find`.
            by: login name.
            now: when it was answered.
            mark: 32 random hex digits, for a checkout that has no mark yet.

        Raises:
            RecordError: the mark or the answer cannot be written.
        """
        assert _MARK.fullmatch(mark), "a mark is 32 hex digits"
        folder = Path(os.path.realpath(git_folder))
        fields = {
            "answered_at": format_stamp(now),
            "by": by,
            "git_folder": path_text(folder),
            "mark": _read_mark(folder) or _write_mark(folder, mark),
            "v": _VERSION,
        }
        return self._parse(fields, self._book.keep(fields))

    def answers(self) -> tuple[KeptTrust, ...]:
        """Return every answer ever kept, oldest first, revoked ones too."""
        found = [
            KeptTrust(answer=self._parse(kept.fields, kept.digest), is_revoked=kept.is_revoked)
            for kept in self._book.all()
        ]
        return tuple(sorted(found, key=lambda kept: (kept.answer.answered_at, kept.answer.digest)))

    def revoke(self, prefix: str, *, by: str, now: datetime) -> TrustAnswer:
        """Revoke the answer whose digest begins with `prefix`, and return it."""
        kept = self._book.revoke(prefix, by=by, now=now)
        return self._parse(kept.fields, kept.digest)

    def _parse(self, fields: Mapping[str, Any], name: str) -> TrustAnswer:
        match fields:
            case {
                "v": 1,
                "answered_at": str(answered_at),
                "by": str(by),
                "git_folder": str(git_folder),
                "mark": str(mark),
                **rest,
            } if not rest and parse_stamp(answered_at) and _MARK.fullmatch(mark):
                return TrustAnswer(digest=name, git_folder=git_folder, mark=mark, by=by, answered_at=answered_at)
            case _:
                path = self._state / "trust" / f"{name}.json"
                raise unreadable(path, f"a trust answer of version {_VERSION}", "other fields")


def _read_mark(folder: Path) -> str | None:
    """Return the checkout's mark, or None where there is none that could be one."""
    try:
        file = read_plain(folder / _MARK_FILE, max_bytes=64)
    except ConfigError:
        return None
    found = file[0].decode("ascii", "replace").strip() if file else ""
    return found if _MARK.fullmatch(found) else None


def _write_mark(folder: Path, mark: str) -> str:
    """Mark the checkout and return its mark: ours, or that of a process which answered at the same moment."""
    path = folder / _MARK_FILE
    half = folder / f"{_MARK_FILE}.{mark}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(half, flags, 0o600), "w", encoding="ascii") as file:
            file.write(mark + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(half)
            half.unlink()
        except FileExistsError:
            if there := _read_mark(folder):
                half.unlink()
                return there
            half.rename(path)  # what stood there was no mark
    except OSError as error:
        hint = "pass `--trust-commands` to answer for this run alone"
        raise RecordError(f"{path_text(path)} cannot be written: {error.strerror}", hint=hint) from None
    return mark
