"""What is kept of a row of the specification, and of a part of it."""

from dataclasses import dataclass

__all__ = ["Part", "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the specification."""

    id: str
    tests: tuple[str, ...] = ()
    """`tests/….py::test_…`. Rules name the row themselves, in `manifest.RULES`."""
    decided: bool = False
    """Whether the part's decisions say what is done otherwise, under the row's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The rows that one protocol is held to."""

    wanted: tuple[str, ...]
    """Every row that there is, in order."""
    decisions: str
    """The page with the decisions about them."""
    rows: tuple[Row, ...]
