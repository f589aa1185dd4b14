"""One suite over every coding agent's profile: what an answer is, what none is, and that nothing is left of a call.

Each speaks through `client_peer`, which has the shapes of that agent's events; the real ones are in `tests/live`.
"""

import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.agents.base import NOT_REPORTED, Reply, Workspace, read_reply
from counterpoint.agents.headless import HeadlessAgent, HeadlessProfile
from counterpoint.agents.profiles import CLIENTS
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import AgentError, BadReply, ConfigError, CounterpointError, TurnTimeout, Unreachable
from tests.agents import client_peer
from tests.need import ROOT
from tests.processes import children, finish, is_gone

DEADLINE: Final = datetime(2026, 7, 6, tzinfo=UTC)
TURN: Final = Turn(phase="reviewing", round=1, seat="critic", ask=1)
VERDICT: Final = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "approved"],
    "properties": {"summary": {"type": "string", "minLength": 1}, "approved": {"type": "boolean"}},
}
ENVIRON: Final = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/somebody",
    "CODEX_HOME": "/home/somebody/elsewhere",
    "PEER_API_KEY": "0123456789abcdef",
    "OTHER": "no",
}
SESSION: Final = client_peer.SESSION
every = pytest.mark.parametrize("kind", CLIENTS)


class Bench:
    """The folders of one call, and the agent under test in front of its peer."""

    def __init__(self, folder: Path) -> None:
        for name in ("tree", "scratch"):
            (folder / name).mkdir()
        self.folder = folder
        self.note = folder / "note"
        self.starts = folder / "starts"
        self.workspace = Workspace(tree=folder / "tree", scratch=folder / "scratch", turn=TURN)
        self.lines: list[str] = []

    def agent(self, kind: str, how: str, **more: Any) -> HeadlessAgent:
        program = self.folder / f"{kind}-{how}"
        words = [sys.executable, "-S", client_peer.__file__, kind, how, str(self.note)]
        program.write_text(f'#!/bin/sh\necho >>{self.starts}\nexec {shlex.join(words)} "$@"\n')
        program.chmod(0o755)
        known = {"effort": "provider_default"} if kind in {"gemini-cli", "opencode"} else {}
        profile = HeadlessProfile(
            name="critic",
            destination="local",
            homes=self.folder / "homes",
            program=str(program),
            **{"timeout_s": 50.0, "environment": ("PEER_API_KEY",), **known, **more},
        )
        return HeadlessAgent(CLIENTS[kind], profile, environ=ENVIRON)

    def put(self, agent: HeadlessAgent, *, change: str = "+one line\n", **more: Any) -> Reply:
        question = Brief(
            instructions="Judge it.", payload={"change": change, "effort": "high"}, schema=VERDICT, shown_paths=()
        )
        workspace = replace(self.workspace, **more)
        return finish(agent.ask(question, workspace=workspace, deadline=DEADLINE, on_progress=self.lines.append))

    def seen(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(self.note.read_text())
        return found

    def demand_one_start(self) -> None:
        """See that the program was started once, and that nothing of it is left."""
        assert self.starts.read_text() == "\n"
        assert children() == set()

    def pids(self) -> list[int]:
        return [int(word) for word in self.note.read_text().split()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@every
def test_every_agent_returns_the_one_object_and_what_is_known_of_it(kind: str, bench: Bench) -> None:
    """DESIGN 1; ECOSYSTEM 2.4: the last words are the answer, tokens are those of the whole turn."""
    reply = bench.put(bench.agent(kind, "answer", model="large-2"))
    assert read_reply(reply, VERDICT) == client_peer.GOOD
    assert reply.usage == Usage(input_tokens=300, output_tokens=30, known=True)
    assert reply.session.split(" ")[0] == SESSION
    assert (reply.model_requested, reply.model_reported) == (
        "large-2",
        "large-2" if kind in {"claude", "gemini-cli"} else NOT_REPORTED,
    )
    assert any("ls" in line or "read" in line.lower() or "view" in line for line in bench.lines)


@every
def test_the_environment_is_built_from_nothing(kind: str, bench: Bench) -> None:
    """SECURITY S1, S2; B-12: a home of the seat's own, and no more than what is listed."""
    bench.put(bench.agent(kind, "answer"))
    env = bench.seen()["env"]
    assert env["HOME"] == str(bench.folder / "homes" / "critic")
    assert env["PEER_API_KEY"] == ENVIRON["PEER_API_KEY"]
    assert "OTHER" not in env
    assert "CODEX_HOME" not in env


MODES: Final[Mapping[str, tuple[str, str]]] = {
    "codex": ("-s read-only", "-s workspace-write"),
    "claude": ("--tools Read,Grep,Glob --permission-mode dontAsk", "--permission-mode acceptEdits"),
    "gemini-cli": ("--approval-mode plan", "--approval-mode auto_edit"),
    "copilot": ("--available-tools view,grep,glob --deny-tool=write", "--allow-tool=write --deny-tool=shell"),
    "opencode": ("--agent plan", "--agent build"),
}


@every
def test_the_mode_is_named_for_a_reviewer_and_for_an_author(kind: str, bench: Bench) -> None:
    """Issue 5 point 2; ECOSYSTEM 2.5, trap 7: no agent's own default decides what may be written."""
    reads, edits = MODES[kind]
    bench.put(bench.agent(kind, "answer"))
    assert reads in " ".join(bench.seen()["argv"])
    assert edits not in " ".join(bench.seen()["argv"])
    assert (bench.seen()["cwd"] == str(bench.workspace.tree)) is (kind != "gemini-cli")
    bench.put(bench.agent(kind, "answer"), edits=True)
    assert edits in " ".join(bench.seen()["argv"])
    assert bench.seen()["cwd"] == str(bench.workspace.tree)


def test_opencode_is_denied_every_tool_but_those_of_its_seat(bench: Bench) -> None:
    """ECOSYSTEM 2.5, trap 7: by itself it allows everything."""
    bench.put(bench.agent("opencode", "answer"))
    reads = json.loads(bench.seen()["env"]["OPENCODE_PERMISSION"])
    bench.put(bench.agent("opencode", "answer"), edits=True)
    edits = json.loads(bench.seen()["env"]["OPENCODE_PERMISSION"])
    assert reads == {"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow"}
    assert edits == {**reads, "edit": "allow"}


@every
def test_a_prompt_of_two_megabytes_arrives_whole(kind: str, bench: Bench) -> None:
    """FIELD-FAULTS F28: on standard input, and in no argument."""
    change = "".join(f"+line {number}\n" for number in range(170_000))
    reply = bench.put(bench.agent(kind, "answer"), change=change)
    assert read_reply(reply, VERDICT) == client_peer.GOOD
    assert bench.seen()["prompt"] > 2_000_000
    assert sum(map(len, bench.seen()["argv"])) < 3000


NO_ANSWER: Final[Mapping[str, tuple[type[AgentError], str]]] = {
    "empty": (BadReply, "ended its turn without an answer"),
    "silent": (BadReply, "did not say that its turn is over: quota exceeded"),
    "truncated": (BadReply, "did not say that its turn is over"),
    "failing": (Unreachable, "reports a failure: .*status 529"),
    "exit_1": (Unreachable, "'critic' ended with exit 1: "),
    "killed": (Unreachable, "'critic' was killed by SIGKILL"),
    "flood": (BadReply, "printed a line of more than 8388608 bytes"),
    "leak": (BadReply, "holds the value of PEER_API_KEY"),
    "leak_escaped": (BadReply, "holds the value of PEER_API_KEY"),
    "leak_in_error": (Unreachable, r"ended with exit 2: bad key \[\$PEER_API_KEY\]"),
}


@every
@pytest.mark.parametrize("how", NO_ANSWER)
def test_what_is_no_answer_is_an_error_with_its_reason(kind: str, how: str, bench: Bench) -> None:
    """Issue 5, done when; FIELD-FAULTS F1; ECOSYSTEM 2.5, trap 3: exit 0 and `success` prove nothing."""
    error, reason = NO_ANSWER[how]
    with pytest.raises(error, match=reason) as refused:
        bench.put(bench.agent(kind, how))
    assert str(refused.value).isprintable()
    assert ENVIRON["PEER_API_KEY"] not in f"{refused.value}{refused.value.hint}{bench.lines}"
    bench.demand_one_start()


@every
@pytest.mark.parametrize("how", ["prose", "fence", "two", "schema"])
def test_an_answer_that_is_not_the_one_object_does_not_count(kind: str, how: str, bench: Bench) -> None:
    """FIELD-FAULTS F1, F33: whoever says it, and whatever the agent says about it."""
    with pytest.raises(BadReply):
        read_reply(bench.put(bench.agent(kind, how)), VERDICT)
    bench.demand_one_start()


@every
@pytest.mark.parametrize("how", ["hang", "drip"])
def test_an_agent_that_does_not_end_is_ended_with_everything_it_started(kind: str, how: str, bench: Bench) -> None:
    """FIELD-FAULTS F29; ECOSYSTEM 2.5, trap 6."""
    with pytest.raises(TurnTimeout, match="did not answer within 1 s"):
        bench.put(bench.agent(kind, how, timeout_s=1.0))
    assert all(is_gone(pid) for pid in bench.pids())
    bench.demand_one_start()


@every
def test_a_child_that_keeps_the_output_open_does_not_delay_the_answer(kind: str, bench: Bench) -> None:
    """FIELD-FAULTS F29: what the agent itself said counts, and the child is ended."""
    assert read_reply(bench.put(bench.agent(kind, "hold")), VERDICT) == client_peer.GOOD
    assert all(is_gone(pid) for pid in bench.pids())
    bench.demand_one_start()


def test_noise_does_not_hurt_an_answer(bench: Bench) -> None:
    """SECURITY S7: a hundred megabytes of it are read and not kept."""
    assert read_reply(bench.put(bench.agent("codex", "noisy")), VERDICT) == client_peer.GOOD


@pytest.mark.parametrize("kind", ["claude", "gemini-cli"])
def test_a_model_that_was_not_asked_for_is_reported(kind: str, bench: Bench) -> None:
    """ECOSYSTEM 2.5, trap 5: the driver refuses the answer by it."""
    reply = bench.put(bench.agent(kind, "other_model", model="large-2"))
    assert (reply.model_requested, reply.model_reported) == ("large-2", "small-1")


@pytest.mark.parametrize("kind", ["claude", "gemini-cli"])
def test_a_key_is_no_models_name(kind: str, bench: Bench) -> None:
    """SECURITY S8: the name goes into the record."""
    with pytest.raises(BadReply, match="holds the value of PEER_API_KEY"):
        bench.put(bench.agent(kind, "leak_in_model"))


def test_progress_is_told_without_a_key_even_where_it_is_cut(bench: Bench) -> None:
    """SECURITY S8: of a key that is cut first, a part would stay."""
    bench.put(bench.agent("codex", "leak_in_progress"))
    (line,) = [line for line in bench.lines if "xxx" in line]
    assert len(line) == 200
    assert ENVIRON["PEER_API_KEY"][:6] not in line


@every
def test_usage_that_is_not_told_is_unknown(kind: str, bench: Bench) -> None:
    """SPEC A-26: never counted as nothing."""
    assert bench.put(bench.agent(kind, "no_usage")).usage.known is False


TRACES: Final[Mapping[str, str]] = {
    "codex": f".codex/sessions/2026/07/06/rollout-2026-07-06T14-07-48-{SESSION}.jsonl",
    "claude": f".claude/projects/-somewhere/{SESSION}.jsonl",
    "copilot": f".copilot/session-state/{SESSION}/events.jsonl",
}
RESUMED: Final[Mapping[str, str]] = {
    "codex": f"fork {SESSION} -",
    "claude": f"--resume {SESSION} --fork-session",
    "copilot": f"--resume={SESSION}",
}


def leave_session(bench: Bench, kind: str) -> None:
    path = bench.folder / "homes" / "critic" / TRACES[kind]
    path.parent.mkdir(parents=True)
    path.touch()


@pytest.mark.parametrize("kind", TRACES)
def test_the_recorded_session_is_gone_on_with(kind: str, bench: Bench) -> None:
    """SPEC B-05; FIELD-FAULTS F31: exactly that one, by its id."""
    leave_session(bench, kind)
    bench.put(bench.agent(kind, "answer"), session=f"{SESSION} 200 20")
    assert RESUMED[kind] in " ".join(bench.seen()["argv"])


@every
@pytest.mark.parametrize("session", ["", SESSION, "--last", "latest\n", "../../x 1 2"])
def test_a_session_that_is_not_there_is_not_asked_for(kind: str, session: str, bench: Bench) -> None:
    """SPEC B-05; FIELD-FAULTS F31: a new one begins, and what is no id never reaches a command."""
    bench.put(bench.agent(kind, "answer"), session=session)
    said = " ".join(bench.seen()["argv"])
    assert not any(word in said for word in (SESSION, "--last", "latest", "fork", "resume", "../"))
    assert ("the recorded session is not there any more; a new one begins" in bench.lines) is (
        session == SESSION and kind in TRACES
    )


@pytest.mark.parametrize("kind", ["codex", "copilot"])
@pytest.mark.parametrize(
    ("recorded", "usage"),
    [
        (f"{SESSION} 200 20", Usage(input_tokens=100, output_tokens=10, known=True)),
        (SESSION, Usage()),
        (f"{SESSION} 900 20", Usage()),
    ],
    ids=["a part", "no earlier total", "a total that shrank"],
)
def test_a_total_over_the_session_becomes_the_usage_of_the_turn(
    kind: str, recorded: str, usage: Usage, bench: Bench
) -> None:
    """ECOSYSTEM 2.5, trap 4: what came on top is counted, and what cannot be told is unknown."""
    leave_session(bench, kind)
    reply = bench.put(bench.agent(kind, "answer"), session=recorded)
    assert reply.usage == usage
    assert reply.session == f"{SESSION} 300 30"


def test_a_session_is_looked_for_where_the_person_keeps_it(bench: Bench) -> None:
    """Issue 5 point 2: with the person's own login, and their own folder for it."""
    home = bench.folder / "own"
    folder = home / TRACES["codex"].removeprefix(".codex/")
    folder.parent.mkdir(parents=True)
    folder.touch()
    agent = bench.agent("codex", "answer", user_home=True)
    agent._environ = {**ENVIRON, "CODEX_HOME": str(home)}
    bench.put(agent, session=f"{SESSION} 200 20")
    assert RESUMED["codex"] in " ".join(bench.seen()["argv"])
    assert bench.seen()["env"]["HOME"] == ENVIRON["HOME"]
    assert not (bench.folder / "homes").exists()


EFFORTS: Final = {
    "codex": (("high", "gpt-5.5"), ("turbo", ""), ("max", "gpt-5.5")),
    "claude": (("high", "claude-opus-4-8"), ("minimal", ""), ("high", "claude-haiku-4-5")),
    "copilot": (("high", ""), ("turbo", ""), ("high!", "")),
}


@pytest.mark.parametrize("kind", EFFORTS)
def test_an_effort_is_held_to_the_agent_and_to_the_model_before_a_call(kind: str, bench: Bench) -> None:
    """ECOSYSTEM 2.5, trap 2; SPEC A-27: nothing is dropped, mapped or left to a warning."""
    (good, model), *bad = EFFORTS[kind]
    bench.put(bench.agent(kind, "answer", effort=good, model=model))
    assert good in " ".join(bench.seen()["argv"])
    for effort, name in bad:
        with pytest.raises(ConfigError, match=f"agents.critic.effort: effort '{effort}' is asked for"):
            bench.agent(kind, "answer", effort=effort, model=name)


def test_an_effort_that_the_agent_has_no_option_for_is_refused() -> None:
    """The page shows this very error."""
    page = (ROOT / "docs/howto/coding-agents.md").read_text("utf-8")
    profile = HeadlessProfile(name="critic", destination="google", timeout_s=1, homes=Path("/nowhere"))
    agent = HeadlessAgent(CLIENTS["gemini-cli"], profile, environ={})
    with pytest.raises(ConfigError) as refused:
        agent.check_effort("high")
    assert f"error: {refused.value}\nhint: {refused.value.hint}\n" in page


@every
def test_an_effort_of_the_case_is_refused_before_a_call_too(kind: str, bench: Bench) -> None:
    """A resumed case may ask for what the settings of today no longer give."""
    if kind not in {"gemini-cli", "opencode"}:
        bench.put(bench.agent(kind, "answer"))
        assert "high" in " ".join(bench.seen()["argv"])
        return
    with pytest.raises(Unreachable, match="effort 'high' is asked for"):
        bench.put(bench.agent(kind, "answer", effort=""))
    assert not bench.note.exists()


def test_the_schema_goes_to_codex_only_where_its_strict_mode_takes_it(bench: Bench) -> None:
    """The API refuses a schema with an optional key in that mode, and the answer is held to the whole one anyway."""
    bench.put(bench.agent("codex", "answer"))
    assert "--output-schema" in bench.seen()["argv"]
    loose = {**VERDICT, "required": ["summary"]}
    assert CLIENTS["codex"].schema_form(loose) is None
    assert "minLength" not in json.dumps(CLIENTS["codex"].schema_form(VERDICT))


def test_the_schema_goes_to_claude_without_its_dialect(bench: Bench) -> None:
    """Claude Code refuses a schema that names 2020-12."""
    bench.put(bench.agent("claude", "answer"))
    argv = bench.seen()["argv"]
    assert json.loads(argv[argv.index("--json-schema") + 1]) == {k: v for k, v in VERDICT.items() if k != "$schema"}


@every
def test_an_address_of_ones_own_reaches_the_agent(kind: str, bench: Bench) -> None:
    """ECOSYSTEM 2.2."""
    bench.put(bench.agent(kind, "answer", base_url="http://127.0.0.1:9/v1", model="large-2"))
    told = " ".join([*bench.seen()["argv"], *bench.seen()["env"].values()])
    assert "http://127.0.0.1:9/v1" in told
    assert not re.search(r"\{[a-z_]+\}", told)


def test_a_missing_program_is_unreachable(bench: Bench) -> None:
    """Issue 2 point 5: the reviewer that never ran is an error with a name."""
    agent = bench.agent("codex", "answer")
    (bench.folder / "codex-answer").unlink()
    with pytest.raises(CounterpointError, match="there is no program at"):
        bench.put(agent)
