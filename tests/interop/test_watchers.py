"""Our watcher beside the public tool's, on the same folders: states, lines, exit codes, locks (SPEC 3.5)."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests import need
from tests.drive.watching.examples import answering
from tests.interop.public_tool import begun_by_the_tool

_BOUND_S: Final = 120
_STAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")
_AGES: Final = re.compile(r"\b\d+s\b")
_PIDS: Final = re.compile(r"\bpid \d+")
OURS: Final = (sys.executable, "-m", "counterpoint", "channel")


@dataclass(frozen=True)
class Side:
    """One tool's own copy of the same folder."""

    top: Path
    tool: tuple[str, ...]

    def run(self, command: str, *arguments: str) -> tuple[int, str, str]:
        ran = subprocess.run(
            [*self.tool, command, "--root", "c", *arguments],
            cwd=self.top,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_BOUND_S,
            check=False,
            env={**os.environ, "HOME": str(self.top.parent / "home")},
        )
        return ran.returncode, self.plain(ran.stdout), self.plain(ran.stderr)

    def plain(self, text: str) -> str:
        text = _PIDS.sub("pid N", _AGES.sub("Ns", _STAMP.sub("<stamp>", text.replace(str(self.top), "<top>"))))
        return text.replace(self.tool[0], "<program>")

    def tick(self) -> tuple[int, str, str]:
        return self.run("watch-once", "--config", "w.json")

    def state(self) -> str | None:
        path = self.top / "state" / "w.json"
        return self.plain(path.read_text()) if path.exists() else None


@dataclass
class Both:
    sides: tuple[Side, Side]

    def each(self, change: Callable[[Path], object]) -> None:
        for side in self.sides:
            change(side.top)

    def wire(self, **changes: Any) -> None:
        nothing = [sys.executable, "-c", "pass"]
        settings = {"state_path": "state/w.json", "commands": {"claude": nothing, "codex": nothing}, **changes}
        self.each(lambda top: (top / "w.json").write_text(json.dumps(settings)))

    def post(self, sender: str, kind: str, body: str = "said", thread: str = "t") -> None:
        """Let the public tool post in one copy, and give the other the same bytes."""
        theirs, ours = self.sides
        said = ("--from", sender, "--type", kind, "--thread", thread, "--body", body)
        assert theirs.run("post", *said)[0] == 0
        for path in (theirs.top / "c").iterdir():
            shutil.copy2(path, ours.top / "c" / path.name)

    def same(self, *words: str) -> tuple[int, str, str]:
        theirs, ours = (side.run(*words) for side in self.sides)
        assert ours == theirs
        return ours

    def same_tick(self, *, told: bool = False) -> list[str]:
        """Tick both, hold lines and states to each other, and return the lines; a person is told by our exit code."""
        theirs, ours = (side.tick() for side in self.sides)
        assert ours[1:] == theirs[1:]
        assert (theirs[0], ours[0]) == (0, 4 if told else 0)
        assert self.sides[1].state() == self.sides[0].state()
        return ours[1].splitlines()


@pytest.fixture
def both(tmp_path: Path) -> Both:
    oracle = str(need.oracle())
    theirs = tmp_path / "theirs"
    (theirs / "c").mkdir(parents=True)
    begun_by_the_tool(theirs / "c", cap=20)
    ours = tmp_path / "ours"
    shutil.copytree(theirs, ours)
    both = Both((Side(theirs, (oracle,)), Side(ours, OURS)))
    both.wire()
    return both


