"""Settings in, agents out (drive/registry.py; DESIGN 3)."""

import json
import os
from pathlib import Path

import pytest

from counterpoint.agents.capabilities import PROVIDER_DEFAULT
from counterpoint.agents.checks import ChecksAgent
from counterpoint.agents.command import CommandAgent, CommandProfile
from counterpoint.agents.human import HumanAgent
from counterpoint.agents.models import ModelAgent
from counterpoint.agents.scripted import ScriptedAgent
from counterpoint.core.briefs import Brief
from counterpoint.drive.registry import Registry
from counterpoint.drive.settings import how_to_add
from counterpoint.errors import ConfigError
from tests.settings_files import loaded

SCRIPT = "[[reply]]\nanswer = {approved = true}\n"
COMMAND = """
[agents.critic]
kind = "command"
command = ["sh", "{brief}", "{result}"]
destination = "acme"
prompt = "file"
result = "file"
environment = ["ACME_KEY"]
set = {MODE = "review"}
home = "user"
cwd = "tree"
timeout_s = 7
model = "large-2"
reply_pointer = "/text"
model_pointer = "/model"
input_tokens_pointer = "/in"
output_tokens_pointer = "/out"
session_pointer = "/session"
"""


def registry(tmp_path: Path, content: str = "", *, settings_file: Path | None = None) -> Registry:
    """Return the agents of a repository whose merge base has these settings and one script."""
    return Registry(
        loaded(content, settings_file=settings_file),
        read_at_base={"critic.toml": SCRIPT.encode(), "critic.json": b'{"reply": []}'}.get,
        environment={"ACME_KEY": "k", "PATH": os.defpath},
        resume="counterpoint resume review-1",
        drafts=tmp_path / "drafts",
    )


def test_every_setting_of_a_command_reaches_its_program(tmp_path: Path) -> None:
    """Each key has another value than its default, so that none can be forgotten."""
    agent = registry(tmp_path, COMMAND).agent("critic")
    assert isinstance(agent, CommandAgent)
    assert agent.destination == "acme"
    assert agent._profile == CommandProfile(
        name="critic",
        command=("sh", "{brief}", "{result}"),
        destination="acme",
        timeout_s=7,
        prompt_by_file=True,
        result_by_file=True,
        environment=("ACME_KEY",),
        set={"MODE": "review"},
        user_home=True,
        in_tree=True,
        model="large-2",
        reply_pointer="/text",
        model_pointer="/model",
        input_tokens_pointer="/in",
        output_tokens_pointer="/out",
        session_pointer="/session",
    )


def test_a_command_without_a_timeout_has_that_of_the_case(tmp_path: Path) -> None:
    """`limits.call_timeout_s`."""
    settings = '[agents.critic]\nkind = "command"\ncommand = "/bin/sh"\ndestination = "local"\n'
    agent = registry(tmp_path, settings + "[limits]\ncall_timeout_s = 11\n").agent("critic")
    assert isinstance(agent, CommandAgent)
    assert agent._profile.timeout_s == 11


def test_the_agents_that_need_no_settings(tmp_path: Path) -> None:
    """`checks`, and people, who share one terminal."""
    agents = registry(tmp_path)
    assert isinstance(agents.agent("checks"), ChecksAgent)
    one, two = agents.agent("human"), agents.agent("human")
    assert isinstance(one, HumanAgent)
    assert isinstance(two, HumanAgent)
    assert one._terminal is two._terminal


def test_a_script_of_the_person_is_read_where_it_lies(tmp_path: Path) -> None:
    """Beside their settings."""
    settings_file = tmp_path / "config.toml"
    settings_file.write_text('[agents.critic]\nkind = "scripted"\nfile = "mine.toml"\n')
    (tmp_path / "mine.toml").write_text(SCRIPT)
    assert isinstance(registry(tmp_path, settings_file=settings_file).agent("critic"), ScriptedAgent)
    (tmp_path / "mine.toml").unlink()
    with pytest.raises(ConfigError, match=r"agents\.critic\.file: expected the path of a script; got '.*mine\.toml'"):
        registry(tmp_path, settings_file=settings_file).agent("critic")


