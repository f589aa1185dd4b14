"""Bringing a made commit into the user's repository: its objects, then the branch, then the index.

Each step is complete before the next begins and each can be repeated, so that a call after a kill finishes what is
missing. The branch moves only from the parent to the commit. In the index only the paths that differ between the two
are set; their times are left open, so that git compares the files themselves when it looks next.

Source: SPEC D-16; DESIGN "Work trees"; SECURITY B.5.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.bench import open_bench, to_names
from counterpoint.isolation.commits import Identity, make_commit
from counterpoint.isolation.edits import differing
from counterpoint.isolation.git import Place
from counterpoint.isolation.gitstate import own_place
from counterpoint.isolation.objects import SUBMODULE, Objects
from counterpoint.isolation.pairs import Pair
from counterpoint.isolation.repository import Quarantine, Repository

__all__ = ["keep", "land", "staged_apart", "unstage"]

_REF: Final = re.compile(r"refs/counterpoint(/(?!\.)[A-Za-z0-9._-]{1,128}(?<!\.)(?<!\.lock)){2,6}")
_MAX_KEPT: Final = 1000
_MAX_PACK: Final = 1 << 30
_MAX_BLOB: Final = 1 << 30
_BY: Final = re.compile(rb"committer (?P<name>[^<>\n]*) <(?P<email>[^<>\n]*)> (?P<at>[0-9]+ [+-][0-9]{4})\Z")
_TIMEOUT_S: Final = 600.0


def land(repository: Repository, *, commit: str, parent: str, objects_dir: Path) -> None:
    """Move HEAD, on its branch or detached, from `parent` to `commit`, and the index with it.

    Args:
        repository: whose HEAD.
        commit: the full id of a commit, in `objects_dir` or already here.
        parent: the full id of its only parent, where HEAD stands now; if HEAD stands at `commit`, the index is done.
        objects_dir: holds the objects that are new.

    Raises:
        SourceError: HEAD stands elsewhere, another git is at work, or an object is missing or not what its id says.
            What was done stays, and the same call finishes it later.
    """
    head = _read(repository, "HEAD")
    if head not in {parent, commit}:
        raise _elsewhere(repository, head, parent=parent, commit=commit)
    _refuse_locked_index(repository)
    with Quarantine(repository, extra=(objects_dir,)) as quarantine:
        pairs = differing(quarantine.objects, parent, commit)
    if head != commit:
        _bring(repository, commit, parent, objects_dir)
        _move_head(repository, commit=commit, parent=parent)
    _agree_index(repository, commit, pairs)


def keep(
    repository: Repository,
    *,
    tree: str,
    parent: str,
    ref: str,
    message: str,
    who: Identity,
    at: datetime,
    objects_dir: Path,
) -> str:
    """Commit `tree` on `parent` under a ref of its own, out of every branch, and return the ref's name.

    A ref that is there and holds this tree is left and returned. One that holds another is left too, and the first
    of `<ref>-2`, `<ref>-3`, … that is free is taken.

    Raises:
        SourceError: the name is not one under `refs/counterpoint/`, or an object is missing or not what its id says.
    """
    if not _REF.fullmatch(ref) or ".." in ref:
        raise SourceError(
            f"{ref!r} is not a ref of ours",
            hint="name it refs/counterpoint/<case>/<turn>, with letters, digits, dot, dash and underscore",
        )
    for number in range(1, _MAX_KEPT):
        name = ref if number == 1 else f"{ref}-{number}"
        found = _read(repository, name)
        if not found:
            break
        with Quarantine(repository) as quarantine:
            if quarantine.objects.tree_of(found) == tree:
                return name
    else:
        raise SourceError(f"{ref!r} and {_MAX_KEPT - 2} after it are taken", hint="delete those you do not need")
    commit = make_commit(
        repository, parent=parent, tree=tree, message=message, who=who, at=at, objects_dir=objects_dir
    )
    _bring(repository, commit, parent, objects_dir)
    _update_ref(repository, name, new=commit, old="0" * len(commit), why="kept")
    return name


def _bring(repository: Repository, commit: str, parent: str, objects_dir: Path) -> None:
    """Copy what `commit` has and `parent` has not into the repository, and read all of it back."""
    with Quarantine(repository, extra=(objects_dir,)) as quarantine:
        content = quarantine.objects.commit(commit)
        if _parents(content) != [parent]:
            raise SourceError(f"commit {commit} has the parents {_parents(content)}; expected {[parent]}")
        wanted = f"{commit}\n^{parent}\n".encode()
        how = ("--revs", "--stdout", "-q", "--no-reuse-delta", "--no-reuse-object")
        git, place = quarantine.git, quarantine.place
        pack = git.run("pack-objects", *how, place=place, stdin=wanted, max_output=_MAX_PACK, timeout_s=_TIMEOUT_S)
        settings = {"core.fsync": "all", **_shared(repository)}
        variables = {**place.variables, "GIT_OBJECT_DIRECTORY": str(repository.objects_dir)}
        into = replace(place, variables=variables, settings=settings)
        git.run("unpack-objects", "-q", place=into, stdin=pack, timeout_s=_TIMEOUT_S)
    with Quarantine(repository) as quarantine:
        _read_back(quarantine.objects, commit, parent)


def _read_back(objects: Objects, commit: str, parent: str) -> None:
    pairs = differing(objects, parent, commit)
    entries = [pair.new for pair in pairs if pair.new and pair.new.mode != SUBMODULE]
    for _ in objects.blobs((entry.id for entry in entries), max_size=_MAX_BLOB):
        pass


def _shared(repository: Repository) -> dict[str, str]:
    """Return the setting that says who else may write the repository's objects."""
    key = "core.sharedRepository"
    value = repository.git.run("config", "--get", key, place=own_place(repository), accept=(0, 1))
    return {key: os.fsdecode(value).rstrip("\n")} if value else {}


