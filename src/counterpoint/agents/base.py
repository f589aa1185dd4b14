"""The seam to agents: one function, `ask`, and the strict reading of what comes back.

An agent returns the bytes of its answer and what is known of who answered. It judges nothing. `read_reply` turns
the bytes into the one JSON object that the brief's schema asks for, or raises `BadReply`: exactly one object, no
duplicate key, no prose around it, never repaired (FIELD-FAULTS F1, F33).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from counterpoint.core.briefs import Brief
from counterpoint.core.values import Turn, Usage

__all__ = ["MAX_REPLY_BYTES", "NOT_REPORTED", "Agent", "Progress", "Reply", "Workspace", "read_reply"]

MAX_REPLY_BYTES: Final = 1 << 20
NOT_REPORTED: Final = "not reported"

Progress = Callable[[str], None]
"""Called with one short line about what the agent is doing. Must not raise and must not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where an agent may look and where it may write during one turn."""

    tree: Path
    """The export of exactly the candidate; read-only, compared before and after."""
    scratch: Path
    """An empty private folder, for the brief, the result and whatever the agent leaves."""
    turn: Turn
    """The turn that is asked for: `scripted` looks its answer up by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A raw, untrusted answer, and who gave it."""

    content: bytes
    model_requested: str
    model_reported: str
    """`NOT_REPORTED` where the agent does not say."""
    usage: Usage = field(default_factory=Usage)
    session: str = ""
    """Kept in the vault, never in the record."""


class Agent(ABC):
    """How a party is reached."""

    kind: str
    """`scripted`, `command`, `human`, `checks`: the word in the settings."""
    destination: str = "local"
    """Where the brief's bytes go: `local`, or the name of a provider. Anything but `local` needs consent."""
    patient: bool = False
    """True for a person: no timeout of one call applies, only the case's deadline."""

    @abstractmethod
    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        """Put one question and return the answer.

        Cancelling the task ends everything that was started for it before the cancellation leaves this call.
        The driver cancels at the deadline; `deadline` is passed so that an agent can tell its own tools.

        Raises:
            AgentError: the agent could not answer; its kinds say why.
        """


def read_reply(reply: Reply, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the one JSON object in `reply`, valid under `schema`.

    Raises:
        BadReply: empty, too large, not exactly one strict JSON object, or not valid under the schema; the
            message names the first key path and what was expected there.
    """
    raise NotImplementedError
