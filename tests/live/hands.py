"""How each real coding agent is asked, by the model behind it, to write a file and to give its answer."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.agents.fake_script import Answer, Question

__all__ = ["HANDS", "Call", "Hands"]

Call = tuple[str, Any]


def _codex_write(path: Path, content: str) -> Sequence[Call]:
    return [("exec_command", {"cmd": f"printf %s {shlex.quote(content)} > {path}"})]


def _claude_write(path: Path, content: str) -> Sequence[Call]:
    return [
        ("Read", {"file_path": str(path)}),
        ("Write", {"file_path": str(path), "content": content}),
    ]


def _gemini_write(path: Path, content: str) -> Sequence[Call]:
    return [
        ("write_file", {"file_path": str(path), "content": content}),
        ("run_shell_command", {"command": f"printf %s {shlex.quote(content)} > {path}", "description": "write"}),
    ]


def _copilot_write(path: Path, content: str) -> Sequence[Call]:
    return [
        ("create", {"path": str(path), "file_text": content}),
        ("bash", {"command": f"printf %s {shlex.quote(content)} > {path}", "description": "write"}),
    ]


def _opencode_write(path: Path, content: str) -> Sequence[Call]:
    return [
        ("write", {"filePath": str(path), "content": content}),
        ("bash", {"command": f"printf %s {shlex.quote(content)} > {path}", "description": "write"}),
    ]


def _as_text(answer: Mapping[str, Any]) -> Answer:
    return Answer(text=json.dumps(answer))


def _as_tool(answer: Mapping[str, Any]) -> Answer:
    return Answer(call=("StructuredOutput", answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """One coding agent as its model sees it."""

    model: str
    variable: str
    """In which it is given its key."""
    path: str
    """Behind the API's address."""
    write: Callable[[Path, str], Sequence[Call]]
    say: Callable[[Mapping[str, Any]], Answer] = _as_text
    settings: Mapping[str, str] = field(default_factory=dict)

    def play(self, question: Question, calls: Sequence[Call], answer: Mapping[str, Any]) -> Answer:
        """Return the next of the calls, and the answer once each of them has had its result."""
        done = len(question.results)
        return Answer(call=calls[done]) if done < len(calls) else self.say(answer)


HANDS: Final[Mapping[str, Hands]] = {
    "codex": Hands(model="gpt-5.5", variable="CODEX_API_KEY", path="/v1", write=_codex_write),
    "claude": Hands(
        model="claude-opus-4-8", variable="ANTHROPIC_API_KEY", path="", write=_claude_write, say=_as_tool
    ),
    "gemini-cli": Hands(
        model="gemini-2.5-pro",
        variable="GEMINI_API_KEY",
        path="",
        write=_gemini_write,
        settings={"effort": "provider_default"},
    ),
    "copilot": Hands(model="gpt-5.4", variable="COPILOT_PROVIDER_API_KEY", path="/v1", write=_copilot_write),
    "opencode": Hands(
        model="fake-1",
        variable="OPENCODE_API_KEY",
        path="/v1",
        write=_opencode_write,
        settings={"effort": "provider_default"},
    ),
}
