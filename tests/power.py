"""What a cut of the power may leave of a `tests.disk.Disk`: the crash model of SECURITY C.1.

Its rules are weak. Of a file's bytes since its last sync any prefix is there, the last write torn, or zeroed as far
as the file had grown; of a folder's changes since its last sync any subset.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tests.disk import Change, Disk, Node, truncate, write

__all__ = ["Cut", "power_cuts"]


class Cut(NamedTuple):
    disk: Disk
    acks: tuple[object, ...]
    """What had been acknowledged by then."""
    at: int
    """After how many changes."""


def power_cuts(disk: Disk, base: Disk) -> Iterator[Cut]:
    """Yield each disk that a power cut may leave of what was done to `disk` since it was `base`, each once."""
    seen: set[object] = set()
    modes = {inode: node.mode for inode, node in disk.nodes.items()}
    for at in range(len(disk.changes) + 1):
        done = disk.changes[:at]
        acks = tuple(change.ack for change in done if change.kind == "ack")
        for left in _cut(base, done, modes):
            key = (left.fingerprint(), acks)
            if key not in seen:
                seen.add(key)
                yield Cut(left, acks, at)


def _cut(base: Disk, done: Sequence[Change], modes: Mapping[int, int]) -> Iterator[Disk]:
    contents = _contents(base, done)
    folders = _folders(base, done)
    inodes, options = list(contents), list(contents.values())
    for names in itertools.product(*folders.values()):
        for chosen in _mostly_whole(options):
            yield _built(base, modes, dict(zip(folders, names, strict=True)), dict(zip(inodes, chosen, strict=True)))


def _mostly_whole(options: Sequence[Sequence[bytes]]) -> Iterator[tuple[bytes, ...]]:
    """Yield a choice of contents: each file as last synced or as last written, and one at a time anything between."""
    ends = [list(dict.fromkeys((found[0], found[-1]))) for found in options]
    yield from itertools.product(*ends)
    for i, found in enumerate(options):
        for torn in found[1:-1]:
            yield from itertools.product(*ends[:i], [torn], *ends[i + 1 :])


def _contents(base: Disk, done: Sequence[Change]) -> dict[int, list[bytes]]:
    """Return for each file the contents it may have: first the one last synced, last the one last written."""
    files: dict[int, list[Change]] = {}
    for change in done:
        if change.kind in {"write", "truncate", "sync"}:
            files.setdefault(change.at, []).append(change)
        elif change.kind == "name":
            files.setdefault(change.inode, [])
    found: dict[int, list[bytes]] = {}
    for inode, changes in files.items():
        content = bytearray(base.nodes[inode].content if inode in base.nodes else b"")
        states = [bytes(content)]
        for change in changes:
            if change.kind == "sync":
                states = [bytes(content)]
                continue
            states += _torn(content, change)
            _apply(content, change)
            states.append(bytes(content))
        found[inode] = list(dict.fromkeys(states[:-1])) + states[-1:] if len(states) > 1 else states
    return found


def _apply(content: bytearray, change: Change) -> None:
    if change.kind == "truncate":
        truncate(content, change.offset)
    else:
        write(content, change.offset, change.content)


def _torn(content: bytearray, change: Change) -> list[bytes]:
    """Return what a file may hold in the middle of one change: a part of it, the rest missing or zeros."""
    if change.kind == "truncate":
        return []
    whole = len(change.content)
    lines = {i + 1 for i, byte in enumerate(change.content) if byte == ord("\n")}
    cuts = sorted({1, whole // 2, whole - 1, *lines, *(i - 1 for i in lines)} & set(range(1, whole)))
    states = []
    for cut in cuts:
        torn = bytearray(content)
        write(torn, change.offset, change.content[:cut])
        states.append(bytes(torn))
    if change.offset >= len(content):
        for cut in (0, whole // 2):
            torn = bytearray(content)
            write(torn, change.offset, change.content[:cut] + bytes(whole - cut))
            states.append(bytes(torn))
    return states


_NAMING: Final = frozenset({"name", "make_folder", "unname", "rename"})


def _folders(base: Disk, done: Sequence[Change]) -> dict[int, list[dict[str, int]]]:
    """Return for each folder the names it may have."""
    changes: dict[int, list[Change]] = {change.inode: [] for change in done if change.kind == "make_folder"}
    for change in done:
        if change.kind in _NAMING or change.kind == "sync_folder":
            changes.setdefault(change.at, []).append(change)
    return {inode: _listings(base.nodes.get(inode), own) for inode, own in changes.items()}


def _listings(node: Node | None, changes: Sequence[Change]) -> list[dict[str, int]]:
    last = max((i for i, change in enumerate(changes) if change.kind == "sync_folder"), default=-1)
    synced = _renamed(dict(node.names or {}) if node else {}, changes[: last + 1])
    pending = changes[last + 1 :]
    subsets = (itertools.combinations(pending, size) for size in range(len(pending) + 1))
    options = [_renamed(dict(synced), subset) for subset in itertools.chain.from_iterable(subsets)]
    return [dict(option) for option in dict.fromkeys(tuple(sorted(option.items())) for option in options)]


def _renamed(names: dict[str, int], changes: Iterable[Change]) -> dict[str, int]:
    for change in changes:
        if change.kind in _NAMING:
            _rename(names, change)
    return names


def _rename(names: dict[str, int], change: Change) -> None:
    if change.kind in {"name", "make_folder"}:
        names[change.name] = change.inode
    elif change.kind == "unname":
        names.pop(change.name, None)
    else:
        names.pop(change.name, None)
        names[change.to] = change.inode


def _built(
    base: Disk, modes: Mapping[int, int], folders: Mapping[int, dict[str, int]], contents: Mapping[int, bytes]
) -> Disk:
    disk = base.settled()
    for inode, content in contents.items():
        node = disk.nodes.setdefault(inode, Node(inode, mode=modes[inode]))
        node.content = bytearray(content)
    for inode, names in folders.items():
        node = disk.nodes.setdefault(inode, Node(inode, mode=modes[inode]))
        node.names = dict(names)
    disk.numbers = itertools.count(max(disk.nodes) + 1000)
    return disk
