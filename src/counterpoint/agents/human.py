"""A person at this terminal: shown the brief, then asked for the answer one plain question at a time.

- The questions follow the reply schema, so one form serves every protocol; each answer is held to its part of it.
- What has been typed is kept at once. After Ctrl-C, a crash or a closed terminal the same turn goes on from there.
- Waiting for a line does not block the event loop and can be cancelled.
- Without a terminal, or at the end of input, nobody answers for the person: `NeedsPerson`, and the case waits.

Sources: SPEC D-11, SECURITY T1.
"""

import asyncio
import io
import json
import os
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TextIO

from counterpoint.agents.base import (
    NOT_REPORTED,
    Agent,
    Progress,
    Reply,
    Workspace,
    brief_json,
    payload_blocks,
    schema_fault,
)
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import canonical_json, digest, parse_json, visible
from counterpoint.errors import NeedsPerson

__all__ = ["HumanAgent", "Terminal"]

MAX_LINE: Final = 64 * 1024
_CHUNK: Final = 4096
_FINDINGS: Final = "your_findings"
"""In the payload of somebody who has raised findings before."""
_REPEATED: Final = 100
_SHORT: Final = 20
_IF_BLANK: Final = {"status": "open"}
"""What an empty line stands for under these keys."""


class Terminal:
    """Lines to and from one person. Two questions at a time would mix: `lock` is held while one is open.

    `interactive` and `page` (lines a screen, 0 for no paging) are found out where they are not given.
    """

    def __init__(
        self, reads: TextIO, writes: TextIO, *, interactive: bool | None = None, page: int | None = None
    ) -> None:
        self.lock = asyncio.Lock()
        self._reads = reads
        self._writes = writes
        self._buffer = bytearray()
        self.is_interactive = reads.isatty() and writes.isatty() if interactive is None else interactive
        self._page = page if page is not None else shutil.get_terminal_size().lines - 2 if writes.isatty() else 0

    def say(self, text: str) -> None:
        self._writes.write(f"{text}\n")
        self._writes.flush()

    async def show(self, text: str) -> None:
        """Show a long text, a screen at a time.

        Raises:
            EOFError: the input is at its end.
        """
        lines = text.splitlines()
        size = self._page or len(lines) or 1
        for start in range(0, len(lines), size):
            self.say("\n".join(lines[start : start + size]))
            left = len(lines) - start - size
            if left > 0 and await self.ask(f"-- {left} lines more: Enter goes on, q skips -- ") == "q":
                return

    async def ask(self, question: str) -> str:
        """Return the line that answers, without blanks around it.

        Raises:
            EOFError: the input is at its end.
        """
        self._writes.write(question)
        self._writes.flush()
        try:
            return (await self._line()).strip()
        except asyncio.CancelledError:
            self.say("")  # what comes next begins a line
            raise

    async def _line(self) -> str:
        try:
            fd = self._reads.fileno()
        except io.UnsupportedOperation:
            line = self._reads.readline()
            if not line:
                raise EOFError from None
            return line
        while b"\n" not in self._buffer and len(self._buffer) < MAX_LINE:
            await _readable(fd)
            chunk = os.read(fd, _CHUNK)
            if not chunk and not self._buffer:
                raise EOFError
            self._buffer += chunk or b"\n"
        first, _, self._buffer = self._buffer.partition(b"\n")
        return first.decode("utf-8", "replace")


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(fd, ready.set)
    except PermissionError:  # a plain file never makes anybody wait
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


