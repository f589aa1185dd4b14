"""One commit's or tree's files on disk, from its objects alone: no checkout, attribute, filter, hook or index.

- Every object is re-hashed. What lies in the export is what the id names, or it is listed as withheld with a reason.
- Nothing in it points anywhere: a symbolic link becomes a plain file that holds the target as text, a submodule is
  recorded and not fetched.
- A name that could mislead (`..`, `.git` and what other systems take for it, separators, control and format
  characters) is withheld, with all below it. A name that is not UTF-8 is written as its bytes and listed as odd.
- Folders and files are read-only, with one fixed time, so that an access time tells later what was read.

`differences` and `remove` (`exported`) are the other end of an export's life.

Sources: SECURITY B.5, G10; FIELD-FAULTS F30.
"""

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import digest
from counterpoint.errors import SourceError
from counterpoint.isolation.names import folded, unsafe, visible_path
from counterpoint.isolation.objects import FOLDER, LINK, SUBMODULE, Objects, TreeEntry
from counterpoint.isolation.removal import removed_on_failure

__all__ = ["STAMP_NS", "ExportReport", "ExportedFile", "Limits", "Remark", "export", "withheld"]

STAMP_NS: Final = 946_684_800 * 10**9
"""The access and modification time of everything exported: the first second of 2000, UTC."""

_GROUP_WRITABLE: Final = 0o100664
"""A mode that the first versions of git wrote."""
_FILE_MODES: Final = {0o100644: False, 0o100755: True, _GROUP_WRITABLE: False, LINK: False}
_MAX_PATH: Final = 4000
_MAX_LINK: Final = 4096
# The file system does not take this name, or takes it for another one that is there already.
_NAME_REFUSED: Final = frozenset({errno.EEXIST, errno.EILSEQ, errno.EINVAL, errno.ENAMETOOLONG, errno.ENOTDIR})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a tree is read. A blob over its limit is withheld; over any other limit nothing is exported."""

    blob_bytes: int = 32 << 20
    total_bytes: int = 2 << 30
    entries: int = 200_000
    depth: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """One file of an export."""

    raw: bytes
    """Its path in the tree."""
    size: int
    sha256: str
    is_executable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something about a path that a reader of the export has to know."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export holds and what it does not. Paths are in their visible form (`names.visible_path`)."""

    source: str
    """The commit or tree that was asked for."""
    tree: str
    files: Mapping[str, ExportedFile]
    folders: frozenset[bytes]
    total_bytes: int
    withheld: tuple[Remark, ...]
    """What is in the tree and not in the export."""
    links: tuple[Remark, ...]
    """Symbolic links, written as plain files; the reason names the target."""
    submodules: tuple[Remark, ...]
    """Commits of other repositories, not fetched; the reason is the commit."""
    odd: tuple[Remark, ...]
    """What is in the export under a name or mode that some tools trip over."""
    is_writable: bool

    @property
    def digest(self) -> str:
        """SHA-256 of the listing: every path with its mode and the SHA-256 of its content, and what is no file."""
        lines = [f"{'x' if file.is_executable else '-'} {file.sha256} {path}" for path, file in self.files.items()]
        for mark, remarks in (("l", self.links), ("s", self.submodules), ("?", self.withheld)):
            lines += [f"{mark} {remark.path} {remark.reason}" for remark in remarks]
        return digest("\n".join(lines).encode("utf-8"))


