"""A user's repository, and the quarantine in which git reads it.

A `Repository` is where things lie; nothing of it is trusted. A `Quarantine` is a private bare git folder that borrows
the repository's objects and has nothing else of it: no settings, attributes, hooks, grafts, replacement refs, refs or
index. Where the clone is shallow, the list of cut commits is copied. Object-level commands run there.

The repository's own alternates are followed, as a clone made with `--shared` needs. They can only supply bytes, and
`objects` refuses bytes that do not hash to their id.

Sources: SECURITY B.5, G1 to G11.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from counterpoint.errors import SourceError
from counterpoint.isolation.git import Git, Place
from counterpoint.isolation.objects import Objects

__all__ = ["Quarantine", "Repository", "copy_plain_file", "furnish", "quoted"]

_MAX_COPIED: Final = 1 << 30
_SHALLOW: Final = re.compile(rb"(?:(?:[0-9a-f]{40}|[0-9a-f]{64})\n)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Where a repository lies."""

    git: Git
    top: Path
    """The top folder of the work tree."""
    git_dir: Path
    """Of this work tree: holds HEAD and the index."""
    common_dir: Path
    """Of all its work trees: holds objects and settings."""
    object_format: str
    """`sha1` or `sha256`."""
    scratch: Path | None = None
    """Where quarantines are made; by default the system's temporary folder."""

    @classmethod
    def find(cls, path: Path, *, search: str | None = None) -> "Repository":
        """Find the repository that `path` lies in.

        Args:
            path: a folder in a work tree.
            search: the PATH on which git is looked for; by default that of this process.

        Raises:
            SourceError: there is none, it is bare, its work tree lies elsewhere, or git is missing or too old.
        """
        path = path.absolute()
        if not path.is_dir():
            raise SourceError(f"there is no folder {str(path)!r}", hint="name a folder of the repository with --repo")
        git = Git.find(checkout=_nearest_checkout(path), search=search)
        place = Place(cwd=path)
        _refuse_without_work_tree(git, path)
        top = _path(git.run("rev-parse", "--path-format=absolute", "--show-toplevel", place=place))
        git_dir = _path(git.run("rev-parse", "--path-format=absolute", "--git-dir", place=place))
        common_dir = _path(git.run("rev-parse", "--path-format=absolute", "--git-common-dir", place=place))
        object_format = git.run("rev-parse", "--show-object-format", place=place).decode("ascii").strip()
        # A setting of the repository can name any folder as its work tree.
        seen_from_top = git.run(
            "rev-parse", "--path-format=absolute", "--git-dir", place=Place(cwd=top), accept=(0, 128)
        )
        if _path(seen_from_top) != git_dir or not path.resolve().is_relative_to(top.resolve()):
            raise SourceError(
                f"{str(git_dir)!r} names {str(top)!r} as its work tree, which is not where it was found from",
                hint="take core.worktree out of its settings",
            )
        return cls(git=git, top=top, git_dir=git_dir, common_dir=common_dir, object_format=object_format)

    @property
    def place(self) -> Place:
        return Place(cwd=self.top)

    @property
    def is_shallow(self) -> bool:
        return (self.common_dir / "shallow").is_file()

    @property
    def objects_dir(self) -> Path:
        return self.common_dir / "objects"


def _nearest_checkout(path: Path) -> Path:
    path = path.resolve()
    return next((folder for folder in (path, *path.parents) if os.path.lexists(folder / ".git")), path)


def _refuse_without_work_tree(git: Git, path: Path) -> None:
    try:
        answer = git.run("rev-parse", "--is-inside-work-tree", "--is-bare-repository", place=Place(cwd=path)).split()
    except SourceError as error:
        if "not a git repository" not in str(error):
            raise
        raise SourceError(
            f"{str(path)!r} is in no git repository",
            hint="go to one, or name one with --repo; `git init` begins one",
        ) from None
    if answer == [b"true", b"false"]:
        return
    if answer[1] == b"true":
        raise SourceError(
            f"the repository at {str(path)!r} is bare: it has no work tree",
            hint="clone it, and name the clone with --repo",
        )
    raise SourceError(f"{str(path)!r} is inside a git folder", hint="name the work tree with --repo")


def _path(line: bytes) -> Path:
    return Path(os.fsdecode(line.removesuffix(b"\n")))


def copy_plain_file(source: Path, target: Path) -> bool:
    """Copy a regular file with its times; return whether it was there. A pipe or a device is refused unread."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SourceError(f"{str(source)!r} cannot be read: {error.strerror}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_COPIED:
            raise SourceError(f"{str(source)!r} is not a file of at most {_MAX_COPIED} bytes")
        with os.fdopen(descriptor, "rb", closefd=False) as opened, target.open("xb") as copy:
            shutil.copyfileobj(opened, copy)
    finally:
        os.close(descriptor)
    # The index decides by its own time which files it has to compare by content.
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))
    return True


class Quarantine:
    """A private git folder that borrows a repository's objects. Use it in a `with` statement."""

    def __init__(self, repository: Repository, *, extra: Sequence[Path] = (), parent: Path | None = None) -> None:
        """Make it.

        Args:
            repository: whose objects are borrowed.
            extra: more object folders to borrow from, such as that of a snapshot.
            parent: the folder it is made in; by default the repository's `scratch`.
        """
        self.repository = repository
        self.folder = Path(tempfile.mkdtemp(prefix="counterpoint-git-", dir=parent or repository.scratch))
        self._objects: Objects | None = None
        try:
            self._furnish([repository.objects_dir, *extra])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def git(self) -> Git:
        return self.repository.git

    @property
    def place(self) -> Place:
        return Place(cwd=self.folder, variables={"GIT_DIR": str(self.folder)})

    @property
    def objects(self) -> Objects:
        """The reader of its objects, each re-hashed."""
        if self._objects is None:
            self._objects = Objects(self.git, self.place, object_format=self.repository.object_format)
        return self._objects

    def close(self) -> None:
        if self._objects is not None:
            self._objects.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _furnish(self, lenders: Sequence[Path]) -> None:
        furnish(self.folder, object_format=self.repository.object_format)
        alternates = b"".join(quoted(lender.absolute()) + b"\n" for lender in lenders)
        (self.folder / "objects" / "info" / "alternates").write_bytes(alternates)
        shallow = self.folder / "shallow"
        copied = copy_plain_file(self.repository.common_dir / "shallow", shallow)
        if copied and not _SHALLOW.fullmatch(shallow.read_bytes()):
            raise SourceError(f"{str(self.repository.common_dir / 'shallow')!r} is not a list of commits")


def furnish(folder: Path, *, object_format: str) -> None:
    """Make `folder` an empty bare git folder, without git and without a template."""
    for inner in ("objects/info", "objects/pack", "refs"):
        (folder / inner).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    extension = f"[extensions]\n\tobjectformat = {object_format}\n" if object_format != "sha1" else ""
    version = 1 if extension else 0
    (folder / "config").write_text(f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{extension}")


def quoted(path: Path) -> bytes:
    """Return `path` as git reads it in a list of object folders, whatever is in its name."""
    # Git reads a line that begins with a double quote as a C string, which can name any folder.
    plain = range(0x20, 0x7F)
    raw = os.fsencode(path)
    return b'"%s"' % b"".join(
        bytes([byte]) if byte in plain and byte not in b'"\\' else b"\\%03o" % byte for byte in raw
    )
