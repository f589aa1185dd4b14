"""Which entries of two trees differ. Only folders whose ids differ are read."""

from collections.abc import Iterator
from dataclasses import dataclass

from counterpoint.errors import SourceError
from counterpoint.isolation.export import Limits
from counterpoint.isolation.names import visible_path
from counterpoint.isolation.objects import FOLDER, Objects, TreeEntry

__all__ = ["Pair", "changed_pairs"]

_Key = tuple[bytes, bool, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One path before and after; a side is `None` where the path is not there."""

    path: bytes
    old: TreeEntry | None
    new: TreeEntry | None
    is_malformed: bool
    """The tree names it twice, or with a separator in its name."""

    @property
    def sides(self) -> tuple[TreeEntry, ...]:
        return tuple(side for side in (self.old, self.new) if side)


def changed_pairs(objects: Objects, old_tree: str, new_tree: str, *, limits: Limits) -> tuple[Pair, ...]:
    """Return the entries that differ and are not folders, by path.

    Raises:
        SourceError: a tree is missing or not what its id says, or a limit is passed.
    """
    pairs: list[Pair] = []
    read = 0
    waiting: list[tuple[bytes, str | None, str | None, int]] = [(b"", old_tree, new_tree, 0)]
    while waiting:
        prefix, old, new, depth = waiting.pop()
        if depth > limits.depth:
            raise SourceError(f"folder {visible_path(prefix)!r} is more than {limits.depth} folders deep")
        before, after = _entries(objects, old), _entries(objects, new)
        read += len(before) + len(after)
        if read > 2 * limits.entries:
            raise SourceError(f"more than {2 * limits.entries} tree entries differ", hint="name a nearer --base")
        for key, was, became in _differing(before, after):
            name, is_folder, nth = key
            if is_folder:
                waiting.append(
                    (prefix + name + b"/", was.id if was else None, became.id if became else None, depth + 1)
                )
            else:
                odd = nth > 0 or b"/" in name
                pairs.append(Pair(path=prefix + name, old=was, new=became, is_malformed=odd))
    return tuple(sorted(pairs, key=lambda pair: (pair.path, pair.is_malformed)))


def _entries(objects: Objects, tree: str | None) -> dict[_Key, TreeEntry]:
    found: dict[_Key, TreeEntry] = {}
    for entry in objects.tree(tree) if tree else ():
        nth = 0
        while (key := (entry.name, entry.mode == FOLDER, nth)) in found:
            nth += 1
        found[key] = entry
    return found


def _differing(
    before: dict[_Key, TreeEntry], after: dict[_Key, TreeEntry]
) -> Iterator[tuple[_Key, TreeEntry | None, TreeEntry | None]]:
    for key in before.keys() | after.keys():
        was, became = before.get(key), after.get(key)
        if was != became:
            yield key, was, became
