"""What the fake API is asked, whatever the wire format, and what the script in the prompt has it do.

**The prompt is the script**, so the server keeps no state and one server serves every client. Directives are looked
for in the newest text of the user's that holds one. A value in braces or quotes is JSON.

| directive | the answer |
| --- | --- |
| `@@call TOOL {args}` | calls a tool; each further line is the next call, played once its result has come |
| `@@say WORDS` | is WORDS and ` | turn=N tools=M last=…`: N user texts, M results since the newest, the last result |
| `@@json {...}` | is that JSON |
| `@@text "..."` | is exactly that text |
| `@@measure` | is a verdict that states the length of the user's text |
| `@@model NAME` | says that NAME answered |
| `@@effort WORD` | says that WORD was the effort (Responses) |
| `@@end truncated` | ends at the output limit; also `refused`, `paused`, `failed` |
| `@@nousage` | reports no usage |
| `@@nomodel` | does not say which model answered |
| `@@choices N` | has N choices (Chat Completions, Gemini) |

| directive | what happens on the connection |
| --- | --- |
| `@@fail STATUS` | that HTTP status, with an error that repeats the key it was sent |
| `@@redirect URL` | status 307 to URL |
| `@@sleep SECONDS` | waits first, at most until the client hangs up |
| `@@hang` | never answers |
| `@@stall` | half of the answer, then nothing more |
| `@@cut` | half of the answer, then the connection ends |
| `@@short` | ends in good order, without the events that end an answer |
| `@@drip SECONDS` | one byte each so many seconds |
| `@@flood BYTES` | so many bytes of answer; `@@endless BYTES` the same as one line, `@@comments BYTES` as comments |
| `@@garbage` | an event that is not JSON |
| `@@plain` | the whole answer as JSON, although a stream was asked for |
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["Answer", "Question", "play", "read_question"]

_DECODER: Final = json.JSONDecoder()
_HOST_NOTES: Final = (
    "<system-reminder>",
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md",
    "<permissions",
    "<skills",
    "<recommended_plugins",
)
"""How texts begin that a coding agent adds in the user's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request."""

    api: str
    """`messages`, `responses`, `chat` or `gemini`."""
    model: str
    users: tuple[str, ...]
    """The user's texts, oldest first, without what coding agents add to them."""
    results: tuple[str, ...] = ()
    """What tools returned since the newest of them."""
    tools: tuple[str, ...] = ()
    is_stream: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def script(self) -> str:
        return next((text for text in reversed(self.users) if "@@" in text), self.users[-1] if self.users else "")

    def brief_with(self, key: str) -> dict[str, Any]:
        """Return the first object in the newest text that has this key, as a model would read a brief."""
        for found in re.finditer(r"\{", self.users[-1]):
            with suppress(ValueError):
                value, _ = _DECODER.raw_decode(self.users[-1], found.start())
                if key in value:
                    assert isinstance(value, dict)
                    return value
        raise AssertionError(f"no object with {key!r} in {self.users[-1]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the fake answers; the defaults are a good answer."""

    text: str = ""
    call: tuple[str, Any] | None = None
    """A tool's name and arguments, instead of the text."""
    model: str = ""
    """The name that is reported; empty: the one that was asked for."""
    effort: str = ""
    end: str = "finished"
    has_usage: bool = True
    has_model: bool = True
    choices: int = 1
    fault: str = ""
    """The name of a directive about the connection; empty: none."""
    value: str = ""
    """What stands behind it."""
    sleep_s: float = 0


_FAULTS: Final = (
    *("fail", "redirect", "hang", "stall", "cut", "short", "drip"),
    *("flood", "endless", "comments", "garbage", "plain"),
)


def play(question: Question) -> Answer:
    """Return what the script in the prompt asks for."""
    script = question.script
    words = dict(re.findall(r"@@(\w+)(?:[ \t]+([^\s\"\\<]+))?", script))
    fault = next((name for name in _FAULTS if name in words), "")
    return Answer(
        text=_text(question, words),
        call=_next_call(question),
        model=words.get("model", ""),
        effort=words.get("effort", ""),
        end=words.get("end", "finished"),
        has_usage="nousage" not in words,
        has_model="nomodel" not in words,
        choices=int(words.get("choices", "1")),
        fault=fault,
        value=words.get(fault, ""),
        sleep_s=float(words.get("sleep") or 0),
    )


def _text(question: Question, words: Mapping[str, str]) -> str:
    if "text" in words:
        return str(_value(question.script, "text"))
    if "json" in words:
        return json.dumps(_value(question.script, "json"))
    if "measure" in words:
        return json.dumps({"summary": str(len(question.users[-1])), "approved": True})
    said = re.search(r"@@say[ \t]+([^\n\"\\<]+)", question.script)
    tail = f" | turn={len(question.users)} tools={len(question.results)}"
    if question.results:
        tail += f" last={' '.join(question.results[-1].split())[:300]}"
    return (said[1].strip() if said else "ok") + tail


def _value(script: str, directive: str) -> Any:
    found = re.search(rf"@@{directive}[ \t]+", script)
    assert found, f"@@{directive} has no value"
    return _DECODER.raw_decode(script, found.end())[0]


def _next_call(question: Question) -> tuple[str, Any] | None:
    calls = []
    for found in re.finditer(r"@@call +(\S+) +", question.script):
        try:
            calls.append((found[1], _DECODER.raw_decode(question.script, found.end())[0]))
        except ValueError:
            continue
    if len(question.results) >= len(calls):
        return None
    name, arguments = calls[len(question.results)]
    # A host may put its own prefix before a tool's name: `mcp__debate__debate_post`.
    whole = next((tool for tool in question.tools if tool.endswith(name)), name)
    return (name if name in question.tools else whole), arguments


def read_question(api: str, model: str, body: Mapping[str, Any]) -> Question:
    """Read a request of one of the four wire formats."""
    texts = _Texts()
    match api:
        case "messages":
            _read_messages(body, texts)
        case "responses":
            _read_responses(body, texts)
        case "chat":
            _read_chat(body, texts)
        case _:
            _read_gemini(body, texts)
    return Question(
        api=api,
        model=model or str(body.get("model", "")),
        users=tuple(texts.users),
        results=tuple(texts.results),
        tools=tuple(texts.tools),
        is_stream=bool(body.get("stream")),
        body=body,
    )


class _Texts:
    """A conversation while it is read."""

    def __init__(self) -> None:
        self.users: list[str] = []
        self.results: list[str] = []
        self.tools: list[str] = []

    def user(self, text: str) -> None:
        if text.strip() and not text.lstrip().startswith(_HOST_NOTES):
            self.users.append(text)
            self.results.clear()


def _flat(content: Any) -> str:
    """Return the text in a content, which is a text, a block or a list of blocks."""
    match content:
        case str():
            return content
        case {"text": str() as text}:
            return text
        case {"content": inner} | {"output": inner}:
            return _flat(inner)
        case list():
            return "\n".join(filter(None, map(_flat, content)))
        case _:
            return ""


def _read_messages(body: Mapping[str, Any], texts: _Texts) -> None:
    for message in body.get("messages", []):
        if message["role"] != "user":
            continue
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        results = [_flat(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
        texts.results += results
        said = [block["text"] for block in blocks if block.get("type") == "text"]
        text = "\n".join(each for each in said if not each.lstrip().startswith(_HOST_NOTES))
        # A new prompt may share a message with the last result; a note beside a result is no prompt.
        if "@@" in text or not results:
            texts.user(text)
    texts.tools += [tool.get("name", "") for tool in body.get("tools") or []]


def _read_responses(body: Mapping[str, Any], texts: _Texts) -> None:
    given = body.get("input")
    found: list[Any] = list(body.get("tools") or [])
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given or []:
        match item.get("type", "message"):
            case "message" if item.get("role") == "user":
                texts.user(_flat(item.get("content")))
            case "tool_search_output":  # Codex finds its tools of MCP servers by a search of its own
                texts.results.append(json.dumps(item.get("tools"))[:300])
                found += item.get("tools") or []
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                texts.results.append(_flat(item.get("output")))
            case _:
                pass
    texts.tools += _names_of_tools(found)


def _names_of_tools(tools: list[Any]) -> Iterator[str]:
    for tool in tools:
        if tool.get("type") == "namespace":
            for inner in tool.get("tools") or []:
                yield f"{tool.get('name', '')}::{inner.get('name', '')}"
        else:
            yield tool.get("name") or tool.get("type") or ""


def _read_chat(body: Mapping[str, Any], texts: _Texts) -> None:
    for message in body.get("messages", []):
        if message["role"] == "user":
            texts.user(_flat(message.get("content")))
        elif message["role"] == "tool":
            texts.results.append(_flat(message.get("content")))
    texts.tools += [tool["function"]["name"] for tool in body.get("tools") or [] if tool.get("function")]


def _read_gemini(body: Mapping[str, Any], texts: _Texts) -> None:
    for content in body.get("contents", []):
        if content.get("role", "user") not in {"user", "function"}:
            continue
        returned = [part["functionResponse"] for part in content.get("parts", []) if "functionResponse" in part]
        texts.results += [json.dumps(each.get("response")) for each in returned]
        if not returned:
            texts.user(_flat(content.get("parts")))
    for tool in body.get("tools") or []:
        declared = tool.get("functionDeclarations") or tool.get("function_declarations") or []
        texts.tools += [each["name"] for each in declared]
