"""A thread of ten entries between two commands goes from open to close, however its watcher is killed (issue 4)."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests import need
from tests.crash.killed_watchers import LAST
from tests.drive.watching.examples import Place, answering

_BOUND_S: Final = 1500
OURS: Final = (sys.executable, "-m", "counterpoint", "channel")
EVERY_STEP: Final = [side * n for n in range(1, 81) for side in (1, -1)]
"""No tick has more operations."""
SEATS: Final = pytest.mark.parametrize("seats", ["ours", "mixed"])
"""Whose command posts for each seat: ours for both, or the public tool for one."""


def tools(seats: str) -> dict[str, Sequence[str]]:
    return {"claude": [str(need.oracle())] if seats == "mixed" else OURS, "glm": OURS}


def play(top: Path, form: str, steps: Sequence[int], seats: str) -> Any:
    need.linux()
    commands = {party: answering(party, last=LAST, tool=tool) for party, tool in tools(seats).items()}
    given = {"top": str(top), "form": form, "steps": list(steps), "commands": commands}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.crash.killed_watchers"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=_BOUND_S,
        check=False,
        cwd=need.ROOT,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@SEATS
def test_two_commands_hold_a_thread_from_open_to_close(tmp_path: Path, seats: str) -> None:
    """Ten entries under one `watch --until-close`, also where the public tool posts for one seat."""
    place = Place(tmp_path, environment=os.environ)
    place.begin()
    place.say("claude", "question", "open")
    commands = {party: answering(party, last=LAST, tool=tool) for party, tool in tools(seats).items()}
    config = place.wire(commands=commands)
    command = [*OURS, "watch", "--root", "c", "--config", str(config), "--interval", "1", "--until-close"]
    ran = subprocess.run(command, cwd=place.top, capture_output=True, text=True, timeout=100, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[-2:] == [
        f"[w] retry MSG-{LAST} glm close: entry {LAST}",
        "[w] thread closed after 9 tick(s) - exiting",
    ]
    assert sum(line.endswith(": ok") for line in lines) == LAST - 1


@SEATS
def test_a_thread_goes_on_when_its_watcher_is_killed(tmp_path: Path, seats: str) -> None:
    """During the call, and at steps spread over a tick; every step is the soak's (issue 4)."""
    steps = [0, 3, -12, 19, -26, 33, -41, 47, 60] if seats == "mixed" else [0, -8, 15, -22, 29, -36, 43, -52, 0]
    played = play(tmp_path / "threads", "plain" if seats == "mixed" else "signed", steps, seats)
    assert played["faults"] == []
    assert played["kills"] >= 5


@pytest.mark.soak
@SEATS
@pytest.mark.parametrize("form", ["plain", "signed"])
def test_a_thread_goes_on_whatever_step_its_watcher_is_killed_at(tmp_path: Path, form: str, seats: str) -> None:
    """At every operation of a tick, before it and after it (issue 4)."""
    played = play(tmp_path / "threads", form, EVERY_STEP, seats)
    assert played["faults"] == []
    assert played["kills"] > 80
    assert played["kills"] < len(EVERY_STEP), "no tick has more operations"
