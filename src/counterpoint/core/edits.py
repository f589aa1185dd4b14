"""What code found of an author's edit, and what it made of it.

An edit is taken whole or not at all: a path that changed and was not listed, or one that was listed and did not
change, is a fault, and so is anything else in the repository that is not as it was (DESIGN "Work trees").
"""

from dataclasses import dataclass

from counterpoint.core.checks import EditCheck, Evidence
from counterpoint.core.docket import ChangedPath

__all__ = ["CheckResult", "Edit", "Made"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A new candidate."""

    candidate: str
    """Full id of the commit or tree that holds the edit; nothing refers to it yet."""
    paths: tuple[ChangedPath, ...]
    """Everything that differs between the docket's base and this candidate."""
    change: str
    """Digest of that difference as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What one `EditCheck` returned."""

    request: EditCheck
    faults: tuple[str, ...]
    """Sentences by code: why the edit cannot be taken. Empty if it can."""
    made: Made | None
    """`None` where nothing changed, or where there are faults."""


CheckResult = Evidence | Edit
