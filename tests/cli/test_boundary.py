"""The last boundary of the command line: whatever happens, a user gets a sentence and a stated code (STYLE 5)."""

import errno
import json
import os
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterpoint.cli.interruption import ends_as_interruption
from counterpoint.cli.output import DEBUG_VARIABLE, fail, say_interrupted
from counterpoint.errors import ConfigError, NeedsPerson
from tests.command_line import Called
from tests.reviewing import Project, check_json

REPORT = "set COUNTERPOINT_DEBUG=FILE, repeat the command, and report the bug with that file\n"


@pytest.mark.parametrize(
    ("error", "code", "err", "fields"),
    [
        (
            ConfigError("a.b", "a word", got=3, hint="write one"),
            1,
            "error: a.b: expected a word; got 3\nhint: write one\n",
            {"code": "config", "path": "a.b"},
        ),
        (NeedsPerson("somebody is needed"), 4, "error: somebody is needed\n", {"code": "needs_person", "hint": ""}),
        (
            OSError(errno.ENOSPC, "No space left on device", "/there"),
            1,
            "error: /there: No space left on device\nhint: look at that file or folder, then run the command again\n",
            {"code": "disk"},
        ),
        (
            ValueError("nonsense"),
            1,
            "error: this is a bug in Counterpoint: ValueError: nonsense\nhint: " + REPORT,
            {"code": "bug"},
        ),
    ],
    ids=["settings", "person", "disk", "bug"],
)
def test_every_error_is_a_sentence_or_one_object(
    error: Exception, code: int, err: str, fields: Mapping[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard error for people, on standard output for programs; the code is the same."""
    assert fail(error, as_json=False) == code
    assert capsys.readouterr() == ("", err)
    assert fail(error, as_json=True) == code
    printed = capsys.readouterr()
    called = Called(code=code, out=printed.out, err=printed.err)
    check_json(called)
    assert fields.items() <= called.json["error"].items()


def test_what_is_left_open_is_said_with_the_command_that_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    """For people as the last line, for programs as `resume`."""
    line = "counterpoint resume review-1"
    assert say_interrupted(as_json=False, resume=line) == 130
    assert capsys.readouterr().err == f"error: interrupted\neverything so far is kept; go on with: {line}\n"
    assert fail(NeedsPerson("somebody is needed"), as_json=True, resume=line) == 4
    assert json.loads(capsys.readouterr().out)["error"]["resume"] == line


def test_a_bug_leaves_its_traceback_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And never on the screen."""
    monkeypatch.setenv(DEBUG_VARIABLE, str(tmp_path / "bug"))
    assert fail(ValueError("nonsense"), as_json=False) == 1
    err = capsys.readouterr().err
    assert err.endswith(f"hint: report the bug with {tmp_path / 'bug'}\n")
    assert "Traceback" not in err
    assert "ValueError: nonsense" in (tmp_path / "bug").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_is_an_interruption(number: signal.Signals) -> None:
    """Inside a command it is Ctrl-C; afterwards it is what it was."""
    with pytest.raises(KeyboardInterrupt), ends_as_interruption():
        signal.raise_signal(number)
    assert signal.getsignal(number) is signal.SIG_DFL


def test_in_a_thread_no_signal_is_touched() -> None:
    """An application may call a command from one; only the main thread may set signals."""

    def look() -> object:
        with ends_as_interruption():
            return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(look).result(5) is signal.SIG_DFL


def test_a_request_that_is_ignored_stays_ignored() -> None:
    """`nohup` means it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ends_as_interruption():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("arguments", [["settings"], ["settings", "--json"], ["--help"]])
def test_output_that_cannot_be_written_is_exit_1(project: Project, arguments: list[str]) -> None:
    """A full disk under standard output: said where it can be said, and never exit 0."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*project.command, *arguments],
            cwd=project.top,
            env=project.outside({}),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=30,
        )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_errors_that_nobody_reads_change_no_code(project: Project) -> None:
    """Both streams at once are gone."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*project.command, "show", "last"],
        cwd=project.top,
        env=project.outside({}),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=writing,
        check=False,
        timeout=30,
    )
    os.close(writing)
    assert done.returncode == 1
