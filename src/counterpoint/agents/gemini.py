"""Models behind Google's Gemini API. Its streams have no closing event: the last one names why the answer ended."""

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from counterpoint.agents.answers import Answer, counted
from counterpoint.agents.models import ModelAgent
from counterpoint.agents.questions import Question

__all__ = ["GeminiAgent"]


class GeminiAgent(ModelAgent):
    """Asks through `POST /v1beta/models/NAME:streamGenerateContent`."""

    kind = "gemini"
    home = "https://generativelanguage.googleapis.com"
    home_key = "GEMINI_API_KEY"
    finished: ClassVar = frozenset({"STOP"})
    truncated: ClassVar = frozenset({"MAX_TOKENS"})

    def path(self, model: str) -> str:
        return f"/v1beta/models/{quote(model, safe='')}:streamGenerateContent?alt=sse"

    def headers(self, key: str) -> Mapping[str, str]:
        # A header: the other way, a query parameter, would stand in every log of addresses.
        return {"x-goog-api-key": key} if key else {}

    def body(self, question: Question) -> Mapping[str, Any]:
        config: dict[str, Any] = {}
        if question.max_output_tokens:
            config["maxOutputTokens"] = question.max_output_tokens
        if question.effort:
            config["thinkingConfig"] = {"thinkingLevel": question.effort}
        if question.temperature is not None:
            config["temperature"] = question.temperature
        if question.schema is not None:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": question.schema}
        return {
            "systemInstruction": {"parts": [{"text": question.instructions}]},
            "contents": [{"role": "user", "parts": [{"text": question.text}]}],
            "generationConfig": config,
        }

    def take(self, event: Mapping[str, Any], answer: Answer) -> bool:
        if error := event.get("error"):
            raise self.failed(error.get("message") if isinstance(error, Mapping) else error)
        answer.named(event.get("modelVersion"))
        match event:
            case {"promptFeedback": {"blockReason": reason}}:
                answer.refusal = str(reason)
            case _:
                pass
        candidates = event.get("candidates") or []
        answer.choices = max(answer.choices, len(candidates))
        for candidate in candidates:
            if isinstance(candidate, Mapping):
                _take_candidate(candidate, answer)
        _take_usage(event.get("usageMetadata"), answer)
        return False


def _take_candidate(candidate: Mapping[str, Any], answer: Answer) -> None:
    ending = candidate.get("finishReason")
    if isinstance(ending, str):
        answer.ending = ending
        if ending in _REFUSED:
            answer.refusal = ending
    match candidate:
        case {"content": {"parts": [*parts]}}:
            for part in parts:
                _take_part(part, answer)
        case _:
            pass


_REFUSED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"})


def _take_part(part: object, answer: Answer) -> None:
    match part:
        case {"functionCall": {"name": name}}:
            answer.tool = str(name)
        case {"functionCall": _} | {"executableCode": _} | {"toolCall": _}:
            answer.tool = answer.tool or "without a name"
        case {"thought": True}:
            pass
        case {"text": text}:
            answer.say(text)
        case _:
            pass


def _take_usage(usage: object, answer: Answer) -> None:
    if isinstance(usage, Mapping):
        read = [usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount", 0)]
        made = [usage.get("candidatesTokenCount", 0), usage.get("thoughtsTokenCount", 0)]
        answer.usage = counted(read, made)
