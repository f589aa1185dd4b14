"""Channel commands as tests call them, in this process."""

import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from counterpoint.cli.channel import run

__all__ = ["Mailbox", "Said", "call"]


class Said(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def call(*words: str | Path) -> Said:
    """Run one channel command."""
    with _captured() as raw:
        code = run([str(word) for word in words])
    return Said(code, *(stream.getvalue().decode("utf-8", "replace") for stream in raw))


@contextmanager
def _captured() -> Iterator[Sequence[io.BytesIO]]:
    raw = io.BytesIO(), io.BytesIO()
    output, errors = (io.TextIOWrapper(stream, encoding="utf-8", newline="") for stream in raw)
    with redirect_stdout(output), redirect_stderr(errors):
        yield raw
        output.flush()
        errors.flush()
    output.detach()
    errors.detach()


class Mailbox:
    """A channel of two parties, `claude` and `glm`, with `owner` as supervisor."""

    def __init__(self, root: Path, *form: str, cap: int = 12) -> None:
        self.root = root
        words = ("--parties", "claude,glm", "--label", "lab", "--thread-cap", str(cap), "--json", *form)
        self.name = str(call("init", "--root", root, *words).json["channel"])

    def path(self, kind: str) -> Path:
        return self.root / f"{self.name}.{kind}"

    def call(self, command: str, *words: str | Path) -> Said:
        return call(command, "--root", self.root, *words)

    def say(self, sender: str, kind: str, thread: str, text: str = "text", *more: str) -> Said:
        words = ("--from", sender, "--type", kind, "--thread", thread, "--body", text)
        return self.call("post", *words, *more)

    def talk(self, thread: str) -> None:
        """Open a thread, answer in it and close it."""
        for sender, kind in (("claude", "question"), ("glm", "info"), ("claude", "close")):
            said = self.say(sender, kind, thread, f"{kind} in {thread}")
            assert said.code == 0, said