def _parents(content: bytes) -> list[str]:
    lines = content.partition(b"\n\n")[0].split(b"\n")[1:]
    return [line.removeprefix(b"parent ").decode("ascii", "replace") for line in lines if line.startswith(b"parent ")]


def _move_head(repository: Repository, *, commit: str, parent: str) -> None:
    try:
        _update_ref(repository, "HEAD", new=commit, old=parent, why="commit")
    except SourceError as error:
        head = _read(repository, "HEAD")
        if head != parent:
            raise _elsewhere(repository, head, parent=parent, commit=commit) from None
        raise SourceError(
            f"HEAD could not be moved: {error}",
            hint="if no other git is at work, remove the lock file that it names; then resume",
        ) from None


def _elsewhere(repository: Repository, head: str, *, parent: str, commit: str) -> SourceError:
    return SourceError(
        f"HEAD of {str(repository.top)!r} stands at {head or 'no commit'}; expected {parent}, to move it to {commit}",
        hint=f"go back with `git switch` or `git reset --soft {parent}`, then resume",
    )


def _update_ref(repository: Repository, ref: str, *, new: str, old: str, why: str) -> None:
    with Quarantine(repository) as quarantine:
        header, _, message = quarantine.objects.commit(new).partition(b"\n\n")
    signed = next(filter(None, map(_BY.match, header.split(b"\n"))), None)
    assert signed, "a commit that we made names its committer"
    variables = {f"GIT_COMMITTER_{what.upper()}": os.fsdecode(signed[what]) for what in ("name", "email")}
    variables["GIT_COMMITTER_DATE"] = os.fsdecode(signed["at"])
    place = _writing_place(repository, variables)
    subject = message.partition(b"\n")[0].decode("utf-8", "replace")
    repository.git.run("update-ref", "-m", f"{why} (counterpoint): {subject}", ref, new, old, place=place)


def _read(repository: Repository, ref: str) -> str:
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", ref)
    # 128: HEAD of a branch without a commit, or a ref that is broken.
    return repository.git.run(*arguments, place=own_place(repository), accept=(0, 1, 128)).decode("ascii").strip()


