"""What the public tool's `compact` moved out of a channel file: `archive/<id>-YYYY-MM.md`, blocks byte for byte."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from counterpoint.core.canonical import digest
from counterpoint.record.fs import Files, Folder
from counterpoint.record.safe import open_plain, read_all, subfolder
from counterpoint.record.scan import places

__all__ = ["archived_blocks", "archived_files"]

_FOLDER = "archive"


def archived_files(fs: Files, folder: Folder, channel: str) -> list[tuple[str, bytes]]:
    """Return name and bytes of the channel's archive files, oldest month first.

    Raises:
        UnsafeFile: the archive folder or a file in it is a link or no plain file.
    """
    month = re.compile(re.escape(channel) + r"-\d{4}-\d\d\.md")
    with _archive(fs, folder) as archive:
        if archive is None:
            return []
        return [(name, _read(fs, archive, name)) for name in sorted(fs.names(archive)) if month.fullmatch(name)]


@contextmanager
def _archive(fs: Files, folder: Folder) -> Iterator[Folder | None]:
    try:
        archive = subfolder(fs, folder, _FOLDER)
    except FileNotFoundError:
        yield None
        return
    try:
        yield archive
    finally:
        fs.close(archive)


def _read(fs: Files, archive: Folder, name: str) -> bytes:
    fd = open_plain(fs, archive, name)
    try:
        return read_all(fs, fd)
    finally:
        fs.close(fd)


def archived_blocks(fs: Files, folder: Folder, channel: str) -> dict[tuple[int, str], bytes]:
    """Return the archived blocks by number and digest; one that a broken-off `compact` left twice stands once."""
    return {
        (n, digest(content[at:end])): content[at:end]
        for _, content in archived_files(fs, folder, channel)
        for n, at, end, _, _ in places(content)
    }
