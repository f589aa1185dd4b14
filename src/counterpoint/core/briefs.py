"""What a seat is given for a turn. Built from the record by code, the same bytes for the same record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Brief"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """One turn's question to one seat.

    `instructions` are constants of the protocol and never interpolated with untrusted text; everything that
    comes from a repository, a person or another seat is in `payload`, as JSON data.
    """

    instructions: str
    payload: Mapping[str, Any]
    schema: Mapping[str, Any]
    """JSON Schema (2020-12) of the one object that answers."""
    shown_paths: tuple[str, ...]
    """The paths whose change this brief shows whole: no pass over a file that nobody saw."""
    words: str = field(default="", compare=False)
    """The instructions as a person is told them, without what only a program needs; empty where these will do."""
    narrowed: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The schema without what the payload has decided already, for a person's form; empty where it has decided
    nothing. Whatever is valid under it is valid under `schema`."""
