"""How the fake API writes an answer in each of the four wire formats: whole, or as server-sent events."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tests.agents.fake_script import Answer, Question

__all__ = ["CACHED", "INPUT", "OUTPUT", "REASONING", "Event", "events", "text_events", "whole"]

INPUT: Final = 1234
"""Tokens read, those from a cache among them."""
CACHED: Final = 200
OUTPUT: Final = 56
"""Tokens written, those of reasoning among them."""
REASONING: Final = 7
_PIECE: Final = 40


def _id(question: Question) -> str:
    """Return an id that no earlier answer of the conversation has: coding agents take a repeated one for the same."""
    return f"fake-{len(question.users):02}{len(question.results):02}"


class Event(NamedTuple):
    name: str
    """Empty where the wire format names no events."""
    data: Any
    """JSON, or a text that is sent as it stands."""
    is_end: bool = False
    """Whether it belongs to what ends an answer."""

    def bytes(self) -> bytes:
        name = f"event: {self.name}\n" if self.name else ""
        return f"{name}data: {self.data if isinstance(self.data, str) else json.dumps(self.data)}\n\n".encode()


def whole(question: Question, answer: Answer) -> Mapping[str, Any]:
    """Return the answer as one JSON object."""
    return _FORMATS[question.api][0](question, answer)


def events(question: Question, answer: Answer) -> Iterator[Event]:
    """Yield the answer as a stream of events."""
    return _FORMATS[question.api][1](question, answer)


def text_events(question: Question, answer: Answer) -> Iterator[Event]:
    """Yield the beginning of the answer, and then one piece of its text for ever."""
    stream = list(events(question, answer))
    ends = next(index for index, event in enumerate(stream) if event.is_end)
    yield from stream[:ends]
    yield from itertools.repeat(stream[ends - 1])


def _pieces(text: str) -> Iterator[str]:
    size = max(_PIECE, len(text) // 50)
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _model(question: Question, answer: Answer) -> str:
    return (answer.model or question.model) if answer.has_model else ""


# Anthropic Messages

_MESSAGES_END: Final = {"truncated": "max_tokens", "refused": "refusal", "paused": "pause_turn"}


def _messages_usage() -> dict[str, int]:
    made = 34
    return {
        "input_tokens": INPUT - CACHED - made,
        "cache_creation_input_tokens": made,
        "cache_read_input_tokens": CACHED,
        "output_tokens": OUTPUT,
    }


def _messages_whole(question: Question, answer: Answer) -> dict[str, Any]:
    if answer.call:
        name, arguments = answer.call
        block = {"type": "tool_use", "id": f"toolu_{_id(question)}", "name": name, "input": arguments}
    else:
        block = {"type": "text", "text": answer.text}
    return {
        "id": f"msg_{_id(question)}",
        "type": "message",
        "role": "assistant",
        "model": _model(question, answer),
        "content": [block],
        "stop_reason": _MESSAGES_END.get(answer.end, "tool_use" if answer.call else "end_turn"),
        "stop_sequence": None,
        **({"usage": _messages_usage()} if answer.has_usage else {}),
    }


def _messages_events(question: Question, answer: Answer) -> Iterator[Event]:
    message = _messages_whole(question, answer)
    (block,) = message["content"]

    def event(kind: str, *, is_end: bool = False, **fields: Any) -> Event:
        return Event(kind, {"type": kind, **fields}, is_end)

    begun = {**message, "content": [], "stop_reason": None}
    if answer.has_usage:
        begun["usage"] = {**_messages_usage(), "output_tokens": 1}
    yield event("message_start", message=begun)
    yield event("ping")
    if answer.call:
        start, kind, key = {**block, "input": {}}, "input_json_delta", "partial_json"
        pieces = iter([json.dumps(block["input"])])
    else:
        start, kind, key, pieces = {**block, "text": ""}, "text_delta", "text", _pieces(answer.text)
    yield event("content_block_start", index=0, content_block=start)
    for piece in pieces:
        yield event("content_block_delta", index=0, delta={"type": kind, key: piece})
    if answer.end == "failed":
        yield event("error", is_end=True, error={"type": "overloaded_error", "message": "the fake is overloaded"})
        return
    yield event("content_block_stop", index=0, is_end=True)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    used = {"usage": {"output_tokens": OUTPUT}} if answer.has_usage else {}
    yield event("message_delta", is_end=True, delta=ending, **used)
    yield event("message_stop", is_end=True)


# OpenAI Responses


def _responses_item(question: Question, answer: Answer) -> dict[str, Any]:
    if not answer.call:
        refusal = {"type": "refusal", "refusal": "the fake refuses"}
        content = (
            refusal if answer.end == "refused" else {"type": "output_text", "text": answer.text, "annotations": []}
        )
        return {
            "type": "message",
            "id": f"msg_{_id(question)}",
            "status": "completed",
            "role": "assistant",
            "content": [content],
        }
    name, arguments = answer.call
    kinds = {tool.get("name"): tool.get("type") for tool in question.body.get("tools") or []}
    item = {"id": f"fc_{_id(question)}", "call_id": f"call_{_id(question)}", "status": "completed"}
    if name == "tool_search":
        return {**item, "type": "tool_search_call", "execution": "client", "arguments": arguments}
    if kinds.get(name) == "custom":
        return {**item, "type": "custom_tool_call", "name": name, "input": arguments.get("input", "")}
    space, _, own = name.rpartition("::")
    named = {"namespace": space, "name": own} if space else {"name": name}
    return {**item, "type": "function_call", **named, "arguments": json.dumps(arguments)}


def _responses_whole(question: Question, answer: Answer) -> dict[str, Any]:
    status = {"truncated": "incomplete", "failed": "failed", "paused": "in_progress"}.get(answer.end, "completed")
    usage = {
        "input_tokens": INPUT,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": REASONING},
        "total_tokens": INPUT + OUTPUT,
    }
    effort = {"effort": answer.effort} if answer.effort else question.body.get("reasoning")
    return {
        "id": f"resp_{_id(question)}",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": _model(question, answer),
        "output": [_responses_item(question, answer)],
        "usage": usage if answer.has_usage else None,
        "error": {"code": "server_error", "message": "the fake failed"} if answer.end == "failed" else None,
        "incomplete_details": {"reason": "max_output_tokens"} if answer.end == "truncated" else None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "reasoning": effort,
        "text": question.body.get("text"),
        "truncation": "disabled",
    }


def _responses_events(question: Question, answer: Answer) -> Iterator[Event]:
    response = _responses_whole(question, answer)
    (item,) = response["output"]
    numbers = itertools.count()

    def event(kind: str, *, is_end: bool = False, **fields: Any) -> Event:
        return Event(kind, {"type": kind, "sequence_number": next(numbers), **fields}, is_end)

    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield event("response.created", response={**response, "status": "in_progress", "output": [], "usage": None})
    if answer.call or answer.end == "refused":
        yield event("response.output_item.added", output_index=0, item={**item, "status": "in_progress"})
    else:
        yield event("response.output_item.added", output_index=0, item={**item, "content": []})
        yield event("response.content_part.added", **at, part={"type": "output_text", "text": "", "annotations": []})
        for piece in _pieces(answer.text):
            yield event("response.output_text.delta", **at, delta=piece)
        yield event("response.output_text.done", is_end=True, **at, text=answer.text)
    yield event("response.output_item.done", is_end=True, output_index=0, item=item)
    ending = response["status"] if response["status"] in {"incomplete", "failed"} else "completed"
    yield event(f"response.{ending}", is_end=True, response=response)


# OpenAI Chat Completions

_CHAT_END: Final = {"truncated": "length", "refused": "content_filter", "paused": "other"}


def _chat_usage() -> dict[str, Any]:
    return {
        "prompt_tokens": INPUT,
        "completion_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens_details": {"reasoning_tokens": REASONING},
    }


def _chat_message(question: Question, answer: Answer) -> dict[str, Any]:
    if not answer.call:
        return {"role": "assistant", "content": answer.text}
    name, arguments = answer.call
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{_id(question)}", "type": "function", "function": function}],
    }


def _chat_base(question: Question, answer: Answer) -> dict[str, Any]:
    return {"id": f"chatcmpl-{_id(question)}", "created": 1, "model": _model(question, answer)}


def _chat_whole(question: Question, answer: Answer) -> dict[str, Any]:
    ending = _CHAT_END.get(answer.end, "tool_calls" if answer.call else "stop")
    message = _chat_message(question, answer)
    choices = [{"index": index, "message": message, "finish_reason": ending} for index in range(answer.choices)]
    used = {"usage": _chat_usage()} if answer.has_usage else {}
    return {**_chat_base(question, answer), "object": "chat.completion", "choices": choices, **used}


def _chat_events(question: Question, answer: Answer) -> Iterator[Event]:
    base = {**_chat_base(question, answer), "object": "chat.completion.chunk"}

    def chunk(delta: Mapping[str, Any], ending: str | None = None, *, index: int = 0) -> Event:
        choice = {"index": index, "delta": delta, "finish_reason": ending}
        return Event("", {**base, "choices": [choice]}, ending is not None)

    message = _chat_message(question, answer)
    if answer.call:
        (call,) = message["tool_calls"]
        yield chunk({**message, "tool_calls": [{**call, "index": 0}]})
    else:
        yield chunk({**message, "content": ""})
        for index in range(answer.choices):
            for piece in _pieces(answer.text):
                yield chunk({"content": piece}, index=index)
    if answer.end == "failed":
        yield Event("", {"error": {"message": "the fake failed", "code": 500}}, is_end=True)
        return
    yield chunk({}, _CHAT_END.get(answer.end, "tool_calls" if answer.call else "stop"))
    if answer.has_usage:
        yield Event("", {**base, "choices": [], "usage": _chat_usage()}, is_end=True)
    yield Event("", "[DONE]", is_end=True)


# Gemini

_GEMINI_END: Final = {"truncated": "MAX_TOKENS", "refused": "SAFETY", "paused": "OTHER"}


def _gemini_chunk(question: Question, answer: Answer, part: Mapping[str, Any], ending: str | None) -> dict[str, Any]:
    content = {"content": {"role": "model", "parts": [part]}}
    finish = {"finishReason": ending} if ending else {}
    usage = {
        "promptTokenCount": INPUT,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": OUTPUT - REASONING,
        "thoughtsTokenCount": REASONING,
        "totalTokenCount": INPUT + OUTPUT,
    }
    return {
        "candidates": [{**content, **finish, "index": index} for index in range(answer.choices)],
        **({"usageMetadata": usage} if answer.has_usage else {}),
        "modelVersion": _model(question, answer),
        "responseId": _id(question),
    }


def _gemini_whole(question: Question, answer: Answer) -> dict[str, Any]:
    part: dict[str, Any] = {"text": answer.text}
    if answer.call:
        name, arguments = answer.call
        part = {"functionCall": {"id": f"fc_{_id(question)}", "name": name, "args": arguments}}
    return _gemini_chunk(question, answer, part, _GEMINI_END.get(answer.end, "STOP"))


def _gemini_events(question: Question, answer: Answer) -> Iterator[Event]:
    if answer.call:
        yield Event("", _gemini_whole(question, answer), is_end=True)
        return
    for piece in _pieces(answer.text):
        yield Event("", _gemini_chunk(question, answer, {"text": piece}, None))
    if answer.end == "failed":
        failed = {"error": {"code": 500, "message": "the fake failed", "status": "INTERNAL"}}
        yield Event("", failed, is_end=True)
        return
    yield Event("", _gemini_chunk(question, answer, {"text": ""}, _GEMINI_END.get(answer.end, "STOP")), is_end=True)


_FORMATS: Final[
    Mapping[
        str,
        tuple[Callable[[Question, Answer], Mapping[str, Any]], Callable[[Question, Answer], Iterator[Event]]],
    ]
] = {
    "messages": (_messages_whole, _messages_events),
    "responses": (_responses_whole, _responses_events),
    "chat": (_chat_whole, _chat_events),
    "gemini": (_gemini_whole, _gemini_events),
}
