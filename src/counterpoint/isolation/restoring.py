"""Putting the work tree back from one tree to another, path by path.

- Nothing is overwritten or deleted that `present` does not hold: the files are looked at as a whole before the first
  is touched, and each once more when its turn comes.
- What is ignored stays, also what only the ignore lists of the wanted tree name.
- Files get the line endings that a checkout gives them, by the wanted tree's attributes. No filter runs.
- No symbolic link is followed. Everything is reached from the top folder, one folder at a time.

Source: DESIGN "Work trees"; SECURITY B.5, R21.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.bench import Bench, from_names, open_bench, to_names
from counterpoint.isolation.edits import differing
from counterpoint.isolation.names import is_git_folder, visible_path
from counterpoint.isolation.objects import LINK, SUBMODULE
from counterpoint.isolation.pairs import Pair
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.worktree import OWN, snapshot_worktree

__all__ = ["restore"]

_MAX_BLOB: Final = 1 << 30
_EXECUTABLE: Final = 0o111
_Signature = tuple[int, ...] | None
"""What tells a file from a later one at the same path; `None` where no file and no link is."""


def restore(
    repository: Repository, *, present: str, wanted: str, objects_dir: Path, own: Sequence[str] = OWN
) -> tuple[str, ...]:
    """Make the work tree hold `wanted` where it differs from `present`, and return the paths put back.

    Args:
        repository: whose files.
        present: a tree of the files as they lie, as `take_edits` has it.
        wanted: the full id of the commit or tree to go back to.
        objects_dir: holds the objects of both that the repository has not.
        own: as `take_edits`.

    Raises:
        SourceError: a path holds something else than `present` says, a repository inside would have to go, or the
            disk refuses. Then call again with a fresh `present`.
    """
    with Quarantine(repository, extra=(objects_dir,)) as quarantine:
        pairs = differing(quarantine.objects, present, wanted)
    if not pairs:
        return ()
    for pair in pairs:
        _refuse_unreachable(pair)
    root = os.open(repository.top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        seen = {pair.path: _signature(root, pair.path) for pair in pairs}
        fresh = snapshot_worktree(repository, objects_dir, own=own, start=present).tree
        with open_bench(repository, extra=(objects_dir,)) as bench:
            _refuse_changed(bench, pairs, seen, present=present, fresh=fresh)
            with _wanted_files(bench, pairs, wanted) as (files, ignored):
                done = {pair.path for pair in pairs} - ignored
                for pair in pairs:
                    if pair.new is None and pair.path in done:
                        _delete(root, pair.path, seen[pair.path])
                for pair in pairs:
                    if pair.new is not None:
                        _put(root, pair, files[pair.path], seen[pair.path])
    finally:
        os.close(root)
    return tuple(sorted(map(visible_path, done)))


def _refuse_unreachable(pair: Pair) -> None:
    name = visible_path(pair.path)
    if any(part in {b"", b".", b".."} or is_git_folder(part) for part in pair.path.split(b"/")):
        raise SourceError(f"{name!r} is not a path that files are put back to")
    if any(side.mode == SUBMODULE for side in pair.sides):
        raise SourceError(
            f"{name!r} is a repository of its own, added, moved or removed",
            hint="move it out of the work tree, or put it back where it was by hand",
        )


def _refuse_changed(
    bench: Bench, pairs: Sequence[Pair], seen: Mapping[bytes, _Signature], *, present: str, fresh: str
) -> None:
    moved = {pair.path for pair in differing(bench.objects, present, fresh)}
    for pair in pairs:
        if pair.path in moved or (pair.old is None and seen[pair.path] is not None):
            raise _not_as_told(pair.path)


def _not_as_told(path: bytes) -> SourceError:
    return SourceError(
        f"{visible_path(path)!r} is not as it was when the work tree was looked at",
        hint="end what still edits there, then resume",
    )


@contextmanager
def _wanted_files(
    bench: Bench, pairs: Sequence[Pair], wanted: str
) -> Iterator[tuple[Mapping[bytes, Path | bytes], frozenset[bytes]]]:
    """Return each wanted file, as a link's target or as a file that holds its bytes, and which paths are ignored."""
    empty = bench.quarantine.folder / "files"
    empty.mkdir()
    variables = {**bench.place.variables, "GIT_WORK_TREE": str(empty)}
    apart = replace(bench, place=replace(bench.place, cwd=empty, variables=variables))
    apart.run("read-tree", wanted)
    entries = [(pair.path, pair.new) for pair in pairs if pair.new is not None]
    files: dict[bytes, Path | bytes] = {}
    # Every content is re-hashed here; git writes the files from the same objects.
    contents = bench.objects.blobs((entry.id for _, entry in entries), max_size=_MAX_BLOB)
    for (path, entry), content in zip(entries, contents, strict=True):
        if entry.mode == LINK:
            files[path] = content
    plain = [path for path, entry in entries if entry.mode != LINK]
    for line in to_names(apart.run("checkout-index", "--temp", "-z", "--stdin", stdin=from_names(plain))):
        name, _, path = line.partition(b"\t")
        files[path] = empty / os.fsdecode(name)
    yield files, _ignored(apart, [pair.path for pair in pairs if pair.new is None])


