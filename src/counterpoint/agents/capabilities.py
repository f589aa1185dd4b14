"""Which controls and efforts a model takes: the reader of `capabilities.toml`, and what a person declares instead.

No library asks before it sends; each one sends, drops, maps or raises some control that a model does not have. Here
every control is held against a table before a call, and what is not in it is refused (SPEC A-03, A-27, A-48).
"""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

__all__ = ["PROVIDER_DEFAULT", "Capability", "Control", "effort_fault", "find", "known_models"]

PROVIDER_DEFAULT: Final = "provider_default"
"""The effort that says: send none."""
_DATED: Final = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


class Control(StrEnum):
    """What a request may hold beside its texts."""

    SCHEMA = "schema"
    """Answers under a JSON Schema, by the provider's own mechanism."""
    TEMPERATURE = "temperature"
    ADAPTIVE_THINKING = "adaptive_thinking"
    """Anthropic's: goes with every effort."""
    MAX_TOKENS = "max_tokens"
    """The limit of an answer, as most Chat Completions servers call it."""
    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    """The same, as OpenAI's own calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What one model takes, and who says so."""

    efforts: tuple[str, ...]
    controls: frozenset[Control]
    max_output_tokens: int = 0
    """Zero: not known."""
    source: str
    as_of: date | None = None

    @property
    def says(self) -> str:
        """Who says so, for an error."""
        return f"{self.source}, {self.as_of}" if self.as_of else self.source


def effort_fault(model: str, capability: Capability, effort: str) -> str:
    """Say why the model cannot be asked for this effort; "" where it can."""
    if effort in capability.efforts:
        return ""
    takes = f"takes {', '.join(capability.efforts)}" if capability.efforts else "takes no effort"
    return f"effort {effort!r} is asked for; model {model!r} {takes} ({capability.says})"


def find(api: str, model: str) -> Capability | None:
    """Return what the table says of a model, by its name or by its name without the date behind it."""
    table = _table()
    return table.get((api, model)) or table.get((api, _DATED.sub("", model)))


def known_models(api: str) -> tuple[str, ...]:
    """Return the names that the table has."""
    return tuple(name for found, name in _table() if found == api)


@functools.cache
def _table() -> Mapping[tuple[str, str], Capability]:
    content = tomllib.loads(Path(__file__).with_name("capabilities.toml").read_text("utf-8"))
    return {(row["api"], name): _capability(row) for row in content["model"] for name in row["names"]}


def _capability(row: Mapping[str, Any]) -> Capability:
    return Capability(
        efforts=tuple(row["efforts"]),
        controls=frozenset(map(Control, row["controls"])),
        max_output_tokens=row["max_output_tokens"],
        source=row["source"],
        as_of=row["date"],
    )
