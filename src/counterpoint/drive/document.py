"""The file that a case was begun on, kept as its record says: written whole, and never over what somebody else wrote.

What may lie there is what was found when the case was opened, and what the record came to at any entry since. Both
can be computed from the record, so nothing has to be remembered beside it, and a crash between any two steps leaves a
file that is known. Anything else is somebody's edit: it is named, and a person decides (SPEC B-03, B-19).
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Generic, TypeVar

from counterpoint.core.canonical import digest, visible
from counterpoint.core.case import CaseState
from counterpoint.core.entries import SubmissionSealed
from counterpoint.core.rules import Rules
from counterpoint.drive.casefile import read_entries
from counterpoint.drive.cases import LoadedCase, list_cases, load_case
from counterpoint.drive.paths import path_text
from counterpoint.drive.whole import put_whole
from counterpoint.errors import CounterpointError, NeedsPerson
from counterpoint.record.store import Store

__all__ = ["COPY", "MAX_DOCUMENT", "KeptDocument", "cases_on", "is_read_only"]

COPY: Final = "document.md"
"""In a case's folder: the document as the record has it, whatever became of the file."""
MAX_DOCUMENT: Final = 1 << 26
"""Bytes of a document at most that a case is begun on: three rounds of long votes are many more than its text."""
_SHOWN: Final = 60
_WRITE: Final = 0o222

S = TypeVar("S", bound=CaseState)


def is_read_only(path: Path, mode: int) -> bool:
    """Return whether a file is not to be written: it could be put in place all the same, as a whole."""
    return not mode & _WRITE or not os.access(path, os.W_OK)


def cases_on(document: Path, *, protocol: str, folder: Path, store: Store, cases: Path) -> Iterator[LoadedCase]:
    """Yield the cases that were begun on a file, the newest first, as far as they can be read.

    Args:
        document: the file.
        protocol: of the cases.
        folder: where they are begun: the top of the repository.
        store: where their records are.
        cases: the folder that holds them.
    """
    place = os.path.realpath(document)
    for name in reversed([name for name in list_cases(cases) if name.startswith(f"{protocol}-")]):
        try:
            case = load_case(store, cases, name)
        except CounterpointError:  # it holds no file that it could be resumed with
            continue
        paths = case.state.case.docket.paths
        if paths and os.path.realpath(folder / paths[0].path) == place:
            yield case


class KeptDocument(Generic[S]):
    """The document of one case.

    Args:
        path: the file.
        folder: the case's own.
        rules: of the case's protocol, which has documents.
        store: where its record is.
        case: its name.
        resume: the command line that goes on with it.
    """

    def __init__(self, path: Path, *, folder: Path, rules: Rules[S], store: Store, case: str, resume: str) -> None:
        self._path = path
        self._folder = folder
        self._rules = rules
        self._store = store
        self._case = case
        self._resume = resume
        self._copied = ""
        self._is_decided = False

    def keep(self) -> None:
        """Bring the file to where the record is.

        Raises:
            NeedsPerson: somebody has edited it, it is gone, or it is read-only; it is left as it is.
            RecordError: it cannot be written.
        """
        states = list(self._states())
        self._is_decided = states[-1][0].closed is not None
        newest = self._render(*states[-1])
        if newest != self._copied:
            put_whole(self._folder / COPY, newest.encode())
            self._copied = newest
        found, mode = self._found(max(MAX_DOCUMENT, len(newest.encode())))
        if found == newest.encode():
            return
        versions = [self._render(*each) for each in states]
        known = {states[0][0].case.docket.change, *(digest(version.encode()) for version in versions)}
        if digest(found) not in known:
            raise self._edited(found, versions)
        if is_read_only(self._path, mode):
            raise self._read_only(mode)
        put_whole(self._path, newest.encode(), mode=mode)

    def _states(self) -> Iterator[tuple[S, Mapping[str, str]]]:
        """Yield where the case stood after each entry, and when the answers until then were sealed."""
        state = self._rules.initial
        sealed_at: Mapping[str, str] = {}
        for block, entry in read_entries(self._store, self._case):
            state = self._rules.apply(state, entry)
            if isinstance(entry, SubmissionSealed):
                sealed_at = {**sealed_at, entry.turn.id: block.stamp}
            yield state, sealed_at

    def _render(self, state: S, sealed_at: Mapping[str, str]) -> str:
        assert self._rules.document is not None, "the protocol has documents"
        return self._rules.document(state, sealed_at)

    def _found(self, most: int) -> tuple[bytes, int]:
        """Return what lies there, as far as it can be known, and its mode."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise self._unusable("is no plain file any more")
                return file.read(most + 1), stat.S_IMODE(status.st_mode)
        except FileNotFoundError:
            raise self._unusable("is not there any more") from None
        except OSError as error:
            raise self._unusable(f"cannot be read: {error.strerror}") from None

    def _edited(self, found: bytes, versions: list[str]) -> NeedsPerson:
        lines = found.decode("utf-8", "backslashreplace").split("\n")
        at = max(_same_lines(lines, version.split("\n")) for version in versions)
        line = f"{visible(lines[at])[:_SHOWN]!r}" if at < len(lines) else "missing"
        return self._unusable(f"was edited by somebody else: line {at + 1} is {line}")

    def _read_only(self, mode: int) -> NeedsPerson:
        path = path_text(self._path)
        return NeedsPerson(
            f"{path} is read-only (mode {mode:04o}); nothing was written over it",
            hint=f"`chmod u+w {path}`, and `{self._resume}`",
        )

    def _unusable(self, why: str) -> NeedsPerson:
        copy = path_text(self._folder / COPY)
        if self._is_decided:
            hint = (
                f"the case is decided; put your text aside and copy {copy} there; to have your text voted on, put it"
                f" in place of the text there and begin a new ballot"
            )
        else:
            hint = (
                f"put your text aside, copy {copy} there, and `{self._resume}`; to have your text voted on,"
                f" `counterpoint withdraw {self._case}` first and begin a ballot on it"
            )
        return NeedsPerson(f"{path_text(self._path)} {why}; nothing was written over it", hint=hint)


def _same_lines(one: list[str], other: list[str]) -> int:
    """Return how many lines at their beginnings are the same."""
    pairs = zip(one, other, strict=False)
    return next((number for number, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(one), len(other)))
