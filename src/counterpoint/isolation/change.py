"""What changed between two trees, as every reviewer is shown it.

- Trees and blobs are re-hashed and compared here; git only aligns the lines of contents that it is handed (`diffs`).
  No attribute, text conversion, external program or index has a say, so `-diff` in `.gitattributes` hides nothing.
- A file is binary when one of its sides has a NUL byte, and for no other reason.
- Renames are not guessed: a moved file is one deletion and one addition.
- The text has a budget. The smallest sections are taken first, so that most files are seen whole; each of the others
  stands in the text as `not shown`, with its size. Nothing is ever cut.
- The same trees, budget and git give the same bytes.

Sources: FIELD-FAULTS F15; SECURITY B.5, G1 to G10.
"""

import heapq
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, assert_never

from counterpoint.core.canonical import visible
from counterpoint.errors import SourceError
from counterpoint.isolation.changed import Change, ChangedFile, ChangeKind, FileKind, NotShown, Side, Unshown
from counterpoint.isolation.diffs import LineDiffs
from counterpoint.isolation.export import Limits
from counterpoint.isolation.names import visible_path
from counterpoint.isolation.objects import LINK, SUBMODULE, Objects, Stat, TreeEntry
from counterpoint.isolation.pairs import Pair, changed_pairs
from counterpoint.isolation.repository import Quarantine

__all__ = ["MAX_TEXT", "change"]

MAX_TEXT: Final = 1 << 20
"""Bytes of diff text by default."""
_ID_SHOWN: Final = 12


