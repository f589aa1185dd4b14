"""Coding agents from settings to a seat: what may be set, who may set it, and what a person is asked (issue 5)."""

import os
from pathlib import Path

import pytest

from counterpoint.agents.headless import HeadlessAgent, HeadlessProfile
from counterpoint.drive.consent import Scope
from counterpoint.drive.permission import Running, Sending, wanted
from counterpoint.drive.registry import Registry
from counterpoint.drive.seat_homes import homes_of, remove_homes
from counterpoint.errors import ConfigError
from tests.settings_files import loaded


def own(tmp_path: Path, table: str) -> Path:
    """Write the person's own settings."""
    path = tmp_path / "config.toml"
    path.write_text(f"[agents.critic]\n{table}")
    return path


def registry(tmp_path: Path, table: str) -> Registry:
    return Registry(
        loaded(settings_file=own(tmp_path, table)),
        read_at_base=lambda _name: None,
        environment={"HOME": str(tmp_path), "PATH": os.defpath},
        resume="",
        drafts=tmp_path / "cases" / "review-1" / "drafts",
    )


def test_every_setting_of_a_coding_agent_reaches_it(tmp_path: Path) -> None:
    """Each key has another value than its default, so that none can be forgotten."""
    agent = registry(
        tmp_path,
        'kind = "claude"\nprogram = "/bin/sh"\nmodel = "claude-opus-4-8"\neffort = "max"\n'
        'environment = ["ACME_KEY"]\nbase_url = "https://acme.example/v1"\ntimeout_s = 7\n',
    ).agent("critic")
    assert isinstance(agent, HeadlessAgent)
    assert (agent.kind, agent.destination) == ("claude", "acme.example")
    assert agent._profile == HeadlessProfile(
        name="critic",
        destination="acme.example",
        timeout_s=7,
        homes=tmp_path / ".local/state/counterpoint/homes/review-1",
        program="/bin/sh",
        model="claude-opus-4-8",
        effort="max",
        base_url="https://acme.example/v1",
        environment=("ACME_KEY",),
    )
    agent = registry(tmp_path, 'kind = "codex"\nprogram = "sh"\nhome = "user"\n').agent("critic")
    assert isinstance(agent, HeadlessAgent)
    assert agent._profile.user_home


REFUSED = {
    'kind = "codex"': "environment: expected the variable that holds its key",
    'kind = "codex"\nhome = "user"\nbase_url = "https://acme.example"': "base_url: expected none with `home",
    'kind = "opencode"\nhome = "user"': "model: expected a model as provider/model; got nothing",
    'kind = "opencode"\nhome = "user"\nmodel = "large"': "model: expected a model as provider/model; got 'large'",
    'kind = "copilot"\nbase_url = "https://acme.example"': "model: expected the name of one model, because",
    'kind = "codex"\nhome = "user"\nmodel = "--yolo"': "model: expected the name of one model",
    'kind = "opencode"\nhome = "user"\nmodel = "a/b\\"}"': "model: expected the name of one model",
    'kind = "codex"\nhome = "user"\nmodel = "auto"': "model: expected the name of one model",
    'kind = "codex"\nhome = "user"\nprogram = "./codex"': "program: expected the name of a program on PATH",
    'kind = "codex"\nhome = "user"\nprogram = "-x"': "program: expected the name of a program on PATH",
    'kind = "codex"\nhome = "user"\nset = {}': "set: expected one of",
}


@pytest.mark.parametrize("table", REFUSED)
def test_what_cannot_work_is_refused_with_its_key(table: str, tmp_path: Path) -> None:
    """SPEC A-03; ours: a login goes to its vendor alone, and no value can turn into an option."""
    with pytest.raises(ConfigError) as refused:
        loaded(settings_file=own(tmp_path, table + "\n"))
    assert f"agents.critic.{REFUSED[table]}" in str(refused.value)


def test_an_effort_of_the_case_that_an_agent_cannot_take_is_refused_before_it_opens(tmp_path: Path) -> None:
    """ECOSYSTEM 2.5, trap 2: `review.effort` has a default, so this is what somebody meets first."""
    with pytest.raises(ConfigError, match="'gemini' has no option for it"):
        registry(tmp_path, 'kind = "gemini-cli"\nprogram = "sh"\nhome = "user"\n').agent("critic")


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Issue 5 point 5: before a case is opened."""
    with pytest.raises(ConfigError, match=r"agents\.critic\.program: expected a program that can be started"):
        registry(tmp_path, 'kind = "codex"\nprogram = "no-such-codex"\nhome = "user"\n').agent("critic")


@pytest.mark.parametrize("line", ['base_url = "https://acme.example"', 'destination = "local"'])
def test_a_repository_does_not_say_where_bytes_go(line: str) -> None:
    """DESIGN "Consent": a person's consent is to a name."""
    with pytest.raises(ConfigError, match="expected nothing in a repository's settings"):
        loaded(f'[agents.critic]\nkind = "codex"\nenvironment = ["ACME_KEY"]\n{line}\n')


def test_a_person_is_asked_for_the_whole_tree_and_for_what_a_repository_starts(tmp_path: Path) -> None:
    """DESIGN "Consent" and "Trust": the agent reads what it likes of the tree."""
    table = 'kind = "claude"\nmodel = "claude-opus-4-8"\nhome = "user"\n'
    sending = (Sending(destination="anthropic", scope=Scope.TREE, agents=("critic",)),)
    mine = wanted(loaded(settings_file=own(tmp_path, table)), ["critic"], [])
    assert (mine.sending, mine.running) == (sending, ())
    assert mine.agents[0].model == "claude-opus-4-8"
    theirs = wanted(loaded(f"[agents.critic]\n{table}"), ["critic"], [])
    assert theirs.sending == sending
    (running,) = theirs.running
    assert running == Running(argv=("claude",), why=running.why, given=("your home folder",))


def test_the_provider_of_opencode_stands_in_its_model(tmp_path: Path) -> None:
    """Where bytes go is known by no other name."""
    table = 'kind = "opencode"\nhome = "user"\nmodel = "Acme/large-2"\n'
    assert loaded(settings_file=own(tmp_path, table)).agents["critic"].destination == "acme"


def test_the_homes_of_a_closed_case_are_removed(tmp_path: Path) -> None:
    """SPEC A-51: what a session held cannot come back; homes of other cases stay."""
    environment = {"HOME": str(tmp_path)}
    remove_homes(environment, "review-1")
    for case in ("review-1", "review-2"):
        (homes_of(environment, case) / "critic").mkdir(parents=True)
    remove_homes(environment, "review-1")
    assert not homes_of(environment, "review-1").exists()
    assert homes_of(environment, "review-2").exists()
