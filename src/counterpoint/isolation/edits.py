"""What an editor left in the work tree: the tree of it, the paths that differ from where it began, and what is wrong.

What is tracked and what is ignored is decided by the commit or tree that the editor began from and by the files as
they lie, never by the index, which an editor may have changed. A fault is something that must not be committed:

- a symbolic link that leads out of the work tree or into a git folder, and did not before;
- a path with a `filter` attribute, since no filter runs here and the commit would hold what it does not mean;
- a repository inside the work tree, and what lies in one;
- a name that is not written to disk elsewhere (`names.unsafe`), and a special file at a tracked path.

Source: SPEC D-16; DESIGN "Work trees"; SECURITY B.5.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.bench import from_names, open_bench, to_names
from counterpoint.isolation.export import Limits
from counterpoint.isolation.names import is_git_folder, unsafe, visible_path
from counterpoint.isolation.objects import FOLDER, LINK, SUBMODULE, Objects, TreeEntry
from counterpoint.isolation.pairs import Pair, changed_pairs
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.worktree import OWN, Snapshot, snapshot_worktree

__all__ = ["Edits", "changed_paths", "differing", "take_edits"]

_MAX_LINK: Final = 4096
_MAX_HOPS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What was edited."""

    tree: str
    """The tree of the files as they lie."""
    paths: tuple[str, ...]
    """What differs from the start, in visible form and sorted by it."""
    raw_paths: tuple[bytes, ...]
    """The same paths in the same order, as their bytes."""
    faults: tuple[str, ...]
    """Why this must not be committed: a sentence each; none where it may be."""


def take_edits(repository: Repository, start: str, *, objects_dir: Path, own: Sequence[str] = OWN) -> Edits:
    """Write a tree of the files as they lie and compare it with `start`.

    Args:
        repository: whose files.
        start: the full id of the commit or tree that the editor began from.
        objects_dir: takes the new objects, as `snapshot_worktree` has it, and may hold those of `start`.
        own: folders at the top that are never part of it.

    Raises:
        SourceError: a merge is under way, a file cannot be read, or an object is missing or not what its id says.
    """
    snapshot = snapshot_worktree(repository, objects_dir, own=own, start=start)
    with Quarantine(repository, extra=(objects_dir,)) as quarantine:
        objects = quarantine.objects
        pairs = differing(objects, start, snapshot.tree)
        faults = [
            *_misnamed(pairs),
            *_stray_links(objects, start, snapshot.tree, pairs),
            *_nested(repository.top, snapshot, pairs),
            *(f"{path!r} is no file, folder or symbolic link" for path in snapshot.special),
        ]
    faults += _filtered(
        repository, [pair.path for pair in pairs if pair.new and pair.new.mode not in {LINK, SUBMODULE}]
    )
    shown = sorted((visible_path(pair.path), pair.path) for pair in pairs)
    return Edits(
        tree=snapshot.tree,
        paths=tuple(path for path, _ in shown),
        raw_paths=tuple(raw for _, raw in shown),
        faults=tuple(sorted(faults)),
    )


def changed_paths(repository: Repository, old: str, new: str, *, objects_dir: Path) -> tuple[str, ...]:
    """Return the paths at which two commits or trees differ, in visible form, sorted.

    Raises:
        SourceError: an object is missing or not what its id says.
    """
    with Quarantine(repository, extra=(objects_dir,)) as quarantine:
        return tuple(sorted(visible_path(pair.path) for pair in differing(quarantine.objects, old, new)))


def differing(objects: Objects, old: str, new: str) -> tuple[Pair, ...]:
    """Return the entries of two commits or trees that differ.

    Raises:
        SourceError: an object is missing or not what its id says, or a tree names a path twice.
    """
    pairs = changed_pairs(objects, objects.tree_of(old), objects.tree_of(new), limits=Limits())
    for pair in pairs:
        if pair.is_malformed:
            raise SourceError(f"{old} or {new} is malformed at {visible_path(pair.path)!r}", hint="run `git fsck`")
    return pairs


def _misnamed(pairs: Iterable[Pair]) -> Iterator[str]:
    for pair in pairs:
        reason = next(filter(None, map(unsafe, pair.path.split(b"/"))), "") if pair.new else ""
        if reason:
            yield f"{visible_path(pair.path)!r} is not committed: {reason}"


