"""The one way to start a program and get its whole end back: `run`.

- argv only, never a shell; the program is looked up on the given PATH, and never in a relative entry of it.
- It leads a session of its own. Its standard input is closed, or fed whole and then closed.
- Output is read to the end as it comes; the newest bytes up to a bound are kept, the others are counted.
- After its end, after the timeout and on cancellation the whole process group is killed. A descendant that keeps
  standard output open is waited for `LINGER_S`, no longer.
- On Linux a descendant that left the group is found by the mark in its environment and killed too. One that also
  wiped its environment lives on; it cannot hold the call. Only a box with its own process namespace stops that.

What a program's end means is for the caller to say.

Sources: FIELD-FAULTS F27 to F29, SECURITY S6, S7.
"""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.errors import Unreachable
from counterpoint.isolation.environment import without_secrets
from counterpoint.isolation.marks import end_marked, with_mark

__all__ = ["MAX_ARGUMENT", "Finished", "find_program", "run"]

MAX_ARGUMENT: Final = 100_000
"""Bytes. The kernel refuses one argument of 128 KiB, and some programs cut long before."""
GRACE_S: Final = 2.0
"""From the request to end to the kill."""
LINGER_S: Final = 1.0
"""How long output is still read after the program has ended."""
DEATH_S: Final = 5.0
"""How long a killed program may take to be gone."""
STDERR_KEPT: Final = 64 * 1024
_CHUNK: Final = 64 * 1024
_LINE: Final = 200
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a program ended and what it printed."""

    exit_code: int | None
    """`None` when a signal ended it."""
    signal: int | None
    stdout: bytes
    """The newest `max_output` bytes."""
    stderr: bytes
    """The newest 64 KiB."""
    printed: int
    """Bytes on standard output, kept or not."""
    timed_out: bool
    lingered: bool
    """A descendant still held an output open when the reading ended."""
    seconds: float

    @property
    def truncated(self) -> bool:
        return self.printed > len(self.stdout)

    @property
    def ending(self) -> str:
        """`exit 1`, `killed by SIGSEGV`."""
        if self.signal is None:
            return f"exit {self.exit_code}"
        with suppress(ValueError):
            return f"killed by {signal.Signals(self.signal).name}"
        return f"killed by signal {self.signal}"


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes | None,
    timeout_s: float,
    max_output: int,
    merge_stderr: bool = False,
    on_line: Callable[[str], None] | None = None,
    on_output: Callable[[bytes], None] | None = None,
    grace_s: float = GRACE_S,
) -> Finished:
    """Run a program to its end and return it; nothing that it started is left running.

    Args:
        argv: the program and its arguments. A name is looked up on `env`'s PATH, a relative path from `cwd`.
        cwd: the folder it starts in.
        env: its whole environment; only `marks.MARK` is added.
        stdin: what standard input holds; `None` is an empty one.
        timeout_s: after this it is ended, and `timed_out` says so.
        max_output: how many bytes of standard output are kept.
        merge_stderr: standard error goes into standard output, in the order of writing.
        on_line: called with the newest line of each read from standard error (or from the merged output), without
            the secrets of `env`, made visible and cut; must not raise or block.
        on_output: called with each piece of standard output as it comes, kept or not; must not raise or block.
        grace_s: from the request to end to the kill.

    Raises:
        Unreachable: it cannot be started as asked, or cannot be ended.
    """
    program = find_program(argv[0], env=env, cwd=cwd)
    mark = secrets.token_hex(8)
    started = time.monotonic()
    popen = _start(program, argv, cwd=cwd, env=with_mark(env, mark), fed=stdin is not None, merged=merge_stderr)
    on_raw_line = None if on_line is None else _cleaned(on_line, env)
    child = _Child(popen, stdin=stdin, max_output=max_output, on_line=on_raw_line, on_output=on_output)
    try:
        timed_out = not await child.wait(timeout_s)
        if timed_out:
            await child.stop(grace_s)
        lingered = not await child.drain(LINGER_S)
    except asyncio.CancelledError:
        await child.stop(grace_s)
        raise
    finally:
        child.end(mark)
    code = popen.returncode
    return Finished(
        exit_code=code if code >= 0 else None,
        signal=None if code >= 0 else -code,
        stdout=child.stdout.newest(),
        stderr=child.stderr.newest(),
        printed=child.stdout.total,
        timed_out=timed_out,
        lingered=lingered,
        seconds=time.monotonic() - started,
    )


def _cleaned(on_line: Callable[[str], None], env: Mapping[str, str]) -> Callable[[bytes], None]:
    # Cut last: of a secret that is cut first, a part stays.
    return lambda line: on_line(visible(without_secrets(line.decode("utf-8", "replace"), env)[0])[:_LINE])


def find_program(name: str, *, env: Mapping[str, str], cwd: Path) -> Path:
    """Return the absolute path of the program that `name` means.

    Raises:
        Unreachable: there is none, or it is not executable.
    """
    if "/" in name:
        candidates = [cwd.absolute() / name]
    else:
        # A relative entry would let the tree under review supply the program.
        folders = [Path(entry) for entry in env.get("PATH", os.defpath).split(os.pathsep)]
        candidates = [folder / name for folder in folders if folder.is_absolute()]
    found = [path for path in candidates if path.is_file()]
    for path in found:
        if os.access(path, os.X_OK):
            return path
    if found:
        raise Unreachable(f"{str(found[0])!r} is not executable", hint=f"make it executable: chmod +x {found[0]}")
    if "/" in name:
        raise Unreachable(f"there is no program at {str(candidates[0])!r}", hint="correct the path in the settings")
    raise Unreachable(f"no program {name!r} on PATH", hint=f"install {name!r}, or give its full path")


def _start(
    program: Path, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], fed: bool, merged: bool
) -> subprocess.Popen[bytes]:
    try:
        longest = max(len(os.fsencode(argument)) for argument in argv)
        if longest > MAX_ARGUMENT:
            raise Unreachable(
                f"an argument of {argv[0]!r} has {longest} bytes; at most {MAX_ARGUMENT} are passed",
                hint="pass it as a file or on standard input",
            )
        # Leaving a `with` block would wait for the program; `_Child.end` kills, closes and reaps instead.
        return subprocess.Popen(
            list(argv),
            executable=program,
            cwd=cwd,
            env=env,
            bufsize=0,
            stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        if not cwd.is_dir():
            raise Unreachable(f"{argv[0]!r} cannot start in {str(cwd)!r}: no such folder") from None
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise Unreachable(f"{argv[0]!r} cannot be started: {reason}", hint="run it by hand to see why") from None


class _Newest:
    """The newest bytes of a stream, and how many there were in all."""

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._limit = limit
        self._held = bytearray()

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self._held += chunk
        if len(self._held) > 2 * self._limit + _CHUNK:
            del self._held[: -self._limit or None]

    def newest(self) -> bytes:
        return bytes(self._held[max(0, len(self._held) - self._limit) :])


class _Child:
    """One running program: its pipes on the event loop, its end, its killing.

    The leader stays a zombie until the group has been killed, so that the group's number cannot be anybody else's.
    Without `pidfd_open` (macOS) it is reaped while it is polled for, and that gap stays open.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        *,
        stdin: bytes | None,
        max_output: int,
        on_line: Callable[[bytes], None] | None,
        on_output: Callable[[bytes], None] | None,
    ) -> None:
        self.stdout = _Newest(max_output)
        self.stderr = _Newest(STDERR_KEPT)
        self._popen = popen
        self._loop = asyncio.get_running_loop()
        self._exited = self._loop.create_future()
        self._drained = self._loop.create_future()
        self._unfed = memoryview(stdin or b"")
        self._on_line = on_line
        self._on_output = on_output
        self._pidfd: int | None = None
        self._open: set[int] = set()
        self._told = self.stdout if popen.stderr is None else self.stderr
        for stream, kept in ((popen.stdout, self.stdout), (popen.stderr, self.stderr)):
            if stream is not None:
                self._listen(stream.fileno(), kept)
        if popen.stdin is not None:
            os.set_blocking(popen.stdin.fileno(), False)
            self._loop.add_writer(popen.stdin.fileno(), self._feed)
        self._watch()

    async def wait(self, timeout_s: float) -> bool:
        """Wait for the leader's end; return whether it came in time."""
        return await _within(self._exited, timeout_s)

    async def drain(self, timeout_s: float) -> bool:
        """Wait for the end of both outputs; return whether it came in time."""
        return await _within(self._drained, timeout_s)

    async def stop(self, grace_s: float) -> None:
        """Ask the group to end, then kill it."""
        self._signal(signal.SIGTERM)
        if not await _within(self._exited, grace_s):
            self._signal(signal.SIGKILL)
            await _within(self._exited, DEATH_S)

    def end(self, mark: str) -> None:
        """Kill what is left of the group and what escaped it, close every pipe, reap the leader.

        Raises:
            Unreachable: it is still there.
        """
        self._signal(signal.SIGKILL)
        end_marked(mark)
        for fd in tuple(self._open):
            self._ignore(fd)
        self._stop_feeding()
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
        for stream in (self._popen.stdout, self._popen.stderr):
            if stream is not None:
                stream.close()
        try:
            self._popen.wait(DEATH_S)
        except subprocess.TimeoutExpired:
            raise Unreachable(
                f"process {self._popen.pid} was killed and is still there", hint="end it by hand"
            ) from None

    def _listen(self, fd: int, kept: _Newest) -> None:
        os.set_blocking(fd, False)
        self._open.add(fd)
        self._loop.add_reader(fd, self._read, fd, kept)

    def _ignore(self, fd: int) -> None:
        self._loop.remove_reader(fd)
        self._open.discard(fd)
        if not self._open and not self._drained.done():
            self._drained.set_result(None)

    def _read(self, fd: int, kept: _Newest) -> None:
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._ignore(fd)
            return
        kept.add(chunk)
        if self._on_output is not None and kept is self.stdout:
            self._on_output(chunk)
        if self._on_line is not None and kept is self._told:
            lines = [line for line in chunk.splitlines() if line.strip()]
            if lines:
                self._on_line(lines[-1])

    def _feed(self) -> None:
        assert self._popen.stdin is not None
        try:
            sent = os.write(self._popen.stdin.fileno(), self._unfed[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not read its input; its answer tells whether that was right
            sent = len(self._unfed)
        self._unfed = self._unfed[sent:]
        if not self._unfed:
            self._stop_feeding()

    def _stop_feeding(self) -> None:
        stdin = self._popen.stdin
        if stdin is not None and not stdin.closed:
            self._loop.remove_writer(stdin.fileno())
            stdin.close()

    def _watch(self) -> None:
        if sys.platform == "linux":
            with suppress(OSError):
                self._pidfd = os.pidfd_open(self._popen.pid)
                self._loop.add_reader(self._pidfd, self._set_exited)
                return
        self._poll()

    def _poll(self) -> None:
        if self._popen.poll() is None:
            self._loop.call_later(_POLL_S, self._poll)
        else:
            self._set_exited()

    def _set_exited(self) -> None:
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
        if not self._exited.done():
            self._exited.set_result(None)

    def _signal(self, number: signal.Signals) -> None:
        # No such group: all of it is gone. Not permitted: macOS says so of zombies; `end` sees whether it died.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, number)


async def _within(future: asyncio.Future[None], timeout_s: float) -> bool:
    done, _ = await asyncio.wait({future}, timeout=timeout_s)
    return bool(done)