def export(
    objects: Objects, source: str, out: Path, *, limits: Limits | None = None, writable: bool = False
) -> ExportReport:
    """Write the files of a commit or tree below the new folder `out`.

    Args:
        objects: where the objects are read.
        source: the full id of a commit or a tree.
        out: the folder to make; its parent is there and is the caller's alone.
        limits: how much is read.
        writable: leave files and folders writable by their owner, for commands that write where they stand.

    Raises:
        SourceError: an object is missing or not what its id says, a limit is passed, or the disk refuses.
            Nothing is left at `out` then.
    """
    tree = objects.tree_of(source)
    plan = _planned(objects, tree, limits)
    try:
        out.mkdir(mode=0o700)
        with removed_on_failure(out):
            files, folders = _write(plan, out, writable=writable)
    except OSError as error:
        raise SourceError(
            f"the export of {source} cannot be written to {str(out)!r}: {error.strerror}",
            hint="free space on that disk, or set TMPDIR to a folder on another",
        ) from None
    return ExportReport(
        source=source,
        tree=tree,
        files=files,
        folders=folders,
        total_bytes=sum(file.size for file in files.values()),
        withheld=_sorted(plan.withheld),
        links=_sorted(plan.links),
        submodules=_sorted(plan.submodules),
        odd=_sorted(plan.odd),
        is_writable=writable,
    )


def withheld(objects: Objects, source: str, *, limits: Limits | None = None) -> tuple[Remark, ...]:
    """Return what an export of `source` would withhold, without writing it; a disk may refuse more names.

    Raises:
        SourceError: as `export`.
    """
    return _sorted(_planned(objects, objects.tree_of(source), limits).withheld)


def _planned(objects: Objects, tree: str, limits: Limits | None) -> "_Plan":
    plan = _Plan(objects=objects, limits=limits or Limits())
    plan.walk(tree)
    plan.weigh()
    return plan


