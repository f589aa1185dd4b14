"""An edit of a work tree as the files that it changed, to be kept apart and made again elsewhere.

`look` says which tree the files are, `files_between` what an edit changed, as bytes, and `make_again` does the same
to a work tree that is as it was before. Nothing is written through a link, nor over what has changed meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.bench import open_bench
from counterpoint.isolation.edits import differing
from counterpoint.isolation.names import unsafe, visible_path
from counterpoint.isolation.objects import SUBMODULE
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.restoring import restore
from counterpoint.isolation.worktree import snapshot_worktree

__all__ = ["MODES", "FileEdit", "WorkTree"]

MODES: Final = frozenset({"100644", "100755", "120000"})
"""A file, a program, a symbolic link."""
_MAX_FILE: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEdit:
    """One path after an edit."""

    path: bytes
    mode: str
    """One of `MODES`; empty where the path is gone."""
    content: bytes = b""
    """A link's is what it points to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """The files of a repository as they lie."""

    repository: Repository
    objects: Path
    """Takes new objects, and holds those of the case."""

    def tree_of(self, candidate: str) -> str:
        """Return the tree of a commit; a tree's id as it is.

        Raises:
            SourceError: it is neither, or missing.
        """
        with Quarantine(self.repository, extra=(self.objects,)) as quarantine:
            return quarantine.objects.tree_of(candidate)

    def look(self, start: str) -> str:
        """Return the tree of the files as they lie; `start` says what is tracked.

        Raises:
            SourceError: git or the disk refuses.
        """
        return snapshot_worktree(self.repository, self.objects, start=start).tree

    def files_between(self, before: str, after: str) -> tuple[FileEdit, ...]:
        """Return what differs between two trees.

        Raises:
            SourceError: a repository inside was changed, a name is unsafe, or a file is too large.
        """
        if before == after:
            return ()
        with Quarantine(self.repository, extra=(self.objects,)) as quarantine:
            pairs = differing(quarantine.objects, before, after)
            for pair in pairs:
                if any(side.mode == SUBMODULE for side in pair.sides):
                    raise SourceError(f"{visible_path(pair.path)!r} is a repository of its own, added or moved")
                if reason := next(filter(None, map(unsafe, pair.path.split(b"/"))), ""):
                    raise SourceError(f"{visible_path(pair.path)!r} is not kept: {reason}")
            ids = [pair.new.id for pair in pairs if pair.new is not None]
            contents = iter(tuple(quarantine.objects.blobs(ids, max_size=_MAX_FILE)))
        return tuple(
            FileEdit(path=pair.path, mode="")
            if pair.new is None
            else FileEdit(path=pair.path, mode=f"{pair.new.mode:06o}", content=next(contents))
            for pair in pairs
        )

    def make_again(self, files: Sequence[FileEdit], *, present: str) -> str:
        """Do an edit to a work tree that is as `present` says, and return the tree that it then is.

        Raises:
            SourceError: a path cannot be written, or holds something else than `present` says.
        """
        if not files:
            return present
        with open_bench(self.repository, extra=(self.objects,)) as bench:
            storing = bench.storing(self.objects)
            bench.run("read-tree", present, variables=storing)
            lines = []
            for file in sorted(files, key=lambda file: bool(file.mode)):  # what is gone makes room first
                blob = "0" * len(present)
                if file.mode:
                    stored = bench.run("hash-object", "-w", "--stdin", stdin=file.content, variables=storing)
                    blob = stored.decode("ascii").strip()
                lines.append(f"{file.mode or '0'} {blob}\t".encode() + file.path + b"\0")
            bench.run("update-index", "--replace", "-z", "--index-info", stdin=b"".join(lines), variables=storing)
            wanted = bench.run("write-tree", "--missing-ok", variables=storing).decode("ascii").strip()
        restore(self.repository, present=present, wanted=wanted, objects_dir=self.objects)
        return self.look(present)
