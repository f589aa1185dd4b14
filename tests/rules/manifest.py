"""Every rule that can refuse, where it comes from, and its two examples.

`test_house` compares this list both ways with the ids in the source, the tests named here and the headings
under `docs/`. A rule without both examples fails, and so does an example of no rule.
"""

from dataclasses import dataclass
from typing import Final

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. `accepted` and `refused` are tests, `tests/rules/test_review.py::test_…`."""

    id: str
    source: str
    """The section of the design or the specification that asks for it."""
    accepted: str
    refused: str


RULES: Final[tuple[Rule, ...]] = ()