def _ignored(apart: Bench, paths: Sequence[bytes]) -> frozenset[bytes]:
    """Return which of the paths the wanted tree's own lists ignore."""
    lists = [path for path in to_names(apart.run("ls-files", "-z")) if path.rpartition(b"/")[2] == b".gitignore"]
    # With this mark git reads them from the index.
    apart.run("update-index", "--skip-worktree", "-z", "--stdin", stdin=from_names(lists))
    return frozenset(to_names(apart.run("check-ignore", "-z", "--stdin", stdin=from_names(paths), accept=(0, 1))))


def _delete(root: int, path: bytes, seen: _Signature) -> None:
    if seen is None:
        return  # a sparse checkout leaves it out
    folder, _, name = path.rpartition(b"/")
    with _told(path), _opened(root, folder) as parent:
        _expect(root, path, seen)
        os.unlink(name, dir_fd=parent)
    with suppress(OSError):  # the first folder that is not empty ends it
        while folder:
            above, _, name = folder.rpartition(b"/")
            with _opened(root, above) as parent:
                os.rmdir(name, dir_fd=parent)
            folder = above


def _put(root: int, pair: Pair, content: Path | bytes, seen: _Signature) -> None:
    assert pair.new is not None
    folder, _, name = pair.path.rpartition(b"/")
    passing = f".counterpoint-{secrets.token_hex(8)}"
    with _told(pair.path), _opened(root, folder, make=True) as parent:
        if isinstance(content, bytes):
            os.symlink(content, passing, dir_fd=parent)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            mode = 0o666 | (pair.new.mode & _EXECUTABLE)
            with content.open("rb") as source, os.fdopen(os.open(passing, flags, mode, dir_fd=parent), "wb") as file:
                shutil.copyfileobj(source, file)
        try:
            _expect(root, pair.path, seen)
            if _is_folder(parent, name):
                os.rmdir(name, dir_fd=parent)
            os.rename(passing, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            os.unlink(passing, dir_fd=parent)
            raise


@contextmanager
def _told(path: bytes) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SourceError(
            f"{visible_path(path)!r} cannot be put back: {error.strerror}",
            hint="move away what lies there and is ignored by git, or give write permission; then resume",
        ) from None


@contextmanager
def _opened(root: int, folder: bytes, *, make: bool = False) -> Iterator[int]:
    """Open a folder below `root`, of which no part may be a link."""
    at = os.dup(root)
    try:
        for name in folder.split(b"/") if folder else ():
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=at)
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
        yield at
    finally:
        os.close(at)


def _signature(root: int, path: bytes) -> _Signature:
    folder, _, name = path.rpartition(b"/")
    try:
        with _opened(root, folder) as parent:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return None
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        return None
    return (found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _expect(root: int, path: bytes, seen: _Signature) -> None:
    if _signature(root, path) != seen:
        raise _not_as_told(path)


def _is_folder(parent: int, name: bytes) -> bool:
    with suppress(FileNotFoundError):
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    return False
