"""What a model does not take is refused before a byte is sent (ECOSYSTEM 1.2; SPEC A-03, A-27, A-48).

The libraries of the field send, drop, map or raise each of these controls. Here the fake counts: no request is made.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from counterpoint.agents.capabilities import Capability, Control, find, known_models
from counterpoint.errors import ConfigError, CounterpointError, Unreachable
from tests.agents.fake_api import FakeApi
from tests.agents.models import DEADLINE, KINDS, WORKSPACE, agent, brief
from tests.processes import finish

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max", "turbo")
KNOWN: Final = [(kind, model) for kind in KINDS for model in known_models(kind)]
DECLARED: Final = Capability(efforts=(), controls=frozenset(), source="a person")


@pytest.fixture(scope="module")
def api() -> Iterator[FakeApi]:
    with FakeApi() as running:
        yield running


def outcome(api: FakeApi, kind: str, of_case: str = "", **changes: Any) -> CounterpointError | None:
    """Ask with a case's effort, "" for none, and return what it was refused with."""
    payload = {"effort": of_case} if of_case else {}
    try:
        asked = agent(kind, api, **changes)
        question = brief('@@json {"summary": "", "approved": true}', **payload)
        finish(asked.ask(question, workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None))
    except CounterpointError as error:
        return error
    return None