class HumanAgent(Agent):
    """Asks a person.

    Args:
        terminal: one for all people of this process.
        resume: the command that goes on with the case, for the hint when nobody is there.
        drafts: the folder where typed answers are kept; the turn's scratch folder if left out.
    """

    kind = "human"
    patient = True

    def __init__(self, terminal: Terminal, *, resume: str, drafts: Path | None = None) -> None:
        self._terminal = terminal
        self._resume = resume
        self._drafts = drafts

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        """Put the brief to the person and return what they answer.

        Raises:
            NeedsPerson: no person is at a terminal.
        """
        del deadline
        seat, terminal = workspace.turn.seat, self._terminal
        hint = f"run `{self._resume}` at a terminal"
        if not terminal.is_interactive:
            raise NeedsPerson(f"seat {seat!r} is a person's, and there is no terminal to ask at", hint=hint)
        on_progress(f"waiting for a person to answer for {seat}")
        question = digest(brief_json(brief).encode())[:16]
        kept = (self._drafts or workspace.scratch) / f"{workspace.turn.id}-{question}.draft"
        async with terminal.lock:
            try:
                terminal.say(f"\n=== {seat}: {workspace.turn.phase}, round {workspace.turn.round} ===\n")
                await terminal.show("\n\n".join([visible(brief.instructions), *payload_blocks(brief)]))
                answer = await self._fill(brief, kept)
            except EOFError:
                raise NeedsPerson(f"seat {seat!r}: the input ended before the answer was whole", hint=hint) from None
        return Reply(content=answer, model_requested="", model_reported=NOT_REPORTED)

    async def _fill(self, brief: Brief, kept: Path) -> bytes:
        schema = brief.schema
        form = _Form(self._terminal, kept, is_numbered=_FINDINGS not in brief.payload, shown=_shown(brief))
        await form.take_up()
        while True:
            self._terminal.say("\nYour answer. A line that ends in \\ goes on in the next one.\n")
            value = await form.value(schema, "answer", schema)
            fault = schema_fault(value, schema)
            self._terminal.say("\n" + visible(json.dumps(value, indent=2, ensure_ascii=False)))
            if fault:
                self._terminal.say(f"That does not fit: {visible(fault)}")
            elif await form.yes("Send this?", default=True):
                return canonical_json(value).encode()
            form.start_over()


class _Form:
    """Questions along a schema. Answers already in the draft are taken from there, in their order.

    Findings are numbered for the person, but for one who has raised some before and rules on them by their ids.
    """

    def __init__(self, terminal: Terminal, kept: Path, *, is_numbered: bool, shown: Mapping[str, str]) -> None:
        self._terminal = terminal
        self._kept = kept
        self._is_numbered = is_numbered
        self._if_blank = {**shown, **_IF_BLANK}
        self._earlier: list[str] = []

    async def take_up(self) -> None:
        """Offer what was typed before."""
        if not self._kept.exists():
            return
        self._earlier = self._kept.read_bytes().decode("utf-8", "replace").split("\n")[:-1]
        count = len(self._earlier)
        if (
            count
            and (await self._terminal.ask(f"\nAnswers kept from before: {count}. Go on from there? [Y/n] ")) in _NO
        ):
            self.start_over()

    def start_over(self) -> None:
        self._earlier = []
        self._kept.unlink(missing_ok=True)

    async def value(
        self, schema: Mapping[str, Any], label: str, root: Mapping[str, Any], *, optional: bool = False
    ) -> Any:
        """Return the value that a person gives for `schema`; `_LEFT_OUT` for an optional one left blank."""
        if "$ref" in schema:
            schema = _resolved(schema["$ref"], root)
        match schema:
            case {"const": fixed}:
                return fixed
            case {"type": "object", "properties": dict() as parts}:
                self._terminal.say(f"{label}:")
                required = schema.get("required", ())
                found = {
                    key: await self.value(part, key, root, optional=key not in required)
                    for key, part in parts.items()
                }
                return {key: value for key, value in found.items() if value is not _LEFT_OUT}
            case {"type": "array", "items": {"type": "object" | "string"} as item}:
                return await self._list(item, label, root, optional=optional)
            case _:
                return await self._leaf(schema, label, optional=optional)

    async def _list(self, item: Mapping[str, Any], label: str, root: Mapping[str, Any], *, optional: bool) -> Any:
        found: list[Any] = []
        while await self.yes(f"{label}: {len(found)} so far. Add one?", default=False):
            part = item
            if self._is_numbered and isinstance(item.get("properties", {}).get("id"), dict):
                part = {**item, "properties": {**item["properties"], "id": {"const": f"F{len(found) + 1}"}}}
            found.append(await self.value(part, f"{label} {len(found) + 1}", root))
        return _LEFT_OUT if optional and not found else found

    async def _leaf(self, schema: Mapping[str, Any], label: str, *, optional: bool) -> Any:
        while True:
            typed = await self._answer(_question(schema, label, self._if_blank.get(label, ""), optional=optional))
            if not typed and optional:
                return _LEFT_OUT
            try:
                value = _read(schema, typed or self._if_blank.get(label, ""))
            except ValueError as error:
                fault = str(error)
            else:
                fault = schema_fault(value, schema)
                if not fault:
                    return value
            self._terminal.say(f"  That does not fit: {visible(fault).removeprefix('the reply: ')}")

    async def yes(self, question: str, *, default: bool) -> bool:
        while True:
            typed = (await self._answer(f"{question} [{'Y/n' if default else 'y/N'}] ")).lower()
            if not typed:
                return default
            if typed in _YES | _NO:
                return typed in _YES

    async def _answer(self, question: str) -> str:
        if self._earlier:
            self._terminal.say(f"{question}{visible(self._earlier[0])}")
            return self._earlier.pop(0)
        parts = [await self._terminal.ask(question)]
        while parts[-1].endswith("\\"):
            parts[-1] = parts[-1][:-1].rstrip()
            parts.append(await self._terminal.ask("  "))
        answer = " ".join(parts)
        with self._kept.open("a", encoding="utf-8", newline="") as file:
            file.write(f"{answer}\n")
        return answer