def test_both_watchers_say_and_remember_the_same(both: Both) -> None:
    """Through a thread with an answer, a silence, a retry, an escalation, an anomaly and a close (C-063 to C-069)."""
    both.wire(retry_seconds=0)
    assert both.same_tick() == []
    both.post("claude", "question", "  Why?\n\nBecause. " + "long " * 60)
    assert both.same_tick()[1:] == ["invoked codex for seq 1: ok"]
    assert both.same_tick() == ["invoked codex for seq 1: ok"]
    assert both.same_tick(told=True) == ["ESCALATE: thread 't' stuck on 'codex' at seq 1 after 2 invocations"]
    assert both.same_tick(told=True) == ["STUCK: seq 1 escalated; supervisor action required"]
    both.post("codex", "info", "## A heading\n> quoted")
    assert both.same_tick() == ["t MSG-2 codex info: ## A heading", "invoked claude for seq 2: ok"]
    both.each(lambda top: _doorbell(top, seq=1, turn="codex"))
    assert both.same_tick()[0].startswith("mailbox ahead of signal")
    assert both.same_tick(told=True)[0].startswith("ESCALATE: record anomaly - mailbox-ahead-of-doorbell: ")
    both.each(lambda top: _doorbell(top, seq=2, turn="claude"))
    both.post("owner", "close", "enough")
    assert both.same_tick() == ["t MSG-3 owner close: enough"]
    assert both.same_tick() == []
    both.post("owner", "info", "nobody's turn", thread="u")
    assert both.same_tick(told=True)[1].startswith("ESCALATE: invalid managed channel: open thread 'u' has no party")


