"""An agent whose answers stand in a script: for tests, for the demo, and to play opinions again.

A script is a list of replies. Each names the turns it is for by `seat`, `phase`, `round` and `ask`; a key left out
matches every turn. The first reply that matches the turn is given, so the same turn gets the same answer however
often it is asked, also after a crash. The file format is in `docs/howto/scripted-reviewer.md`.
"""

import base64
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import Agent, Progress, Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import NotCanonical, canonical_json, parse_json
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import ConfigError, TurnTimeout, Unreachable

__all__ = ["Failure", "ScriptedAgent", "ScriptedReply", "parse_script", "parse_script_file", "read_script"]

MAX_SCRIPT_BYTES: Final = 64 << 20


class Failure(StrEnum):
    """How a scripted call fails instead of answering."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """What is given for every turn that fits the named keys."""

    answer: bytes | Failure
    seat: str | None = None
    phase: str | None = None
    round: int | None = None
    ask: int | None = None
    model: str = "scripted"
    usage: Usage = field(default_factory=Usage)

    def is_for(self, turn: Turn) -> bool:
        wanted = (self.seat, self.phase, self.round, self.ask)
        found = (turn.seat, turn.phase, turn.round, turn.ask)
        return all(want in {None, have} for want, have in zip(wanted, found, strict=True))


class ScriptedAgent(Agent):
    """Gives the answers of one script."""

    kind = "scripted"

    def __init__(self, replies: Sequence[ScriptedReply], *, source: str = "the script") -> None:
        self._replies = tuple(replies)
        self._source = source

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedAgent":
        """Read the script in a file.

        Raises:
            ConfigError: the file cannot be read, or is not a script.
        """
        return cls(read_script(path), source=str(path))

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        del brief, deadline
        turn = workspace.turn
        found = next((reply for reply in self._replies if reply.is_for(turn)), None)
        if found is None:
            phases = sorted({reply.phase for reply in self._replies if reply.phase is not None})
            raise Unreachable(
                f"{self._source} has no reply for seat '{turn.seat}', phase '{turn.phase}', "
                f"round {turn.round}, ask {turn.ask}",
                hint=f"add a reply for that turn to the script, which names {_say_phases(phases)}",
            )
        on_progress(f"the script answers for {turn.seat}")
        match found.answer:
            case Failure.UNREACHABLE:
                raise Unreachable(f"{self._source} lets the call for {turn.id} fail")
            case Failure.TIMEOUT:
                raise TurnTimeout(f"{self._source} lets the call for {turn.id} run out of time")
            case bytes() as content:
                return Reply(
                    content=content, model_requested=found.model, model_reported=found.model, usage=found.usage
                )


def read_script(path: Path) -> tuple[ScriptedReply, ...]:
    """Return the replies in a `.toml` or `.json` file.

    Raises:
        ConfigError: the file cannot be read, or is not a script; the path names the key.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError("file", "a script that can be read", got=error.strerror, source=str(path)) from None
    return parse_script_file(content, source=str(path))


def parse_script_file(content: bytes, *, source: str) -> tuple[ScriptedReply, ...]:
    """Return the replies in the bytes of a script; `source` is its name, and says whether it is TOML or JSON.

    Raises:
        ConfigError: it is not a script; the path names the key.
    """
    is_json = source.endswith(".json")
    try:
        table = parse_json(content, max_bytes=MAX_SCRIPT_BYTES) if is_json else tomllib.loads(content.decode("utf-8"))
    except (NotCanonical, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        language = "JSON" if is_json else "TOML"
        raise ConfigError("file", f"a script in {language} ({error})", source=source) from None
    return parse_script(table, source=source)


def parse_script(table: object, *, source: str) -> tuple[ScriptedReply, ...]:
    """Return the replies in a table `{"reply": [...]}`.

    Raises:
        ConfigError: it is not a script; the path names the key.
    """
    match table:
        case {"reply": list() as rows, **rest} if not rest:
            return tuple(_Row(row, f"reply[{index}]", source).read() for index, row in enumerate(rows))
        case _:
            raise ConfigError("reply", "a list of replies and no other key", source=source)


class _Row:
    """One reply of a script while it is read."""

    def __init__(self, row: object, path: str, source: str) -> None:
        self._path = path
        self._source = source
        if not isinstance(row, Mapping):
            raise self._error("", "a table")
        for key in row:
            if key not in {"seat", "phase", "round", "ask", "model", "usage", *_ANSWERS}:
                raise self._error(key, "a key of a reply", got=key)
        self._row = row

    def read(self) -> ScriptedReply:
        return ScriptedReply(
            answer=self._answer(),
            seat=self._text("seat"),
            phase=self._text("phase"),
            round=self._number("round"),
            ask=self._number("ask"),
            model=self._text("model") or "scripted",
            usage=self._usage(),
        )

    def _error(self, key: str, expected: str, *, got: object = None) -> ConfigError:
        return ConfigError(f"{self._path}.{key}".removesuffix("."), expected, got=got, source=self._source)

    def _answer(self) -> bytes | Failure:
        given = [key for key in _ANSWERS if key in self._row]
        if len(given) != 1:
            raise self._error("", f"exactly one of {', '.join(_ANSWERS)}", got=" and ".join(given) or "none")
        (key,) = given
        value = self._row[key]
        try:
            match key, value:
                case "answer", _:
                    return canonical_json(value).encode()
                case "text", str():
                    return value.encode()
                case "base64", str():
                    return base64.b64decode(value, validate=True)
                case "fail", str():
                    return Failure(value)
                case _:
                    raise self._error(key, _ANSWERS[key], got=value)
        except ValueError as error:  # NotCanonical among them
            raise self._error(key, f"{_ANSWERS[key]} ({error})") from None

    def _text(self, key: str) -> str | None:
        value = self._row.get(key)
        if value is not None and not (isinstance(value, str) and value):
            raise self._error(key, "a text", got=value)
        return value

    def _number(self, key: str) -> int | None:
        value = self._row.get(key)
        if value is not None and not _counts(value, least=1):
            raise self._error(key, "a whole number from 1", got=value)
        return value

    def _usage(self) -> Usage:
        match self._row.get("usage"):
            case None:
                return Usage()
            case {"input_tokens": used, "output_tokens": made, **rest} if (
                not rest and _counts(used, least=0) and _counts(made, least=0)
            ):
                return Usage(input_tokens=used, output_tokens=made, known=True)
            case value:
                raise self._error("usage", "input_tokens and output_tokens as whole numbers", got=value)


_ANSWERS: Final = {
    "answer": "the JSON object to answer with, without fractions or dates",
    "text": "a text, sent as it stands",
    "base64": "bytes in base64, sent as they stand",
    "fail": "unreachable or timeout",
}


def _say_phases(phases: Sequence[str]) -> str:
    return f"the phases {', '.join(phases)}" if phases else "no phase"


def _counts(value: Any, *, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
