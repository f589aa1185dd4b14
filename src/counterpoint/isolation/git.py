"""Git with everything switched off that a repository, a user or a machine can configure.

- The environment is built from nothing. System and user settings are not read; what a repository's own settings
  could still start (a file system monitor, hooks, a pager, a transport, a prompt) is overruled on the command line.
- Replacement refs, grafts, commit graphs and multi-pack indexes are not believed. Nothing is fetched.
- Standard input is closed or fed from a file, output and time are bounded, and nothing outlives a call.

What runs inside a repository's own git folder reads names and settings: `rev-parse`, `symbolic-ref`, `for-each-ref`
and `config`. Two commands write there, both of `landing`: `update-ref`, which moves a ref only from the value it was
told, and `update-index -z --index-info` on the index. All else runs in a quarantine.

Sources: SECURITY B.5, B.6 (G1 to G11).
"""

import io
import os
import re
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from counterpoint.core.canonical import visible
from counterpoint.errors import SourceError, Unreachable
from counterpoint.isolation.process import find_program

__all__ = ["MINIMUM", "TIMEOUT_S", "Git", "Place", "complaint", "end"]

MINIMUM: Final = (2, 32)
"""The first version that takes its user settings from a file of our choice."""
TIMEOUT_S: Final = 120.0
MAX_OUTPUT: Final = 64 << 20
_MAX_STDERR: Final = 64 << 10
_CHUNK: Final = 1 << 16
_STREAM_CHUNK: Final = 1 << 20
_MAX_COMPLAINT: Final = 300
_DEATH_S: Final = 5.0

_SETTINGS: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.untrackedCache": "false",
    "core.commitGraph": "false",
    "core.multiPackIndex": "false",
    "core.useReplaceRefs": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "false",
    "core.sshCommand": "false",
    "core.alternateRefsCommand": "false",
    "credential.helper": "",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}

