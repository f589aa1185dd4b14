"""A person at this terminal: shown the brief, then asked for the answer one plain question at a time.

- The questions follow the reply schema, so one form serves every protocol; each answer is held to its part of it.
  What a protocol has to say to people, and what the payload has decided already, stands in the brief.
- What has been typed is kept at once. After Ctrl-C, a crash or a closed terminal the same turn goes on from there.
- Without a terminal, or at the end of input, nobody answers for the person: `NeedsPerson`, and the case waits.

Sources: SPEC D-11, SECURITY T1.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import NOT_REPORTED, Agent, Progress, Reply, Workspace, brief_json, schema_fault
from counterpoint.agents.filling import Editor, Form
from counterpoint.agents.plainly import plain_lines
from counterpoint.agents.terminal import Terminal
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import canonical_json, digest, visible
from counterpoint.errors import NeedsPerson

__all__ = ["HumanAgent"]

_REPEATED: Final = 100
_NO_EDITOR: Final = Editor(argv=(), env={})


class HumanAgent(Agent):
    """Asks a person.

    Args:
        terminal: one for all people of this process.
        resume: the command that goes on with the case, for the hint when nobody is there.
        drafts: the folder where typed answers are kept; the turn's scratch folder if left out.
        editor: the person's own, for long texts.
    """

    kind = "human"
    patient = True

    def __init__(
        self, terminal: Terminal, *, resume: str, drafts: Path | None = None, editor: Editor = _NO_EDITOR
    ) -> None:
        self._terminal = terminal
        self._resume = resume
        self._drafts = drafts
        self._editor = editor

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
                shown = [visible(brief.words or brief.instructions), "", *plain_lines(brief.payload)]
                await terminal.show("\n".join(shown))
                answer = await self._fill(brief, Form(terminal, kept, self._editor))
            except EOFError:
                raise NeedsPerson(f"seat {seat!r}: the input ended before the answer was whole", hint=hint) from None
        return Reply(content=answer, model_requested="", model_reported=NOT_REPORTED)

    async def _fill(self, brief: Brief, form: Form) -> bytes:
        schema = brief.narrowed or _with_echoes(brief)
        await form.take_up()
        while True:
            value = await form.fill(schema)
            self._terminal.say("\n" + "\n".join(plain_lines(_without_echoes(value, schema))))
            if fault := schema_fault(value, brief.schema):
                self._terminal.say(f"That does not fit: {visible(fault)}")
                await form.take_up()
            elif await form.is_sent():
                return canonical_json(value).encode()


def _with_echoes(brief: Brief) -> Mapping[str, Any]:
    """Return the schema with what an answer has to repeat of its brief: an empty line stands for it."""
    parts = brief.schema.get("properties", {})
    values = {key: brief.payload.get(key) for key in brief.schema.get("required", ())}
    short = {key: value for key, value in values.items() if type(value) in {str, int} and _is_short(str(value))}
    return {**brief.schema, "properties": {**parts, **{key: {**parts[key], "default": short[key]} for key in short}}}


def _is_short(text: str) -> bool:
    return len(text) <= _REPEATED and "\n" not in text


def _without_echoes(value: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the answer without what was filled in for the person."""
    parts = schema.get("properties", {})
    return {key: inner for key, inner in value.items() if "const" not in parts.get(key, {})}
