"""What has come back of a model's answer so far, and what is told of it meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from counterpoint.agents.base import MAX_REPLY_BYTES, Progress
from counterpoint.core.values import Usage
from counterpoint.errors import BadReply

__all__ = ["Answer", "Told", "counted"]

_STEP: Final = 1000
"""After so many characters more a line of progress says how far the answer is."""


@dataclass(slots=True, kw_only=True)
class Answer:
    """What has come back so far. The agents fill it, event by event."""

    agent: str
    parts: list[str] = field(default_factory=list)
    size: int = 0
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    ending: str = ""
    """The provider's word for why the answer ended; empty: it has not."""
    refusal: str = ""
    tool: str = ""
    """The tool that the model called instead of answering."""
    choices: int = 1
    effort: str = ""
    """The effort that the provider says it used; empty: it does not say."""

    def say(self, text: object) -> None:
        """Add a piece of the text.

        Raises:
            BadReply: it is more than is read of an answer.
        """
        if not isinstance(text, str):
            return
        self.parts.append(text)
        self.size += len(text)
        if self.size > MAX_REPLY_BYTES:
            raise BadReply(
                f"the answer of {self.agent!r} has more than {MAX_REPLY_BYTES} characters; no more are read"
            )

    def forget(self) -> None:
        """Take back what was said so far."""
        self.parts.clear()
        self.size = 0

    def named(self, model: object) -> None:
        if isinstance(model, str) and model.strip():
            self.model = model


class Told:
    """Lines of progress: that the answer has begun, and how far it is."""

    def __init__(self, on_progress: Progress, model: str) -> None:
        self._on_progress = on_progress
        self._model = model
        self._next = 1

    def about(self, answer: Answer) -> None:
        if answer.size < self._next:
            return
        self._on_progress(
            f"{self._model} is answering" if self._next == 1 else f"{self._model}: {answer.size} characters"
        )
        self._next = answer.size - answer.size % _STEP + _STEP


def counted(read: Sequence[object], made: Sequence[object]) -> Usage:
    """Return the sum of what was read and made, each a number of tokens; not known where one is no such number."""

    def is_count(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0

    if not all(map(is_count, (*read, *made))):
        return Usage()
    return Usage(input_tokens=sum(map(_whole, read)), output_tokens=sum(map(_whole, made)), known=True)


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value
