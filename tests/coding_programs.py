"""Programs that answer as coding agents do when they are asked about themselves."""

from pathlib import Path

from counterpoint.agents.probes import PROBES, drift_of
from counterpoint.agents.profiles import CLIENTS

__all__ = ["everything_named", "write_client"]


def everything_named(kind: str) -> set[str]:
    """Return every word that the client's help has to name."""
    return {drift.word for drift in drift_of(CLIENTS[kind], "")}


def write_client(
    folder: Path,
    kind: str,
    *,
    version: str = "client 7.8.9",
    without: str = "",
    more: str = "",
    status: int = 1,
    first: str = "",
) -> Path:
    """Write a program in the place of a coding agent, and return its path.

    Args:
        folder: on PATH.
        kind: whose.
        version: what it says its version is.
        without: a word that its help does not name.
        more: words that it names besides.
        status: the exit code with which it says whether it is signed in.
        first: what it does before anything else.
    """
    words = " ".join(sorted(everything_named(kind) - {without} | {more}))
    help_words = " ".join(PROBES[kind].help)
    path = folder / CLIENTS[kind].program
    path.write_text(
        f"""#!/bin/sh
{first}
case "$*" in
  --version) echo "{version}" ;;
  "{help_words}") echo "{words}" ;;
  "login status") exit {status} ;;
  *) echo "was started with $*" >&2; exit 9 ;;
esac
"""
    )
    path.chmod(0o755)
    return path
