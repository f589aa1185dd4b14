"""Models behind a Chat Completions API: any provider that speaks it, and any server on this machine.

The address is always named, and what the model takes is declared: servers differ in both.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from counterpoint.agents.answers import Answer, counted
from counterpoint.agents.capabilities import Control
from counterpoint.agents.models import ModelAgent
from counterpoint.agents.questions import Question, is_strict

__all__ = ["ChatAgent"]


class ChatAgent(ModelAgent):
    """Asks through `POST /chat/completions`."""

    kind = "chat"
    finished: ClassVar = frozenset({"stop"})
    truncated: ClassVar = frozenset({"length"})
    last: ClassVar = "[DONE]"

    def is_output_limit_taken(self) -> bool:
        return False

    def path(self, model: str) -> str:
        return "/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, question: Question) -> Mapping[str, Any]:
        body: dict[str, Any] = {
            "model": question.model,
            "messages": [
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.text},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if question.effort:
            body["reasoning_effort"] = question.effort
        if question.max_output_tokens:
            newer = Control.MAX_COMPLETION_TOKENS in question.controls
            body["max_completion_tokens" if newer else "max_tokens"] = question.max_output_tokens
        if question.temperature is not None:
            body["temperature"] = question.temperature
        if question.schema is not None:
            shape = {"name": "answer", "strict": is_strict(question.schema), "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        return body

    def take(self, event: Mapping[str, Any], answer: Answer) -> bool:
        if error := event.get("error"):
            raise self.failed(error.get("message") if isinstance(error, Mapping) else error)
        answer.named(event.get("model"))
        for choice in event.get("choices") or []:
            if isinstance(choice, Mapping):
                _take_choice(choice, answer)
        match event:
            case {"usage": {"prompt_tokens": read, "completion_tokens": made}}:
                answer.usage = counted([read], [made])
            case _:
                pass
        return False


def _take_choice(choice: Mapping[str, Any], answer: Answer) -> None:
    index = choice.get("index")
    if isinstance(index, int):
        answer.choices = max(answer.choices, index + 1)
    ending = choice.get("finish_reason")
    if isinstance(ending, str):
        answer.ending = ending
        if ending == "content_filter":
            answer.refusal = ending
    delta = choice.get("delta")
    if not isinstance(delta, Mapping):
        return
    answer.say(delta.get("content"))
    answer.refusal += str(delta.get("refusal") or "")
    match delta:
        case {"tool_calls": [{"function": {"name": str() as name}}, *_]} | {"function_call": {"name": str() as name}}:
            answer.tool = name
        case {"tool_calls": [_, *_]}:
            answer.tool = answer.tool or "without a name"
        case _:
            pass