def _sorted(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    return tuple(sorted(remarks, key=lambda remark: (remark.path, remark.reason)))


@dataclass(slots=True, kw_only=True)
class _Plan:
    """What will be written, and what will not and why; nothing is on disk yet."""

    objects: Objects
    limits: Limits
    files: list[tuple[bytes, TreeEntry]] = field(default_factory=list)
    folders: list[bytes] = field(default_factory=list)
    withheld: list[Remark] = field(default_factory=list)
    links: list[Remark] = field(default_factory=list)
    submodules: list[Remark] = field(default_factory=list)
    odd: list[Remark] = field(default_factory=list)

    def withhold(self, path: bytes, reason: str) -> None:
        self.withheld.append(Remark(path=visible_path(path), reason=reason))

    def walk(self, tree: str) -> None:
        """Plan every entry of the tree and of those below it."""
        entries = 0
        waiting = [(b"", tree, 0)]
        while waiting:
            prefix, tree, depth = waiting.pop()
            if depth > self.limits.depth:
                raise SourceError(f"folder {visible_path(prefix)!r} is more than {self.limits.depth} folders deep")
            found = self.objects.tree(tree)
            entries += len(found)
            if entries > self.limits.entries:
                raise SourceError(
                    f"tree {tree} brings the entries to {entries}; at most {self.limits.entries} are read"
                )
            taken: dict[str, bytes] = {}
            for entry in found:
                path = prefix + entry.name
                if reason := _refusal(entry, path, taken):
                    self.withhold(path, reason)
                    continue
                self._remark(entry, path, taken)
                if entry.mode == FOLDER:
                    self.folders.append(path)
                    waiting.append((path + b"/", entry.id, depth + 1))
                elif entry.mode != SUBMODULE:
                    self.files.append((path, entry))

    def _remark(self, entry: TreeEntry, path: bytes, taken: dict[str, bytes]) -> None:
        twin = taken.setdefault(folded(entry.name), entry.name)
        if twin != entry.name:
            self._add_odd(path, f"differs from {visible_path(twin)!r} only in case or composition")
        if not _is_utf8(entry.name):
            self._add_odd(path, "the name is not UTF-8; it is written as its bytes")
        if entry.mode == _GROUP_WRITABLE:
            self._add_odd(path, "the mode is 100664; it is written as 100644")
        if entry.mode == SUBMODULE:
            self.submodules.append(Remark(path=visible_path(path), reason=entry.id))

    def _add_odd(self, path: bytes, reason: str) -> None:
        self.odd.append(Remark(path=visible_path(path), reason=reason))

    def weigh(self) -> None:
        """Withhold what is too large or no file, before any content is read."""
        planned, self.files = sorted(self.files), []
        sizes = self.objects.stat(entry.id for _, entry in planned)
        total = 0
        for (path, entry), found in zip(planned, sizes, strict=True):
            limit = _MAX_LINK if entry.mode == LINK else self.limits.blob_bytes
            if found.kind != "blob":
                self.withhold(path, f"its object is a {found.kind}, not a file")
            elif found.size > limit:
                self.withhold(path, f"it has {found.size} bytes; at most {limit} are exported")
            else:
                total += found.size
                self.files.append((path, entry))
        if total > self.limits.total_bytes:
            raise SourceError(f"the tree holds {total} bytes; at most {self.limits.total_bytes} are exported")


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _refusal(entry: TreeEntry, path: bytes, taken: Mapping[str, bytes]) -> str:
    if reason := unsafe(entry.name):
        return reason
    if taken.get(folded(entry.name)) == entry.name:
        return "the name stands twice in its folder"
    if len(path) > _MAX_PATH:
        return f"the path has {len(path)} bytes; at most {_MAX_PATH} are written"
    if entry.mode not in _FILE_MODES and entry.mode not in {FOLDER, SUBMODULE}:
        return f"its mode is {entry.mode:o}"
    return ""


def _write(plan: _Plan, out: Path, *, writable: bool) -> tuple[Mapping[str, ExportedFile], frozenset[bytes]]:
    write_bits = 0o200 if writable else 0
    folder_mode = 0o555 | write_bits
    files: dict[str, ExportedFile] = {}
    root = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        folders = _make_folders(plan, root)
        contents = plan.objects.blobs((entry.id for _, entry in plan.files), max_size=plan.limits.blob_bytes)
        with closing(contents):
            for (path, entry), content in zip(plan.files, contents, strict=True):
                if path.rpartition(b"/")[0] not in folders:
                    continue  # withheld with its folder
                try:
                    _write_file(root, path, content, mode=(0o555 if _FILE_MODES[entry.mode] else 0o444) | write_bits)
                except OSError as error:
                    _withhold_name(plan, path, error)
                    continue
                files[visible_path(path)] = ExportedFile(
                    raw=path, size=len(content), sha256=digest(content), is_executable=_FILE_MODES[entry.mode]
                )
                if entry.mode == LINK:
                    target = visible_path(content)
                    plan.links.append(Remark(path=visible_path(path), reason=target))
        for folder in sorted(folders, reverse=True):
            os.chmod(folder or b".", folder_mode, dir_fd=root)
            os.utime(folder or b".", ns=(STAMP_NS, STAMP_NS), dir_fd=root)
    finally:
        os.close(root)
    return files, folders - {b""}


def _make_folders(plan: _Plan, root: int) -> frozenset[bytes]:
    made = {b""}
    for path in sorted(plan.folders):
        if path.rpartition(b"/")[0] in made:
            try:
                os.mkdir(path, 0o700, dir_fd=root)
                made.add(path)
            except OSError as error:
                _withhold_name(plan, path, error)
    return frozenset(made)


def _withhold_name(plan: _Plan, path: bytes, error: OSError) -> None:
    if error.errno not in _NAME_REFUSED:
        raise error
    plan.withhold(path, f"this file system refuses the name: {error.strerror}")


def _write_file(root: int, path: bytes, content: bytes, *, mode: int) -> None:
    # Only folders made here lie on the way, so no part of the path can be a link.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600, dir_fd=root), "wb", buffering=0) as file:
        written = 0
        while written < len(content):
            written += file.write(content[written:])
        os.fchmod(file.fileno(), mode)
        os.utime(file.fileno(), ns=(STAMP_NS, STAMP_NS))
