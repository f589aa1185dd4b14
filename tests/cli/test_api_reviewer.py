"""A reviewer behind an API, through the whole command line, against the fake provider.

Sources: issue 5; DESIGN 7.7; SPEC A-26, A-27; FIELD-FAULTS F1; SECURITY S8.
"""

import json
import os
from pathlib import Path

import pytest

from tests.agents.fake_api import FakeApi
from tests.agents.models import KEY
from tests.reviewing import APPROVAL, FINDING, Project, answer

SETTINGS = """
[limits]
asks_per_turn = 1
[review]
reviewers = ["critic"]
[agents.critic]
kind = "openai"
model = "gpt-5.5"
base_url = "{address}/v1"
key_variable = "CRITIC_API_KEY"
{more}
"""


def begin(project: Project, api: FakeApi, script: str, monkeypatch: pytest.MonkeyPatch, *, more: str = "") -> None:
    """Set up a change that holds a script for the fake, and a reviewer that asks it."""
    project.begin(change=f"x = 2\n# {script}\n")
    project.configure(SETTINGS.format(address=api.url, more=more))
    monkeypatch.setenv("CRITIC_API_KEY", KEY)


def holding_the_key(folder: Path) -> list[str]:
    """Return the files under a folder that hold the planted key."""
    found = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    return [str(path) for path in found if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_review_by_a_model_is_one_request_and_leaves_no_key_behind(
    project: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: a secret is planted, and everything that the run left behind is searched for it."""
    begin(project, api, f"@@json {APPROVAL}", monkeypatch)
    called = project.review("--trust-commands", "--json")
    assert (called.code, called.json["decision"]) == (0, "approved"), called
    (request,) = api.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["reasoning"] == {"effort": "high"}
    (case,) = project.cases
    record = next(case.glob("*.channel.md")).read_text("utf-8")
    assert '"model_reported":"gpt-5.5"' in record
    assert '"input_tokens":1234' in record
    assert KEY not in called.out + called.err
    assert holding_the_key(project.top) == holding_the_key(project.state) == []


@pytest.mark.parametrize(
    ("script", "reason", "said"),
    [
        pytest.param(
            f"@@model gpt-4o-mini\n# @@json {APPROVAL}", "wrong_identity", "'gpt-4o-mini' answered", id="model"
        ),
        pytest.param("@@fail 529", "unreachable", "answered 529", id="overloaded"),
        pytest.param(f"@@call approve {{}}\n# @@json {APPROVAL}", "bad_reply", "called the tool", id="tool"),
    ],
)
def test_a_provider_that_fails_is_never_a_pass(
    project: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch, *, script: str, reason: str, said: str
) -> None:
    """F1, A-26, A-27: the case fails with the reason, after one request, and nothing holds the key."""
    begin(project, api, script, monkeypatch)
    found = project.judge()
    assert (found["decision"], found["stop_reason"], found["exit_code"]) == ("undetermined", "failed", 1)
    (attempt,) = found["failed_attempts"]
    assert attempt["reason"] == reason
    assert said in attempt["detail"]
    assert len(api.requests) == 1
    assert holding_the_key(project.top) == holding_the_key(project.state) == []


def test_an_effort_that_the_model_does_not_take_ends_before_a_case_is_opened(
    project: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-27, ECOSYSTEM 1.2: refused with what is supported; no case, no request."""
    begin(project, api, f"@@json {APPROVAL}", monkeypatch, more='effort = "turbo"')
    called = project.review("--trust-commands")
    assert called.code == 1
    assert "agents.critic.effort: effort 'turbo' is asked for; model 'gpt-5.5' takes none, low, medium" in called.err
    assert "hint: set `effort` in [agents.critic] to one of none, low, medium, high, xhigh" in called.err
    assert not project.cases
    assert not api.requests


def test_bytes_for_a_provider_need_consent_and_none_leaves_without_it(
    project: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DESIGN 4, consent: an agent behind an API is asked about like any other that sends."""
    begin(project, api, f"@@json {answer(FINDING)}", monkeypatch, more='destination = "acme"')
    called = project.review("--trust-commands")
    assert called.code == 4
    assert "consent to send the change under review to 'acme'" in called.err
    assert not api.requests
    allowed = project.review("--trust-commands", "--consent", "acme", "--json")
    assert json.loads(allowed.out)["decision"] == "rejected"
    assert len(api.requests) == 1
