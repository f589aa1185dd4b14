"""A project under review, and reviews of it as its user starts them: in this process, as programs, at a terminal.

Whatever a review comes to, what `check` looks for holds of it: no traceback, one JSON object under `--json`, nothing
left in the temporary folder, no program left running.
"""

import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Final

import pytest
from jsonschema import Draft202012Validator

from counterpoint.isolation.removal import remove
from counterpoint.views.schema import RESULT_SCHEMA
from tests.command_line import Called, call
from tests.processes import children
from tests.repositories import Scratch
from tests.terminals import Terminal

__all__ = [
    "APPROVAL",
    "BOUND_S",
    "CHECKED",
    "FINDING",
    "Gate",
    "Project",
    "answer",
    "check_json",
    "everything_in",
    "wait_until_said",
]

BOUND_S: Final = 30.0
CHECKED: Final = '[checks]\ntest = "sh test.sh"\n'
"""Settings by which the tests of a project are its `test.sh`."""
FINDING: Final[Mapping[str, Any]] = {
    "id": "F1",
    "severity": "major",
    "location": "price.py:2",
    "issue": "It is wrong.",
    "suggestion": "Make it right.",
    "status": "open",
}


def answer(*findings: Mapping[str, Any], **changes: Any) -> str:
    """Return a verdict as a reviewer writes it; it approves when it has no finding, unless stated."""
    written = {"summary": "Read.", "findings": list(findings), "responseToRebuttal": "", "approved": not findings}
    return json.dumps(written | changes)


APPROVAL: Final = answer()


