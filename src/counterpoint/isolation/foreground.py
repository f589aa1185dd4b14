"""A program of the person's own at this terminal, an editor: it has the keyboard and the screen until it ends."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

__all__ = ["run_at_terminal"]


async def run_at_terminal(argv: Sequence[str], *, env: Mapping[str, str], reads: int, writes: int) -> int:
    """Run a program with these descriptors as its terminal; return its exit code.

    It stays in this process group, so that the keys reach it. It is ended when the wait for it is cancelled.

    Raises:
        OSError: it cannot be started.
    """
    program = await asyncio.create_subprocess_exec(*argv, env=dict(env), stdin=reads, stdout=writes, stderr=writes)
    try:
        return await program.wait()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            program.terminate()
        await program.wait()
        raise
