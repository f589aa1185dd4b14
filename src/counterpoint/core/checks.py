"""What code can look up by itself: requests, and what came back.

A claim is `verified`, `refuted` or `not_checked`, and only code sets the first two. For a command, verified means
that it ran on exactly the named candidate and passed.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["CheckRequest", "CommandCheck", "Evidence", "EvidenceStatus", "PathCheck", "Purpose", "QuoteCheck"]


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


CheckRequest = CommandCheck | QuoteCheck | PathCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one check returned."""

    request: CheckRequest
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
