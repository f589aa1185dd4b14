"""Keys are planted, agents of three kinds do with them what they should not, and all that is left is searched.

Sources: issue 5, done when; SECURITY S1, S8; `docs/howto/record-and-replay.md`.
"""

import base64
import contextlib
import hashlib
import json
import os
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from tests import need
from tests.agents.fake_api import FakeApi
from tests.agents.fake_script import Answer, Question
from tests.reviewing import APPROVAL, FINDING, Project

KEYS: Final = {name: f"sk-planted/{name}+4f2a9c7e11" for name in ("ANA_API_KEY", "CODER_API_KEY", "CRITIC_API_KEY")}
LEAKS: Final = """
import hashlib, json, os, pathlib, sys
note, variable = pathlib.Path(sys.argv[1]), sys.argv[2]
key = os.environ[variable]
number = len(list(note.parent.glob(note.name + ".[0-9]*"))) + 1
running = b"".join(path.read_bytes() for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if path.parent.exists())
note.with_name(f"{note.name}.{number}").write_bytes(hashlib.sha256(key.encode()).hexdigest().encode() + running)
for folder in ("HOME", "TMPDIR"):
    pathlib.Path(os.environ[folder], "auth.json").write_text(key)
print("x" * 180 + key, file=sys.stderr, flush=True)
if number == 1:
    sys.exit(f"401: {key} is no key")
"""
"""Notes what it was given and which command lines are there; keeps its key where it can, says it, and fails once."""
AUTHOR: Final = f"""{LEAKS}
payload = json.loads(pathlib.Path(sys.argv[3]).read_text())["payload"]
pathlib.Path("price.py").write_text("x = 3\\n")
said = key if number == 2 else "Mended."
answers = [{{"finding": f["id"], "reasoning": said, "disposition": "fix"}} for f in payload["findings"]]
print(json.dumps({{"summary": "Mend it", "dispositions": answers, "changed": ["price.py"]}}))
"""
CODER: Final = f"""{LEAKS}
is_right = pathlib.Path("price.py").read_text() == "x = 3\\n"
finding = {dict(FINDING)!r} | {{"status": "resolved" if is_right else "open", "reason": "read it"}}
said = key.replace("/", "\\\\u002f") if number == 2 else "Read."
answer = {{"summary": "SAID", "findings": [finding], "responseToRebuttal": "", "approved": is_right}}
text = json.dumps(answer).replace("SAID", said)
for event in (
    {{"type": "thread.started", "thread_id": "5e551011-0000-4000-8000-000000000001"}},
    {{"type": "item.started", "item": {{"type": "command_execution", "command": "y" * 150 + key}}}},
    {{"type": "item.completed", "item": {{"type": "agent_message", "text": text}}}},
    {{"type": "turn.completed", "usage": {{"input_tokens": 3, "output_tokens": 3}}}},
):
    print(json.dumps(event), flush=True)
"""
SETTINGS: Final = """
[limits]
asks_per_turn = 3
[agents.ana]
kind = "command"
command = ["python3", "{bin}/ana.py", "{bin}/ana", "ANA_API_KEY", "{{brief_json}}"]
destination = "local"
environment = ["ANA_API_KEY"]
[agents.coder]
kind = "codex"
program = "{bin}/codex"
environment = ["CODER_API_KEY"]
[agents.critic]
kind = "openai"
model = "gpt-5.5"
base_url = "{address}/v1"
key_variable = "CRITIC_API_KEY"
"""


class Model:
    """A model that tells its key: in an error, then in an answer, before it approves."""

    def __init__(self) -> None:
        self.asked = 0
        self._lock = threading.Lock()

    def __call__(self, question: Question) -> Answer:
        del question
        with self._lock:
            self.asked += 1
            number = self.asked
        if number == 1:
            return Answer(fault="fail", value="401")
        key = KEYS["CRITIC_API_KEY"].replace("/", r"\/")
        return Answer(text=APPROVAL.replace("Read.", key) if number == 2 else APPROVAL)


def set_up(project: Project, address: str) -> None:
    project.begin()
    project.git.git("config", "user.name", "Ana")
    project.git.git("config", "user.email", "ana@example.org")
    (project.bin / "ana.py").write_text(AUTHOR)
    (project.bin / "coder.py").write_text(CODER)
    program = project.bin / "codex"
    program.write_text(f"#!/bin/sh\nexec python3 {project.bin}/coder.py {project.bin}/coder CODER_API_KEY\n")
    program.chmod(0o755)
    project.configure(SETTINGS.format(bin=project.bin, address=address))


def holding_a_key(content: bytes) -> list[str]:
    """Return the names of the keys that bytes hold: as they stand, quoted, in base 64, or in an object of git."""
    with contextlib.suppress(zlib.error):
        content += zlib.decompress(content)
    found = []
    for name, key in KEYS.items():
        forms = (key, quote(key, safe=""), key.replace("/", r"\/"), base64.b64encode(key.encode()).decode())
        # A part of a key that was cut is one, too.
        if any(form.encode() in content for form in (*forms, key[:14])):
            found.append(name)
    return found


def left_in(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        for place, _, names in os.walk(folder):
            yield from (Path(place, name) for name in names if Path(place, name).is_file())


def test_no_planted_key_is_left_anywhere(
    project: Project, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Record, log, error, process list, cassette, reports, homes, temporary files: none holds one, or part of one."""
    need.linux()
    tape = tmp_path / "tape"
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    with FakeApi(Model()) as api:
        set_up(project, api.url)
        seats = ("--author", "ana", "--reviewer", "coder", "--reviewer", "critic", "--consent", "openai")
        flags = ("--no-comment", "--trust-commands", "--json", "--record", str(tape))
        reviewed = project.run("review", *seats, *flags, COLUMNS="300")
    assert reviewed.json.get("decision") == "approved", reviewed
    assert {failure["reason"] for failure in reviewed.json["failed_attempts"]} == {"unreachable", "bad_reply"}
    assert {failure["turn"].split(".")[2] for failure in reviewed.json["failed_attempts"]} == {
        "ana",
        "coder",
        "critic",
    }
    said = [reviewed]
    for command in (["status"], ["show", "last"], ["verify", "last"], ["report", "last"], ["doctor"], ["agents"]):
        said += [project.call(*command), project.call(*command, "--json")]

    # Each agent had its key, and looked at what runs beside it.
    assert all(KEYS["CRITIC_API_KEY"] in request.headers["authorization"] for request in api.requests)
    for name, variable in (("ana", "ANA_API_KEY"), ("coder", "CODER_API_KEY")):
        seen = [path.read_bytes() for path in project.bin.glob(f"{name}.[0-9]*")]
        assert len(seen) >= 3
        for content in seen:
            assert content.startswith(hashlib.sha256(KEYS[variable].encode()).hexdigest().encode())
            assert b"counterpoint\0review\0" in content
            assert holding_a_key(content) == []

    for called in said:
        assert holding_a_key((called.out + called.err).encode()) == [], called
    places = (project.top, project.state, project.config, project.tmp, tape, own_home)
    files = {path: path.read_bytes() for path in left_in(*places)}
    assert {path: found for path, content in files.items() if (found := holding_a_key(content))} == {}
    # What was searched is what there is, and the search finds what lies there.
    record = next(content for path, content in files.items() if path.name.endswith(".channel.md"))
    assert all(f"${variable}".encode() in record for variable in ("ANA_API_KEY", "CODER_API_KEY", "CRITIC_API_KEY"))
    assert any(path.is_relative_to(tape / "turns") for path in files)
    assert holding_a_key(zlib.compress(json.dumps(KEYS).encode())) == sorted(KEYS)