def _doorbell(top: Path, **changes: Any) -> None:
    (path,) = (top / "c").glob("*.signal.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}, indent=2))


def test_both_watchers_meet_failing_commands_alike(both: Both) -> None:
    """A code, a signal, a timeout and a program that is not there (C-066)."""
    need.linux()
    both.post("claude", "question")
    programs = {
        "invoked codex for seq 1: exit 3": [sys.executable, "-c", "import sys; print('x'); sys.exit(3)"],
        "invoked codex for seq 1: exit -9": [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"],
        "invoked codex for seq 1: TIMEOUT after Ns (killed)": [
            sys.executable,
            "-c",
            "import time; time.sleep(60)",
        ],
    }
    for line, program in programs.items():
        both.wire(commands={"claude": ["true"], "codex": program}, timeout_seconds=1)
        both.each(lambda top: shutil.rmtree(top / "state", ignore_errors=True))
        assert both.same_tick()[-1] == line
    both.wire(commands={"claude": ["true"], "codex": ["/nowhere/agent"]})
    both.each(lambda top: shutil.rmtree(top / "state", ignore_errors=True))
    theirs, ours = (side.tick() for side in both.sides)
    assert ours[1].splitlines()[-1] == theirs[1].splitlines()[-1]
    assert ours[1].splitlines()[-1].startswith("ESCALATE: cannot launch agent for 'codex' on thread 't'")
    assert both.sides[1].state() == both.sides[0].state()


BAD: Final[Sequence[str]] = (
    "[]",
    "{}",
    '{"state_path": "s.json", "commands": []}',
    '{"state_path": "s.json", "commands": {"codex": "agent"}}',
    '{"state_path": "s.json", "commands": {"codex": []}}',
    '{"state_path": "s.json", "commands": {"codex": ["a", 1]}}',
    '{"state_path": "s.json", "prompts": 3}',
    '{"state_path": "s.json", "debounce_seconds": 3}',
    '{"state_path": "s.json", "debounce_seconds": {"codex": null}}',
    '{"state_path": "s.json", "retry_seconds": true}',
    '{"state_path": "s.json", "timeout_seconds": "soon"}',
    '{"state_path": "c/s.json"}',
    "{",
)


def test_both_refuse_the_same_settings_in_the_same_sentence(both: Both) -> None:
    """What a slip of the hand makes of the file, by each of the three commands that read it (C-060, C-061)."""
    for number, content in enumerate(BAD):
        for side in both.sides:
            (side.top / "bad.json").write_text(content)
        command = ("watch-once", "watch", "watch-status")[number % 3]
        code, _, errors = both.same(command, "--config", "bad.json")
        assert (code, errors.startswith("refused: ")) == (1, True), content
    code, _, errors = both.same("watch-once", "--config", "nowhere.json")
    assert (code, "No such file" in errors) == (1, True)
    both.same("watch-once", "--config", "w.json", "--channel", "nowhere")


def test_both_tell_the_same_of_a_watcher(both: Both) -> None:
    """Every line of `watch-status` and its code (C-048)."""
    status = ("watch-status", "--config", "w.json", "--grace", "100")
    assert both.same(*status)[1].endswith("\nIDLE: no open thread; nothing is waiting to be driven\n")
    both.post("claude", "question")
    assert "\nDRIVING: " in both.same(*status)[1]
    both.same_tick()
    assert "\nINVOKED: " in both.same(*status)[1]
    both.wire(retry_seconds=0)
    assert "\nSTALE: " in both.same(*status)[1]
    both.same_tick()
    both.same_tick(told=True)
    code, output, _ = both.same(*status)
    assert (code, "\nESCALATED: " in output) == (4, True)
    both.wire(commands={"codex": ["true"]})
    code, output, _ = both.same(*status)
    assert (code, "\nINVALID: " in output) == (4, True)
    both.wire(commands={})
    both.each(_make_unmanaged)
    both.each(lambda top: (top / "state" / "w.json").unlink())
    output = both.same(*status)[1]
    assert "(absent - never ticked)" in output
    assert "\nMANUAL: " in output


def _make_unmanaged(top: Path) -> None:
    (path,) = (top / "c").glob("*.debate.json")
    settings = json.loads(path.read_text())
    del settings["managed_version"]
    path.write_text(json.dumps(settings, indent=2))


def test_both_watch_to_the_same_end(both: Both) -> None:
    """Lines, tags and codes of `watch`: closed, ticks spent, a person needed (C-049)."""
    watch = ("watch", "--config", "w.json", "--interval", "1")
    assert both.same(*watch, "--until-close")[0] == 0
    assert both.same(*watch, "--max-ticks", "2")[0] == 5
    both.post("claude", "question")
    assert both.same(*watch, "--max-ticks", "1")[0] == 5
    both.wire(retry_seconds=0, commands={"claude": ["true"], "codex": ["false"]})
    assert both.same(*watch)[0] == 4
    assert both.same(*watch)[0] == 4
    for word in ("--interval=0", "--max-ticks=0", "--interval"):
        assert [side.run(*watch, word)[0] for side in both.sides] == [2, 2]


@pytest.mark.parametrize("holder", [0, 1])
def test_each_keeps_the_other_away(both: Both, holder: int) -> None:
    """One lock for both tools: a watcher of either turns away `watch-once` and `watch` of both (C-061)."""
    top = both.sides[holder].top
    both.wire(state_path=str(top / "state" / "w.json"))
    command = [*both.sides[holder].tool, "watch", "--root", "c", "--config", "w.json", "--interval", "60"]
    with subprocess.Popen(command, cwd=top, stdout=subprocess.PIPE, text=True) as watching:
        try:
            _wait_for(top / "state" / "w.json")
            for side in both.sides:
                code, output, errors = side.tick()
                assert (code, output) == (1, "")
                assert errors.startswith("refused: another watcher is driving ")
                assert f"serving channel {top / 'c'}".replace(str(side.top), "<top>") in errors
                assert side.run("watch", "--config", "w.json")[0] == 6
                verdict = side.run("watch-status", "--config", "w.json")[1]
                assert "lock:     HELD by pid N since <stamp> | cwd " in verdict
        finally:
            watching.kill()
    note = (top / "state" / "w.json.lock").read_text().splitlines()
    assert (len(note), note[0], note[2]) == (3, str(watching.pid), str(top / "c"))


def _wait_for(path: Path) -> None:
    subprocess.run(
        ["sh", "-c", 'until [ -e "$1" ]; do sleep 0.05; done', "sh", str(path)], timeout=_BOUND_S, check=True
    )


def test_the_two_drive_one_thread_in_turns(both: Both) -> None:
    """One folder, one state, every tick by the other tool: each goes on where the other stopped (C-063)."""
    theirs, ours = both.sides
    tools = {"claude": [str(theirs.tool[0])], "codex": list(OURS)}
    both.wire(commands={party: answering(party, last=10, tool=tool) for party, tool in tools.items()})
    ours = Side(theirs.top, OURS)
    assert theirs.run("post", "--from", "claude", "--type", "question", "--thread", "t", "--body", "1")[0] == 0
    for tick in range(9):
        code, output, errors = (theirs, ours)[tick % 2].tick()
        assert (code, errors) == (0, ""), output
    assert ours.run("verify")[0] == theirs.run("verify")[0] == 0
    assert json.loads(theirs.run("status")[1])["last_entry"] == "MSG-10"
    counts = [
        each["count"] for each in json.loads((theirs.top / "state" / "w.json").read_text())["invocations"].values()
    ]
    assert counts == [1] * 9
