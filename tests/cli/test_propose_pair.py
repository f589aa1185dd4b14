"""Where the pair of model and effort comes from that `counterpoint propose` gives both seats.

Sources: SPEC A-03 to A-05, A-48, A-52, A-53.
"""

import json
import stat
from typing import Any

import pytest

from tests.agents.fake_api import FakeApi
from tests.agents.models import KEY
from tests.proposing_seats import NEED, answer_of, result
from tests.reviewing import Project


def pair_of(project: Project, *args: str) -> dict[str, Any]:
    """Begin a case with these arguments and return the configuration that it has."""
    with FakeApi(answer_of) as api:
        called = project.call("propose", NEED, "--base-url", f"{api.url}/v1", "--api-key-env", "PAIR_KEY", *args)
        api.idle()
    assert called.code == 0, called
    config: dict[str, Any] = result(project)["config"]
    return {key: config[key] for key in ("config_source", "model", "reasoning_effort")}


def test_a_pair_comes_whole_from_the_first_source_that_has_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-04, A-05, A-52: session config, flags, a named profile, environment, the saved profile."""
    monkeypatch.setenv("PAIR_KEY", KEY)
    for name, model in (("session", "gpt-5.2"), ("named", "gpt-5.4")):
        fields = {"model": model, "reasoning_effort": "low"} | ({"provider": "openai"} if name == "named" else {})
        (project.top / f"{name}.json").write_text(json.dumps(fields))
    saved = project.call(
        "propose", "setup", "--provider", "openai", "--model", "gpt-5.5", "--reasoning-effort", "high"
    )
    assert saved.code == 0, saved
    assert pair_of(project) == {"config_source": "saved_profile", "model": "gpt-5.5", "reasoning_effort": "high"}
    monkeypatch.setenv("DEBATE_MODEL", "gpt-5.1")
    monkeypatch.setenv("DEBATE_REASONING_EFFORT", "low")
    of_environment = {"config_source": "environment", "model": "gpt-5.1", "reasoning_effort": "low"}
    assert pair_of(project, "--provider", "openai") == of_environment
    named = pair_of(project, "--config", "named.json")
    assert named == {"config_source": "saved_profile", "model": "gpt-5.4", "reasoning_effort": "low"}
    flags = ("--provider", "openai", "--model", "gpt-5-mini", "--reasoning-effort", "minimal")
    assert pair_of(project, *flags)["config_source"] == "explicit"
    session = pair_of(project, "--provider", "openai", "--session-config", "session.json")
    assert session == {"config_source": "session_config", "model": "gpt-5.2", "reasoning_effort": "low"}


def test_a_server_that_no_table_knows_is_named_by_its_address(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-48, openai_compatible: its effort is sent as given, or left out where the provider's own is asked for."""
    monkeypatch.setenv("PAIR_KEY", KEY)
    for effort, sent in (("steep", "steep"), ("provider_default", None)):
        with FakeApi(answer_of) as api:
            pair = ("--provider", "openai-compatible", "--model", "m-1", "--reasoning-effort", effort)
            called = project.call("propose", NEED, *pair, "--base-url", f"{api.url}/v1", "--api-key-env", "PAIR_KEY")
            api.idle()
        assert called.code == 0, called
        assert {request.body.get("reasoning_effort") for request in api.requests} == {sent}
        assert {request.headers["authorization"] for request in api.requests} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--model", "gpt-5.5"), "a pair is never completed from another source"),
        (("--provider", "openai", "--model", "inherit", "--reasoning-effort", "high"), "nothing is inherited"),
        (("--provider", "openai", "--model", "a b", "--reasoning-effort", "high"), "a name without blanks"),
        (("--model", "gpt-5.5", "--reasoning-effort", "high"), "--provider: expected one of"),
        (
            ("--provider", "openai", "--session-config", "two.json", "--model", "gpt-5.5"),
            "--model: expected 'gpt-5.2'",
        ),
        (("--provider", "openai", "--session-config", "more.json"), "exactly model and reasoning_effort"),
        (("--provider", "openai", "--session-config", "none.json"), "a file that is there"),
        (("--provider", "openai", "--session-config", "large.json"), "at most 4096"),
        (("--config", "two.json"), "no provider"),
        (("--config", "key.json"), "a key itself never"),
        (("--config", "none.json"), "a profile that is there"),
        (("--provider", "openai-compatible", "--model", "m", "--reasoning-effort", "e"), "--base-url: expected"),
        (("--provider", "openai", "--model", "gpt-5.5", "--reasoning-effort", "provider_default"), "has efforts"),
        (("--provider", "openai", "--model", "gpt-9", "--reasoning-effort", "high"), "--provider openai-compatible"),
        (("--provider", "openai", "--model", "gpt-5.5", "--reasoning-effort", "steep"), "one of none, low"),
        (("--proposer", "ana", "--model", "m"), "--model gives both seats one pair"),
    ],
)
def test_a_pair_that_is_not_whole_or_disagrees_is_refused(project: Project, args: tuple[str, ...], said: str) -> None:
    """A-03, A-04: exit 1, and no case is begun."""
    two = {"model": "gpt-5.2", "reasoning_effort": "low"}
    (project.top / "two.json").write_text(json.dumps(two))
    (project.top / "more.json").write_text(json.dumps(two | {"provider": "openai"}))
    (project.top / "key.json").write_text(json.dumps(two | {"provider": "openai", "api_key": "sk-123"}))
    (project.top / "large.json").write_text(json.dumps(two | {"x": "y" * 4096}))
    called = project.call("propose", NEED, *args)
    assert called.code == 1, called
    assert said in called.err
    assert not project.cases


def test_the_profile_is_saved_once_and_replaced_only_when_asked(project: Project) -> None:
    """A-52, A-53: mode 0600, the same again is nothing, a link is refused; nothing goes over the network."""
    one = ("propose", "setup", "--provider", "openai", "--model", "gpt-5.5", "--reasoning-effort", "high")
    assert project.call(*one).out.startswith("saved to ")
    path = project.config / "propose.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    assert project.call(*one).out.startswith("it is so already in ")
    other = (*one[:-1], "low")
    assert project.call(*other).code == 1
    assert path.read_bytes() == before
    assert project.call(*other, "--overwrite").code == 0
    assert json.loads(path.read_text()) == {"provider": "openai", "model": "gpt-5.5", "reasoning_effort": "low"}
    assert project.call(*other, "--json").json == {"changed": False, "profile": str(path)}
    path.rename(project.config / "elsewhere.json")
    path.symlink_to("elsewhere.json")
    assert "a symbolic link" in project.call(*one, "--overwrite").err
