"""The files as they lie in the work tree: are they all committed, and if not, what tree are they.

Both questions are asked in a quarantine, against a copy of the index and with none of the repository's settings but a
short list that starts nothing (`_PASSIVE`). So no filter, hook or monitor runs, and the repository's own index and
objects are never written. Three things follow:

- A file that a filter would change on the way in (such as Git LFS) is compared and taken as its bytes on disk.
- An entry marked "assume unchanged", or absent by a sparse checkout and present all the same, is looked at.
- Submodules are looked into by the same means, never by a git started in them.

Source: SPEC D-05, D-06; SECURITY G1 to G8.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.git import Place
from counterpoint.isolation.names import visible_path
from counterpoint.isolation.repository import Quarantine, Repository, copy_plain_file, quoted
from counterpoint.isolation.revisions import head_or_none

__all__ = ["OWN", "Snapshot", "Uncommitted", "look_at_worktree", "snapshot_worktree"]

OWN: Final = (".counterpoint",)
"""Folders at the top that are ours and never part of what is judged."""

_PASSIVE: Final = frozenset(
    {
        "core.autocrlf",
        "core.checkstat",
        "core.eol",
        "core.excludesfile",
        "core.filemode",
        "core.ignorecase",
        "core.precomposeunicode",
        "core.symlinks",
        "core.trustctime",
    }
)
_MAX_NESTED: Final = 8
_TIMEOUT_S: Final = 600.0


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


def look_at_worktree(repository: Repository, *, own: Sequence[str] = OWN) -> Uncommitted:
    """Return what in the work tree no commit holds, ignored files and `own` folders apart.

    Raises:
        SourceError: git cannot read the index or the work tree.
    """
    return _uncommitted(repository, own, depth=0)


def snapshot_worktree(repository: Repository, objects_dir: Path, *, own: Sequence[str] = OWN) -> Snapshot:
    """Write a tree of all tracked and untracked files as they lie, ignored ones apart, and return its id.

    Args:
        repository: whose files.
        objects_dir: the folder, made if it is not there, that takes the new objects; a quarantine reads the tree
            with `extra=(objects_dir,)`.
        own: folders at the top that are left as the index has them.

    Raises:
        SourceError: a merge is under way, or a file cannot be read.
    """
    objects_dir.mkdir(parents=True, exist_ok=True)
    with _bench(repository) as bench:
        if bench.run("ls-files", "-z", "--unmerged"):
            raise SourceError(
                f"{str(repository.top)!r} has files that a merge left in conflict",
                hint="settle the conflicts, or abort the merge",
            )
        tracked = [path for path in _split(bench.run("ls-files", "-z", "--cached")) if not _is_own(path, own)]
        untracked = [path for path in bench.untracked() if not _is_own(path, own)]
        left_out = [
            path for path in untracked if path.endswith(b"/") and not _has_commit(bench.top / os.fsdecode(path))
        ]
        paths = [*tracked, *(path.removesuffix(b"/") for path in untracked if path not in set(left_out))]
        storing = {
            "GIT_OBJECT_DIRECTORY": str(objects_dir.absolute()),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.fsdecode(quoted(repository.objects_dir)),
        }
        how = ("--add", "--remove", "--replace", "--ignore-skip-worktree-entries", "-z", "--stdin")
        bench.run("update-index", *how, stdin=_joined(paths), variables=storing)
        tree = bench.run("write-tree", "--missing-ok", variables=storing).decode("ascii").strip()
    return Snapshot(tree=tree, left_out=tuple(visible_path(path) for path in left_out))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """A quarantine with a copy of the index, over the repository's work tree."""

    quarantine: Quarantine
    place: Place

    @property
    def top(self) -> Path:
        return self.quarantine.repository.top

    def run(self, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
        place = replace(self.place, variables={**self.place.variables, **(variables or {})})
        return self.quarantine.git.run(*arguments, place=place, stdin=stdin, timeout_s=_TIMEOUT_S)

    def untracked(self) -> tuple[bytes, ...]:
        return _split(self.run("ls-files", "-z", "--others", "--exclude-standard"))


@contextmanager
def _bench(repository: Repository) -> Iterator[_Bench]:
    with Quarantine(repository) as quarantine:
        folder = quarantine.folder
        copy_plain_file(repository.git_dir / "index", folder / "index")
        for shared in repository.git_dir.glob("sharedindex.*"):
            copy_plain_file(shared, folder / shared.name)
        (folder / "info").mkdir()
        copy_plain_file(repository.common_dir / "info" / "exclude", folder / "info" / "exclude")
        commit = head_or_none(quarantine)
        if commit:
            (folder / "HEAD").write_text(f"{commit}\n")
        variables = {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(repository.top)}
        place = Place(cwd=repository.top, variables=variables, settings=_passive_settings(repository))
        bench = _Bench(quarantine=quarantine, place=place)
        _clear_marks(bench)
        yield bench


def _clear_marks(bench: _Bench) -> None:
    """Make the copied index look at every file that is there."""
    marked = [(line[:1], line[2:]) for line in _split(bench.run("ls-files", "-z", "-v"))]
    assumed = [path for mark, path in marked if mark.islower()]
    skipped = [
        path for mark, path in marked if mark in b"Ss" and os.path.lexists(os.fsencode(bench.top) + b"/" + path)
    ]
    for option, paths in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
        if paths:
            bench.run("update-index", option, "-z", "--stdin", stdin=_joined(paths))


def _uncommitted(repository: Repository, own: Sequence[str], *, depth: int) -> Uncommitted:
    found: dict[str, list[str]] = {"staged": [], "unstaged": [], "untracked": [], "unmerged": [], "submodules": []}
    with _bench(repository) as bench:
        links = {
            line.partition(b"\t")[2]
            for line in _split(bench.run("ls-files", "-z", "-s"))
            if line.startswith(b"160000")
        }
        options = ("--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
        for line in _split(bench.run("status", "--porcelain=v1", "-z", *options)):
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


def _passive_settings(repository: Repository) -> dict[str, str]:
    """Return what decides how files on disk are compared: the user's settings, then the repository's."""
    home = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME")}
    ours = dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"))
    of_user = Place(cwd=Path("/"), variables={**home, **ours})
    found = {"core.excludesfile": "~/.config/git/ignore"}
    if config_home := home["XDG_CONFIG_HOME"]:
        found["core.excludesfile"] = f"{config_home}/git/ignore"
    for place in (of_user, repository.place):
        entries = _split(repository.git.run("config", "--list", "--show-scope", "-z", place=place))
        for scope, entry in zip(entries[::2], entries[1::2], strict=True):
            key, has_value, value = os.fsdecode(entry).partition("\n")
            if scope != b"command" and key in _PASSIVE:
                found[key] = value if has_value else "true"
    with suppress(RuntimeError):  # nobody's home
        found["core.excludesfile"] = str(Path(found["core.excludesfile"] or os.devnull).expanduser())
    return found


def _is_own(path: bytes, own: Sequence[str]) -> bool:
    return path.partition(b"/")[0] in {os.fsencode(folder) for folder in own}


def _split(output: bytes) -> tuple[bytes, ...]:
    return tuple(output.split(b"\0")[:-1])


def _joined(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)
