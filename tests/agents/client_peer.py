"""A stand-in for each coding agent, which speaks as that one does and misbehaves as it is told.

`client_peer.py KIND HOW NOTE ...`: the rest is what the real one would be given. NOTE is a file for what it has seen.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

GOOD: Final = {"summary": "fine", "approved": True}
SESSION: Final = "5e551011-0000-4000-8000-000000000001"
FOREVER_S: Final = 3600
FLOOD_BYTES: Final = 100 << 20

Event = Mapping[str, Any]


def codex(text: str, *, usage: bool = True, model: str = "") -> Iterator[Event]:
    del model
    yield {"type": "thread.started", "thread_id": SESSION}
    yield {"type": "turn.started"}
    yield {"type": "item.started", "item": {"type": "command_execution", "command": "ls"}}
    yield {"type": "item.completed", "item": {"type": "agent_message", "text": "I look first."}}
    yield {"type": "item.completed", "item": {"type": "agent_message", "text": text}}
    yield {"type": "turn.completed", "usage": {"input_tokens": 300, "output_tokens": 30} if usage else {}}


def claude(text: str, *, usage: bool = True, model: str = "large-2") -> Iterator[Event]:
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    counts = {"input_tokens": 100, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 150}
    yield {"type": "system", "subtype": "init", "session_id": SESSION}
    said = {"type": "assistant", "parent_tool_use_id": None}
    yield {**said, "message": {"model": model, "content": [{"type": "tool_use", "name": "Read"}]}}
    yield {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": text,
        "structured_output": answer,
        "usage": {**counts, "output_tokens": 30} if usage else {},
    }


def gemini(text: str, *, usage: bool = True, model: str = "large-2") -> Iterator[Event]:
    counts = {"total_tokens": 330, "input_tokens": 300, "output_tokens": 20} if usage else {}
    yield {"type": "init", "session_id": SESSION}
    yield {"type": "message", "role": "user", "content": "the brief"}
    yield {"type": "message", "role": "assistant", "content": "I look first."}
    yield {"type": "tool_use", "tool_name": "read_file"}
    middle = len(text) // 2
    for piece in (text[:middle], text[middle:]):
        yield {"type": "message", "role": "assistant", "content": piece, "delta": True}
    yield {"type": "result", "status": "success", "stats": {**counts, "models": {model: {}}}}


def copilot(text: str, *, usage: bool = True, model: str = "") -> Iterator[Event]:
    del model
    yield {"type": "tool.execution_start", "data": {"toolName": "view"}}
    yield {"type": "assistant.message", "data": {"content": "I look first.", "toolRequests": [{"name": "view"}]}}
    yield {"type": "assistant.message", "data": {"content": text, "toolRequests": []}}
    counts = {"inputTokens": 300, "outputTokens": 30} if usage else {}
    figures = Path(sys.argv[sys.argv.index("--usage-output-file") + 1])
    figures.write_text(json.dumps({"modelMetrics": {"large-2": {"usage": counts}}}, indent=2))
    yield {"type": "result", "sessionId": SESSION, "exitCode": 0}


def opencode(text: str, *, usage: bool = True, model: str = "") -> Iterator[Event]:
    del model
    first = {"input": 100, "output": 5, "reasoning": 5, "cache": {"read": 50, "write": 0}}
    last = {"input": 100, "output": 15, "reasoning": 5, "cache": {"read": 40, "write": 10}}
    yield {"type": "tool_use", "sessionID": SESSION, "part": {"tool": "read"}}
    yield {"type": "step_finish", "sessionID": SESSION, "part": {"reason": "tool-calls", "tokens": first}}
    yield {"type": "text", "sessionID": SESSION, "part": {"text": text}}
    yield {"type": "step_finish", "sessionID": SESSION, "part": {"reason": "stop", "tokens": last if usage else {}}}


SPEECH: Final = {"codex": codex, "claude": claude, "gemini-cli": gemini, "copilot": copilot, "opencode": opencode}

FAILURES: Final[Mapping[str, Event]] = {
    "codex": {"type": "turn.failed", "error": {"message": "status 529"}},
    "claude": {"type": "result", "subtype": "success", "is_error": True, "result": "status 529"},
    "gemini-cli": {"type": "result", "status": "error", "error": {"message": "status 529"}},
    "copilot": {"type": "session.error", "data": {"message": "status 529"}},
    "opencode": {"type": "error", "error": {"data": {"message": "status 529"}}},
}


class Peer:
    def __init__(self, kind: str, note: Path) -> None:
        self.kind = kind
        self.note = note

    def say(self, events: Iterator[Event]) -> None:
        for event in events:
            print(json.dumps(event), flush=True)

    def speak(self, text: str, **more: Any) -> None:
        self.say(SPEECH[self.kind](text, **more))

    def answer(self) -> None:
        prompt = sys.stdin.buffer.read()
        seen = {"argv": sys.argv[4:], "env": dict(os.environ), "cwd": str(Path.cwd()), "prompt": len(prompt)}
        self.note.write_text(json.dumps(seen))
        print("a line that is no event")
        self.speak(json.dumps(GOOD))

    def empty(self) -> None:
        self.speak("")

    def prose(self) -> None:
        self.speak("I looked at it and it is fine. APPROVED.")

    def fence(self) -> None:
        self.speak(f"```json\n{json.dumps(GOOD)}\n```")

    def two(self) -> None:
        self.speak(json.dumps(GOOD) * 2)

    def schema(self) -> None:
        self.speak('{"summary": "fine", "approved": "yes"}')

    def silent(self) -> None:
        sys.stderr.write("quota exceeded\n")

    def truncated(self) -> None:
        """End in good order in the middle of its events."""
        events = list(SPEECH[self.kind](json.dumps(GOOD)))
        self.say(iter(events[:-1]))
        print(json.dumps(events[-1])[:30])

    def failing(self) -> None:
        """Report what the API said, and end with exit 0 all the same."""
        self.say(iter([FAILURES[self.kind]]))

    def exit_1(self) -> None:
        self.speak(json.dumps(GOOD))
        sys.stderr.write("\x1b[31merror\x1b[0m: not logged in\n")
        sys.exit(1)

    def killed(self) -> None:
        self.speak(json.dumps(GOOD))
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(self) -> None:
        child = subprocess.Popen(["sleep", str(FOREVER_S)])
        self.note.write_text(f"{os.getpid()} {child.pid}")
        print('{"type": "half', flush=True)
        signal.pause()

    def drip(self) -> None:
        self.note.write_text(str(os.getpid()))
        while True:
            print("x", end="", flush=True)
            threading.Event().wait(0.05)

    def hold(self) -> None:
        """End with an answer, and leave a child behind that keeps standard output open."""
        child = subprocess.Popen(["sleep", str(FOREVER_S)])
        self.note.write_text(str(child.pid))
        self.speak(json.dumps(GOOD))

    def flood(self) -> None:
        """Print a hundred megabytes without an end of line."""
        block = b"{" + b"x" * (1 << 20)
        for _ in range(FLOOD_BYTES >> 20):
            sys.stdout.buffer.write(block)

    def noisy(self) -> None:
        """Answer after a hundred megabytes of lines that are no events."""
        block = (b"x" * 1023 + b"\n") * 1024
        for _ in range(FLOOD_BYTES >> 20):
            sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        self.speak(json.dumps(GOOD))

    def other_model(self) -> None:
        self.speak(json.dumps(GOOD), model="small-1")

    def no_usage(self) -> None:
        self.speak(json.dumps(GOOD), usage=False)

    def leak(self) -> None:
        self.speak(json.dumps({**GOOD, "summary": f"key: {os.environ['PEER_API_KEY']}"}))

    def leak_escaped(self) -> None:
        """Answer with the key, none of its signs written as itself."""
        key = "".join(f"\\u{ord(sign):04x}" for sign in os.environ["PEER_API_KEY"])
        self.speak(json.dumps(GOOD).replace("fine", key))

    def leak_in_model(self) -> None:
        self.speak(json.dumps(GOOD), model=os.environ["PEER_API_KEY"])

    def leak_in_progress(self) -> None:
        """Start a command that is as long as a line of progress may be, with the key over its end."""
        command = f"{'x' * 185}{os.environ['PEER_API_KEY']}"
        print(json.dumps({"type": "item.started", "item": {"type": "command_execution", "command": command}}))
        self.speak(json.dumps(GOOD))

    def leak_in_error(self) -> None:
        sys.stderr.write(f"bad key {os.environ['PEER_API_KEY']}\n")
        sys.exit(2)


if __name__ == "__main__":
    getattr(Peer(sys.argv[1], Path(sys.argv[3])), sys.argv[2])()