def test_a_script_of_the_repository_is_read_at_the_merge_base(tmp_path: Path) -> None:
    """No change brings the answers of its own reviewer."""
    named = '[agents.critic]\nkind = "scripted"\nfile = "{}"\n'
    for file in ("critic.toml", "critic.json"):
        assert isinstance(registry(tmp_path, named.format(file)).agent("critic"), ScriptedAgent)
    with pytest.raises(ConfigError, match=r"expected a file of the merge base; got 'new\.toml'"):
        registry(tmp_path, named.format("new.toml")).agent("critic")


def test_an_agent_that_nobody_set_up_is_named(tmp_path: Path) -> None:
    """With those that are there."""
    with pytest.raises(ConfigError, match=r"agents\.ghost: expected one of checks, human") as caught:
        registry(tmp_path).agent("ghost")
    assert caught.value.hint == how_to_add("ghost")


@pytest.mark.parametrize(
    ("command", "more", "fault"),
    [
        ("no-such-agent", "", "expected a program that can be started; got 'no-such-agent'"),
        ("/no/such/agent", "", "expected a program that can be started; got '/no/such/agent'"),
        ("no-such-agent", "set = {PATH = '/opt/bin'}", ""),
        ("bin/agent", "", ""),
        ("{tree}/agent", "", ""),
    ],
)
def test_a_program_that_is_not_there_is_told_beforehand(tmp_path: Path, command: str, more: str, fault: str) -> None:
    """Where that can be known: not what lies below the folder it starts in, nor on a PATH of its own."""
    settings = f'[agents.critic]\nkind = "command"\ncommand = "{command}"\ndestination = "local"\n{more}\n'
    agents = registry(tmp_path, settings)
    if not fault:
        assert isinstance(agents.agent("critic"), CommandAgent)
        return
    with pytest.raises(ConfigError) as caught:
        agents.agent("critic")
    assert str(caught.value) == f"agents.critic.command: {fault}"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("own", "case", "sent"),
    [
        ("", 0, 128_000),
        ("", 700, 700),
        ("max_output_tokens = 900", 0, 900),
        ("max_output_tokens = 900", 700, 700),
        ("max_output_tokens = 500", 700, 500),
    ],
)
def test_a_model_is_held_to_the_lower_of_its_own_limit_and_the_cases(
    tmp_path: Path, own: str, case: int, sent: int
) -> None:
    """SPEC A-02: one answer is no longer than the case allows; without either, as long as the model's own limit."""
    settings = loaded(f'[agents.critic]\nkind = "openai"\nmodel = "gpt-5.5"\neffort = "low"\n{own}\n')
    agent = Registry(
        settings,
        read_at_base=lambda _path: None,
        environment={"OPENAI_API_KEY": "k"},
        resume="",
        drafts=tmp_path / "drafts",
        max_output_tokens=case,
    ).agent("critic")
    assert isinstance(agent, ModelAgent)
    asked = Brief(instructions="i", payload={}, schema={"type": "object"}, shown_paths=())
    assert json.loads(agent.request(asked).body)["max_output_tokens"] == sent


def test_a_model_that_takes_no_limit_is_asked_without_the_cases(tmp_path: Path) -> None:
    """It holds where it can be told; only a limit of the agent's own is refused (SPEC A-27)."""
    chat = 'kind = "chat"\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\ncontrols = ["schema"]\n'
    (tmp_path / "config.toml").write_text(f'[agents.critic]\n{chat}effort = "{PROVIDER_DEFAULT}"\n')
    settings = loaded("", settings_file=tmp_path / "config.toml")
    agent = Registry(
        settings,
        read_at_base=lambda _path: None,
        environment={},
        resume="",
        drafts=tmp_path / "drafts",
        max_output_tokens=700,
    ).agent("critic")
    assert isinstance(agent, ModelAgent)
    asked = Brief(instructions="i", payload={}, schema={"type": "object"}, shown_paths=())
    assert not {"max_tokens", "max_completion_tokens"} & json.loads(agent.request(asked).body).keys()
