"""One suite over every agent: what an answer is, what none is, and that nothing is left of a call.

The command agents talk to `peer.py`, a real program that misbehaves on request. Each bad reviewer of issue 2 is here.
"""

import asyncio
import io
import json
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.agents.base import Agent, Reply, Workspace, read_reply
from counterpoint.agents.checks import ChecksAgent
from counterpoint.agents.command import CommandAgent, CommandProfile
from counterpoint.agents.human import HumanAgent
from counterpoint.agents.scripted import ScriptedAgent, ScriptedReply
from counterpoint.agents.terminal import Terminal
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn
from counterpoint.errors import AgentError, BadReply, CounterpointError, TurnTimeout, Unreachable
from tests.agents import peer
from tests.processes import children, finish, is_gone, shell

DEADLINE: Final = datetime(2026, 7, 6, tzinfo=UTC)
TURN: Final = Turn(phase="reviewing", round=1, seat="critic", ask=1)
VERDICT: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "approved"],
    "properties": {"summary": {"type": "string"}, "approved": {"type": "boolean"}},
}
COMMANDS: Final = {
    "type": "object",
    "required": ["commands"],
    "properties": {"commands": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}},
}
GOOD: Final = json.loads(peer.GOOD)
ENVIRON: Final = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/somebody",
    "PEER_API_KEY": "0123456789abcdef",
    "OTHER": "no",
}


def brief(change: str = "+one line\n", schema: Mapping[str, Any] = VERDICT) -> Brief:
    commands = [{"argv": ["python", "-m", "pytest"], "purpose": "test"}]
    return Brief(
        instructions="Judge it.", payload={"change": change, "commands": commands}, schema=schema, shown_paths=()
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("tree", "scratch"):
        (tmp_path / name).mkdir()
    return Workspace(tree=tmp_path / "tree", scratch=tmp_path / "scratch", turn=TURN)


def command(
    how: str, told: Sequence[str] = (), *, files: bool = False, timeout_s: float = 50.0, **more: Any
) -> CommandAgent:
    argv = [*shell('echo >>"$0"; exec "$@"'), "{tree}/../starts", sys.executable, peer.__file__, how, *told]
    argv += ["--prompt", "{brief}", "--result", "{result}"] if files else []
    profile = CommandProfile(
        name="critic",
        command=tuple(argv),
        destination="local",
        timeout_s=timeout_s,
        prompt_by_file=files,
        result_by_file=files,
        environment=("PEER_API_KEY",),
        **more,
    )
    return CommandAgent(profile, environ=ENVIRON)


def put(agent: Agent, workspace: Workspace, question: Brief | None = None) -> Reply:
    lines: list[str] = []
    question = question or brief()
    return finish(agent.ask(question, workspace=workspace, deadline=DEADLINE, on_progress=lines.append))


def answer(agent: Agent, workspace: Workspace, question: Brief | None = None) -> Mapping[str, Any]:
    question = question or brief()
    return read_reply(put(agent, workspace, question), question.schema)


def demand_one_start(workspace: Workspace) -> None:
    """See that the program was started once, and that nothing of it is left."""
    assert (workspace.tree.parent / "starts").read_text() == "\n"
    assert children() == set()


def person() -> HumanAgent:
    terminal = Terminal(io.StringIO("fine\ny\ny\n"), io.StringIO(), interactive=True, page=0)
    return HumanAgent(terminal, resume="counterpoint resume review-1")


def enveloped(text: str = peer.GOOD) -> CommandAgent:
    wrapped = json.dumps({"type": "result", "cost": 0.01, "result": text})
    return command("raw", [wrapped], reply_pointer="/result")


def scripted(content: bytes) -> ScriptedAgent:
    return ScriptedAgent([ScriptedReply(answer=content)])


EVERY: Final = {
    "scripted": lambda: scripted(peer.GOOD.encode()),
    "command by streams": lambda: command("answer"),
    "command by files": lambda: command("answer", files=True),
    "command in an envelope": enveloped,
    "human": person,
    "checks": ChecksAgent,
}


def asked(kind: str) -> tuple[Brief, Mapping[str, Any]]:
    if kind == "checks":
        return brief(schema=COMMANDS), {"commands": [["python", "-m", "pytest"]]}
    return brief(), GOOD


@pytest.mark.parametrize("kind", EVERY)
def test_every_agent_returns_the_one_object_that_was_asked_for(kind: str, workspace: Workspace) -> None:
    """DESIGN 1: the seam; whoever answers, the bytes read strictly."""
    question, expected = asked(kind)
    agent = EVERY[kind]()
    assert answer(agent, workspace, question) == expected
    assert (agent.kind, agent.destination) == (kind.partition(" ")[0], "local")
    assert agent.patient is (kind == "human")


@pytest.mark.parametrize("kind", EVERY)
def test_every_agent_can_be_cancelled_at_once(kind: str, workspace: Workspace) -> None:
    """agents.base: cancelling ends everything that was started, and no task stays behind."""
    question, _ = asked(kind)

    async def cancel() -> set[asyncio.Task[Any]]:
        call = EVERY[kind]().ask(question, workspace=workspace, deadline=DEADLINE, on_progress=lambda _line: None)
        task = asyncio.create_task(call)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=20)
        assert task.done()
        return asyncio.all_tasks()

    assert len(finish(cancel())) <= 2
    assert children() == set()


