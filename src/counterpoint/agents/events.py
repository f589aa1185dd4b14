"""What coding agents print while they work, one JSON object a line, and what is taken from it.

Each agent has words of its own for the same few facts: the session, the model that answered, the answer, the usage,
the end of the turn, a failure. What nobody says stays unknown. Facts and shapes: ECOSYSTEM 2.4.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from counterpoint.agents.program import count_or_none
from counterpoint.core.values import Usage

__all__ = ["Event", "Heard", "take_claude", "take_codex", "take_copilot", "take_gemini", "take_opencode"]

Event = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Heard:
    """What a client's events have said so far."""

    session: str = ""
    models: list[str] = field(default_factory=list)
    """Every model that said it answered, in order."""
    answer: str | None = None
    usage: Usage = field(default_factory=Usage)
    is_ended: bool = False
    """Whether the client said that its turn is over."""
    failure: str = ""
    doing: str = ""
    """What it is doing just now, for a line of progress."""
    requests: int = 0
    """How many parts `usage` was added up from."""

    def named(self, model: object) -> None:
        if isinstance(model, str) and model and model not in self.models:
            self.models.append(model)

    def used(self, read: tuple[object, ...], made: tuple[object, ...]) -> None:
        """Add the tokens of the turn, or of one part of it; one that is no number makes the whole unknown."""
        counts = [count_or_none(value) for value in (*read, *made)]
        whole = [count or 0 for count in counts]
        part = Usage()
        if None not in counts:
            part = Usage(input_tokens=sum(whole[: len(read)]), output_tokens=sum(whole[len(read) :]), known=True)
        self.usage = self.usage.plus(part) if self.requests else part
        self.requests += 1


def take_codex(event: Event, heard: Heard) -> None:
    match event:
        case {"type": "thread.started", "thread_id": str() as session}:
            heard.session = session
        case {"type": "item.started", "item": {"type": "command_execution", "command": str() as command}}:
            heard.doing = f"runs {command}"
        case {"type": "item.completed", "item": {"type": "file_change", "changes": list() as changes}}:
            heard.doing = f"changed {len(changes)} file{'' if len(changes) == 1 else 's'}"
        case {"type": "item.completed", "item": {"type": "agent_message", "text": str() as text}}:
            heard.answer = text
        case {"type": "turn.completed", "usage": {} as usage}:
            heard.is_ended = True
            heard.used((usage.get("input_tokens"),), (usage.get("output_tokens"),))
        case {"type": "turn.failed", "error": {"message": str() as message}}:
            heard.failure = message
        case _:
            pass


def take_claude(event: Event, heard: Heard) -> None:
    match event:
        case {"type": "system", "subtype": "init", "session_id": str() as session}:
            heard.session = session
        # What a subagent says has a parent; "<synthetic>" is the client itself, reporting an error.
        case {
            "type": "assistant",
            "parent_tool_use_id": None,
            "message": {"model": model, "content": list() as parts},
        }:
            if model != "<synthetic>":
                heard.named(model)
            for part in parts:
                if isinstance(part, dict) and part.get("type") == "tool_use":
                    heard.doing = f"uses {part.get('name')}"
        case {"type": "result"}:
            heard.is_ended = True
            _end_claude(event, heard)
        case _:
            pass


def _end_claude(result: Event, heard: Heard) -> None:
    usage = result.get("usage")
    if isinstance(usage, Mapping):
        read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        heard.used(tuple(usage.get(key) for key in read), (usage.get("output_tokens"),))
    if result.get("is_error") or result.get("subtype") != "success":
        errors = result.get("errors") or result.get("result") or result.get("subtype")
        heard.failure = str(errors)
    elif isinstance(result.get("structured_output"), Mapping):
        heard.answer = json.dumps(result["structured_output"], ensure_ascii=False)


def take_gemini(event: Event, heard: Heard) -> None:
    match event:
        case {"type": "init", "session_id": str() as session}:
            heard.session = session
        case {"type": "tool_use", "tool_name": str() as tool}:
            heard.doing = f"uses {tool}"
            heard.answer = None  # what it said before it used a tool was not the answer
        case {"type": "message", "role": "assistant", "content": str() as text}:
            heard.answer = (heard.answer or "") + text
        case {"type": "result", "status": "success", "stats": {} as stats}:
            heard.is_ended = True
            models = stats.get("models")
            for model in models if isinstance(models, Mapping) else ():
                heard.named(model)
            # What neither was read nor is part of the answer was thought.
            heard.used((stats.get("input_tokens"),), (_rest(stats, "total_tokens", "input_tokens"),))
        case {"type": "result"}:
            heard.is_ended = True
            heard.failure = str(event.get("error") or event.get("status"))
        case _:
            pass


def _rest(counts: Event, whole: str, part: str) -> int | None:
    first, second = count_or_none(counts.get(whole)), count_or_none(counts.get(part))
    return None if first is None or second is None else first - second


def take_copilot(event: Event, heard: Heard) -> None:
    match event:
        case {"type": "tool.execution_start", "data": {"toolName": str() as tool}}:
            heard.doing = f"uses {tool}"
        case {"type": "assistant.message", "data": {"content": str() as text, "toolRequests": []}}:
            heard.answer = text
        case {"type": "session.error", "data": {"message": str() as message}}:
            heard.failure = message
        case {"type": "result", "sessionId": str() as session}:
            heard.is_ended = True
            heard.session = session
        case {"modelMetrics": {} as models}:  # the file of figures; its models are those that were asked for
            for figures in models.values():
                usage = figures.get("usage", {}) if isinstance(figures, Mapping) else {}
                heard.used((usage.get("inputTokens"),), (usage.get("outputTokens"),))
        case _:
            pass


def take_opencode(event: Event, heard: Heard) -> None:
    if isinstance(session := event.get("sessionID"), str):
        heard.session = session
    match event:
        case {"type": "tool_use", "part": {"tool": str() as tool}}:
            heard.doing = f"uses {tool}"
        case {"type": "text", "part": {"text": str() as text}}:
            heard.answer = text
        case {"type": "step_finish", "part": {"reason": reason, "tokens": {} as tokens}}:
            heard.is_ended = reason == "stop"
            cache = tokens.get("cache")
            cached = cache if isinstance(cache, Mapping) else {}
            read = (tokens.get("input"), cached.get("read"), cached.get("write"))
            heard.used(read, (tokens.get("output"), tokens.get("reasoning")))
        case {"type": "error"}:
            heard.failure = json.dumps(event.get("error"))
        case _:
            pass
