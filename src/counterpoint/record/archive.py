"""What the public tool's `compact` moved out of a channel file: `archive/<id>-YYYY-MM.md`, blocks byte for byte."""

from collections.abc import Iterator
from contextlib import contextmanager

from counterpoint.core.canonical import digest
from counterpoint.record.fs import Files, Folder
from counterpoint.record.listing import list_entries
from counterpoint.record.names import ARCHIVE, month_files
from counterpoint.record.safe import open_plain, read_all, subfolder
from counterpoint.record.scan import places

__all__ = ["archived_blocks", "archived_digests", "archived_files", "archived_thread"]


def archived_files(fs: Files, folder: Folder, channel: str) -> list[tuple[str, bytes]]:
    """Return name and bytes of the channel's archive files, oldest month first.

    Raises:
        UnsafeFile: the archive folder or a file in it is a link or no plain file.
    """
    month = month_files(channel)
    with _archive(fs, folder) as archive:
        if archive is None:
            return []
        return [(name, _read(fs, archive, name)) for name in sorted(fs.names(archive)) if month.fullmatch(name)]


def archived_digests(fs: Files, folder: Folder, channel: str) -> tuple[set[tuple[int, str]], bytes | None]:
    """Return number and digest of each archived entry, and the genesis block where it is among them."""
    found: set[tuple[int, str]] = set()
    genesis = None
    for _, content in archived_files(fs, folder, channel):
        for n, at, end, _, foot, _ in places(content):
            found.add((n, digest(content[at:end])))
            if n == 0 and foot:
                genesis = content[at:end]
    return found, genesis


def archived_thread(fs: Files, folder: Folder, channel: str, thread: str) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of a thread's archived entries, up to the next entry of the file.

    Raises:
        UnsafeFile: as `archived_files`.
    """
    for _, content in archived_files(fs, folder, channel):
        for row in list_entries(content):
            if row.thread == thread:
                yield row.n, content[row.at : row.stop].strip(b"\n")


@contextmanager
def _archive(fs: Files, folder: Folder) -> Iterator[Folder | None]:
    try:
        archive = subfolder(fs, folder, ARCHIVE)
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
        for n, at, end, _, _, _ in places(content)
    }
