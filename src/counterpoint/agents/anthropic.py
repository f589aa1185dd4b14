"""Models behind Anthropic's Messages API."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from counterpoint.agents.answers import Answer, counted
from counterpoint.agents.capabilities import Control
from counterpoint.agents.models import ModelAgent
from counterpoint.agents.questions import Question

__all__ = ["AnthropicAgent"]

_VERSION: Final = "2023-06-01"
_READ: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""What was read is counted in three numbers; none holds another."""
_LEAST_TOKENS: Final = 8192
"""For a declared model whose limit nobody named: this format has no request without one."""


class AnthropicAgent(ModelAgent):
    """Asks through `POST /v1/messages`."""

    kind = "anthropic"
    home = "https://api.anthropic.com"
    home_key = "ANTHROPIC_API_KEY"
    finished: ClassVar = frozenset({"end_turn"})
    truncated: ClassVar = frozenset({"max_tokens", "model_context_window_exceeded"})

    def path(self, model: str) -> str:
        return "/v1/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}

    def body(self, question: Question) -> Mapping[str, Any]:
        body: dict[str, Any] = {
            "model": question.model,
            "max_tokens": question.max_output_tokens or _LEAST_TOKENS,
            "system": question.instructions,
            "messages": [{"role": "user", "content": question.text}],
            "stream": True,
        }
        output: dict[str, Any] = {}
        if question.effort:
            output["effort"] = question.effort
            if Control.ADAPTIVE_THINKING in question.controls:
                body["thinking"] = {"type": "adaptive"}
        if question.schema is not None:
            output["format"] = {"type": "json_schema", "schema": question.schema}
        if output:
            body["output_config"] = output
        if question.temperature is not None:
            body["temperature"] = question.temperature
        return body

    def take(self, event: Mapping[str, Any], answer: Answer) -> bool:
        match event:
            case {"type": "message_start", "message": {} as message}:
                answer.named(message.get("model"))
                _take_usage(message.get("usage"), answer)
            case {"type": "content_block_start", "content_block": {"type": str() as kind} as block}:
                if kind.endswith("tool_use"):
                    answer.tool = str(block.get("name") or kind)
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}}:
                answer.say(piece)
            case {"type": "message_delta", "delta": {} as delta}:
                _take_ending(delta, answer)
                _take_usage(event.get("usage"), answer)
            case {"type": "error"}:
                said = event.get("error")
                raise self.failed(said.get("message") if isinstance(said, Mapping) else said)
            case {"type": "message_stop"}:
                return True
            case _:
                pass
        return False


def _take_ending(delta: Mapping[str, Any], answer: Answer) -> None:
    ending = delta.get("stop_reason")
    if ending == "refusal":
        answer.refusal = "refusal"
    if isinstance(ending, str):
        answer.ending = ending


def _take_usage(usage: object, answer: Answer) -> None:
    """Add what an event says of usage: the numbers of a later one are totals, and may leave out what was read."""
    if not isinstance(usage, Mapping):
        return
    if "input_tokens" in usage:
        read: list[object] = [usage.get(key) or 0 for key in _READ]
    else:
        read = [answer.usage.input_tokens] if answer.usage.known else [None]
    answer.usage = counted(read, [usage.get("output_tokens")])
