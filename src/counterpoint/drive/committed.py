"""Files of a repository as one of its commits has them, read out of the object store.

The settings of a review are read here, at the merge base, so that no change brings the rules of its own review
(DESIGN "Trust"). The working copy is read for a notice alone.
"""

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from counterpoint.drive.config import MAX_BYTES, REPOSITORY_FILES, RepositoryFiles
from counterpoint.drive.paths import read_plain
from counterpoint.errors import ConfigError, SourceError
from counterpoint.isolation.repository import Quarantine, Repository

__all__ = ["CommittedFiles", "read_at", "read_settings_files", "settings_files"]

_MAX_SETTINGS: Final = 1 << 20
_MAX_READ: Final = 4 << 20
_FIELDS: Final = 3
"""Mode, kind and id, before the tab of a listing's line."""


class CommittedFiles:
    """The files of one commit or tree whose paths are UTF-8."""

    def __init__(self, quarantine: Quarantine, tree: str) -> None:
        self._quarantine = quarantine
        self._tree = tree

    @property
    def names(self) -> Collection[str]:
        return self._blobs.keys()

    @cached_property
    def _blobs(self) -> Mapping[str, str]:
        git, place = self._quarantine.git, self._quarantine.place
        found: dict[str, str] = {}
        for line in git.run("ls-tree", "-r", "-z", "--full-tree", self._tree, place=place).split(b"\0"):
            about, _, path = line.partition(b"\t")
            fields = about.split(b" ")
            if len(fields) == _FIELDS and fields[1] == b"blob":
                found[path.decode("utf-8", "replace")] = fields[2].decode("ascii")
        return found

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, or None where there is none, or one that is too large to look into."""
        if path not in self._blobs:
            return None
        try:
            (content,) = self._quarantine.objects.blobs([self._blobs[path]], max_size=_MAX_READ)
        except SourceError:
            return None
        return content

    def read_all(self, paths: Collection[str], *, max_size: int) -> Mapping[str, bytes]:
        """Return the bytes of those of these files that there are.

        Raises:
            SourceError: one of them is larger than `max_size`, or is missing or damaged in the object store.
        """
        there = [path for path in paths if path in self._blobs]
        contents = self._quarantine.objects.blobs([self._blobs[path] for path in there], max_size=max_size)
        return dict(zip(there, contents, strict=True))


def read_at(repository: Repository, commit: str, path: str) -> bytes | None:
    """Return a file's bytes as a commit has them, or None where it has no such file, or too large a one."""
    with Quarantine(repository) as quarantine:
        return CommittedFiles(quarantine, commit).read(path)


def read_settings_files(repository: Repository, base: str) -> RepositoryFiles:
    """Return the repository's settings files as the merge base has them, and as they lie in the working copy."""
    with Quarantine(repository) as quarantine:
        return settings_files(quarantine, base)


def settings_files(quarantine: Quarantine, base: str) -> RepositoryFiles:
    """As `read_settings_files`, through a quarantine that is open already."""
    top = quarantine.repository.top
    here = {name: _read_here(top / name) for name in REPOSITORY_FILES}
    return RepositoryFiles(
        commit=base,
        at_base=CommittedFiles(quarantine, base).read_all(REPOSITORY_FILES, max_size=_MAX_SETTINGS),
        in_working_copy={name: content for name, content in here.items() if content is not None},
    )


def _read_here(path: Path) -> bytes | None:
    """Return a settings file of the working copy; one that cannot be read has nothing to say."""
    try:
        found = read_plain(path, max_bytes=MAX_BYTES)
    except ConfigError:
        return None
    return None if found is None else found[0]
