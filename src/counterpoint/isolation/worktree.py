"""The files as they lie in the work tree: are they all committed, and if not, what tree are they.

Both questions are asked on a `bench`: against a copy of the index, with no filter, hook or monitor. Three things
follow:

- A file that a filter would change on the way in (such as Git LFS) is compared and taken as its bytes on disk.
- An entry marked "assume unchanged", or absent by a sparse checkout and present all the same, is looked at.
- Submodules are looked into by the same means, never by a git started in them.

Source: SPEC D-05, D-06; SECURITY G1 to G8.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.bench import from_names, open_bench, to_names
from counterpoint.isolation.names import visible_path
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.revisions import head_or_none

__all__ = ["OWN", "Snapshot", "Uncommitted", "look_at_worktree", "snapshot_worktree"]

OWN: Final = (".counterpoint",)
"""Folders at the top that are ours and never part of what is judged."""

_MAX_NESTED: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncommitted:
    """What in the work tree no commit holds. Paths are in their visible form."""

    staged: tuple[str, ...] = ()
    unstaged: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    """A folder of nothing but untracked files is named once, with a slash at its end."""
    unmerged: tuple[str, ...] = ()
    submodules: tuple[str, ...] = ()
    """Submodules that stand at another commit or hold uncommitted files."""

    @property
    def is_clean(self) -> bool:
        return not self.paths

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted({*self.staged, *self.unstaged, *self.untracked, *self.unmerged, *self.submodules}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A tree of the files as they lie."""

    tree: str
    left_out: tuple[str, ...]
    """Repositories inside the work tree that have no commit to name."""
    special: tuple[str, ...] = ()
    """Tracked paths where a pipe, a socket or a device lies (with `start`); the tree holds nothing there."""


def look_at_worktree(repository: Repository, *, own: Sequence[str] = OWN) -> Uncommitted:
    """Return what in the work tree no commit holds, ignored files and `own` folders apart.

    Raises:
        SourceError: git cannot read the index or the work tree.
    """
    return _uncommitted(repository, own, depth=0)


def snapshot_worktree(
    repository: Repository, objects_dir: Path, *, own: Sequence[str] = OWN, start: str = ""
) -> Snapshot:
    """Write a tree of all tracked and untracked files as they lie, ignored ones apart, and return its id.

    Args:
        repository: whose files.
        objects_dir: the folder, made if it is not there, that takes the new objects; a quarantine reads the tree
            with `extra=(objects_dir,)`.
        own: folders at the top that are left as the index has them.
        start: the commit or tree that says what is tracked and what `own` folders hold; by default the index does.

    Raises:
        SourceError: a merge is under way, a file cannot be read, or it is none (a pipe) and no `start` was given.
    """
    objects_dir.mkdir(parents=True, exist_ok=True)
    with open_bench(repository) as bench:
        storing = bench.storing(objects_dir)
        if bench.run("ls-files", "-z", "--unmerged"):
            raise SourceError(
                f"{str(repository.top)!r} has files that a merge left in conflict",
                hint="settle the conflicts, or abort the merge",
            )
        if start:
            # Marks stay: a file that a sparse checkout leaves out is not a deleted one.
            bench.run("read-tree", "-m", "-i", start, variables=storing)
        tracked = [path for path in to_names(bench.run("ls-files", "-z", "--cached")) if not _is_own(path, own)]
        special = _special(bench.top, tracked)
        if special and not start:
            raise SourceError(
                f"{visible_path(special[0])!r} is no file, folder or symbolic link", hint="put back what was there"
            )
        gone = {*special, *_beyond_links(bench.top, tracked)}
        if gone:
            bench.run("update-index", "--force-remove", "-z", "--stdin", stdin=from_names(sorted(gone)))
        untracked = [path for path in bench.untracked() if not _is_own(path, own)]
        left_out = [
            path for path in untracked if path.endswith(b"/") and not _has_commit(bench.top / os.fsdecode(path))
        ]
        paths = [path for path in tracked if path not in gone]
        paths += [path.removesuffix(b"/") for path in untracked if path not in set(left_out)]
        how = ("--add", "--remove", "--replace", "--ignore-skip-worktree-entries", "-z", "--stdin")
        bench.run("update-index", *how, stdin=from_names(paths), variables=storing)
        tree = bench.run("write-tree", "--missing-ok", variables=storing).decode("ascii").strip()
    left = tuple(visible_path(path) for path in left_out)
    return Snapshot(tree=tree, left_out=left, special=tuple(visible_path(path) for path in special))


def _special(top: Path, tracked: Iterable[bytes]) -> list[bytes]:
    """Return the tracked paths at which something lies that is no file, folder or link."""
    kinds = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
    found = []
    for path in tracked:
        with suppress(OSError):
            if stat.S_IFMT(os.lstat(os.fsencode(top) + b"/" + path).st_mode) not in kinds:
                found.append(path)
    return found


def _beyond_links(top: Path, tracked: Iterable[bytes]) -> list[bytes]:
    """Return the tracked paths whose folder has become a symbolic link: whatever is seen there is not theirs."""
    leads_away = {b"": False}
    found = []
    for path in tracked:
        folder = b""
        for name in path.split(b"/")[:-1]:
            above, folder = folder, folder + name + b"/"
            if folder not in leads_away:
                leads_away[folder] = leads_away[above] or (top / os.fsdecode(folder)).is_symlink()
        if leads_away[folder]:
            found.append(path)
    return found


def _uncommitted(repository: Repository, own: Sequence[str], *, depth: int) -> Uncommitted:
    found: dict[str, list[str]] = {"staged": [], "unstaged": [], "untracked": [], "unmerged": [], "submodules": []}
    with open_bench(repository) as bench:
        links = {
            line.partition(b"\t")[2]
            for line in to_names(bench.run("ls-files", "-z", "-s"))
            if line.startswith(b"160000")
        }
        options = ("--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
        for line in to_names(bench.run("status", "--porcelain=v1", "-z", *options)):
            if not _is_own(line[3:], own):
                for kind in _kinds(line[:2], is_link=line[3:] in links):
                    found[kind].append(visible_path(line[3:]))
        for link in sorted(links):
            name = visible_path(link)
            if name not in found["submodules"] and _is_dirty_submodule(bench.top / os.fsdecode(link), depth):
                found["submodules"].append(name)
    return Uncommitted(**{kind: tuple(sorted(paths)) for kind, paths in found.items()})


def _kinds(code: bytes, *, is_link: bool) -> Iterator[str]:
    """Say what the two letters of a status line mean."""
    index, files = code[:1], code[1:]
    if code == b"??":
        yield "untracked"
    elif b"U" in code or code in {b"AA", b"DD"}:
        yield "unmerged"
    else:
        if index != b" ":
            yield "staged"
        if files != b" ":
            yield "submodules" if is_link else "unstaged"


def _is_dirty_submodule(folder: Path, depth: int) -> bool:
    if folder.is_symlink() or not os.path.lexists(folder / ".git"):
        return False  # not fetched, or no longer a submodule, which the status line says
    if depth >= _MAX_NESTED:
        return True
    try:
        return not _uncommitted(Repository.find(folder), (), depth=depth + 1).is_clean
    except SourceError:
        return True  # it cannot be looked into, so nobody can say that it is clean


def _has_commit(folder: Path) -> bool:
    try:
        with Quarantine(Repository.find(folder)) as quarantine:
            return head_or_none(quarantine) is not None
    except SourceError:
        return False


def _is_own(path: bytes, own: Sequence[str]) -> bool:
    return path.partition(b"/")[0] in {os.fsencode(folder) for folder in own}
