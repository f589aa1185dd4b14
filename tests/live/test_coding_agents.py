"""Real coding agents hold seats of a review, against an API of our own: no key, no network, nothing spent.

`make test-agents` sets them up and runs this. The model behind each agent is a function here, which tells the seats
apart by their briefs; everything between it and the record is the agent's own program and ours.
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.agents.base import NOT_REPORTED
from counterpoint.agents.questions import is_strict
from tests import need
from tests.agents.fake_api import FakeApi
from tests.agents.fake_script import Answer, Question
from tests.agents.fake_wires import INPUT, OUTPUT
from tests.live.hands import HANDS, Call, Hands
from tests.repositories import Scratch

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

SOUND: Final = "def add(a, b):\n    return a + b\n"
BROKEN: Final = "def add(a, b):\n    return a - b\n"
HALF: Final = "def add(a, b):\n    return b - a\n"
KEY: Final = "planted-key-0123456789abcdef"
TIMEOUT_S: Final = 100


class Stage:
    """A repository with one bug on a branch, the agents of its user, and the model behind them."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.kind = kind
        self.hands: Hands = HANDS[kind]
        self.program = need.client(kind)
        self.home = folder / "home"
        self.outside = folder / "outside.txt"
        self.git = Scratch(folder / "calc")
        self.git.git("config", "user.name", "Ana")
        self.git.git("config", "user.email", "ana@example.org")
        self.file = self.git.write("calc.py", "def add(a, b):\n    raise NotImplementedError\n")
        self.git.commit(message="begin")
        self.git.git("checkout", "-q", "-b", "change")
        self.start = self.git.commit({"calc.py": BROKEN}, message="add")
        self.asked: defaultdict[str, list[Question]] = defaultdict(list)
        """By seat, in order."""

    def settle(self, url: str) -> None:
        """Write the user's settings: both seats are agents of this kind."""
        lines = {
            "kind": self.kind,
            "program": str(self.program),
            "model": self.hands.model,
            "base_url": url + self.hands.path,
            **self.hands.settings,
        }
        table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
        table += f"environment = [{json.dumps(self.hands.variable)}]\n"
        settings = self.home / "config" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text("".join(f"[agents.{name}]\n{table}" for name in ("author", "critic")))

    def model(self, question: Question) -> Answer:
        """Answer as the model: a critic that finds the bug, an author that mends half of it, and then all."""
        brief = question.users[-1] if question.users else ""
        told = re.search(r'"seat": "(author|critic)",\s+"round": (\d+)', brief)
        if told is None:  # a question of the client's own, beside the turn
            return Answer(text="ok")
        seat, number = told[1], int(told[2])
        self.asked[seat].append(question)
        return self.author(question, number) if seat == "author" else self.critic(question, number)

    def critic(self, question: Question, number: int) -> Answer:
        is_fine = number == 3
        finding = {
            "id": "F1",
            "severity": "blocking",
            "location": "calc.py:2",
            "issue": "add subtracts",
            "suggestion": "return a + b",
            "reason": "looked at the file",
            "status": "resolved" if is_fine else "open",
        }
        if number == 1:
            finding["quote"] = "return a - b"
        answer = {"summary": "read", "findings": [finding], "responseToRebuttal": "", "approved": is_fine}
        return self.hands.play(question, self.tries(), answer)

    def author(self, question: Question, number: int) -> Answer:
        dispositions = [{"finding": "F1", "reasoning": "So it is.", "disposition": "fix"}]
        answer = {"summary": f"Mend add, part {number}", "dispositions": dispositions, "changed": ["calc.py"]}
        return self.hands.play(question, self.edits(number), answer)

    def edits(self, number: int) -> Sequence[Call]:
        """Return what an author's model does: its work, and an attempt to write beside the repository."""
        work = self.hands.write(self.file, HALF if number == 1 else SOUND)
        return [*work, *self.hands.write(self.outside, "stray")]

    def review(self, *seats: str, **more: str) -> dict[str, Any]:
        environment = more | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "COUNTERPOINT_CONFIG": str(self.home / "config"),
            "COUNTERPOINT_STATE": str(self.home / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
            self.hands.variable: KEY,
        }
        done = subprocess.run(
            [sys.executable, "-m", "counterpoint", "review", "--base", "main", "--no-comment", "--json", *seats],
            cwd=self.git.top,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.stdout, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == result.get("exit_code"), (done.stdout, done.stderr)
        return result

    def turns(self, seat: str) -> Sequence[int]:
        """Return how many of the seat's own turns the model saw, for each of its requests."""
        return [len(question.users) for question in self.asked[seat]]

    def left(self) -> Iterator[Path]:
        """Return every file that the run left behind in the repository and in the state folder."""
        for folder in (self.git.top / ".counterpoint", self.home / "state"):
            yield from (path for path in folder.rglob("*") if path.is_file())

    def demand_nothing_strayed(self) -> None:
        """See that every attempt to write was made and came to nothing, and that the key stands nowhere."""
        for seat, tries in (("critic", self.tries()), ("author", self.edits(1))):
            first = [len(question.results) for question in self.asked[seat] if len(question.users) == 1]
            assert first in ([], list(range(len(tries) + 1)))
        assert self.asked["critic"]
        assert not self.outside.exists()
        self.demand_no_key()

    def demand_no_key(self) -> None:
        """See that the homes of the seats are gone, and that what is left of the run holds no key."""
        assert not list((self.home / "state" / "homes").iterdir())
        assert [str(path) for path in self.left() if KEY.encode() in path.read_bytes()] == []

    def tries(self) -> Sequence[Call]:
        """Return what a reviewer's model tries, and must not be able to do."""
        return [*self.hands.write(Path("calc.py"), "stray"), *self.hands.write(self.outside, "stray")]


@pytest.mark.parametrize("kind", ["codex", "claude"])
def test_a_coding_agent_holds_both_seats_of_a_review_to_agreement(kind: str, tmp_path: Path) -> None:
    """Issue 5, done when: it edits by its own tools, the driver commits, its recorded session is gone on with."""
    stage = Stage(tmp_path, kind)
    with FakeApi(stage.model) as api:
        stage.settle(api.url)
        result = stage.review("--author", "author", "--reviewer", "critic")
    assert (result["decision"], result["stop_reason"]) == ("approved", "agreed"), result
    assert stage.file.read_text() == SOUND
    subjects = stage.git.id("log", "--format=%s", f"{stage.start}..HEAD").splitlines()
    assert [re.sub(r" *\[.*", "", subject) for subject in subjects] == ["Mend add, part 2", "Mend add, part 1"]
    stage.demand_nothing_strayed()
    assert sorted(set(stage.turns("author"))) == [1, 2]
    assert sorted(set(stage.turns("critic"))) == [1, 2, 3]
    requests = sum(len(questions) for questions in stage.asked.values())
    used = {"calls": 5, "input_tokens": requests * INPUT, "known": True, "output_tokens": requests * OUTPUT}
    assert result["usage"] == used
    reported = {seat["model_reported"] for seat in result["seats"]}
    assert reported == ({stage.hands.model} if kind == "claude" else {NOT_REPORTED})


def test_codex_says_the_sandbox_of_each_seat_and_sends_schemas_that_its_api_takes(tmp_path: Path) -> None:
    """ECOSYSTEM 2.3: the mode that the model is told; strict mode refuses a schema with an optional key."""
    stage = Stage(tmp_path, "codex")
    with FakeApi(stage.model) as api:
        stage.settle(api.url)
        stage.review("--author", "author", "--reviewer", "critic", COUNTERPOINT_REVIEW_MAX_ROUNDS="1")
    for seat, mode in (("critic", "read-only"), ("author", "workspace-write")):
        told = re.findall("`sandbox_mode` is `([a-z-]+)`", json.dumps(stage.asked[seat][-1].body["input"]))
        assert set(told) == {mode}
    forms = [question.body.get("text", {}).get("format") for question in stage.asked["author"]]
    assert [form["strict"] and is_strict(form["schema"]) for form in forms] == [True] * len(forms)
    assert not any(question.body.get("text", {}).get("format") for question in stage.asked["critic"])


@pytest.mark.parametrize("kind", ["gemini-cli", "copilot", "opencode"])
def test_a_coding_agent_reviews_in_one_turn(kind: str, tmp_path: Path) -> None:
    """Issue 5, done when: a reviewer's seat for one turn; what it tries to write is written nowhere."""
    stage = Stage(tmp_path, kind)
    with FakeApi(stage.model) as api:
        stage.settle(api.url)
        result = stage.review("--reviewer", "critic")
    assert [(finding["id"], finding["evidence"]) for finding in result["findings"]] == [("F1", "verified")], result
    assert stage.file.read_text() == BROKEN
    stage.demand_nothing_strayed()
    requests = len(stage.asked["critic"])
    assert result["usage"]["input_tokens"] == requests * INPUT
    assert result["usage"]["output_tokens"] == requests * OUTPUT


@pytest.mark.parametrize("status", ["429", "500", "529"])
@pytest.mark.parametrize("kind", ["codex", "claude", "gemini-cli"])
def test_a_failing_api_is_asked_once(kind: str, status: str, tmp_path: Path) -> None:
    """Issue 5 point 2: retries are off; what the API said is the reason, without the key that it repeats."""
    stage = Stage(tmp_path, kind)
    with FakeApi(lambda _question: Answer(fault="fail", value=status)) as api:
        stage.settle(api.url)
        result = stage.review("--reviewer", "critic", COUNTERPOINT_LIMITS_ASKS_PER_TURN="1")
    assert (result["decision"], result["stop_reason"]) == ("undetermined", "failed")
    asked = [request.path for request in api.requests if request.method == "POST"]
    assert len(asked) == 1, asked
    assert KEY in str(api.requests[-1].headers)
    stage.demand_no_key()
    assert KEY not in json.dumps(result)


@pytest.mark.parametrize("kind", ["claude", "gemini-cli"])
def test_another_model_than_the_one_asked_for_does_not_count(kind: str, tmp_path: Path) -> None:
    """SPEC A-26; ECOSYSTEM 2.5, trap 5: these two tell which model answered."""
    stage = Stage(tmp_path, kind)
    with FakeApi(lambda question: replace(stage.model(question), model="small-1")) as api:
        stage.settle(api.url)
        result = stage.review("--reviewer", "critic", COUNTERPOINT_LIMITS_ASKS_PER_TURN="1")
    assert (result["decision"], result["stop_reason"]) == ("undetermined", "failed"), result
    assert "small-1" in json.dumps(result)
