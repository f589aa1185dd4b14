"""The real small model on this machine answers, reviews, and is gone afterwards.

`make local` sets it up. What it says is not looked at: it is too weak for that. A processor with nothing else to do
takes about half a minute for all of it.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.agents.base import NOT_REPORTED, Reply, read_reply
from counterpoint.agents.local import TINY, LocalAgent, LocalProfile, find_model, serving
from counterpoint.core.briefs import Brief
from counterpoint.drive.paths import find_folders
from counterpoint.drive.proposing import propose_agents
from counterpoint.drive.session import Session
from tests import need
from tests.agents.models import DEADLINE, WORKSPACE
from tests.processes import is_gone
from tests.repositories import Scratch
from tests.settings_files import loaded

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

SUMS: Final = [(7, 5), (9, 4), (2, 2), (10, 3), (6, 6), (1, 8), (20, 2), (4, 5), (3, 3), (8, 7)]
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["work", "size", "answer"],
    "properties": {
        "work": {"type": "string", "minLength": 1, "maxLength": 60},
        "size": {"enum": ["small", "large"]},
        "answer": {"type": "integer"},
    },
}


def test_ten_questions_are_answered_under_a_schema_through_the_real_server() -> None:
    """Issue 5, done when: every answer is one strict object, and says which model gave it and for how many tokens."""
    need.local_model()
    model = find_model("agents.local", "")
    profile = LocalProfile(
        name="local",
        model=model.stem,
        server=serving(model, name=model.stem, threads=1, context=2048),
        timeout_s=300.0,
        max_output_tokens=512,
        bounds=TINY,
    )
    agent = LocalAgent(profile, environ=os.environ)

    async def ask_all() -> list[Reply]:
        return [
            await agent.ask(
                Brief(instructions=f"What is {a} + {b}?", payload={}, schema=SCHEMA, shown_paths=()),
                workspace=WORKSPACE,
                deadline=DEADLINE,
                on_progress=lambda _line: None,
            )
            for a, b in SUMS
        ]

    replies = asyncio.run(ask_all())
    assert len(replies) == 10
    for reply in replies:
        assert read_reply(reply, SCHEMA).keys() == set(SCHEMA["required"])
        assert reply.model_reported == reply.model_requested != NOT_REPORTED
        assert reply.usage.known
        assert reply.usage.output_tokens > 0


def servers_of(home: Path) -> list[int]:
    """Return the running servers that were started with this home folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_server = b"agents/llama.py" in (folder / "cmdline").read_bytes()
            if is_server and f"HOME={home}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


class Stage:
    """A repository with a small change, and somebody who has it reviewed by the local model."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.git = Scratch(folder / "calc")
        self.git.commit({"calc.py": "def add(a, b):\n    return a + b\n"}, message="begin")
        self.git.git("checkout", "-q", "-b", "change")
        self.git.commit({"calc.py": "def add(a, b):\n    return a - b\n"}, message="add")

    def counterpoint(self, *arguments: str) -> "subprocess.Popen[str]":
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "COUNTERPOINT_CONFIG": str(self.home / "config"),
            "COUNTERPOINT_STATE": str(self.home / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        return subprocess.Popen(
            [sys.executable, "-m", "counterpoint", *arguments],
            cwd=self.git.top,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def test_a_review_by_the_local_model_is_a_real_run_and_leaves_no_server(tmp_path: Path) -> None:
    """Issue 5 point 4: no key, no agent, no settings. Whatever it says, the record holds."""
    need.local_model()
    stage = Stage(tmp_path)
    with stage.counterpoint("review", "--reviewer", "local", "--base", "main", "--json") as reviewing:
        out, err = reviewing.communicate(timeout=500)
    result = json.loads(out)
    assert reviewing.returncode == result["exit_code"], err
    assert result["usage"]["calls"] >= 1, result
    assert servers_of(stage.home) == []
    with stage.counterpoint("verify", "last") as verifying:
        verifying.communicate(timeout=60)
    assert verifying.returncode == 0


WORDS: Final[dict[str, tuple[tuple[str, ...], set[int]]]] = {
    "answer": (("answer", "--peers", "local,local", "--max-rounds", "1", "--", "Is 7 a prime number?"), {0, 1, 3}),
    "vote": (("answer", "--peers", "local,local", "--vote", "--", "Is 7 a prime number?"), {0, 1, 3}),
    "propose": (
        ("propose", "--proposer", "local", "--critic", "local", "--max-rounds", "1", "Let users export their data."),
        {0, 2, 3},
    ),
    "ballot": (("ballot", "DOC.md", "--orchestrator", "local", "--voters", "local", "--max-rounds", "1"), {0, 1, 4}),
}


@pytest.mark.parametrize("name", WORDS)
def test_a_case_about_words_by_the_local_model_is_a_real_run(name: str, tmp_path: Path) -> None:
    """Issue 6: each runs to its end through the real server, with a code that its `--help` lists, and verifies."""
    need.local_model()
    words, codes = WORDS[name]
    stage = Stage(tmp_path)
    (stage.git.top / "DOC.md").write_text("# Plan\n\nWe ship on Friday.\n")
    with stage.counterpoint(words[0], "--json", *words[1:]) as running:
        out, err = running.communicate(timeout=500)
    assert running.returncode in codes, err
    result = json.loads(out)
    assert result["exit_code"] == running.returncode
    assert result["usage"]["calls"] >= 1, result
    assert servers_of(stage.home) == []
    with stage.counterpoint("verify", "last") as verifying:
        verifying.communicate(timeout=60)
    assert verifying.returncode == 0


def test_a_killed_review_takes_its_server_along(tmp_path: Path) -> None:
    """Issue 5 point 4: nothing that was started is left, however the driver ends."""
    need.linux()
    need.local_model()
    stage = Stage(tmp_path)
    with stage.counterpoint("review", "--reviewer", "local", "--base", "main") as reviewing:
        assert reviewing.stderr is not None
        for line in reviewing.stderr:
            if "is asked" in line:
                break
        [server] = servers_of(stage.home)
        reviewing.send_signal(signal.SIGKILL)
    assert is_gone(server)


def test_where_nobody_else_is_it_takes_both_seats_and_says_what_it_is(tmp_path: Path) -> None:
    """Issue 5, points 4 and 5: a yes to `local,local` is kept, and what it is worth is told every time."""
    need.local_model()
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    folders = find_folders(environment)
    session = Session.of(repo=tmp_path, cases=tmp_path / "cases", folders=folders, environment=environment)
    first = propose_agents(session, loaded(), 2, may_repeat=True)
    assert first.seats == ("local", "local")
    (shown,) = first.asked
    assert shown.add == "counterpoint agents add local"
    assert "little judgement" in shown.why
    assert "same vendor: not independent" in shown.why
    first.add(folders=folders, environment=environment)
    assert folders.settings_file.read_text() == '[agents.local]\nkind = "local"\n'
    again = propose_agents(session, loaded(settings_file=folders.settings_file), 2, may_repeat=True)
    assert (again.seats, again.asked) == (first.seats, ())
    assert again.remarks == (
        "2 seats are local's, same vendor: not independent",
        "local is a small model on this machine: what it says has the right form, and little judgement",
    )