@pytest.mark.parametrize("kind", ["scripted", "command by streams", "command by files", "checks"])
def test_calls_side_by_side_do_not_mix(kind: str, tmp_path: Path) -> None:
    """DESIGN 6: several seats are asked under one loop."""
    question, expected = asked(kind)

    async def several() -> list[Reply]:
        agent = EVERY[kind]()
        spaces = [Workspace(tree=tmp_path, scratch=tmp_path, turn=TURN) for _ in range(4)]
        calls = [
            agent.ask(question, workspace=space, deadline=DEADLINE, on_progress=lambda _line: None)
            for space in spaces
        ]
        return await asyncio.gather(*calls)

    assert [read_reply(reply, question.schema) for reply in finish(several())] == [expected] * 4


SPOKEN: Final = {
    "prose": "the reply begins with 'I looked at it and it is fine. APPROVED.'",
    "fence": "the reply stands in a code fence",
    "two": "the reply goes on after its JSON object",
    "duplicate": "key 'approved' stands twice in one object",
    "bytes": "not UTF-8 at byte 13",
    "half": "the reply is not one strict JSON object",
    "schema": "approved: expected boolean",
}


@pytest.mark.parametrize("files", [False, True], ids=["streams", "files"])
@pytest.mark.parametrize(("how", "reason"), SPOKEN.items())
def test_what_is_not_one_object_is_no_answer(how: str, reason: str, workspace: Workspace, *, files: bool) -> None:
    """Issue 2, bad input; FIELD-FAULTS F1, F33; SECURITY S3, S4."""
    with pytest.raises(BadReply, match=reason):
        answer(command(how, files=files), workspace)
    demand_one_start(workspace)


WORDS: Final = {
    "empty": "",
    "prose": "I think so.",
    "fence": f"```json\n{peer.GOOD}\n```",
    "two": peer.GOOD * 2,
    "duplicate": '{"approved": true, "approved": true}',
    "half": peer.GOOD[:-10],
    "schema": peer.GOOD.replace("true", '"yes"'),
}


@pytest.mark.parametrize("name", WORDS)
def test_what_stands_in_an_envelope_is_read_as_strictly(name: str, workspace: Workspace) -> None:
    """FIELD-FAULTS F33: a good envelope is no good answer."""
    with pytest.raises(BadReply):
        answer(enveloped(WORDS[name]), workspace)
    demand_one_start(workspace)


@pytest.mark.parametrize("content", [text.encode() for text in WORDS.values()], ids=WORDS)
def test_a_script_is_read_as_strictly(content: bytes, workspace: Workspace) -> None:
    """FIELD-FAULTS F33: the reading does not depend on who answers."""
    with pytest.raises(BadReply):
        answer(scripted(content), workspace)


ENDED: Final[Mapping[str, tuple[bool, type[AgentError], str]]] = {
    "failing": (False, Unreachable, r"'critic' ended with exit 1: \\u\{1b\}\[31merror\\u\{1b\}\[0m: not logged in"),
    "failing by files": (True, Unreachable, "'critic' ended with exit 1"),
    "killed": (False, Unreachable, "'critic' was killed by SIGKILL"),
    "killed by files": (True, Unreachable, "'critic' was killed by SIGKILL"),
    "blank": (False, BadReply, "printed no answer"),
    "blank by files": (True, BadReply, "wrote no answer to its result file"),
    "silent": (False, BadReply, "printed no answer: quota exceeded"),
    "silent by files": (True, BadReply, "wrote no answer to its result file: quota exceeded"),
    "flood": (False, BadReply, "printed 104857600 bytes; at most 1048576 are read"),
    "flood by files": (True, BadReply, "result file of 2097152 bytes; at most 1048576 are read"),
}


