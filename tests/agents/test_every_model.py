"""One suite over every agent behind an API, with a provider that misbehaves on request (issue 5).

For each fault: the stated error, exactly one request, no answer that could pass, no connection left.
"""

import asyncio
import json
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from counterpoint.agents.base import Reply, read_reply, render_prompt
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Usage
from counterpoint.errors import AgentError, BadReply, TurnTimeout, Unreachable
from tests.agents import fake_wires
from tests.agents.fake_api import FakeApi
from tests.agents.fake_script import Answer
from tests.agents.faults import APPROVES, FAULTS, MANY, SILENT, SPOKEN
from tests.agents.models import DEADLINE, GOOD, KEY, KINDS, VERDICT, WORKSPACE, agent, brief
from tests.processes import finish


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeApi]:
    with FakeApi() as running:
        yield running


@pytest.fixture
def api(fake: FakeApi) -> Iterator[FakeApi]:
    """Lend the fake with no request seen; afterwards nobody is connected to it."""
    fake.requests.clear()
    yield fake
    fake.idle()


async def settled(before: set[asyncio.Task[Any]]) -> None:
    """Hold that no task is left, a few turns of the loop later: the ends of generators are tasks of one turn."""
    for _ in range(5):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


def put(kind: str, api: FakeApi | str, question: Brief, *, told: list[str] | None = None, **changes: Any) -> Reply:
    lines: list[str] = [] if told is None else told

    async def ask() -> Reply:
        before = asyncio.all_tasks()
        asked = agent(kind, api, **changes)
        try:
            return await asked.ask(question, workspace=WORKSPACE, deadline=DEADLINE, on_progress=lines.append)
        finally:
            await settled(before)

    return finish(ask())


def answer(kind: str, api: FakeApi, script: str, **changes: Any) -> Mapping[str, Any]:
    return read_reply(put(kind, api, brief(script), **changes), VERDICT)


def fault(kind: str, api: FakeApi, script: str, **changes: Any) -> AgentError:
    """Return the error that a script comes to: one request, and nothing secret in it."""
    told: list[str] = []
    with pytest.raises(AgentError) as raised:
        read_reply(put(kind, api, brief(script), told=told, **changes), VERDICT)
    error = raised.value
    assert len(api.requests) == 1
    assert str(error).isprintable()
    assert KEY not in "".join([*traceback.format_exception(error), error.hint, *told])
    return error


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_answer_comes_back_with_its_model_and_its_whole_usage(kind: str, api: FakeApi) -> None:
    """A-47, ECOSYSTEM 1.2: what came from a cache counts as read, what was thought as written, in every format."""
    reply = put(kind, api, brief(f"@@json {APPROVES}", effort="high"))
    model = KINDS[kind].model
    used = Usage(input_tokens=fake_wires.INPUT, output_tokens=fake_wires.OUTPUT, known=True)
    expected = Reply(content=APPROVES.encode(), model_requested=model, model_reported=model, usage=used)
    assert reply == expected
    (request,) = api.requests
    assert "Judge the change." in json.dumps(request.body)
    assert KEY in " ".join(request.headers.values())
    assert KEY not in json.dumps(request.body) + request.path
    assert KINDS[kind].agent.kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_progress_says_that_the_model_is_asked_and_how_far_it_is(kind: str, api: FakeApi) -> None:
    """Issue 5: streaming feeds progress."""
    told: list[str] = []
    put(kind, api, brief(f"@@text {json.dumps('x' * 4000)}"), told=told)
    model = KINDS[kind].model
    assert told[:2] == [f"{model} is asked", f"{model} is answering"]
    assert told[2:] == [f"{model}: {count} characters" for count in (1040, 2000, 3040, 4000)] or len(told) > 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPOKEN)
