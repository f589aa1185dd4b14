"""What of a git folder must not change while an editor works in its work tree: HEAD, settings, hooks, attributes.

Everything in it that decides what git does, and nothing of what an editor's own git may write meanwhile: index, logs,
objects, other branches and what is fetched are not looked at. Files are read without git, up to a size, and nothing
that is no plain file is opened. A symbolic link counts as its target's name; behind one that stands in the place of a
single file, such as `config`, the content counts too.

`core.codec` takes a `GitState` to JSON and back.

Source: SPEC D-16; SECURITY B.5.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.git import Place
from counterpoint.isolation.names import visible_path
from counterpoint.isolation.repository import Repository

__all__ = ["GitState", "GuardedFile", "differences", "look_at_git", "own_place"]

_FILES: Final = ("config", "config.worktree", "objects/info/alternates", "shallow", "commondir", "gitdir")
_FOLDERS: Final = ("hooks", "info")
_WRITTEN_BY_GC: Final = Path("info", "refs")
"""A listing for dumb transports, which decides nothing here."""
_MAX_FILES: Final = 2000
_MAX_READ: Final = 4 << 20
_CHUNK: Final = 1 << 18
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedFile:
    """A file of the git folder, its path in visible form."""

    path: str
    digest: str
    """SHA-256 over its kind, whether it is executable, and its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState:
    """What `look_at_git` saw."""

    head: str
    """The commit's full id, or "" before the first one."""
    branch: str
    """The ref that HEAD stands on, or "" where it is detached."""
    files: tuple[GuardedFile, ...]


def own_place(repository: Repository) -> Place:
    """Return where git works in the repository's own folder, whatever lies at `.git` by now."""
    return replace(
        repository.place, variables={"GIT_DIR": str(repository.git_dir), "GIT_WORK_TREE": str(repository.top)}
    )


def look_at_git(repository: Repository) -> GitState:
    """Return where HEAD stands and a digest of each guarded file.

    Raises:
        SourceError: HEAD or a folder cannot be read, or there are more files than are looked at.
    """
    git, place = repository.git, own_place(repository)
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD", place=place, accept=(0, 1))
    branch = git.run("symbolic-ref", "--quiet", "HEAD", place=place, accept=(0, 1))
    found = {path: _digest(file, follow=follow) for path, file, follow in _guarded(repository)}
    files = tuple(GuardedFile(path=visible_path(path), digest=found[path]) for path in sorted(found) if found[path])
    return GitState(head=head.decode("ascii").strip(), branch=visible_path(branch.removesuffix(b"\n")), files=files)


def differences(before: GitState, after: GitState) -> tuple[str, ...]:
    """Return a sentence for each thing that differs."""
    said = []
    if before.branch != after.branch:
        said.append(f"HEAD left {before.branch or 'its commit'!r} for {after.branch or 'a commit of its own'!r}")
    if before.head != after.head:
        said.append(f"HEAD moved from {before.head[:_SHOWN] or 'nothing'} to {after.head[:_SHOWN] or 'nothing'}")
    old, new = ({file.path: file.digest for file in state.files} for state in (before, after))
    for path in sorted(old.keys() | new.keys()):
        if path not in old:
            said.append(f"{path!r} of the git folder was added")
        elif path not in new:
            said.append(f"{path!r} of the git folder was deleted")
        elif old[path] != new[path]:
            said.append(f"{path!r} of the git folder was changed")
    return tuple(said)


def _guarded(repository: Repository) -> Iterator[tuple[bytes, Path, bool]]:
    """Name each guarded file, where it lies, and whether a link there is followed."""
    yield b".git", repository.top / ".git", False
    for folder in dict.fromkeys((repository.common_dir, repository.git_dir)):
        prefix = b""
        if folder != repository.common_dir:
            prefix = os.fsencode(os.path.relpath(folder, repository.common_dir)) + b"/"
        for name in _FILES:
            yield prefix + name.encode(), folder / name, True
        for name in _FOLDERS:
            for path in _below(folder / name):
                if path == folder / _WRITTEN_BY_GC:
                    continue
                yield prefix + os.fsencode(path.relative_to(folder)), path, False


def _below(top: Path) -> Iterator[Path]:
    """Name what lies below a folder and is none; a link or a file in its place is named itself."""
    waiting = [top]
    found = 0
    while waiting:
        path = waiting.pop()
        if path.is_symlink() or not path.is_dir():
            yield path
            continue
        try:
            waiting += path.iterdir()
        except OSError as error:
            raise SourceError(f"{str(path)!r} cannot be read: {error.strerror}") from None
        found += 1
        if found + len(waiting) > _MAX_FILES:
            raise SourceError(
                f"{str(top)!r} holds more than {_MAX_FILES} files", hint="take out of it what git does not use"
            )


def _digest(path: Path, *, follow: bool) -> str:
    """Return the digest of what lies at `path`, or "" if nothing does."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    hasher = hashlib.sha256(f"{stat.S_IFMT(found.st_mode):o} {found.st_mode & 0o111:o}\n".encode())
    if stat.S_ISLNK(found.st_mode):
        hasher.update(os.fsencode(path.readlink()) + b"\0")
    if not stat.S_ISDIR(found.st_mode) and (follow or not stat.S_ISLNK(found.st_mode)):
        _add_content(hasher, path)
    return hasher.hexdigest()


def _add_content(hasher: "hashlib._Hash", path: Path) -> None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        hasher.update(f"unread {error.errno}".encode())
        return
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        left = _MAX_READ
        while left and (chunk := file.read(min(left, _CHUNK))):
            hasher.update(chunk)
            left -= len(chunk)
        if not left:
            # The rest is not read. Nobody sets this time by hand.
            hasher.update(f"{found.st_size} {found.st_ctime_ns}".encode())
