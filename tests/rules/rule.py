"""What the manifest says of a rule."""

from dataclasses import dataclass

__all__ = ["Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. `accepted` and `refused` are tests, `tests/rules/test_….py::test_…`."""

    id: str
    source: str
    """The section of the design or the specification that asks for it."""
    accepted: str
    refused: str