ROWS: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "effort on a model without it": ("openai", {"model": "gpt-4o", "effort": "high"}, "takes no effort"),
    "an effort that nobody has": (
        "openai",
        {"effort": "turbo"},
        "'turbo' is asked for; model 'gpt-5.5' takes none, low",
    ),
    "an effort below the only one": ("openai", {"model": "gpt-5-pro", "effort": "low"}, "'gpt-5-pro' takes high ("),
    "an effort that is no budget": ("anthropic", {"model": "claude-haiku-4-5", "effort": "high"}, "takes no effort"),
    "a level that is a budget": ("gemini", {"model": "gemini-2.5-pro", "effort": "high"}, "takes no effort"),
    "temperature on Opus 4.8": (
        "anthropic",
        {"temperature": 0.2},
        "temperature is set; model 'claude-opus-4-8' takes",
    ),
    "temperature on gpt-5.5": ("openai", {"temperature": 0.2}, "temperature is set; model 'gpt-5.5' takes"),
    "an unknown model": ("openai", {"model": "gpt-99"}, "expected a model whose controls are known (gpt-5.6"),
    "a model of another API": ("openai", {"model": "claude-opus-4-8"}, "expected a model whose controls are known"),
    "a local model that nobody declared": ("chat", {"declared": None}, "a model whose controls are known (none)"),
    "more than one answer holds": ("openai", {"max_output_tokens": 128_001}, "at most 128000 for model 'gpt-5.5'"),
    "a limit that is not declared": (
        "chat",
        {"declared": DECLARED, "max_output_tokens": 9},
        "max_output_tokens is set",
    ),
    "an effort left open": ("openai", {"effort": "provider_default"}, "leaves the effort open"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_control_that_the_model_does_not_take_is_refused_with_no_request(name: str, api: FakeApi) -> None:
    """ECOSYSTEM 1.2, row by row: the agent cannot even be made, and the error says what the model takes."""
    kind, changes, reason = ROWS[name]
    error = outcome(api, kind, **changes)
    assert isinstance(error, ConfigError)
    assert reason in str(error)
    assert error.hint
    assert not api.requests


@pytest.mark.parametrize(("kind", "model"), KNOWN, ids=lambda word: word)
def test_no_effort_reaches_a_model_that_does_not_take_it(kind: str, model: str, api: FakeApi) -> None:
    """A-27, over the whole table: neither as the agent's own nor as the case's; nothing is sent in its place."""
    found = find(kind, model)
    assert found is not None
    for effort in EFFORTS:
        if effort in found.efforts:
            continue
        assert isinstance(outcome(api, kind, model=model, effort=effort), ConfigError)
        error = outcome(api, kind, effort, model=model)
        assert isinstance(error, Unreachable)
        assert f"effort '{effort}' is asked for; model '{model}' takes" in str(error)
    assert not api.requests


@pytest.mark.parametrize(("kind", "model"), KNOWN, ids=lambda word: word)
def test_no_other_control_reaches_a_model_that_does_not_take_it(kind: str, model: str, api: FakeApi) -> None:
    """A-27, A-48, over the whole table: a temperature, and more of an answer than the model can give."""
    found = find(kind, model)
    assert found is not None
    own: dict[str, Any] = {"model": model, "effort": found.efforts[0] if found.efforts else "provider_default"}
    most = outcome(api, kind, **own, max_output_tokens=found.max_output_tokens)
    assert most is None
    warm = outcome(api, kind, **own, temperature=0.2)
    assert isinstance(warm, ConfigError) is (Control.TEMPERATURE not in found.controls)
    assert len(api.requests) == (1 if warm else 2)
    api.requests.clear()
    error = outcome(api, kind, **own, max_output_tokens=found.max_output_tokens + 1)
    assert isinstance(error, ConfigError)
    assert f"at most {found.max_output_tokens} for model '{model}'" in str(error)
    assert not api.requests


@pytest.mark.parametrize(("kind", "model"), KNOWN, ids=lambda word: word)
def test_an_effort_that_a_model_takes_goes_out_as_that_word(kind: str, model: str, api: FakeApi) -> None:
    """A-27: one of each model's efforts, in the one request; the agent's own wins over the case's."""
    found = find(kind, model)
    assert found is not None
    own = found.efforts[-1] if found.efforts else "provider_default"
    assert outcome(api, kind, "turbo", model=model, effort=own) is None
    (request,) = api.requests
    api.requests.clear()
    sent = json.dumps({key: value for key, value in request.body.items() if key in _EFFORT_KEYS})
    assert (f'"{own}"' in sent) is bool(found.efforts)
    assert "turbo" not in sent
    assert ("thinking" in request.body) is (Control.ADAPTIVE_THINKING in found.controls)


_EFFORT_KEYS: Final = ("reasoning", "output_config", "thinking", "generationConfig", "reasoning_effort")


def test_every_line_of_the_table_names_its_source_and_date() -> None:
    """Issue 5: data with a source and a date, so that it can be checked again."""
    assert len(KNOWN) > 20
    for kind, model in KNOWN:
        found = find(kind, model)
        assert found is not None
        assert found.source
        assert found.as_of is not None
        assert found.max_output_tokens > 0
        assert set(found.efforts) <= set(EFFORTS) - {"turbo"}
        assert Control.SCHEMA in found.controls


def test_a_model_is_found_by_its_name_with_a_date_behind_it() -> None:
    """A-03: a snapshot is pinned by its whole name, and takes what the model takes."""
    assert find("openai", "gpt-5.5-2026-04-24") == find("openai", "gpt-5.5")
    assert find("anthropic", "claude-haiku-4-5-20251001") == find("anthropic", "claude-haiku-4-5")
    assert find("openai", "gpt-5.5-turbo") is None
    assert find("openai", "gpt-5.5-2026") is None


def test_what_a_person_declares_replaces_what_the_table_says(api: FakeApi) -> None:
    """A-48: the explicit declaration; an effort outside it is refused like any other."""
    declared = Capability(efforts=("deep",), controls=frozenset({Control.TEMPERATURE}), source="your settings")
    assert outcome(api, "openai", "deep", model="gpt-99", declared=declared, temperature=1) is None
    (request,) = api.requests
    api.requests.clear()
    assert request.body["reasoning"] == {"effort": "deep"}
    assert request.body["temperature"] == 1
    assert "text" not in request.body
    error = outcome(api, "openai", "high", declared=declared)
    assert str(error).endswith("effort 'high' is asked for; model 'gpt-5.5' takes deep (your settings)")
    assert not api.requests


def test_a_local_server_is_asked_without_an_effort_where_its_owner_says_so(api: FakeApi) -> None:
    """A-48: `provider_default` means that the field is left out."""
    assert outcome(api, "chat", "high", effort="provider_default") is None
    (request,) = api.requests
    api.requests.clear()
    assert "reasoning_effort" not in request.body
