"""The command of a party, run once: no standard input, its output kept apart, all of it gone when the call ends.

    ended = call(("codex", "exec", prompt), timeout_s=1800, mark=mark)

It runs where the watcher runs, so that relative paths in a prompt mean what they mean there (SPEC C-066; F27 to F29).
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from counterpoint.errors import Unreachable
from counterpoint.isolation.marks import end_marked, marked
from counterpoint.isolation.process import run

__all__ = ["Ended", "call", "end_left"]

MAX_OUTPUT: Final = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a call ended."""

    said: str
    """`ok`, `exit 3`, `TIMEOUT after 1800s (killed)`."""
    output: bytes
    """The newest of what it printed."""
    failure: str = ""
    """Why it could not be started; then it never will be."""


def call(
    argv: Sequence[str], *, timeout_s: int, mark: str, cwd: str = "", env: Mapping[str, str] | None = None
) -> Ended:
    """Run a party's command to its end and say how that was; nothing that it started is left running.

    Args:
        argv: the program and its arguments.
        timeout_s: after this it is ended.
        mark: by which another process finds what it started.
        cwd: where it runs; empty: where we do.
        env: its environment; `None`: ours.
    """
    try:
        with marked(mark):
            finished = asyncio.run(
                run(
                    argv,
                    cwd=Path(cwd or Path.cwd()),
                    env=dict(os.environ if env is None else env),
                    stdin=None,
                    timeout_s=timeout_s,
                    max_output=MAX_OUTPUT,
                    merge_stderr=True,
                )
            )
    except Unreachable as error:
        return Ended(said="", output=b"", failure=str(error))
    if finished.timed_out:
        said = f"TIMEOUT after {timeout_s}s (killed)"
    elif finished.signal is not None:
        said = f"exit -{finished.signal}"
    else:
        said = f"exit {finished.exit_code}" if finished.exit_code else "ok"
    return Ended(said=said, output=finished.stdout)


def end_left(mark: str) -> None:
    """End what a call of a killed watcher has left running."""
    end_marked(mark)
