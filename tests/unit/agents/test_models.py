"""The pieces of the agents behind an API: events, schemas, usage, and what single events come to."""

import copy
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from counterpoint.agents.answers import Answer, Told, counted
from counterpoint.agents.questions import is_strict, loosened
from counterpoint.agents.wire import Key, _Events, _message, shown
from counterpoint.core.docket import SeatKind
from counterpoint.core.values import Usage
from counterpoint.errors import AgentError, BadReply, Unreachable
from counterpoint.protocols.review.codec import schema_for
from tests.agents.models import KEY, KINDS, agent

STREAM: Final = (
    b': a comment\r\n\r\nevent: one\r\ndata: {"a": "\xc3\xa9"}\r\n\r\nid: 7\ndata:first\ndata: second\nretry: 1\n\n'
    b"data\n\n\n\ndata: last\n\ndata: cut"
)


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM)), max_size=12))
def test_events_are_the_same_however_the_stream_is_cut(places: list[int]) -> None:
    """The format of server-sent events: comments, two line ends, data of several lines; a cut event is none."""
    edges = [0, *sorted(places), len(STREAM)]
    events = _Events()
    found = [data for start, end in pairwise(edges) for data in events.feed(STREAM[start:end])]
    assert found == ['{"a": "é"}', "first\nsecond", "last"]
    assert events.held > 0


def test_an_event_that_is_not_utf_8_is_no_event() -> None:
    """A-50."""
    with pytest.raises(BadReply, match="not UTF-8 at byte 3"):
        _Events().feed(b"data: abc\xff\n\n")


def test_what_an_event_holds_is_counted_over_its_lines() -> None:
    """SECURITY S3: an event of many lines is as long as its lines are."""
    events = _Events()
    for _ in range(100):
        assert events.feed(b"data: " + b"x" * 94 + b"\n") == []
    assert events.held == 10_000
    events.feed(b"\n")
    assert events.held == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"error": {"message": "no quota", "type": "x"}}', "no quota"),
        (b'[{"error": {"message": "no quota"}}]', "no quota"),
        (b'{"error": "no quota"}', "no quota"),
        (b'{"message": "no quota"}', "no quota"),
        (b'{"detail": "no quota"}', '{"detail": "no quota"}'),
        (b"<html>no quota", "<html>no quota"),
        (b"[" * 100_000, "[" * 100_000),
        (b"\xff", "\ufffd"),
    ],
)
def test_the_reason_of_a_failure_is_found_where_providers_put_it(content: bytes, message: str) -> None:
    """A-49: HTTP errors become bounded hints."""
    assert _message(content) == message
    assert len(shown(message, Key())) <= 301


def test_a_key_is_hidden_whatever_its_variable_is_called() -> None:
    """SECURITY S8: `without_secrets` goes by the name of the variable; a key is secret by any name."""
    said = f"bad key {KEY}\nnext\x1b line"
    assert shown(said, Key(variable="MINE", value=KEY)) == "bad key [$API_KEY] next\\u{1b} line"
    assert shown(said, Key(variable="MY_TOKEN", value=KEY)) == "bad key [$MY_TOKEN] next\\u{1b} line"
    assert KEY not in repr(Key(variable="MINE", value=KEY))


SCHEMAS: Final = [schema_for(kind) for kind in SeatKind]


@pytest.mark.parametrize("schema", SCHEMAS, ids=list(SeatKind))
def test_a_loosened_schema_has_only_words_that_every_provider_takes(schema: Mapping[str, Any]) -> None:
    """Issue 5: structured output by the provider's own mechanism; the whole schema is checked by us afterwards."""
    kept = copy.deepcopy(dict(schema))
    loose = loosened(schema)
    Draft202012Validator.check_schema(loose)
    for word in ("maxLength", "minLength", "maxItems", "minItems", "pattern", "$schema"):
        assert f'"{word}"' not in json.dumps(loose)
    assert set(loose["properties"]) == set(schema["properties"])
    assert schema == kept


def test_what_is_valid_under_a_schema_is_valid_under_its_loosened_form() -> None:
    """Ours: loosening refuses nothing that the whole schema accepts."""
    word = {"enum": ["a", "b"]}
    schema = {
        "$defs": {"word": word},
        "type": "object",
        "properties": {
            "list": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/word"}},
            "either": {"anyOf": [{"type": "integer", "minimum": 0}, {"const": "x"}]},
            "mixed": {"enum": [1, "a"]},
        },
    }
    loose = loosened(schema)
    assert loose == {
        "$defs": {"word": {"enum": ["a", "b"], "type": "string"}},
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"$ref": "#/$defs/word"}},
            "either": {"anyOf": [{"type": "integer"}, {"const": "x"}]},
            "mixed": {"enum": [1, "a"]},
        },
    }
    for value in ({"list": ["a"], "either": 0, "mixed": 1}, {}, {"either": "x"}):
        assert Draft202012Validator(schema).is_valid(value)
        assert Draft202012Validator(loose).is_valid(value)


def test_a_schema_is_strict_where_every_object_names_all_its_keys() -> None:
    """The strict form of OpenAI's formats takes no optional key."""
    inner = {"type": "object", "additionalProperties": False, "required": ["a"], "properties": {"a": {}}}
    assert is_strict({**inner, "properties": {"a": inner}})
    assert not is_strict({**inner, "properties": {"a": {**inner, "required": []}}})
    assert not is_strict({**inner, "additionalProperties": True})
    assert not is_strict({"anyOf": [inner, {**inner, "required": []}]})


