"""Ticks on a real channel: what is shown, called, remembered and refused (SPEC C-063 to C-069, C-140, C-145)."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from counterpoint.drive.beginning import Form
from counterpoint.drive.watching.notes import Notes, read_notes, write_notes
from counterpoint.drive.watching.opening import open_watcher
from counterpoint.errors import ConfigError, LockBusy
from counterpoint.isolation.marks import MARK
from counterpoint.record.fs import RealFiles
from tests import need
from tests.drive.watching.examples import Place
from tests.processes import is_gone

DAY: Final = timedelta(days=1)
BOTH_FORMS: Final = pytest.mark.parametrize("form", [Form.PLAIN, Form.SIGNED])


def prints(text: str, code: int = 0) -> list[str]:
    return [sys.executable, "-c", f"import sys; print({text!r}); sys.exit({code})"]


@BOTH_FORMS
def test_a_new_entry_is_shown_once_and_its_answerer_called_once(place: Place, form: Form) -> None:
    """Mirror, decide, remember, call; the next tick has nothing to say (C-064, C-065, C-069)."""
    place.begin(form)
    place.wire()
    assert place.tick()[1] == []
    place.say("claude", "question", "\n\n  Why \u202e3?  \n\nMore.")
    done, lines = place.tick()
    assert lines == [r"retry MSG-1 claude question: Why \u{202e}3?", "invoked glm for seq 1: ok"]
    assert (done.called, done.escalated) == ("glm", False)
    assert place.memory() == {
        "channel_root": str(place.root.resolve()),
        "escalated": [],
        "invocations": {"1": {"count": 1, "last_at": place.now.isoformat()}},
        "last_mirrored_seq": 1,
    }
    assert place.tick()[1] == []


@BOTH_FORMS
def test_a_tick_in_which_nothing_moved_reads_no_entry_and_writes_nothing(place: Place, form: Form) -> None:
    """No look, no lock, no write (C-069); and every kind of change is looked at."""
    place.begin(form)
    place.wire()
    place.say("claude", "question")
    place.tick()
    place.tick()
    before = {path: path.stat().st_mtime_ns for path in place.top.rglob("*")}
    assert place.rest().called == ""
    assert {path: path.stat().st_mtime_ns for path in place.top.rglob("*")} == before
    content = place.file.read_bytes()
    with place.file.open("r+b") as file:  # the same bytes: only the kernel's own times tell
        file.write(content[:1])
    os.utime(place.file, ns=(before[place.file], before[place.file]))
    with pytest.raises(AssertionError, match="something moved"):
        place.rest()
    place.tick()
    place.rest()
    place.later(100)
    with pytest.raises(AssertionError, match="somebody is to be called"):
        place.rest()


def test_a_call_without_an_answer_is_repeated_once_and_then_a_person_is_told_once(place: Place) -> None:
    """First call, one retry after `retry_seconds`, ESCALATE, and STUCK from then on (C-065)."""
    place.begin()
    place.wire(commands={"claude": prints("x"), "glm": prints("no", 3)})
    place.say("claude", "question")
    said = []
    for _ in range(4):
        done, lines = place.tick()
        said.append((lines[-1], done.escalated))
        assert place.tick()[1] == lines[:0] + (
            ["STUCK: seq 1 escalated; supervisor action required"] * done.escalated
        )
        place.later(100)
    assert said == [
        ("invoked glm for seq 1: exit 3", False),
        ("invoked glm for seq 1: exit 3", False),
        ("ESCALATE: thread 'retry' stuck on 'glm' at seq 1 after 2 invocations", True),
        ("STUCK: seq 1 escalated; supervisor action required", True),
    ]
    assert place.memory()["escalated"] == ["retry:1"]
    assert Path(f"{place.state}.output").read_text() == "no\n"


def test_a_command_gets_its_prompt_filled_in_once_and_an_empty_input(place: Place) -> None:
    """Root and name go into the prompt, the prompt into the arguments, and nothing is read twice (C-062, C-066)."""
    place.begin()
    program = "import json, os, sys; json.dump([sys.argv[1:], sys.stdin.read(), os.getcwd()], open(sys.argv[1], 'w'))"
    out = place.top / "seen.json"
    prompt = "{channel_root} {channel_name} {prompt}"
    place.wire(
        commands={"claude": ["x"], "glm": [sys.executable, "-c", program, str(out), "{prompt}", "{channel_name}"]},
        prompts={"glm": prompt},
    )
    place.say("claude", "question")
    place.tick()
    root, name = str(place.root.resolve()), place.channel
    seen = [[str(out), f"{root} {name} {{prompt}}", "{channel_name}"], "", str(Path.cwd())]
    assert json.loads(out.read_text()) == seen


def test_a_command_that_cannot_be_started_is_told_to_a_person_at_once(place: Place) -> None:
    """A missing program does not heal by waiting (C-066)."""
    place.begin()
    place.wire(commands={"claude": ["x"], "glm": ["/nowhere/agent"]})
    place.say("claude", "question")
    done, lines = place.tick()
    assert lines[1:] == [
        "invoke failed for glm: there is no program at '/nowhere/agent'",
        "ESCALATE: cannot launch agent for 'glm' on thread 'retry' - fix the watcher config",
    ]
    assert done.escalated
    assert place.memory()["escalated"] == ["retry:1"]


def test_a_call_that_takes_too_long_is_ended_with_everything_it_started(place: Place) -> None:
    """The whole process group goes, also a child that ignores the request (C-066, F29)."""
    need.linux()
    place.begin()
    pid = place.top / "pid"
    stubborn = (
        "import os, signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {stubborn!r}])"
    place.wire(commands={"claude": ["x"], "glm": [sys.executable, "-c", parent]}, timeout_seconds=1)
    place.say("claude", "question")
    assert place.tick()[1][1:] == ["invoked glm for seq 1: TIMEOUT after 1s (killed)"]
    assert is_gone(int(pid.read_text()))


def test_what_a_killed_watcher_left_running_is_ended_by_the_next(place: Place) -> None:
    """The mark of the call is noted before it starts, and found in the environment of whatever it started."""
    need.linux()
    place.begin()
    place.wire()
    place.tick()
    mark = "watch.1.0123456789abcdef"
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={MARK: f"outer:{mark}"}
    ) as left:
        noted = read_notes(RealFiles(), str(place.state))
        write_notes(RealFiles(), str(place.state), replace(noted, running=mark))
        assert place.tick()[1] == ["an earlier watcher was killed during a call; what it had started is ended"]
        assert left.wait(5) == -9
    assert read_notes(RealFiles(), str(place.state)).running == ""
    assert place.tick()[1] == []


def test_the_state_is_on_disk_before_a_command_runs(place: Place) -> None:
    """A watcher that dies during the call does not call twice (C-064)."""
    place.begin()
    copy = place.top / "copy"
    program = f"import shutil; shutil.copy({str(place.state)!r}, {str(copy)!r})"
    place.wire(commands={"claude": ["x"], "glm": [sys.executable, "-c", program]})
    place.say("claude", "question")
    place.tick()
    assert json.loads(copy.read_text())["invocations"]["1"]["count"] == 1


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"invocations": {"x": {}}}', b'{"escalated": [1]}'])
def test_a_memory_that_says_something_else_is_left_alone_and_told(place: Place, content: bytes) -> None:
    """Nothing is done on a memory that cannot be read, and nobody overwrites the evidence (C-063)."""
    place.begin()
    place.wire()
    place.say("claude", "question")
    place.state.parent.mkdir()
    place.state.write_bytes(content)
    done, (line,) = place.tick()
    assert line.startswith(f"ESCALATE: unreadable watcher state {place.state}: ")
    assert line.endswith("; acting on nothing this tick - inspect or delete the file")
    assert done.escalated
    assert place.state.read_bytes() == content


def test_two_channels_do_not_share_one_memory(place: Place) -> None:
    """Of another folder, as the public tool refuses it; of the same folder, which it does not see (C-063, C-145)."""
    first = place.begin(label="one")
    place.wire()
    place.say("claude", "question", "of one")
    place.tick()
    second = place.begin(label="two")
    place.say("claude", "question", "of two")
    with pytest.raises(ConfigError, match=f"belongs to channel {first!r} of the same folder .* is for {second!r}"):
        place.tick()
    other = replace(place, top=place.top / "other")
    other.top.mkdir()
    other.begin()
    other.wire(state_path=str(place.state))
    with pytest.raises(ConfigError, match=f"belongs to channel {place.root}, but this tick is for {other.root}"):
        other.tick()
    assert place.memory()["last_mirrored_seq"] == 1


def test_a_channel_that_was_renamed_keeps_its_memory(place: Place) -> None:
    """After `migrate` the old name is gone: the memory is that of the channel that is there (C-046, C-145)."""
    place.begin()
    place.wire()
    place.say("claude", "question")
    place.tick()
    noted = read_notes(RealFiles(), str(place.state))
    write_notes(RealFiles(), str(place.state), replace(noted, channel=""))
    assert place.tick()[1] == []
    assert read_notes(RealFiles(), str(place.state)).channel == place.channel


def test_a_writer_that_stays_costs_the_tick(place: Place) -> None:
    """Nothing is done while somebody else writes; it is said so (C-034)."""
    place.begin()
    place.wire()
    place.say("claude", "question")
    (place.root / f"{place.channel}.lock").touch()
    with pytest.raises(LockBusy):
        place.impatient().tick()
    assert not place.state.exists()


def test_notes_that_cannot_be_read_cost_one_full_look(place: Place) -> None:
    """They are ours, and rebuilt."""
    place.begin()
    place.wire()
    place.say("claude", "question")
    place.tick()
    place.tick()
    for content in (b"{", b'{"channel": 1}'):
        Path(f"{place.state}.own").write_bytes(content)
        with suppress(AssertionError):
            place.rest()
            pytest.fail("it rested on notes that say nothing")
        assert place.tick()[1] == []
        assert read_notes(RealFiles(), str(place.state)) != Notes()
        place.rest()


def test_the_first_layout_is_watched_too(place: Place) -> None:
    """Files without a name; a party without a command speaks for itself (C-002, C-065)."""
    name = place.begin()
    settings = json.loads((place.root / f"{name}.debate.json").read_text())
    (place.root / "debate.json").write_text(json.dumps({key: settings[key] for key in ("parties", "supervisor")}))
    (place.root / f"{name}.debate.json").unlink()
    (place.root / f"{name}.channel.md").rename(place.root / "CHANNEL.md")
    (place.root / f"{name}.signal.json").rename(place.root / "signal.json")
    place.wire(commands={"glm": prints("x")})
    unnamed = replace(place, channel="")
    unnamed.say("claude", "question")
    watcher = open_watcher(
        str(place.root), None, str(place.top / "watcher.json"), {}, now=lambda: place.now, emit=place.lines.append
    )
    place.state.parent.mkdir()
    assert watcher.tick().called == "glm"
    unnamed.say("glm", "info")
    place.lines.clear()
    assert (watcher.tick().called, place.lines) == ("", ["retry MSG-2 glm info: said"])
    assert watcher.open_thread() == "retry"
    (place.root / "signal.json").write_text("{")
    assert watcher.open_thread() == "?"
