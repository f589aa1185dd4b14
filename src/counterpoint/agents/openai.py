"""Models behind OpenAI's Responses API. The provider is asked to store nothing."""

from collections.abc import Mapping
from typing import Any, ClassVar

from counterpoint.agents.answers import Answer, counted
from counterpoint.agents.models import ModelAgent
from counterpoint.agents.questions import Question, is_strict

__all__ = ["OpenAIAgent"]


class OpenAIAgent(ModelAgent):
    """Asks through `POST /responses`."""

    kind = "openai"
    home = "https://api.openai.com/v1"
    home_key = "OPENAI_API_KEY"
    finished: ClassVar = frozenset({"completed"})
    truncated: ClassVar = frozenset({"max_output_tokens"})

    def path(self, model: str) -> str:
        return "/responses"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, question: Question) -> Mapping[str, Any]:
        body: dict[str, Any] = {
            "model": question.model,
            "instructions": question.instructions,
            "input": question.text,
            "store": False,
            "stream": True,
        }
        if question.effort:
            body["reasoning"] = {"effort": question.effort}
        if question.max_output_tokens:
            body["max_output_tokens"] = question.max_output_tokens
        if question.temperature is not None:
            body["temperature"] = question.temperature
        if question.schema is not None:
            # The strict form refuses a schema with optional keys.
            strict = is_strict(question.schema)
            shape = {"type": "json_schema", "name": "answer", "strict": strict, "schema": question.schema}
            body["text"] = {"format": shape}
        return body

    def take(self, event: Mapping[str, Any], answer: Answer) -> bool:
        match event:
            case {"type": "response.output_text.delta", "delta": piece}:
                answer.say(piece)
            case {"type": "response.refusal.delta" | "response.refusal.done"}:
                answer.refusal += str(event.get("delta") or "")
            case {"type": "response.output_item.done", "item": {"phase": "commentary"}}:
                # What the model says on its way is no part of the answer.
                answer.forget()
            case {"type": "response.output_item.added" | "response.output_item.done", "item": {} as item}:
                _take_item(item, answer)
            case {
                "type": "response.completed" | "response.incomplete" | "response.failed",
                "response": {} as response,
            }:
                self._take_end(response, answer)
                return True
            case {"type": "error"}:
                raise self.failed(event.get("message") or event.get("error") or "no reason is given")
            case _:
                pass
        return False

    def _take_end(self, response: Mapping[str, Any], answer: Answer) -> None:
        match response:
            case {"error": {"message": said}}:
                raise self.failed(said)
            case {"incomplete_details": {"reason": str() as reason}}:
                answer.ending = reason
            case {"status": str() as status}:
                answer.ending = status
            case _:
                pass
        if answer.ending == "content_filter":
            answer.refusal = answer.refusal or answer.ending
        answer.named(response.get("model"))
        match response:
            case {"usage": {"input_tokens": read, "output_tokens": made}}:
                answer.usage = counted([read], [made])
            case _:
                pass
        match response:
            case {"reasoning": {"effort": str() as effort}}:
                answer.effort = effort
            case _:
                pass


def _take_item(item: Mapping[str, Any], answer: Answer) -> None:
    kind = str(item.get("type", ""))
    if kind.endswith("_call"):
        answer.tool = str(item.get("name") or kind)
    for part in item.get("content") or []:
        if isinstance(part, Mapping) and part.get("type") == "refusal":
            answer.refusal = str(part.get("refusal") or "without a word")