def _nested(top: Path, snapshot: Snapshot, pairs: Iterable[Pair]) -> Iterator[str]:
    """Complain of repositories inside, and of what lies in one that git takes for a plain folder."""
    for path in snapshot.left_out:
        yield f"{path!r} is a repository of its own, without a commit"
    holders = {}
    for pair in pairs:
        if pair.new and pair.new.mode == SUBMODULE:
            yield f"{visible_path(pair.path)!r} is a repository of its own, at commit {pair.new.id}"
        elif pair.new:
            holders.update(dict.fromkeys(_folders(pair.path)))
    for folder in holders:
        if os.path.lexists(os.fsencode(top) + b"/" + folder + b"/.git"):
            yield f"{visible_path(folder)!r} holds changes and is a repository of its own"


def _folders(path: bytes) -> Iterator[bytes]:
    while path := path.rpartition(b"/")[0]:
        yield path


def _filtered(repository: Repository, paths: Sequence[bytes]) -> list[str]:
    if not paths:
        return []
    with open_bench(repository) as bench:
        answer = to_names(bench.run("check-attr", "-z", "--stdin", "filter", stdin=from_names(paths)))
    return [
        f"{visible_path(path)!r} goes through the filter {visible_path(name)!r}, which is not run"
        for path, name in zip(answer[::3], answer[2::3], strict=True)
        if name not in {b"unspecified", b"unset"}
    ]


def _stray_links(objects: Objects, start: str, tree: str, pairs: Iterable[Pair]) -> Iterator[str]:
    """Complain of links that lead where they must not; a link that was turned can lead another one astray."""
    turned = {pair.path for pair in pairs if pair.new and pair.new.mode == LINK}
    if not turned:
        return
    before, after = _Links(objects, objects.tree_of(start)), _Links(objects, tree)
    for path, entry in after.links():
        target = after.target(entry)
        reason = after.astray(path, target)
        if reason and (path in turned or not before.astray(path, target)):
            yield f"{visible_path(path)!r} is a symbolic link to {visible_path(target)!r}, which {reason}"


class _Links:
    """Follows symbolic links inside a tree, without the disk."""

    def __init__(self, objects: Objects, tree: str) -> None:
        self._objects = objects
        self._tree = tree
        self._folders: dict[str, Mapping[bytes, TreeEntry]] = {}

    def links(self) -> Iterator[tuple[bytes, TreeEntry]]:
        """Return every link of the tree with its path."""
        waiting = [(b"", self._tree)]
        while waiting:
            prefix, tree = waiting.pop()
            for name, entry in self._folder(tree).items():
                if entry.mode == FOLDER:
                    waiting.append((prefix + name + b"/", entry.id))
                elif entry.mode == LINK:
                    yield prefix + name, entry

    def target(self, entry: TreeEntry) -> bytes:
        [content] = self._objects.blobs([entry.id], max_size=_MAX_LINK)
        return content

    def astray(self, path: bytes, target: bytes) -> str:
        """Return where a link at `path` leads that it must not, or an empty string."""
        at = path.split(b"/")[:-1]
        waiting = target.split(b"/")[::-1]
        hops = 0
        if target.startswith(b"/"):
            return "is an absolute path"
        while waiting:
            name = waiting.pop()
            if name in {b"", b"."}:
                continue
            if name == b"..":
                if not at:
                    return "leads out of the work tree"
                at.pop()
                continue
            if is_git_folder(name):
                return "leads into a git folder"
            entry = self._entry([*at, name])
            if entry is None or entry.mode != LINK:
                at.append(name)
                continue
            hops += 1
            if hops > _MAX_HOPS:
                return "goes round in a circle"
            further = self.target(entry)
            if further.startswith(b"/"):
                return "leads on to an absolute path"
            waiting += further.split(b"/")[::-1]
        return ""

    def _entry(self, path: Sequence[bytes]) -> TreeEntry | None:
        tree = self._tree
        for name in path[:-1]:
            entry = self._folder(tree).get(name)
            if entry is None or entry.mode != FOLDER:
                return None
            tree = entry.id
        return self._folder(tree).get(path[-1])

    def _folder(self, tree: str) -> Mapping[bytes, TreeEntry]:
        if tree not in self._folders:
            self._folders[tree] = {entry.name: entry for entry in self._objects.tree(tree)}
        return self._folders[tree]