def change(
    quarantine: Quarantine,
    base: str,
    head: str,
    *,
    max_text: int = MAX_TEXT,
    limits: Limits | None = None,
    may_be_empty: bool = False,
) -> Change:
    """Return what changed from `base` to `head`, both full ids of commits or trees.

    Args:
        quarantine: where their objects are read.
        base: what is compared with.
        head: what is judged.
        max_text: how many bytes the shown sections may have together; those of what is not shown come on top.
        limits: how much is read.
        may_be_empty: whether it may be that nothing changed.

    Raises:
        SourceError: nothing changed and something has to, an object is missing or not what its id says, or a limit is
            passed.
    """
    limits = limits or Limits()
    objects = quarantine.objects
    pairs = changed_pairs(objects, objects.tree_of(base), objects.tree_of(head), limits=limits)
    if not pairs and not may_be_empty:
        raise SourceError(
            f"there is nothing to review: {base} and {head} hold the same files",
            hint="commit the change, name another --base, or review what is not committed with --worktree",
        )
    with tempfile.TemporaryDirectory(dir=quarantine.folder) as folder:
        lines = LineDiffs(quarantine.git, Path(folder) / "diff.git", object_format=objects.object_format)
        looks = list(_look_at(objects, pairs, lines, limits=limits, max_text=max_text))
        looks, sections = _show(looks, lines, max_text=max_text)
    not_shown = tuple(
        NotShown(path=look.file.path, reason=look.unshown, size=look.unshown_size) for look in looks if look.unshown
    )
    hidden = {missing.path for missing in not_shown}
    return Change(
        base=base,
        head=head,
        files=tuple(look.file for look in looks),
        text="".join(sections),
        shown_paths=tuple(look.file.path for look in looks if look.file.path not in hidden),
        not_shown=not_shown,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """A changed file while its section is made."""

    file: ChangedFile
    unshown: Unshown | None = None
    unshown_size: int = 0
    stored: tuple[str | None, str | None] = (None, None)
    """What has to be aligned, by its ids in the diff folder; equal ids where nothing has."""

    def hidden(self, why: Unshown, size: int) -> "_Look":
        return replace(self, unshown=why, unshown_size=size)


def _look_at(
    objects: Objects, pairs: Sequence[Pair], lines: LineDiffs, *, limits: Limits, max_text: int
) -> Iterator[_Look]:
    """Read both sides of each pair, one pair at a time, and put what has to be aligned into `lines`."""
    ids = dict.fromkeys(side.id for pair in pairs for side in pair.sides if side.mode != SUBMODULE)
    stats = {found.id: found for found in objects.stat(ids)}
    looks = [_first_look(pair, stats, limits) for pair in pairs]
    wanted = (
        side.id
        for pair, look in zip(pairs, looks, strict=True)
        if not look.unshown
        for side in pair.sides
        if side.mode != SUBMODULE
    )
    with closing(objects.blobs(wanted, max_size=limits.blob_bytes)) as contents:
        for pair, look in zip(pairs, looks, strict=True):
            if look.unshown:
                yield look
                continue
            old, new = _content(pair.old, contents), _content(pair.new, contents)
            yield _second_look(look, old, new, lines, max_text=max_text)


def _first_look(pair: Pair, stats: Mapping[str, Stat], limits: Limits) -> _Look:
    """Look at names, modes and sizes alone."""
    file = ChangedFile(
        path=visible_path(pair.path),
        is_plain=visible_path(pair.path).encode("utf-8") == pair.path,
        change=_change_kind(pair),
        kind=FileKind.UNKNOWN,
        old=_side(pair.old, stats),
        new=_side(pair.new, stats),
    )
    found = [stats[side.id] for side in pair.sides if side.mode != SUBMODULE]
    size = max((stat.size for stat in found), default=0)
    look = _Look(file=file)
    if pair.is_malformed or any(stat.kind != "blob" for stat in found):
        return look.hidden(Unshown.MALFORMED, size)
    if size > limits.blob_bytes:
        return look.hidden(Unshown.TOO_LARGE, size)
    modes = {side.mode for side in pair.sides}
    kind = FileKind.SUBMODULE if SUBMODULE in modes else FileKind.LINK if LINK in modes else FileKind.TEXT
    return replace(look, file=replace(file, kind=kind))


def _second_look(look: _Look, old: bytes | None, new: bytes | None, lines: LineDiffs, *, max_text: int) -> _Look:
    """Look at the content."""
    if old == new:
        return look  # the mode alone changed
    file, size = look.file, max(len(old or b""), len(new or b""))
    if b"\0" in (old or b"") or b"\0" in (new or b""):
        return replace(look, file=replace(file, kind=FileKind.BINARY)).hidden(Unshown.BINARY, size)
    if (old is None or new is None) and size > max_text:
        counted = replace(file, added_lines=_count_lines(new), deleted_lines=_count_lines(old))
        return replace(look, file=counted).hidden(Unshown.OVER_BUDGET, size)
    return replace(look, stored=(_put(lines, old), _put(lines, new)))


def _put(lines: LineDiffs, side: bytes | None) -> str | None:
    return None if side is None else lines.put(side)


def _change_kind(pair: Pair) -> ChangeKind:
    if pair.old is None:
        return ChangeKind.ADDED
    return ChangeKind.DELETED if pair.new is None else ChangeKind.MODIFIED


def _side(entry: TreeEntry | None, stats: Mapping[str, Stat]) -> Side | None:
    if entry is None:
        return None
    size = None if entry.mode == SUBMODULE else stats[entry.id].size
    return Side(id=entry.id, mode=f"{entry.mode:06o}", size=size)


def _content(entry: TreeEntry | None, contents: Iterator[bytes]) -> bytes | None:
    if entry is None:
        return None
    return b"Subproject commit %s\n" % entry.id.encode("ascii") if entry.mode == SUBMODULE else next(contents)


def _count_lines(content: bytes | None) -> int:
    if not content:
        return 0
    return content.count(b"\n") + (not content.endswith(b"\n"))


def _show(looks: Sequence[_Look], lines: LineDiffs, *, max_text: int) -> tuple[list[_Look], list[str]]:
    """Return the looks with what is now known of them, and the section of each."""
    known = list(looks)
    budget = _Budget(max_text)
    aligned = [number for number, look in enumerate(looks) if look.stored[0] != look.stored[1]]
    pairs = [looks[number].stored for number in aligned]
    for hunks, number in zip(lines.compare(pairs, max_size=max_text), aligned, strict=True):
        look = known[number]
        file = replace(look.file, added_lines=hunks.added_lines, deleted_lines=hunks.deleted_lines)
        known[number] = look = replace(look, file=file)
        if hunks.content is None:
            known[number] = look.hidden(Unshown.OVER_BUDGET, hunks.size)
        else:
            budget.offer(number, _header(look) + _body(look.file, hunks.content))
    for number, look in enumerate(known):
        if not look.unshown and look.stored[0] == look.stored[1]:
            budget.offer(number, _header(look))
    for number, size in budget.dropped.items():
        known[number] = known[number].hidden(Unshown.OVER_BUDGET, size)
    return known, [budget.kept.get(number) or _header(look) + _absence(look) for number, look in enumerate(known)]


class _Budget:
    """Keeps the smallest sections that fit together, and never holds more than that and one section."""

    def __init__(self, max_text: int) -> None:
        self.kept: dict[int, str] = {}
        self.dropped: dict[int, int] = {}
        """Section by section, its size."""
        self._left = max_text
        self._largest: list[tuple[int, int]] = []

    def offer(self, number: int, section: str) -> None:
        size = len(section.encode("utf-8"))
        self.kept[number] = section
        self._left -= size
        heapq.heappush(self._largest, (-size, -number))
        while self._left < 0:
            negative_size, negative_number = heapq.heappop(self._largest)
            self._left -= negative_size
            self.dropped[-negative_number] = -negative_size
            del self.kept[-negative_number]


def _header(look: _Look) -> str:
    file, old, new = look.file, look.file.old, look.file.new
    rows = [f"diff --git a/{file.path} b/{file.path}"]
    if old is None and new is not None:
        rows.append(f"new file mode {new.mode}")
    elif new is None and old is not None:
        rows.append(f"deleted file mode {old.mode}")
    elif old is not None and new is not None and old.mode != new.mode:
        rows += [f"old mode {old.mode}", f"new mode {new.mode}"]
    ids = [side.id[:_ID_SHOWN] if side else "0" * _ID_SHOWN for side in (old, new)]
    if ids[0] != ids[1]:
        rows.append(f"index {ids[0]}..{ids[1]}")
    return "".join(f"{row}\n" for row in rows)


def _body(file: ChangedFile, content: bytes) -> str:
    """Write hunks so that nothing in them is invisible; a carriage return at every line's end is said once."""
    if not content:
        return ""
    text = content.decode("utf-8", "backslashreplace")
    endings = ""
    if b"\r" in content:
        if all(line.endswith(b"\r") for line in content.split(b"\n") if line[:1] in b" +-" and line):
            endings = "line endings CR LF\n"
        else:
            text = text.replace("\r", "\\u{d}")
    old = f"a/{file.path}" if file.old else "/dev/null"
    new = f"b/{file.path}" if file.new else "/dev/null"
    end = "" if text.endswith("\n") else "\n"
    return f"{endings}--- {old}\n+++ {new}\n{visible(text)}{end}"


def _absence(look: _Look) -> str:
    sizes = " and ".join(
        f"{side.size} bytes {when}"
        for when, side in (("before", look.file.old), ("after", look.file.new))
        if side and side.size is not None
    )
    assert look.unshown is not None
    match look.unshown:
        case Unshown.BINARY:
            return f"not shown: a binary file, {sizes}\n"
        case Unshown.TOO_LARGE:
            return f"not shown: too large to compare, {sizes}\n"
        case Unshown.MALFORMED:
            return f"not shown: a malformed tree entry, {sizes}\n"
        case Unshown.OVER_BUDGET:
            return f"not shown: its diff of {look.unshown_size} bytes does not fit, {sizes}\n"
        case _:
            assert_never(look.unshown)