@pytest.mark.parametrize("odd", [None, -1, True, 1.5, "7"])
def test_usage_that_is_no_number_of_tokens_is_not_known(odd: object) -> None:
    """A-26: whole numbers from zero, or unknown."""
    assert counted([1, 2], [3]) == Usage(input_tokens=3, output_tokens=3, known=True)
    assert counted([1, odd], [3]) == counted([1], [odd]) == Usage()


def test_progress_comes_once_for_each_thousand_characters() -> None:
    """Issue 5: streaming feeds progress, and does not flood it."""
    lines: list[str] = []
    told, answer = Told(lines.append, "m"), Answer(agent="critic")
    for _ in range(2500):
        answer.say("x")
        told.about(answer)
    assert lines == ["m is answering", "m: 1000 characters", "m: 2000 characters"]


def after(kind: str, *events: Mapping[str, Any]) -> Answer:
    """Return what an agent has read after some events."""
    asked, answer = agent(kind, "http://127.0.0.1:9"), Answer(agent="critic")
    for event in events:
        asked.take(event, answer)
    return answer


def test_what_a_model_says_on_its_way_is_no_part_of_its_answer() -> None:
    """The Responses format marks it as commentary."""
    done = {"type": "response.output_item.done", "item": {"type": "message", "phase": "commentary", "content": []}}
    piece = {"type": "response.output_text.delta", "delta": "I will look."}
    found = after("openai", piece, done, {**piece, "delta": "{}"})
    assert (found.parts, found.size) == (["{}"], 2)


def test_a_prompt_that_the_provider_blocks_is_a_refusal() -> None:
    """A-50: there is no candidate at all then."""
    assert after("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}).refusal == "SAFETY"


def test_thoughts_are_no_part_of_an_answer() -> None:
    """A-51: what a provider lets through of a model's thinking is not kept."""
    parts = [{"text": "hm", "thought": True}, {"text": "{}"}]
    assert after("gemini", {"candidates": [{"content": {"parts": parts}}]}).parts == ["{}"]
    thinking = {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}
    assert after("anthropic", thinking).parts == []
    assert after("chat", {"choices": [{"delta": {"reasoning_content": "hm"}}]}).parts == []


TOOLS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "openai": ("web_search_call", {"type": "response.output_item.added", "item": {"type": "web_search_call"}}),
    "anthropic": (
        "search",
        {"type": "content_block_start", "content_block": {"type": "server_tool_use", "name": "search"}},
    ),
    "chat": ("without a name", {"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}),
    "gemini": ("without a name", {"candidates": [{"content": {"parts": [{"executableCode": {}}]}}]}),
}


@pytest.mark.parametrize("kind", TOOLS)
def test_a_tool_that_the_provider_runs_itself_is_a_tool(kind: str) -> None:
    """A-50: nobody offered one, so nobody may have used one."""
    tool, event = TOOLS[kind]
    assert after(kind, event).tool == tool


ODD: Final[tuple[Mapping[str, Any], ...]] = (
    {},
    {"type": "response.completed"},
    {"type": "response.completed", "response": {"usage": {"input_tokens": "many"}, "model": 7}},
    {"type": "response.output_item.done", "item": {"content": ["text"]}},
    {"type": "response.output_text.delta", "delta": None},
    {"type": "message_start", "message": {"usage": []}},
    {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {}},
    {"type": "content_block_start", "content_block": {"type": 1}},
    {"choices": ["text", {"delta": None}, {"delta": {"content": 5, "tool_calls": []}}], "usage": None},
    {"candidates": ["text", {"content": {"parts": ["text", {}]}}, {"content": None}], "usageMetadata": []},
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event", ODD, ids=json.dumps)
def test_an_odd_event_is_no_answer_and_no_crash(kind: str, event: Mapping[str, Any]) -> None:
    """A-50: what came over the wire is checked before it is used."""
    found = after(kind, event)
    assert (found.parts, found.model, found.usage.known) == ([], "", False)


@pytest.mark.parametrize(
    ("kind", "event", "said"),
    [
        ("openai", {"type": "error", "message": "too much"}, "too much"),
        ("openai", {"type": "error"}, "no reason is given"),
        ("openai", {"type": "response.failed", "response": {"error": {"message": "too much"}}}, "too much"),
        ("anthropic", {"type": "error", "error": "too much"}, "too much"),
        ("chat", {"error": "too much"}, "too much"),
        ("gemini", {"error": "too much"}, "too much"),
    ],
)
def test_a_failure_within_the_stream_is_told(kind: str, event: Mapping[str, Any], said: str) -> None:
    """Issue 5: the stated error, wherever it comes."""
    with pytest.raises(Unreachable, match=f"'critic' was told of a failure: {said}") as raised:
        after(kind, event)
    assert isinstance(raised.value, AgentError)


def test_usage_of_later_events_keeps_what_was_read() -> None:
    """The Messages format names what was read at the beginning, and what was written at the end."""
    begun = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}
    assert after("anthropic", begun, ended).usage == Usage(input_tokens=5, output_tokens=9, known=True)
    assert after("anthropic", ended).usage == Usage()
    assert after(
        "openai", {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}
    ).refusal
