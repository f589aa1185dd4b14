"""A disk in memory that writes down every change, for the store's own code; `tests.power` cuts it off.

It can be told to fail: `fail["sync"] = (2, errno.EIO)` lets two syncs pass and no other.
"""

import errno
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from counterpoint.record.fs import Access, Files, Folder, Stat

__all__ = ["Change", "Disk", "Node", "truncate", "write"]

ROOT: Final = "/"
USER: Final = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened on a disk."""

    kind: Literal["write", "truncate", "sync", "name", "make_folder", "unname", "rename", "sync_folder", "ack"]
    at: int = 0
    """Inode of the file, or of the folder."""
    offset: int = 0
    content: bytes = b""
    name: str = ""
    to: str = ""
    inode: int = 0
    ack: object = None


@dataclass(slots=True)
class Node:
    inode: int
    content: bytearray = field(default_factory=bytearray)
    names: dict[str, int] | None = None
    """A folder's; `None` for a file."""
    mode: int = 0o600
    owner: int = USER
    links: int = 1
    modified_ns: int = 0


@dataclass(slots=True)
class _Open:
    node: Node
    appends: bool = False
    locked: bool = False


class Disk(Files):
    """Files in memory."""

    def __init__(self) -> None:
        self.user = USER
        self.changes: list[Change] = []
        self.clock_ns = 10**15
        self.fail: dict[str, tuple[int, int]] = {}
        """Operation: after how many calls it fails, and with which errno."""
        self.short_writes = False
        self.nodes: dict[int, Node] = {1: Node(1, names={}, mode=0o755)}
        self._open: dict[int, _Open] = {}
        self.numbers = itertools.count(100)

    def ack(self, what: object) -> None:
        """Note that a caller was told that something is recorded."""
        self.changes.append(Change("ack", ack=what))

    def put(self, path: str, content: bytes) -> None:
        """Have a file on disk, beside what the store does."""
        above, _, name = path.rpartition("/")
        folder = self._folder_node(above)
        node = self._new(content)
        assert folder.names is not None
        folder.names[name] = node.inode

    def get(self, path: str) -> bytes:
        return bytes(self.find(path).content)

    def listing(self, path: str) -> list[str]:
        names = self.find(path).names
        assert names is not None
        return sorted(names)

    def folder(self, path: str) -> Folder:
        self._may_fail("folder")
        node = self.find(path)
        if node.names is None:
            raise _error(errno.ENOTDIR, path)
        return Folder(self._opened(node), path)

    def subfolder(self, folder: Folder, name: str) -> Folder:
        return self.folder(folder.of(name))

    def make_folder(self, folder: Folder, name: str, mode: int) -> None:
        self._may_fail("make_folder")
        names = self._names(folder)
        if name in names:
            raise _error(errno.EEXIST, name)
        node = self._new(b"")
        node.names, node.mode = {}, mode
        names[name] = node.inode
        self._changed(Change("make_folder", at=self._open[folder.fd].node.inode, name=name, inode=node.inode))

    def names(self, folder: Folder) -> list[str]:
        return list(self._names(folder))

    def open(self, folder: Folder, name: str, access: Access, mode: int = 0o600) -> int:
        self._may_fail("open")
        names = self._names(folder)
        if name in names:
            if access is Access.NEW:
                raise _error(errno.EEXIST, name)
            return self._opened(self.nodes[names[name]], appends=access is Access.APPEND)
        if access not in {Access.NEW, Access.KEEP}:
            raise _error(errno.ENOENT, name)
        self._may_fail("make")
        node = self._new(b"")
        node.mode = mode
        names[name] = node.inode
        self._changed(Change("name", at=self._open[folder.fd].node.inode, name=name, inode=node.inode))
        return self._opened(node)

    def close(self, opened: int | Folder) -> None:
        del self._open[opened.fd if isinstance(opened, Folder) else opened]

    def read(self, fd: int, size: int, offset: int) -> bytes:
        self._may_fail("read")
        return bytes(self._open[fd].node.content[offset : offset + size])

    def write(self, fd: int, content: bytes, offset: int | None = None) -> int:
        self._may_fail("write")
        found = self._open[fd]
        at = len(found.node.content) if found.appends else offset
        assert at is not None, "a file that was not opened to append is written at an offset"
        taken = content[: max(1, len(content) // 2)] if self.short_writes else content
        self._write(found.node, at, taken)
        self._changed(Change("write", at=found.node.inode, offset=at, content=taken))
        return len(taken)

    def truncate(self, fd: int, size: int) -> None:
        self._may_fail("truncate")
        node = self._open[fd].node
        truncate(node.content, size)
        self._changed(Change("truncate", at=node.inode, offset=size))

    def sync(self, opened: int | Folder) -> None:
        self._may_fail("sync_folder" if isinstance(opened, Folder) else "sync")
        if isinstance(opened, Folder):
            self._changed(Change("sync_folder", at=self._open[opened.fd].node.inode))
        else:
            self._changed(Change("sync", at=self._open[opened].node.inode))

    def stat(self, fd: int) -> Stat:
        return self._stat(self._open[fd].node)

    def look(self, folder: Folder, name: str) -> Stat | None:
        inode = self._names(folder).get(name)
        return None if inode is None else self._stat(self.nodes[inode])

    def rename(self, folder: Folder, name: str, to: str) -> None:
        self._may_fail("rename")
        names = self._names(folder)
        if name not in names:
            raise _error(errno.ENOENT, name)
        inode = names.pop(name)
        names[to] = inode
        at = self._open[folder.fd].node.inode
        self._changed(Change("rename", at=at, name=name, to=to, inode=inode))

    def unlink(self, folder: Folder, name: str) -> None:
        names = self._names(folder)
        if name not in names:
            raise _error(errno.ENOENT, name)
        del names[name]
        self._changed(Change("unname", at=self._open[folder.fd].node.inode, name=name))

    def lock(self, fd: int) -> bool:
        found = self._open[fd]
        if any(other.locked and other.node is found.node for other in self._open.values() if other is not found):
            return False
        found.locked = True
        return True

    def wait_lock(self, fd: int) -> None:
        assert self.lock(fd), "nobody would ever give this lock back"

    def touch(self, fd: int) -> None:
        self.clock_ns += 1
        self._open[fd].node.modified_ns = self.clock_ns

    def settled(self) -> "Disk":
        """Return this disk as it is after everything was synced and everybody has ended."""
        disk = Disk()
        disk.nodes = {
            inode: Node(
                inode,
                bytearray(node.content),
                None if node.names is None else dict(node.names),
                node.mode,
                node.owner,
                node.links,
                node.modified_ns,
            )
            for inode, node in self.nodes.items()
        }
        disk.numbers = itertools.count(max(disk.nodes) + 100)
        disk.clock_ns = self.clock_ns
        return disk

    def fingerprint(self) -> object:
        return tuple(sorted(self._walk(self.nodes[1], "")))

    def _walk(self, node: Node, path: str) -> Iterator[tuple[str, int, bytes]]:
        for name, inode in (node.names or {}).items():
            found = self.nodes[inode]
            yield f"{path}/{name}", inode, bytes(found.content)
            yield from self._walk(found, f"{path}/{name}")

    def _may_fail(self, operation: str) -> None:
        if operation in self.fail:
            left, number = self.fail[operation]
            if left <= 0:
                raise _error(number, operation)
            self.fail[operation] = (left - 1, number)

    def _changed(self, change: Change) -> None:
        self.changes.append(change)

    def _new(self, content: bytes) -> Node:
        node = Node(next(self.numbers), bytearray(content), modified_ns=self.clock_ns)
        self.nodes[node.inode] = node
        return node

    def _opened(self, node: Node, *, appends: bool = False) -> int:
        fd = next(self.numbers)
        self._open[fd] = _Open(node, appends)
        return fd

    def _names(self, folder: Folder) -> dict[str, int]:
        names = self._open[folder.fd].node.names
        assert names is not None
        return names

    def _folder_node(self, path: str) -> Node:
        node = self.find(path or ROOT)
        assert node.names is not None
        return node

    def find(self, path: str) -> Node:
        node = self.nodes[1]
        for name in filter(None, path.split("/")):
            if node.names is None or name not in node.names:
                raise _error(errno.ENOENT, path)
            node = self.nodes[node.names[name]]
        return node

    def _write(self, node: Node, at: int, content: bytes) -> None:
        write(node.content, at, content)
        node.modified_ns = self.clock_ns

    def _stat(self, node: Node) -> Stat:
        return Stat(
            is_file=node.names is None,
            is_folder=node.names is not None,
            size=len(node.content),
            inode=(1, node.inode),
            owner=node.owner,
            links=node.links,
            mode=node.mode,
            modified_ns=node.modified_ns,
        )


def _error(number: int, what: str) -> OSError:
    return OSError(number, os.strerror(number), what)


def write(content: bytearray, at: int, new: bytes) -> None:
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    content[at : at + len(new)] = new


def truncate(content: bytearray, size: int) -> None:
    del content[size:]
    content.extend(bytes(size - len(content)))