_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"n", "no"})
_LEFT_OUT: Final = object()


def _resolved(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of our own schema that `#/$defs/name` names."""
    found: Any = root
    for key in ref.removeprefix("#/").split("/"):
        found = found[key]
    assert isinstance(found, Mapping)
    return found


def _shown(brief: Brief) -> Mapping[str, str]:
    """Return what an answer has to repeat of its brief, by key: an empty line stands for it."""
    values = {key: brief.payload.get(key) for key in brief.schema.get("required", ())}
    texts = {key: str(value) for key, value in values.items() if type(value) in {str, int}}
    return {key: text for key, text in texts.items() if len(text) <= _REPEATED and "\n" not in text}


def _question(schema: Mapping[str, Any], label: str, if_blank: str, *, optional: bool) -> str:
    about = [schema["description"]] if "description" in schema else []
    if "enum" in schema:
        about.append("/".join(map(str, schema["enum"])))
    elif schema.get("type") == "boolean":
        about.append("y/n")
    if if_blank:
        about.append(f"Enter for {if_blank if len(if_blank) <= _SHORT else f'{if_blank[:_SHORT]}…'}")
    elif optional:
        about.append("Enter leaves it out")
    return f"  {label} ({'; '.join(about)}): " if about else f"  {label}: "


def _read(schema: Mapping[str, Any], typed: str) -> Any:
    """Return the value that a typed line means under `schema`.

    Raises:
        ValueError: it means none; the text says what does.
    """
    if "enum" in schema:
        fits = [word for word in schema["enum"] if typed and str(word).lower().startswith(typed.lower())]
        fits = [word for word in fits if str(word).lower() == typed.lower()] or fits
        if len(fits) != 1:
            raise ValueError(f"expected one of {', '.join(map(str, schema['enum']))}")
        return fits[0]
    match schema.get("type"):
        case "string":
            return typed
        case "boolean":
            if typed.lower() not in _YES | _NO:
                raise ValueError("expected y or n")
            return typed.lower() in _YES
        case "integer" if not typed.removeprefix("-").isdecimal():
            raise ValueError("expected a whole number")
        case "integer":
            return int(typed)
        case _:
            return parse_json(typed, max_bytes=MAX_LINE)
