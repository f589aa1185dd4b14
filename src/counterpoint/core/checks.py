"""What code can look up by itself: requests, and what came back.

A claim is `verified`, `refuted` or `not_checked`, and only code sets the first two. For a command, verified means
that it ran on exactly the named candidate and passed. What code finds of an author's edit is in `edits`.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "CheckRequest",
    "CommandCheck",
    "EditCheck",
    "Evidence",
    "EvidenceStatus",
    "LookUp",
    "PathCheck",
    "Purpose",
    "QuoteCheck",
]


class EvidenceStatus(StrEnum):
    VERIFIED = "verified"
    REFUTED = "refuted"
    NOT_CHECKED = "not_checked"


class Purpose(StrEnum):
    """What a project command is for: only a test that passed can carry an approval by checks alone."""

    TEST = "test"
    LINT = "lint"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCheck:
    """Does this project command pass on the candidate?"""

    argv: tuple[str, ...]
    purpose: Purpose
    candidate: str
    """Full commit or tree id of what is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteCheck:
    """Does this text stand in that file? CR LF and LF count alike."""

    path: str
    text: str
    candidate: str
    """Full id of the commit or tree to look in; the base, where a finding quotes what the change took away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCheck:
    """Does the candidate have this file, and if a line is named, that many lines?"""

    path: str
    line: int | None
    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditCheck:
    """Did this turn change exactly these paths and nothing else? If so, make of it what can be judged."""

    turn: str
    """The turn's id: the same paths may be edited again in a later one."""
    start: str
    """The candidate that the edit starts from."""
    paths: tuple[str, ...]
    """As the author lists them."""
    commits: bool
    """Make a commit; else a tree of the files as they lie."""
    message: str
    """Of the commit."""


LookUp = CommandCheck | QuoteCheck | PathCheck
CheckRequest = LookUp | EditCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one lookup returned."""

    request: LookUp
    status: EvidenceStatus
    detail: str
    """One sentence by code: `exit 1`, `no tests collected`, `not in the file`."""
    output: str = ""
    """The end of what the command printed, bounded, the export's own path written as `.`."""
    exit_code: int | None = None
    failing_before: bool | None = None
    """For a failing command: whether it fails at the merge base too; `None` when that was not run."""
    paths_unread: tuple[str, ...] | None = None
    """Changed paths that the command did not open; `None` where the file system cannot tell."""
