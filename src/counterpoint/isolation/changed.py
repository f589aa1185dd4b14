"""The values that say what changed between two trees (`change` makes them)."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Change", "ChangeKind", "ChangedFile", "FileKind", "NotShown", "Side", "Unshown"]


class ChangeKind(StrEnum):
    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"


class FileKind(StrEnum):
    TEXT = "text"
    BINARY = "binary"
    LINK = "link"
    """A symbolic link; its text is its target."""
    SUBMODULE = "submodule"
    """A commit of another repository; its text is that commit's id."""
    UNKNOWN = "unknown"
    """Too large or too malformed to look at."""


class Unshown(StrEnum):
    """Why a changed file's diff is not in the text."""

    BINARY = "binary"
    TOO_LARGE = "too_large"
    """A side is over the limit of one blob."""
    MALFORMED = "malformed"
    """The tree names it twice or with a separator in its name, or its object is no file."""
    OVER_BUDGET = "over_budget"
    """The diff did not fit into the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A file before or after the change."""

    id: str
    mode: str
    """Six octal digits, as git writes them."""
    size: int | None
    """`None` for a submodule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One path whose content, mode or kind changed."""

    path: str
    """In its visible form (`names.visible_path`)."""
    is_plain: bool
    """False where the visible form is not the name itself."""
    change: ChangeKind
    kind: FileKind
    old: Side | None
    new: Side | None
    added_lines: int | None = None
    """`None` where no diff was made."""
    deleted_lines: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotShown:
    """A changed file whose diff is not in the text."""

    path: str
    reason: Unshown
    size: int
    """Bytes of the diff that did not fit, or of the larger side where no diff was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference between two commits or trees."""

    base: str
    head: str
    files: tuple[ChangedFile, ...]
    text: str
    """One section for each changed file, control and invisible characters written out."""
    shown_paths: tuple[str, ...]
    """The paths whose whole change is in `text`."""
    not_shown: tuple[NotShown, ...]
