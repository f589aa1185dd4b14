"""Moving old closed threads out of a channel file, blocks byte for byte (SPEC C-045).

1. Each archive file is replaced by itself and what is moved there, then the archive's list of threads. Both are on
   disk before 2, so that a crash between leaves entries in two places and none in no place.
2. The channel file is replaced by itself without what was moved, under a banner that says where the rest lies.

A compaction that was cut short is done again: what an archive holds already is not put there twice.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, NamedTuple

from counterpoint.record.fs import SHARED, Files, Folder
from counterpoint.record.header import parse_stamp
from counterpoint.record.held import HeldFiles
from counterpoint.record.listing import Listed, list_entries
from counterpoint.record.names import ARCHIVE, channel_file, index_page, month_file
from counterpoint.record.safe import open_plain, read_all, replace, subfolder
from counterpoint.record.separators import banner

__all__ = ["Move", "compact", "plan"]

_CLOSE: Final = "close"
_DAY_S: Final = 86_400


class Move(NamedTuple):
    """A thread that goes to an archive."""

    thread: str
    rows: tuple[Listed, ...]
    """In the order of the channel file."""
    closed: str
    month: str

    @property
    def numbers(self) -> tuple[int, int]:
        numbers = [row.n for row in self.rows]
        return min(numbers), max(numbers)


def plan(rows: Sequence[Listed], *, open_thread: str, keep_days: float, now: datetime) -> tuple[Move, ...]:
    """Return the threads whose newest entry is a close of at least `keep_days` ago; an unreadable stamp stays."""
    threads: dict[str, list[Listed]] = {}
    for row in rows:
        threads.setdefault(row.thread, []).append(row)
    moves = []
    for thread, listed in threads.items():
        newest = max(listed, key=lambda row: row.n)
        closed = parse_stamp(newest.stamp)
        if thread == open_thread or newest.type != _CLOSE or closed is None:
            continue
        if not (now - closed).total_seconds() < keep_days * _DAY_S:
            moves.append(Move(thread, tuple(listed), newest.stamp, f"{closed:%Y-%m}"))
    return tuple(moves)


def compact(held: HeldFiles, *, open_thread: str, keep_days: float, now: datetime) -> tuple[Move, ...]:
    """Move threads out of a channel that is held; nothing else is written under this hold afterwards.

    Raises:
        UnsafeFile: the archive folder or a file in it is a link or no plain file.
        OSError: the disk failed; at worst some entries lie in two places.
    """
    held.repair()
    view = held.view
    fs, folder, channel = view.fs, view.folder, view.channel
    content = read_all(fs, view.fd, end=view.size)
    # Slices of it are no copies: a long channel is in memory once, and once more while it is written.
    window = memoryview(content)
    rows = list_entries(content)
    moves = plan(rows, open_thread=open_thread, keep_days=keep_days, now=now)
    if not moves:
        return ()
    archive = _archive(fs, folder)
    try:
        for month in dict.fromkeys(move.month for move in moves):
            moved = [window[row.at : row.stop] for move in moves if move.month == month for row in move.rows]
            _archive_blocks(fs, archive, month_file(channel, month), moved)
        _list_threads(fs, archive, index_page(channel), [_line(channel, move) for move in moves])
        fs.sync(archive)
    finally:
        fs.close(archive)
    moved_at = {row.at for move in moves for row in move.rows}
    kept = [window[row.at : row.stop] for row in rows if row.at not in moved_at]
    remaining = b"".join((_headed(channel, content[: rows[0].at]), *kept))
    held.is_spent = True
    held.lock.check()
    replace(fs, folder, channel_file(channel), remaining, SHARED)
    fs.sync(folder)
    return moves


def _headed(channel: str, preamble: bytes) -> bytes:
    line = banner(channel)
    if line.rstrip(b"\n") in preamble:
        return preamble
    return line + preamble if preamble.strip() else line


def _line(channel: str, move: Move) -> bytes:
    first, last = move.numbers
    where = month_file(channel, move.month)
    said = f"- {move.thread}: MSG-{first}..MSG-{last} ({len(move.rows)} entries, closed {move.closed}) -> {where}\n"
    return said.encode("utf-8", "surrogateescape")


def _archive(fs: Files, folder: Folder) -> Folder:
    with suppress(FileExistsError):
        fs.make_folder(folder, ARCHIVE, 0o777)
        fs.sync(folder)
    return subfolder(fs, folder, ARCHIVE)


def _archive_blocks(fs: Files, archive: Folder, name: str, moved: Iterable[memoryview]) -> None:
    before = _content(fs, archive, name)
    there = {before[row.at : row.stop].strip(b"\n") for row in list_entries(before)}
    parts: list[bytes | memoryview] = [before]
    for block in moved:
        if not there or bytes(block).strip(b"\n") not in there:
            parts += (b"\n", block)
    if len(parts) > 1:
        replace(fs, archive, name, b"".join(parts), SHARED)


def _list_threads(fs: Files, archive: Folder, name: str, lines: Sequence[bytes]) -> None:
    before = _content(fs, archive, name)
    there = set(before.splitlines(keepends=True))
    added = b"".join(line for line in lines if line not in there)
    if added:
        replace(fs, archive, name, before + added, SHARED)


def _content(fs: Files, archive: Folder, name: str) -> bytes:
    try:
        fd = open_plain(fs, archive, name)
    except FileNotFoundError:
        return b""
    try:
        return read_all(fs, fd)
    finally:
        fs.close(fd)
