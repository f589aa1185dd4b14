"""What `verify` says: findings and their levels, what it is told beforehand, and its two errors of their own.

A record that its own chain contradicts is not a finding but a `Corrupt` error, because nothing after the place can
be relied on.
"""

from enum import StrEnum
from typing import NamedTuple

from counterpoint.errors import Corrupt
from counterpoint.frozen import dataclass
from counterpoint.record.store import Genesis

__all__ = ["Checkpoint", "Finding", "Forked", "Level", "Remembered", "Signed", "Torn", "Verification"]


class Level(StrEnum):
    INFO = "info"
    """Worth knowing, in order."""
    WARNING = "warning"
    """Odd, and no proof of anything."""
    ANOMALY = "anomaly"
    """The record and what stands beside it disagree; a person should look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    level: Level
    code: str
    detail: str
    entry: int | None = None
    """The entry it is about; `None`: the record as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What the user's state folder keeps of a channel, out of reach of whoever can write the channel's folder."""

    genesis: str
    n: int
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A head that somebody signed: what a remembered head is, for another machine."""

    channel_id: str
    genesis: str
    n: int
    head: str


class Signed(NamedTuple):
    """What one key signed."""

    key: str
    """The public key line."""
    party: str
    """Whose own key it is; empty: the channel's."""
    entries: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A record that its own chain confirms, and what else there is to say of it."""

    channel: str
    mode: str
    """`strict`, `shared`, or `plain`: begun by the public tool, without a chain."""
    genesis: Genesis | None
    genesis_digest: str
    entries: int
    n: int
    """The newest entry, -1 in an empty record; with `head` what to remember."""
    head: str
    plain: tuple[int, ...]
    """Entries of the public tool, which nothing but a later entry's `prev` vouches for."""
    end: int
    """Where in the channel file the last entry's line ends: `verify_more` goes on from there."""
    last_stamp: str
    notes: tuple[Finding, ...]
    """About single entries."""
    standing: tuple[Finding, ...]
    """About the record as it stands now."""
    signed: tuple[Signed, ...] = ()
    """Who signed, in the order of their first entries."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.notes + self.standing

    @property
    def is_clean(self) -> bool:
        return all(finding.level is not Level.ANOMALY for finding in self.findings)

    @property
    def tamper_evident_from(self) -> int:
        """The first entry from which on the chain has no gap."""
        if self.genesis is None:
            return self.n + 1
        return self.plain[-1] + 1 if self.plain else 0

    def remembered(self) -> Remembered:
        """Return what to keep in the user's state folder."""
        return Remembered(genesis=self.genesis_digest, n=self.n, head=self.head)


class Torn(Corrupt):
    """The file ends inside a batch: torn while it was written, or cut. `keep` bytes of it are whole batches."""

    code = "record.torn"

    def __init__(self, channel: str, entry: int, reason: str, *, keep: int) -> None:
        super().__init__(
            channel,
            entry,
            reason,
            hint="if it was never acknowledged, the next append cuts it off and keeps it aside; otherwise restore it",
        )
        self.keep = keep


class Forked(Corrupt):
    """Two heads for one number, both of them this channel's: proof that somebody rewrote or split the record."""

    code = "record.forked"

    def __init__(self, channel: str, entry: int, *, known: str, found: str, source: str) -> None:
        super().__init__(channel, entry, f"{source} has {known} here; the record has {found}")
        self.known = known
        self.found = found
        self.source = source
