"""What no committed file may hold: where packages come from, paths of one machine, keys."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["committed_files", "leaks"]


def _pattern(*parts: str) -> re.Pattern[bytes]:
    # In parts, so that this file does not hold what it looks for.
    return re.compile("".join(parts).encode())


FORBIDDEN: Final = {
    "a package registry": _pattern(
        "py", r"pi\.org|python", r"hosted\.org|npm", r"js\.(org|com)|deb\.", r"debian\.org"
    ),
    "an index or download address": _pattern("--(extra-)?index", "-url|--find", r"-links[ =]\S*[:/]"),
    "a path of one machine": _pattern(
        "/wo", r"rk/(main|shared|steering|\.library|\.mirror)|/fa", "rm/|/tmp/", r"cp\b"
    ),
    "a private key": _pattern("BEGIN ", "([A-Z]+ )*PRIVATE", " KEY"),
    "an access token": _pattern(
        "sk-", r"(ant-)?[A-Za-z0-9_-]{32}|gh", "[pousr]_[A-Za-z0-9]{36}|AK", "IA[0-9A-Z]{16}"
    ),
}


def committed_files(root: Path) -> list[Path]:
    """Return what git tracks, or would add, under `root`."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")
    return [root / name for name in listed if name and (root / name).is_file()]


def leaks(files: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """Complain of each line that holds what must not leave this machine."""
    for name, content in files:
        for what, pattern in FORBIDDEN.items():
            for found in pattern.finditer(content):
                line = content.count(b"\n", 0, found.start()) + 1
                yield f"{name}:{line}: names {what}: {found[0].decode(errors='replace')!r}"