def _writing_place(repository: Repository, variables: dict[str, str] | None = None) -> Place:
    """Return where refs and the index are written: no hook, and no cache of the index thrown away."""
    place = own_place(repository)
    settings = {"core.untrackedCache": "keep", "core.fsync": "all"}
    switched_off = _no_configured_hooks(repository)
    return replace(place, variables={**place.variables, **switched_off, **(variables or {})}, settings=settings)


def _no_configured_hooks(repository: Repository) -> dict[str, str]:
    """Return variables that switch off each hook which the repository's settings define (git 2.54)."""
    keys = repository.git.run("config", "--list", "--name-only", "-z", place=own_place(repository))
    names = {key.rpartition(b".")[0] for key in to_names(keys) if key.startswith(b"hook.") and key.count(b".") > 1}
    found: dict[str, str] = {}
    # Not on the command line, where an equals sign in a name would end it.
    switches = [(name, switch) for name in sorted(names) for switch in ((b"event", ""), (b"enabled", "false"))]
    for number, (name, (key, value)) in enumerate(switches):
        found[f"GIT_CONFIG_KEY_{number}"] = os.fsdecode(name + b"." + key)
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return {**found, "GIT_CONFIG_COUNT": str(len(switches))}


def _refuse_locked_index(repository: Repository) -> None:
    lock = repository.git_dir / "index.lock"
    if os.path.lexists(lock):
        raise SourceError(
            f"another git is at work in {str(repository.top)!r}: {str(lock)!r} is there",
            hint="wait until it has ended, or remove that file if none is at work; then resume",
        )


def staged_apart(repository: Repository, *, files: str, objects_dir: Path) -> str:
    """Return a tree of the index if something is staged that neither HEAD nor the tree `files` has, else ""."""
    with open_bench(repository) as bench:
        tree = bench.run("write-tree", "--missing-ok", variables=bench.storing(objects_dir)).decode("ascii").strip()
    head = _read(repository, "HEAD")
    with Quarantine(repository, extra=(objects_dir,)) as quarantine:
        of_head, of_files = (
            {pair.path for pair in differing(quarantine.objects, known, tree) if pair.new} for known in (head, files)
        )
    return tree if of_head & of_files else ""


def unstage(repository: Repository, commit: str) -> None:
    """Make the index agree with a commit wherever it does not, for a work tree that was put back to it.

    Raises:
        SourceError: another git holds the index.
    """
    how = ("--cached", "--no-renames", "--no-ext-diff", "--raw", "--no-abbrev", "-z")
    with open_bench(repository) as bench:
        found = to_names(bench.run("diff-index", *how, commit))
    lines = []
    for about, path in zip(found[::2], found[1::2], strict=True):
        mode, _, object_id = about.removeprefix(b":").split(b" ")[:3]
        lines.append(b"%s %s\t%s\0" % (mode.lstrip(b"0") or b"0", object_id, path))
    _write_index(repository, lines)


def _agree_index(repository: Repository, commit: str, pairs: Iterable[Pair]) -> None:
    """Set the index entries of the paths that the commit changed, where they are not yet what it holds."""
    how = ("--cached", "--ita-invisible-in-index", "--no-renames", "--no-ext-diff", "--name-only", "-z")
    with open_bench(repository) as bench:
        behind = frozenset(to_names(bench.run("diff-index", *how, commit)))
    zero = b"0" * len(commit)
    pairs = [pair for pair in pairs if pair.path in behind]
    gone = [b"0 %s\t%s\0" % (zero, pair.path) for pair in pairs if pair.new is None]
    there = [
        b"%06o %s 0\t%s\0" % (pair.new.mode, pair.new.id.encode("ascii"), pair.path) for pair in pairs if pair.new
    ]
    _write_index(repository, [*gone, *there])


def _write_index(repository: Repository, lines: Sequence[bytes]) -> None:
    if not lines:
        return
    place = _writing_place(repository)
    feed = b"".join(lines)
    try:
        repository.git.run("update-index", "-z", "--index-info", place=place, stdin=feed, timeout_s=_TIMEOUT_S)
    except SourceError:
        _refuse_locked_index(repository)
        raise
