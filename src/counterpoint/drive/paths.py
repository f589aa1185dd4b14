"""Where Counterpoint keeps what belongs to the person and not to a repository.

- The state folder: the machine key, remembered heads, grants and trust answers. A repository cannot write there.
- The settings folder: `config.toml`.

`COUNTERPOINT_STATE` and `COUNTERPOINT_CONFIG` name them; else the XDG variables do; else they lie below `HOME`. As
the XDG specification asks, a relative XDG value counts as not set; our own variables are refused instead.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from counterpoint.drive.homes import home_folder, state_folder
from counterpoint.errors import ConfigError, SourceError
from counterpoint.frozen import dataclass

__all__ = ["Folders", "check_private", "disk_asked", "find_folders", "make_private", "path_text", "read_plain"]

_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The two folders of one person on this machine; neither need exist yet."""

    state: Path
    config: Path

    @property
    def settings_file(self) -> Path:
        return self.config / "config.toml"


def find_folders(environment: Mapping[str, str]) -> Folders:
    """Return where state and settings lie.

    Raises:
        ConfigError: a variable of ours is empty or relative, or none of the variables leads to a folder.
    """
    return Folders(
        state=Path(state_folder(environment)),
        config=Path(home_folder(environment, "COUNTERPOINT_CONFIG", "XDG_CONFIG_HOME", ".config")),
    )


@contextmanager
def disk_asked(doing: str) -> Iterator[None]:
    """Turn what the disk refuses in the block, in a temporary folder or elsewhere, into one sentence and a hint.

    Raises:
        SourceError: the disk refused.
    """
    try:
        yield
    except OSError as error:
        where = f"{path_text(Path(os.fsdecode(error.filename)))}: " if isinstance(error.filename, str | bytes) else ""
        hint = "look at the folder and its permissions, or set TMPDIR to one that can be written"
        if error.errno in _FULL:
            hint = "free some space there, or set TMPDIR to a folder on another disk"
        raise SourceError(f"{doing}: {where}{error.strerror or error}", hint=hint) from None


def make_private(folder: Path) -> Path:
    """Make `folder` with mode 0700 where it is missing, and return it once `check_private` agrees.

    Raises:
        ConfigError: it cannot be made, or is not ours alone.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _unfit(folder, "a folder that can be made", error.strerror or str(error)) from None
    check_private(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unfit(folder, "a folder that can be written", "it is read-only")
    return folder


def check_private(folder: Path) -> bool:
    """Say whether `folder` exists; where it does, hold it to be a folder that nobody else can write to.

    Raises:
        ConfigError: it is something else, belongs to somebody else, or its group or everybody may write to it.
    """
    try:
        found = folder.stat()
    except FileNotFoundError:
        if folder.is_symlink():
            raise _unfit(folder, "a folder", "it is a link to nothing") from None
        return False
    except OSError as error:
        raise _unfit(folder, "a folder that can be read", error.strerror or str(error)) from None
    if not stat.S_ISDIR(found.st_mode):
        raise _unfit(folder, "a folder", "it is a file")
    if found.st_uid != os.geteuid():
        raise _unfit(folder, f"a folder of uid {os.geteuid()}", f"it belongs to uid {found.st_uid}")
    if found.st_mode & _OTHERS_MAY_WRITE:
        mode = stat.S_IMODE(found.st_mode)
        hint = f"run `chmod 700 {folder}` after looking through what lies in it"
        raise _unfit(folder, "a folder that only its owner can write to", f"its mode is {mode:04o}", hint=hint)
    return True


def _unfit(folder: Path, expected: str, found: str, *, hint: str = "") -> ConfigError:
    hint = hint or "mend the folder, or name another with COUNTERPOINT_STATE or COUNTERPOINT_CONFIG"
    return ConfigError(path_text(folder), expected, got=found, hint=hint)


def read_plain(path: Path, *, max_bytes: int, follow: bool = False) -> tuple[bytes, os.stat_result] | None:
    """Return a plain file's first `max_bytes` and one more, with what is known of the file, or None where it is not.

    Raises:
        ConfigError: it is a link (unless `follow`), a folder, a pipe or a device, or cannot be read.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _not_plain(path, error.strerror or str(error)) from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _not_plain(path, "something else")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes + 1), found
    except OSError as error:
        raise _not_plain(path, error.strerror or str(error)) from None
    finally:
        os.close(descriptor)


def _not_plain(path: Path, found: str) -> ConfigError:
    shown = path_text(path)
    return ConfigError(
        shown, "a plain file that can be read", got=found, hint=f"look at {shown} and mend or remove it"
    )


def path_text(path: Path) -> str:
    """Return `path` as text that UTF-8 can hold: itself, or for other bytes `bytes:` and their hex digits.

    An absolute path begins with `/`, so the two forms never meet.
    """
    raw = os.fsencode(path)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return f"bytes:{raw.hex()}"