def test_what_is_not_the_one_object_is_no_answer(kind: str, name: str, api: FakeApi) -> None:
    """A-50, F33: also what the provider's own schema would have let pass."""
    script, reason = SPOKEN[name]
    error = fault(kind, api, script)
    assert isinstance(error, BadReply)
    assert reason in str(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("script", FAULTS, ids=lambda script: script[2:20])
def test_every_fault_is_its_stated_error_after_one_request(kind: str, script: str, api: FakeApi) -> None:
    """Issue 5, A-27, A-49, A-50: nothing is repeated, followed, repaired or taken for an answer."""
    expected, reason = FAULTS[script]
    # The answer itself would pass: only the fault stands between it and an approval.
    told = script if "@@text" in script else f"{script}\n@@json {APPROVES}"
    error = fault(kind, api, told)
    assert type(error) is expected
    assert reason in str(error)


@pytest.mark.parametrize("script", SILENT)
def test_a_provider_that_hangs_stalls_or_drips_is_left_at_the_timeout(script: str, api: FakeApi) -> None:
    """F29: the limit is on the whole answer, not on the wait between two bytes. All four wait side by side."""

    async def ask(kind: str) -> str:
        asked = agent(kind, api, timeout_s=1.0)
        with pytest.raises(TurnTimeout) as raised:
            await asked.ask(brief(script), workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None)
        return str(raised.value)

    async def every() -> list[str]:
        return await asyncio.gather(*map(ask, KINDS))

    assert finish(every()) == ["'critic' did not answer within 1 s"] * 4
    assert len(api.requests) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_cancelled_call_hangs_up_at_once(kind: str, api: FakeApi) -> None:
    """agents.base: cancelling ends everything that was started; the fixture waits for the connection's end."""

    async def cancel() -> None:
        before = asyncio.all_tasks()
        asked = agent(kind, api)
        call = asked.ask(brief("@@stall"), workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None)
        task = asyncio.create_task(call)
        await asyncio.to_thread(api.busy)
        task.cancel()
        await asyncio.wait({task}, timeout=10)
        assert task.cancelled()
        await settled(before)

    finish(cancel())
    assert len(api.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_another_model_is_reported_as_another(kind: str, api: FakeApi) -> None:
    """A-26, A-50: what was asked for and what answered stay apart; the driver ends the attempt for it."""
    reply = put(kind, api, brief(f"@@model other-2\n@@json {APPROVES}"))
    assert (reply.model_requested, reply.model_reported) == (KINDS[kind].model, "other-2")


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_of_two_megabytes_arrives_whole(kind: str, api: FakeApi) -> None:
    """F28."""
    question = brief("x" * 2_000_000 + "\n@@measure")
    instructed = Brief(
        instructions=(
            "Your instructions stand apart from this message. You have no working folder, and no file to read."
        ),
        payload=question.payload,
        schema=VERDICT,
        shown_paths=(),
    )
    assert read_reply(put(kind, api, question), VERDICT)["summary"] == str(len(render_prompt(instructed)))


def test_a_stream_of_nothing_but_comments_ends_at_its_limit(api: FakeApi) -> None:
    """SECURITY S3: what holds no event is counted too."""
    error = fault("chat", api, f"@@comments {MANY}")
    assert "sent more than 67108864 bytes" in str(error)


@pytest.mark.parametrize("kind", ["chat", "gemini"])
def test_several_choices_are_no_answer(kind: str, api: FakeApi) -> None:
    """A-50: the formats that can have several."""
    assert "gave 2 answers; one is asked for" in str(fault(kind, api, f"@@choices 2\n@@json {APPROVES}"))


def test_another_effort_than_the_one_asked_for_is_no_answer(api: FakeApi) -> None:
    """A-50: the Responses format says which effort it used."""
    error = fault("openai", api, f"@@effort low\n@@json {APPROVES}", effort="high")
    assert str(error) == "'critic' was asked with effort 'high' and says 'low'"


def test_a_server_that_is_not_there_is_unreachable(api: FakeApi) -> None:
    """Issue 5: nothing listens on the discard port of this machine."""
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9 cannot be reached"):
        put("chat", "http://127.0.0.1:9/v1", brief())


@pytest.mark.parametrize("value", ["", "two words", "naïve", "line\nbreak"])
def test_a_key_that_cannot_be_sent_is_refused_without_a_request(value: str, api: FakeApi) -> None:
    """F1: the reviewer whose key was missing. The error names the variable and not what it holds."""
    about = KINDS["openai"]
    asked = about.agent(agent("openai", api)._profile, environ={"CRITIC_API_KEY": value})
    with pytest.raises(Unreachable, match="CRITIC_API_KEY") as raised:
        finish(asked.ask(brief(), workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None))
    assert not value or value not in str(raised.value)
    assert not api.requests


def test_a_name_with_hidden_signs_is_no_models_name() -> None:
    """SECURITY T1: the name goes into the record and onto terminals."""
    with FakeApi(lambda _question: Answer(text=APPROVES, model="gpt-5.5\u202e")) as api:
        error = fault("openai", api, "")
    assert str(error) == "'critic' says that 'gpt-5.5\\\\u{202e}'… answered, which is no model's name"


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini"])
def test_the_key_of_a_provider_goes_to_that_provider_alone(kind: str, api: FakeApi) -> None:
    """SECURITY S8: an address of one's own gets a key only where `key_variable` names one."""
    about = KINDS[kind]
    environ = {about.agent.home_key: KEY}
    near = agent(kind, api, key_variable="")._profile
    finish(
        about.agent(near, environ=environ).ask(
            brief(f"@@json {APPROVES}"), workspace=WORKSPACE, deadline=DEADLINE, on_progress=lambda _line: None
        )
    )
    (request,) = api.requests
    assert KEY not in str(request)
    call = about.agent(replace(near, base_url=""), environ=environ).request(brief())
    assert call.url.startswith(f"{about.agent.home}/")
    assert KEY in " ".join(call.headers.values())


def test_a_proxy_of_the_environment_is_not_used(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """ECOSYSTEM 1.2: bytes go to the address that the settings name, and nowhere else."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert answer("chat", api, f"@@json {APPROVES}") == GOOD


BODIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "openai": {"store": False, "reasoning": {"effort": "high"}, "max_output_tokens": 5000},
    "anthropic": {"thinking": {"type": "adaptive"}, "max_tokens": 5000},
    "chat": {
        "reasoning_effort": "high",
        "max_completion_tokens": 5000,
        "temperature": 0.5,
        "stream_options": {"include_usage": True},
    },
    "gemini": {},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_control_goes_out_as_it_was_asked_for(kind: str, api: FakeApi) -> None:
    """A-27: no dropped parameter, no translation of an effort; the schema goes by the provider's own mechanism."""
    temperature = 0.5 if kind in {"chat", "gemini"} else None
    put(kind, api, brief(f"@@json {APPROVES}", effort="high"), max_output_tokens=5000, temperature=temperature)
    (request,) = api.requests
    body = request.body
    assert body | BODIES[kind] == body
    loose = {**VERDICT, "properties": {"summary": {"type": "string"}, "approved": {"type": "boolean"}}}
    match kind:
        case "openai":
            assert body["text"]["format"] == {
                "type": "json_schema",
                "name": "answer",
                "strict": True,
                "schema": loose,
            }
        case "anthropic":
            assert body["output_config"] == {"effort": "high", "format": {"type": "json_schema", "schema": loose}}
        case "chat":
            shape = {"name": "answer", "strict": True, "schema": loose}
            assert body["response_format"] == {"type": "json_schema", "json_schema": shape}
        case _:
            assert body["generationConfig"] == {
                "maxOutputTokens": 5000,
                "thinkingConfig": {"thinkingLevel": "high"},
                "temperature": 0.5,
                "responseMimeType": "application/json",
                "responseJsonSchema": loose,
            }
