"""From a change in a repository to the values of the core: what is judged path by path, and what briefs show."""

from collections.abc import Mapping, Sequence
from typing import Final

from counterpoint.core.docket import ChangedPath, PathState
from counterpoint.core.rules import Materials
from counterpoint.isolation.changed import Change, ChangedFile, ChangeKind, FileKind, Unshown
from counterpoint.isolation.export import Remark

__all__ = ["materials_of", "paths_of"]

_STATES: Final[Mapping[FileKind, PathState]] = {
    FileKind.TEXT: PathState.TEXT,
    FileKind.LINK: PathState.TEXT,
    FileKind.BINARY: PathState.BINARY,
    FileKind.SUBMODULE: PathState.SUBMODULE,
    FileKind.UNKNOWN: PathState.WITHHELD,
}


def paths_of(found: Change, left_out: Sequence[Remark]) -> tuple[ChangedPath, ...]:
    """Return what became of each changed path; `left_out` is what an export of the candidate withholds."""
    return tuple(ChangedPath(path=file.path, state=_state(file, left_out)) for file in found.files)


def _state(file: ChangedFile, left_out: Sequence[Remark]) -> PathState:
    if file.change is ChangeKind.DELETED:
        return PathState.DELETED
    if any(file.path == remark.path or file.path.startswith(f"{remark.path}/") for remark in left_out):
        return PathState.WITHHELD
    return _STATES[file.kind]


def materials_of(found: Change) -> Materials:
    """Return what briefs show of a change.

    A binary file counts as shown: its section names path, sizes and ids, and that is all a brief can show of it. A
    diff over the budget does not count (FIELD-FAULTS F15).
    """
    binary = tuple(n.path for n in found.not_shown if n.reason is Unshown.BINARY)
    left_out = [n for n in found.not_shown if n.reason is not Unshown.BINARY]
    return Materials(
        change=found.text,
        shown_paths=(*found.shown_paths, *binary),
        not_shown=tuple(f"{n.path} is not shown: {n.reason}, {n.size} bytes" for n in left_out),
    )
