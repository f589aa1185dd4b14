"""The first layout of the public tool renamed to the named one, and nothing but renamed (SPEC C-046).

The new name is written into the old settings before any file moves, so that a migration that was cut short anywhere
is found again, and finished under the same name. The archive's list of threads alone is written anew: it names files.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from counterpoint.record.bell import write_object
from counterpoint.record.fs import SHARED, Files, Folder
from counterpoint.record.names import (
    ARCHIVE,
    bell_file,
    channel_file,
    index_page,
    month_file,
    own_file,
    settings_file,
)
from counterpoint.record.safe import open_plain, read_all, replace, subfolder

__all__ = ["Renaming", "rename_files"]

_MONTH: Final = re.compile(r"CHANNEL-(.*)\.md", re.DOTALL)
_LISTED: Final = re.compile(rb" -> CHANNEL-(\d{4}-\d\d)\.md$", re.MULTILINE)


class Renaming(NamedTuple):
    """A channel without a name that is held to be given one."""

    fs: Files
    folder: Folder
    settings: Mapping[str, Any]

    def rename(self, name: str, settings: Mapping[str, Any], *, is_resumed: bool) -> None:
        """Rename its files; `settings` name it."""
        rename_files(self.fs, self.folder, name, settings, is_resumed=is_resumed)


def rename_files(fs: Files, folder: Folder, name: str, settings: Mapping[str, Any], *, is_resumed: bool) -> None:
    """Rename the files of the channel without a name; its locks are held, and `settings` name it.

    Raises:
        OSError: the disk failed; doing it again goes on from there.
    """
    if not is_resumed:
        replace(fs, folder, settings_file(""), write_object(settings), SHARED)
        fs.sync(folder)
    for old, new in (
        (channel_file(""), channel_file(name)),
        (bell_file(""), bell_file(name)),
        (own_file("", "index"), own_file(name, "index")),
    ):
        with suppress(FileNotFoundError):
            fs.rename(folder, old, new)
    with suppress(FileNotFoundError):
        archive = subfolder(fs, folder, ARCHIVE)
        try:
            _rename_archive(fs, archive, name)
        finally:
            fs.close(archive)
    fs.sync(folder)
    replace(fs, folder, settings_file(name), write_object(settings), SHARED)
    fs.sync(folder)
    fs.unlink(folder, settings_file(""))
    # Whoever waits for it looks again whether it is still there.
    with suppress(FileNotFoundError):
        fs.unlink(folder, own_file("", "flock"))
    fs.sync(folder)


def _rename_archive(fs: Files, archive: Folder, name: str) -> None:
    for old in sorted(fs.names(archive)):
        if found := _MONTH.fullmatch(old):
            fs.rename(archive, old, month_file(name, found[1]))
    with suppress(FileNotFoundError):
        fs.rename(archive, index_page(""), index_page(name))
    with suppress(FileNotFoundError):
        fd = open_plain(fs, archive, index_page(name))
        try:
            content = read_all(fs, fd)
        finally:
            fs.close(fd)
        named = _LISTED.sub(rb" -> %b-\1.md" % name.encode(), content)
        if named != content:
            replace(fs, archive, index_page(name), named, SHARED)
    fs.sync(archive)