_VARIABLES: Final = {
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("gitconfig")),
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a git command runs: its folder, and what is added to our environment and settings."""

    cwd: Path
    variables: Mapping[str, str | None] = field(default_factory=dict)
    """`None` takes a variable out."""
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """The git program of this machine."""

    program: Path
    version: tuple[int, int]

    @classmethod
    def find(cls, *, checkout: Path, search: str | None = None) -> "Git":
        """Find git on PATH, never below `checkout`: a repository does not supply the program that reads it.

        Args:
            checkout: the folder under review.
            search: the PATH to look on; by default that of this process.

        Raises:
            SourceError: there is none, or it is older than `MINIMUM`.
        """
        entries = (os.environ.get("PATH", os.defpath) if search is None else search).split(os.pathsep)
        top = checkout.resolve()
        kept = [entry for entry in entries if entry and not Path(entry).resolve().is_relative_to(top)]
        try:
            program = find_program("git", env={"PATH": os.pathsep.join(kept)}, cwd=checkout)
        except Unreachable as error:
            raise SourceError(str(error), hint="install git, or put it on PATH") from None
        unknown = cls(program=program, version=MINIMUM)
        answer = unknown.run("version", place=Place(cwd=Path("/")))
        found = re.match(rb"git version (\d+)\.(\d+)", answer)
        if not found:
            raise SourceError(
                f"{str(program)!r} is not git: it says {visible(answer[:80].decode('utf-8', 'replace'))!r}"
            )
        version = (int(found[1]), int(found[2]))
        if version < MINIMUM:
            raise SourceError(
                f"git {version[0]}.{version[1]} at {str(program)!r}; {MINIMUM[0]}.{MINIMUM[1]} or newer is needed",
                hint="install a newer git",
            )
        return cls(program=program, version=version)

    def start(
        self,
        *arguments: str | Path,
        place: Place,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stderr: int | IO[bytes] = subprocess.PIPE,
    ) -> "subprocess.Popen[bytes]":
        """Start git; the caller reads its output and calls `end`."""
        settings = _SETTINGS | dict(place.settings)
        switches = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        variables = {"PATH": f"{self.program.parent}:/usr/bin:/bin", **_VARIABLES, **place.variables}
        try:
            return subprocess.Popen(
                [self.program, "--no-pager", *switches, *arguments],
                cwd=place.cwd,
                env={name: value for name, value in variables.items() if value is not None},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise SourceError(f"git cannot start in {str(place.cwd)!r}: {error.strerror}") from None

    def run(
        self,
        *arguments: str | Path,
        place: Place,
        stdin: bytes = b"",
        accept: Collection[int] = (0,),
        max_output: int = MAX_OUTPUT,
        timeout_s: float = TIMEOUT_S,
    ) -> bytes:
        """Run git to its end and return what it printed.

        Raises:
            SourceError: its exit code is not one of `accept`, it printed more than `max_output` bytes, or it took
                longer than `timeout_s`.
        """
        with tempfile.TemporaryFile() as feed:
            feed.write(stdin)
            feed.seek(0)
            process = self.start(*arguments, place=place, stdin=feed)
            try:
                output, errors = _drain(process, arguments[0], max_output=max_output, timeout_s=timeout_s)
                code = process.wait(timeout=_DEATH_S)
            except subprocess.TimeoutExpired:
                raise SourceError(f"git {arguments[0]} closed its output and did not end") from None
            finally:
                end(process)
        if code not in accept:
            raise SourceError(f"git {arguments[0]} ended with {code}: {complaint(errors)}")
        return output

    @contextmanager
    def stream(self, *arguments: str | Path, place: Place, timeout_s: float = TIMEOUT_S) -> Iterator[IO[bytes]]:
        """Run git and read what it prints as it comes; leaving the block early kills it.

        Raises:
            SourceError: it failed, or took longer than `timeout_s`.
        """
        with tempfile.TemporaryFile() as errors:
            process = self.start(*arguments, place=place, stderr=errors)
            assert isinstance(process.stdout, io.FileIO)
            alarm = threading.Timer(timeout_s, _kill, [process])
            alarm.daemon = True
            alarm.start()
            try:
                with io.BufferedReader(process.stdout, _STREAM_CHUNK) as output:
                    yield output
                    # What was not read would keep it from ending by itself.
                    code = process.wait(timeout=_DEATH_S) if not output.read(1) else 0
            finally:
                alarm.cancel()
                end(process)
            if code < 0:
                raise SourceError(f"git {arguments[0]} took longer than {timeout_s:g} s", hint="try again")
            if code:
                errors.seek(0)
                raise SourceError(f"git {arguments[0]} ended with {code}: {complaint(errors.read(_MAX_STDERR))}")


def complaint(stderr: bytes) -> str:
    """Return the line of git's complaint that says why it ended, made visible and cut."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    # Warnings and hints may come first.
    reasons = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return visible(reasons[0])[:_MAX_COMPLAINT] if reasons else "it said nothing"


def end(process: "subprocess.Popen[bytes]") -> None:
    """Kill what is left of a started git and close its pipes."""
    if process.poll() is None:
        _kill(process)
        process.wait(timeout=_DEATH_S)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _drain(
    process: "subprocess.Popen[bytes]", command: str | Path, *, max_output: int, timeout_s: float
) -> tuple[bytes, bytes]:
    assert process.stdout is not None
    assert process.stderr is not None
    deadline = time.monotonic() + timeout_s
    output, errors = bytearray(), bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ, output)
        ready.register(process.stderr, selectors.EVENT_READ, errors)
        while ready.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise SourceError(f"git {command} took longer than {timeout_s:g} s", hint="try again")
            for key, _ in ready.select(left):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    ready.unregister(key.fileobj)
                elif key.data is output or len(errors) < _MAX_STDERR:
                    key.data.extend(chunk)
            if len(output) > max_output:
                raise SourceError(f"git {command} printed more than {max_output} bytes")
    return bytes(output), bytes(errors)