def everything_in(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and bytes of every file of a repository, its git folder too; `.counterpoint` is left out."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".counterpoint"]
        for name in names:
            path = Path(place, name)
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[os.fsencode(path).decode("utf-8", "backslashreplace")] = (path.lstat().st_mode, content)
    return found


def wait_until_said(program: "subprocess.Popen[bytes]", text: str) -> None:
    """Read a program's standard error until it has said `text`."""
    assert program.stderr is not None
    seen, ends = b"", time.monotonic() + BOUND_S
    while text.encode() not in seen:
        ready, _, _ = select.select([program.stderr], [], [], max(0.0, ends - time.monotonic()))
        assert ready, seen
        chunk = os.read(program.stderr.fileno(), 65536)
        assert chunk, seen
        seen += chunk


class Gate:
    """Where a program of a test waits until the test lets it go on."""

    def __init__(self, folder: Path) -> None:
        self._arrived, self._opened = folder / "arrived", folder / "opened"
        for pipe in (self._arrived, self._opened):
            os.mkfifo(pipe)

    @property
    def wait(self) -> str:
        """The shell command that says it is there, and waits."""
        return f"echo $$ > {self._arrived}; read opened < {self._opened}"

    def arrived(self) -> int:
        """Wait for a program, and return its process id."""
        with _meet(self._arrived, os.O_RDONLY) as pipe:
            return int(pipe.read())

    def open(self) -> None:
        """Let the program go on."""
        with _meet(self._opened, os.O_WRONLY) as pipe:
            pipe.write("\n")


def _meet(pipe: Path, flags: int) -> IO[str]:
    """Open a pipe that somebody opens from the other side, at most as long as every wait is."""
    with ThreadPoolExecutor(1) as waiting:
        opened = waiting.submit(os.open, pipe, flags)
        try:
            return os.fdopen(opened.result(BOUND_S), "r" if flags == os.O_RDONLY else "w")
        except TimeoutError:
            # Both ends, so that the thread comes back.
            os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
            raise


class Checkout(Scratch):
    """A repository whose ignored files stay out of its commits, as they would for its user."""

    def commit(self, files: dict[str, str | bytes] | None = None, *, message: str = "change") -> str:
        for name, content in (files or {}).items():
            self.write(name, content)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.id("rev-parse", "HEAD")


class Project:
    """A repository with `main` and, checked out, the branch `change`; and a person with a home of their own."""

    def __init__(self, top: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.git = Checkout(top / "shop")
        self.top = self.git.top
        self.bin = top / "bin"
        self.tmp = top / "tmp"
        self.state = top / "state"
        self.config = top / "config"
        for folder in (self.bin, self.tmp, self.config):
            folder.mkdir()
        self._capsys = capsys
        self.command = (sys.executable, "-m", "counterpoint")

    def begin(self, settings: str = CHECKED, *, test: str = "exit 0", change: str = "x = 2\n") -> None:
        """Commit a project to `main` and a change to `change`."""
        self.git.commit({"price.py": "x = 1\n", "test.sh": f"{test}\n", "counterpoint.toml": settings})
        self.branch()
        self.git.commit({"price.py": change})

    def branch(self) -> None:
        self.git.git("checkout", "-q", "-b", "change")

    def configure(self, text: str) -> None:
        """Write the person's own settings."""
        (self.config / "config.toml").write_text(text)

    def critic(
        self,
        script: str = "cat $out",
        *,
        says: str = APPROVAL,
        name: str = "critic",
        destination: str = "local",
        arguments: str = "",
        more: str = "",
    ) -> str:
        """Write a reviewer that is a shell script, and return the settings that name it.

        Args:
            script: what it does; `$out` is a file that holds what it is to say.
            says: what that is.
            name: the agent's name.
            destination: where it sends.
            arguments: its arguments, as TOML, each after a comma.
            more: further settings.
        """
        path = self.bin / name
        path.with_suffix(".out").write_text(says)
        path.write_text(f"#!/bin/sh\nout={path}.out\n{script}\n")
        path.chmod(0o755)
        command = f'kind = "command"\ncommand = ["{path}"{arguments}]\ndestination = "{destination}"'
        return f"[agents.{name}]\n{command}\n{more}\n"

    @property
    def kills_its_driver_once(self) -> str:
        """A script that the first time ends the program that asks with SIGKILL, and then answers."""
        killed = self.bin / "killed"
        return f"test -e {killed} || {{ touch {killed}; kill -9 $PPID; exit 1; }}; cat $out"

    def gate(self) -> Gate:
        return Gate(self.bin)

    def sweep(self) -> None:
        """Remove what a driver that was killed could not remove."""
        for folder in self.tmp.iterdir():
            remove(folder)

    @property
    def environment(self) -> dict[str, str]:
        """What differs from the environment of the tests."""
        return {
            "TMPDIR": str(self.tmp),
            "COUNTERPOINT_STATE": str(self.state),
            "COUNTERPOINT_CONFIG": str(self.config),
            "NO_COLOR": "1",
        }

    def call(self, *args: str | Path) -> Called:
        """Run one command in this process."""
        before = tempfile.tempdir
        tempfile.tempdir = str(self.tmp)
        try:
            called = call(self._capsys, *args)
        finally:
            tempfile.tempdir = before
        return self._seen(called, args)

    def review(self, *args: str | Path) -> Called:
        return self.call("review", *args)

    def judge(self, *args: str | Path) -> dict[str, Any]:
        """Review with trust given, and return the result as a program reads it."""
        called = self.review("--trust-commands", "--json", *args)
        result: dict[str, Any] = called.json
        assert called.code == result.get("exit_code", result.get("error", {}).get("exit_code")), called
        return result

    def run(
        self, *args: str | Path, stdin: int = subprocess.DEVNULL, without: tuple[str, ...] = (), **environment: str
    ) -> Called:
        """Run one command as a program."""
        done = subprocess.run(
            [*self.command, *map(str, args)],
            cwd=self.top,
            env=self.outside(environment, without),
            stdin=stdin,
            capture_output=True,
            check=False,
            timeout=BOUND_S,
        )
        called = Called(
            code=done.returncode,
            out=done.stdout.decode("utf-8", "backslashreplace"),
            err=done.stderr.decode("utf-8", "backslashreplace"),
        )
        return self._seen(called, args)

    def start(self, *args: str | Path, **environment: str) -> "subprocess.Popen[bytes]":
        """Start one command as a program, in a session of its own."""
        return subprocess.Popen(
            [*self.command, *map(str, args)],
            cwd=self.top,
            env=self.outside(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def type(self, keys: str, *args: str | Path) -> Called:
        """Run one command in this process, with standard input and error at a terminal where this is typed."""
        outer, inner = pty.openpty()
        os.write(outer, keys.encode())
        reads, writes = os.fdopen(os.dup(inner)), os.fdopen(inner, "w")
        kept = sys.stdin, sys.stderr
        with reads, writes:
            sys.stdin, sys.stderr = reads, writes
            try:
                called = self.call(*args)
            finally:
                sys.stdin, sys.stderr = kept
            writes.write(_END)
            writes.flush()
            shown = _read_up_to(outer, _END)
        os.close(outer)
        return self._seen(Called(code=called.code, out=called.out, err=shown), args)

    def sit(self, *args: str | Path, **environment: str) -> Terminal:
        """Run one command at a terminal."""
        return Terminal(
            [*self.command, *map(str, args)],
            cwd=self.top,
            environment=self.outside({"TERM": "xterm", **environment}),
        )

    def outside(self, environment: Mapping[str, str], without: tuple[str, ...] = ()) -> dict[str, str]:
        """Return the whole environment of a program."""
        whole = {**os.environ, **self.environment, **environment}
        return {name: value for name, value in whole.items() if name not in without}

    def _seen(self, called: Called, args: tuple[str | Path, ...]) -> Called:
        # What a project's tests print, a result repeats.
        assert "Traceback" not in called.err, called
        assert "this is a bug" not in called.out + called.err, called
        if "--json" in args:
            check_json(called)
        return called

    def check(self) -> None:
        """Hold what was left behind to be nothing."""
        assert [path.name for path in self.tmp.iterdir()] == []
        assert children() == set()

    @property
    def cases(self) -> list[Path]:
        return sorted((self.top / ".counterpoint" / "cases").glob("*"))


_END: Final = "-- the end --"


def _read_up_to(terminal: int, text: str) -> str:
    shown = b""
    while text.encode() not in shown:
        ready, _, _ = select.select([terminal], [], [], BOUND_S)
        assert ready, shown
        shown += os.read(terminal, 1 << 16)
    return shown.decode().replace("\r\n", "\n").partition(text)[0]


_RESULT: Final = Draft202012Validator(RESULT_SCHEMA)


def check_json(called: Called) -> None:
    """Hold standard output to be one JSON object: a result by its schema, or an error with the exit code."""
    found = called.json
    if "error" not in found:
        if "decision" in found:
            if found["protocol"] == "review":
                _RESULT.validate(found)
            assert found["exit_code"] == called.code
        return
    error = found["error"]
    assert found.keys() == {"error"}
    assert error["exit_code"] == called.code != 0
    assert error["code"]
    assert error["message"]
    assert "hint" in error
