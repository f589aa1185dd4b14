"""`counterpoint channel watch`, `watch-once` and `watch-status`, as a shell and a terminal call them (SPEC 3.4)."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.cli.channel import run
from counterpoint.cli.channel.live import describer, live_lines
from counterpoint.drive.channels import open_channels
from counterpoint.drive.reading import standing
from counterpoint.drive.watching.lock import current_holder
from tests import need
from tests.drive.watching.examples import Place, answering
from tests.processes import is_gone
from tests.terminals import CTRL_C, Terminal

OURS: Final = (sys.executable, "-m", "counterpoint", "channel")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = Place(tmp_path, environment=os.environ, now=datetime.now(UTC))
    place.begin()
    place.wire()
    monkeypatch.chdir(tmp_path)
    return place


def call(capsys: pytest.CaptureFixture[str], command: str, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run([command, "--root", "c", "--config", "watcher.json", *words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_an_escalation_has_an_exit_code(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """A scheduler that looks at codes hears of it; the public tool's `watch-once` ends with 0 (C-146)."""
    assert call(capsys, "watch-once") == (0, "", "")
    place.say("owner", "info")
    code, out, _ = call(capsys, "watch-once")
    assert code == 4
    assert out.splitlines()[1].startswith("ESCALATE: invalid managed channel: ")
    assert call(capsys, "watch-status")[0] == 4


def test_every_command_prints_one_object_for_programs(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """Results and refusals; `watch` prints one for each line, as it comes (C-149)."""
    place.say("claude", "question")
    code, out, _ = call(capsys, "watch-once", "--json")
    lines = ["retry MSG-1 claude question: said", "invoked glm for seq 1: ok"]
    assert (code, json.loads(out)) == (0, {"called": "glm", "escalated": False, "lines": lines})
    code, out, _ = call(capsys, "watch-status", "--json")
    status = json.loads(out)
    assert (code, status["verdict"], status["holder"], status["doorbell"]["seq"]) == (0, "INVOKED", None, 1)
    code, out, _ = call(capsys, "watch", "--json", "--max-ticks", "1")
    said = [json.loads(line)["line"] for line in out.splitlines()]
    assert (code, said[-1]) == (5, "[w] max ticks (1) reached - exiting")
    (place.top / "watcher.json").write_text("[]")
    for command in ("watch-once", "watch-status", "watch"):
        code, out, err = call(capsys, command, "--json")
        error = json.loads(out)["error"]
        assert (code, err, error["code"], error["exit_code"]) == (1, "", "config", 1)


def test_a_status_tells_who_watches(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """The process, since when, and where it runs (C-048)."""
    command = [*OURS, "watch", "--root", "c", "--config", "watcher.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == f"[w] watching {place.root} | state {place.state}\n"
        subprocess.run(
            ["sh", "-c", 'until [ -e "$1" ]; do sleep 0.05; done', "sh", place.state], timeout=30, check=True
        )
        status = json.loads(call(capsys, "watch-status", "--json")[1])
        code, _, err = call(capsys, "watch-once")
        watching.kill()
    assert (status["holder"]["pid"], status["holder"]["channel"]) == (watching.pid, str(place.root))
    assert code == 1
    assert err.startswith(f"refused: another watcher is driving {place.state}.lock - pid {watching.pid} since ")
    assert call(capsys, "watch-status")[1].endswith("\nIDLE: no open thread; nothing is waiting to be driven\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watcher_that_is_asked_to_end_ends_its_call_too(place: Place, number: signal.Signals) -> None:
    """Exit 130, nothing left running, the lock free, and the call on the books (C-049)."""
    need.linux()
    pid = place.top / "pid"
    program = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid()) + '\\n'); time.sleep(100)"
    place.wire(commands={"claude": ["true"], "glm": [sys.executable, "-c", program]})
    place.say("claude", "question")
    command = [*OURS, "watch", "--root", "c", "--config", "watcher.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        subprocess.run(["sh", "-c", 'until [ -s "$1" ]; do sleep 0.05; done', "sh", pid], timeout=30, check=True)
        watching.send_signal(number)
        watching.communicate(timeout=30)
    assert watching.returncode == 130
    assert is_gone(int(pid.read_text()))
    assert current_holder(str(place.state)) is None
    assert place.memory()["invocations"]["1"]["count"] == 1


def at_terminal(place: Place, measured: Mapping[str, str], *words: str) -> Terminal:
    command = (*OURS, "watch", "--root", "c", "--config", "watcher.json", *words)
    environment = {**os.environ, **measured, "TERM": "xterm"}
    return Terminal(command, cwd=place.top, environment=environment)


def test_a_terminal_shows_whose_turn_it_is_and_what_was_said(place: Place, measured: Mapping[str, str]) -> None:
    """A block below the lines, drawn anew each second, and gone at the end (issue 4, point 6)."""
    commands = {party: answering(party, last=3, tool=OURS) for party in ("claude", "glm")}
    place.wire(commands=commands)
    place.say("claude", "question", "Why \u202e3?")
    with at_terminal(place, measured, "--until-close", "--interval", "3") as terminal:
        terminal.wait_for("invoked glm for seq 1: ok")
        block = terminal.wait_for("MSG-2 glm info: entry 2\n\x1b[0m")
        assert "retry: 2 entries, the turn is claude's for " in block
        assert r"MSG-1 claude question: Why \u{202e}3?" in block
        terminal.wait_for("\x1b[J[w] invoked claude for seq 2: ok\n")
        terminal.wait_for("[w] thread closed after 2 tick(s) - exiting\n")
        code, rest = terminal.end()
    assert code == 0
    assert rest == "" or rest.endswith("\x1b[J"), "the block is gone"


def test_ctrl_c_at_a_terminal_leaves_it_clean(place: Place, measured: Mapping[str, str]) -> None:
    """The block is taken away, and the code is 130 (C-049)."""
    with at_terminal(place, measured) as terminal:
        terminal.wait_for("no open thread\n")
        terminal.type(CTRL_C)
        code, rest = terminal.end()
    assert code == 130
    assert rest.endswith("\x1b[1A\r\x1b[Jinterrupted\n")


def test_the_block_tells_a_turn_that_is_nobodys_and_a_call_at_work(place: Place) -> None:
    """Every shape that it has (issue 4, point 6)."""

    def shown(**changes: Any) -> list[str]:
        told: dict[str, Any] = {"calling": "", "called_since": None, "now": place.now, **changes}
        store = open_channels(str(place.root), place.environment)
        return list(live_lines(standing(store, place.channel, now=told["now"]), **told))

    assert shown() == ["no open thread"]
    place.say("owner", "info")
    assert shown()[0] == "retry: 1 entries, nobody's turn; the supervisor has to close it"
    place.say("owner", "close")
    place.say("claude", "question")
    later = place.now + timedelta(seconds=3661)
    lines = shown(now=later, calling="glm", called_since=later - timedelta(seconds=61))
    assert lines == [
        "retry: 3 entries, the turn is glm's for 1h01m",
        "  MSG-1 owner info: said",
        "  MSG-2 owner close: said",
        "  MSG-3 claude question: said",
        "glm is at work for 1m01s",
    ]
    place.file.write_bytes(place.file.read_bytes().replace(b"said", b"\xffaid"))
    (line,) = describer(place.watcher(), str(place.root), now=lambda: place.now)()
    assert "not in the record, or damaged" in line, "what is wrong stands where the block was"
