"""Reading objects by id, each re-hashed: what comes out is what the id names, or nothing does.

Git is asked for raw objects only (`cat-file`), which no attribute, filter or setting touches. Trees are taken apart
here, because git itself is not exact about malformed ones.

Sources: SECURITY B.5, G10, G11.
"""

import hashlib
import os
import selectors
import subprocess
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.git import Git, Place, complaint, end

__all__ = ["FOLDER", "LINK", "SUBMODULE", "Objects", "Stat", "TreeEntry", "hash_object", "parse_tree"]

FOLDER: Final = 0o040000
LINK: Final = 0o120000
SUBMODULE: Final = 0o160000

MAX_COMMIT: Final = 4 << 20
MAX_TREE: Final = 32 << 20
ANSWER_S: Final = 120.0
_CHUNK: Final = 1 << 18
_GROUP: Final = 400
"""Ids asked for at once: they fit into a pipe, so that asking never waits for the answers to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """What git says an object is, before it is read."""

    id: str
    kind: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """One line of a tree."""

    name: bytes
    mode: int
    id: str


def parse_tree(content: bytes, *, digest_size: int) -> Iterator[TreeEntry]:
    """Take a tree object apart; nothing is left out, whatever its names and modes are.

    Raises:
        ValueError: the bytes are not a sequence of entries.
    """
    start = 0
    while start < len(content):
        space = content.index(b" ", start, start + 8)
        nul = content.index(b"\0", space)
        digest = content[nul + 1 : nul + 1 + digest_size]
        if len(digest) != digest_size:
            raise ValueError("an id is cut short")
        yield TreeEntry(name=content[space + 1 : nul], mode=int(content[start:space], 8), id=digest.hex())
        start = nul + 1 + digest_size


def hash_object(object_format: str, kind: str, content: bytes) -> str:
    """Return the id of an object of this kind and content."""
    # Git's ids are SHA-1 in most repositories; what binds an export in the record is SHA-256.
    hasher = hashlib.new(object_format, usedforsecurity=False)
    hasher.update(b"%s %d\0" % (kind.encode("ascii"), len(content)))
    hasher.update(content)
    return hasher.hexdigest()


class Objects:
    """A reader of one git folder's objects."""

    def __init__(self, git: Git, place: Place, *, object_format: str) -> None:
        self.object_format = object_format
        self._git = git
        self._place = place
        self._talks: dict[str, _Talk] = {}

    def close(self) -> None:
        for talk in self._talks.values():
            talk.close()
        self._talks.clear()

    def stat(self, ids: Iterable[str]) -> Generator[Stat, None, None]:
        """Say kind and size of each object, in order.

        Raises:
            SourceError: one of them is missing.
        """
        with self._talk("--batch-check") as talk:
            for group in _groups(ids):
                talk.ask(group)
                for oid in group:
                    found = _header(talk, oid)
                    talk.answered()
                    yield found

    def blobs(self, ids: Iterable[str], *, max_size: int) -> Generator[bytes, None, None]:
        """Return the content of each blob, in order. Close the generator if you leave it early.

        Raises:
            SourceError: one is missing, is not a blob, is larger than `max_size`, or does not hash to its id.
        """
        yield from self._contents(ids, "blob", max_size=max_size)

    def tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """Return the entries of a tree.

        Raises:
            SourceError: it is missing, malformed or too large, or does not hash to its id.
        """
        content = self._read(tree, "tree", max_size=MAX_TREE)
        try:
            return tuple(parse_tree(content, digest_size=len(tree) // 2))
        except ValueError as error:
            raise SourceError(f"tree {tree} is malformed: {error}", hint="run `git fsck`") from None

    def tree_of(self, commit_or_tree: str) -> str:
        """Return the tree that a commit holds; a tree's id is returned as it is."""
        [found] = self.stat([commit_or_tree])
        if found.kind == "tree":
            return commit_or_tree
        content = self.commit(commit_or_tree)
        first = content.partition(b"\n")[0]
        tree = first.removeprefix(b"tree ").decode("ascii", "replace")
        if not first.startswith(b"tree ") or len(tree) != len(commit_or_tree):
            raise SourceError(f"commit {commit_or_tree} names no tree", hint="run `git fsck`")
        return tree

    def commit(self, commit: str) -> bytes:
        """Return the content of a commit.

        Raises:
            SourceError: it is missing, is no commit or too large, or does not hash to its id.
        """
        return self._read(commit, "commit", max_size=MAX_COMMIT)

    def _read(self, oid: str, kind: str, *, max_size: int) -> bytes:
        [found] = self.stat([oid])
        _expect(found, kind, max_size=max_size)
        [content] = self._contents([oid], kind, max_size=max_size)
        return content

    def _contents(self, ids: Iterable[str], kind: str, *, max_size: int) -> Generator[bytes, None, None]:
        with self._talk("--batch") as talk:
            for group in _groups(ids):
                talk.ask(group)
                for oid in group:
                    found = _header(talk, oid)
                    _expect(found, kind, max_size=max_size)
                    content = talk.exactly(found.size + 1)[:-1]
                    talk.answered()
                    self._expect_hash(oid, kind, content)
                    yield content

    def _expect_hash(self, oid: str, kind: str, content: bytes) -> None:
        if (hashed := hash_object(self.object_format, kind, content)) != oid:
            raise SourceError(
                f"object {oid} holds bytes that hash to {hashed}",
                hint="the repository is damaged or was tampered with: run `git fsck`",
            )

    @contextmanager
    def _talk(self, how: str) -> Iterator["_Talk"]:
        talk = self._talks.pop(how, None) or _Talk(self._git, self._place, how)
        try:
            yield talk
        finally:
            # A reader that was left early has answers on the way that nobody wants.
            if talk.unanswered or how in self._talks:
                talk.close()
            else:
                self._talks[how] = talk


def _header(talk: "_Talk", oid: str) -> Stat:
    match talk.line().split():
        case [_, kind, size]:
            return Stat(id=oid, kind=kind.decode("ascii", "replace"), size=int(size))
        case _:
            raise SourceError(
                f"object {oid} is missing",
                hint=f"the clone is partial or damaged: `git cat-file -t {oid}` fetches it or says what is wrong",
            )


def _expect(found: Stat, kind: str, *, max_size: int) -> None:
    if found.kind != kind or found.size > max_size:
        raise SourceError(
            f"object {found.id} is a {found.kind} of {found.size} bytes; expected a {kind} of at most {max_size}"
        )


def _groups(ids: Iterable[str]) -> Iterator[Sequence[str]]:
    waiting = iter(ids)
    while group := tuple(islice(waiting, _GROUP)):
        yield group


class _Talk:
    """One running `cat-file`: ids in, objects out, each answer awaited for `ANSWER_S` at most."""

    def __init__(self, git: Git, place: Place, how: str) -> None:
        self._process = git.start("cat-file", how, place=place, stdin=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.unanswered = 0
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._held = bytearray()
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._out, selectors.EVENT_READ)

    def close(self) -> None:
        self._ready.close()
        end(self._process)

    def ask(self, ids: Sequence[str]) -> None:
        self.unanswered += len(ids)
        wanted = "".join(f"{oid}\n" for oid in ids).encode("ascii")
        try:
            sent = os.write(self._in, wanted)
        except BrokenPipeError:
            raise self._failure() from None
        assert sent == len(wanted)

    def answered(self) -> None:
        self.unanswered -= 1

    def line(self) -> bytes:
        while (found := self._held.find(b"\n")) < 0:
            self._more()
        line = bytes(self._held[:found])
        del self._held[: found + 1]
        return line

    def exactly(self, size: int) -> bytes:
        while len(self._held) < size:
            self._more()
        content = bytes(self._held[:size])
        del self._held[:size]
        return content

    def _more(self) -> None:
        if not self._ready.select(ANSWER_S):
            raise SourceError(f"git gave no object for {ANSWER_S:g} s", hint="run `git fsck`")
        chunk = os.read(self._out, _CHUNK)
        if not chunk:
            raise self._failure()
        self._held += chunk

    def _failure(self) -> SourceError:
        assert self._process.stderr is not None
        said = os.read(self._process.stderr.fileno(), _CHUNK)
        return SourceError(f"git stopped reading objects: {complaint(said)}", hint="run `git fsck`")
