"""The immutable input of a case: what it is about, who sits in it, what is judged and on which terms.

A docket names material by digest; the bytes themselves are handed to briefs by the driver.
"""

from dataclasses import dataclass
from enum import StrEnum

from counterpoint.core.checks import Purpose
from counterpoint.core.values import Severity

__all__ = ["ChangedPath", "Docket", "Effort", "PathState", "ProjectCommand", "Seat", "SeatKind", "Terms"]


class SeatKind(StrEnum):
    """How a seat comes to its view."""

    OPINION = "opinion"
    """A model, a script or a person that reads and judges."""
    CHECKS = "checks"
    """Code that runs the project's own commands; its findings are derived from what they returned."""
    AUTHOR = "author"
    """Whoever answers the findings, and may edit what is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A place in the case and the party that fills it; frozen when the case opens."""

    name: str
    party: str
    kind: SeatKind = SeatKind.OPINION
    agent: str = "scripted"
    """The kind of agent behind the party: `scripted`, `command`, `human`, `checks`."""
    destination: str = "local"
    """Where the seat's briefs go: `local`, or a named provider that a person has consented to."""
    given: str = ""
    """The agent's settings as canonical JSON, where they were given for this case alone."""


class PathState(StrEnum):
    """What became of a changed path in the candidate."""

    TEXT = "text"
    BINARY = "binary"
    DELETED = "deleted"
    SUBMODULE = "submodule"
    WITHHELD = "withheld"
    """In the commit, but not exported; the reason is in the docket's remarks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPath:
    path: str
    state: PathState


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCommand:
    """A command of the project itself, configured or found; `why` says which."""

    argv: tuple[str, ...]
    purpose: Purpose
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Docket:
    """What a case is about."""

    question: str
    candidate: str = ""
    """Full id of the commit or tree that is judged, or the digest of the text; every verdict is bound to it. Empty
    where nobody has offered anything yet."""
    base: str = ""
    """Full id of what the candidate is compared with."""
    instructions: str = ""
    rationale: str = ""
    """Why the change was made, in its author's words; shown to every seat."""
    context: str = ""
    """What belongs to the question. In a review only the author is told it."""
    text: str = ""
    """The text that is judged, where it is no change."""
    tree: str = ""
    """Full id of the commit whose files every seat may read, where the case is about no change."""
    pull_request: str = ""
    """The address of the pull request that the candidate is the head of, where there is one."""
    paths: tuple[ChangedPath, ...] = ()
    commands: tuple[ProjectCommand, ...] = ()
    change: str = ""
    """Digest of the change's text as shown."""
    remarks: tuple[str, ...] = ()
    """What code noticed while it built the docket: withheld files, diffs too large to show."""

    @property
    def is_about_change(self) -> bool:
        """Whether a change in a repository is judged; else it is a question or a text."""
        return bool(self.base)


class Effort(StrEnum):
    """How hard an agent is asked to think; what that means is the agent's own."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds in a case beside its limits; fixed when it opens."""

    block_on: Severity = Severity.NIT
    """Findings of this severity and heavier must be settled before the case can be approved."""
    commits: bool = True
    """Whether the driver commits what the author edits; else the candidate is the tree of the files as they lie."""
    comments: bool = False
    """Whether the outcome is posted on the docket's pull request."""
    effort: Effort = Effort.HIGH
    vote_only: bool = False
    """Whether the case ends with the count of the sealed first answers."""
    sources: str = ""
    """Digest of the folder of sources that a text may quote from."""
    options: tuple[str, ...] = ()
    """The answers that count in a vote; empty where any text does."""
