"""The rows of SPEC's review part, and where each of them is kept: by rules, by tests, or by a decision not to."""

from dataclasses import dataclass
from typing import Final

__all__ = ["DECISIONS", "ROWS", "Row"]

DECISIONS: Final = "docs/decisions/0004-review-to-agreement.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the specification."""

    id: str
    rules: tuple[str, ...] = ()
    """Ids in `manifest.RULES`; each of them names the row in its `source`."""
    tests: tuple[str, ...] = ()
    """`tests/….py::test_…`."""
    decided: bool = False
    """Whether `DECISIONS` says what is done otherwise, under the row's id."""


_CLI: Final = "tests/cli/test_pull_request.py"

ROWS: Final = (
    Row(
        id="D-01",
        tests=(f"{_CLI}::test_prose_starts_nothing", f"{_CLI}::test_a_number_or_a_flag_alone_is_a_review"),
        decided=True,
    ),
)
