"""What the files of a channel are called: everything of it begins with its name.

A channel without a name, `""`, has the names of the public tool's first layout; a folder holds at most one such
(SPEC C-001, C-002).
"""

import re
from typing import Final

__all__ = [
    "ARCHIVE",
    "SETTINGS",
    "bell_file",
    "channel_file",
    "index_page",
    "month_file",
    "month_files",
    "own_file",
    "settings_file",
    "shared_lock",
]

ARCHIVE: Final = "archive"
"""The folder of what was moved out of channel files, beside them."""
SETTINGS: Final = ".debate.json"
_UNNAMED: Final = "CHANNEL"


def channel_file(channel: str) -> str:
    return f"{channel}.channel.md" if channel else f"{_UNNAMED}.md"


def bell_file(channel: str) -> str:
    return f"{channel}.signal.json" if channel else "signal.json"


def settings_file(channel: str) -> str:
    return f"{channel}{SETTINGS}" if channel else "debate.json"


def shared_lock(channel: str) -> str:
    """Return the name of the public tool's lock."""
    return f"{channel}.lock"


def own_file(channel: str, kind: str) -> str:
    """Return the name of a file that is ours alone."""
    return f"{channel or _UNNAMED}.{kind}"


def month_file(channel: str, month: str) -> str:
    """Return the name of the archive file of a month, as `2026-07`."""
    return f"{channel or _UNNAMED}-{month}.md"


def month_files(channel: str) -> "re.Pattern[str]":
    """Return what the names of a channel's archive files match."""
    return re.compile(re.escape(channel or _UNNAMED) + r"-\d{4}-\d\d\.md", re.ASCII)


def index_page(channel: str) -> str:
    """Return the name of the archive's list of threads."""
    return f"{channel}-INDEX.md" if channel else "INDEX.md"