@pytest.mark.parametrize("name", ENDED)
def test_a_program_that_fails_or_floods_has_not_answered(name: str, workspace: Workspace) -> None:
    """Issue 2, bad input; FIELD-FAULTS F1; SECURITY S3, S7: exit 1 with a good answer printed is no answer."""
    files, error, reason = ENDED[name]
    with pytest.raises(error, match=reason):
        put(command(name.partition(" ")[0], files=files), workspace)
    demand_one_start(workspace)


def test_noise_on_the_outputs_does_not_hurt_an_answer_in_a_file(workspace: Workspace) -> None:
    """SECURITY S7: drained, and no more than that."""
    assert answer(command("noisy", files=True), workspace) == GOOD


@pytest.mark.parametrize("how", ["hang", "drip"])
def test_a_program_that_does_not_end_is_ended_with_everything_it_started(how: str, workspace: Workspace) -> None:
    """Issue 2, bad input; FIELD-FAULTS F29: half an answer is none, and a byte now and then buys no time."""
    with pytest.raises(TurnTimeout, match=r"'critic' did not answer within 1.5 s"):
        put(command(how, ["{scratch}/pids"], timeout_s=1.5), workspace)
    assert all(is_gone(pid) for pid in pids_of_the_call(workspace))
    demand_one_start(workspace)


def pids_of_the_call(workspace: Workspace) -> list[int]:
    (noted,) = workspace.scratch.glob("call-*/pids")
    return [int(text) for text in noted.read_text().split()]


def test_a_child_that_keeps_standard_output_open_does_not_delay_the_answer(workspace: Workspace) -> None:
    """Issue 2, bad input; FIELD-FAULTS F29: what the program itself said counts, and the child is ended."""
    began = time.monotonic()
    assert answer(command("hold", ["{scratch}/pids"]), workspace) == GOOD
    assert time.monotonic() - began < 15
    assert all(is_gone(pid) for pid in pids_of_the_call(workspace))


def test_a_child_that_keeps_standard_output_open_is_no_answer(workspace: Workspace) -> None:
    """FIELD-FAULTS F29: nothing printed is nothing printed."""
    with pytest.raises(BadReply, match="printed no answer"):
        put(command("hold_silent", ["{scratch}/pids"]), workspace)
    assert all(is_gone(pid) for pid in pids_of_the_call(workspace))


@pytest.mark.parametrize("files", [False, True], ids=["stdin", "file"])
def test_a_prompt_of_two_megabytes_arrives_whole(workspace: Workspace, *, files: bool) -> None:
    """Issue 2; FIELD-FAULTS F28: never as an argument, never through a blocked pipe."""
    change = "".join(f"+line {number}\n" for number in range(170_000))
    assert len(change) > 2_000_000
    measured = answer(command("measure", files=files), workspace, brief(change))
    (prompt,) = workspace.scratch.glob("call-*/brief.md")
    assert measured["summary"] == str(prompt.stat().st_size)
    assert change in prompt.read_text()


def test_a_program_that_reads_no_prompt_may_answer_all_the_same(workspace: Workspace) -> None:
    """FIELD-FAULTS F28: feeding a closed pipe is no failure."""
    assert answer(command("deaf"), workspace, brief("+x\n" * 200_000)) == GOOD


def test_a_missing_program_is_unreachable(workspace: Workspace) -> None:
    """Issue 2 point 5: the reviewer that never ran is an error with a name."""
    profile = CommandProfile(name="critic", command=("no-such-agent",), destination="local", timeout_s=5)
    with pytest.raises(Unreachable, match="no program 'no-such-agent' on PATH"):
        put(CommandAgent(profile, environ=ENVIRON), workspace)


def test_a_prompt_in_an_argument_is_refused_by_its_size(workspace: Workspace) -> None:
    """FIELD-FAULTS F28: over 100 kB never as an argument."""
    with pytest.raises(Unreachable, match="at most 100000"):
        put(command("raw", ["x" * 100_001]), workspace)


def test_every_error_is_one_sentence_that_can_be_shown(workspace: Workspace) -> None:
    """STYLE 5, SECURITY T1: no control character, no line break, whatever the program printed."""
    for how in ("failing", "silent", "prose"):
        with pytest.raises(CounterpointError) as refused:
            answer(command(how), workspace)
        assert str(refused.value).isprintable()
        assert refused.value.hint or how == "silent"
