"""A person at a terminal in memory: what is typed, what is shown, and the agent that asks."""

import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import Workspace
from counterpoint.agents.human import HumanAgent
from counterpoint.agents.terminal import Terminal
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn
from tests.processes import finish

__all__ = ["DEADLINE", "SMALL", "TURN", "Asked"]

DEADLINE: Final = datetime(2026, 7, 6, tzinfo=UTC)
TURN: Final = Turn(phase="reviewing", round=1, seat="owner", ask=1)
SMALL: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "approved"],
    "properties": {"summary": {"type": "string", "minLength": 1}, "approved": {"type": "boolean"}},
}


class Asked:
    """One person's terminal: what is typed, what is shown, and the agent that asks."""

    def __init__(self, tmp_path: Path, typed: Sequence[str], *, interactive: bool = True, page: int = 0) -> None:
        self.screen = io.StringIO()
        text = "".join(f"{line}\n" for line in typed)
        self.terminal = Terminal(io.StringIO(text), self.screen, interactive=interactive, page=page)
        self.words = ""
        self.narrowed: Mapping[str, Any] = {}
        self.agent = HumanAgent(self.terminal, resume="counterpoint resume review-1")
        self.workspace = Workspace(tree=tmp_path, scratch=tmp_path, turn=TURN)

    def answer(self, schema: Mapping[str, Any] = SMALL, payload: Mapping[str, Any] | None = None) -> Any:
        brief = Brief(
            instructions="Judge it.",
            payload=payload or {"change": "+a\n"},
            schema=schema,
            shown_paths=(),
            words=self.words,
            narrowed=self.narrowed,
        )
        call = self.agent.ask(brief, workspace=self.workspace, deadline=DEADLINE, on_progress=lambda _line: None)
        return json.loads(finish(call).content)

    @property
    def shown(self) -> str:
        return self.screen.getvalue()
