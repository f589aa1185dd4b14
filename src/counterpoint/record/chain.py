"""The chain of a channel, followed entry by entry in the order of their numbers, never of their stamps.

It holds that every number from 0 on stands once, that each entry of ours names this channel, is signed by a key that
the genesis entry names for its sender, follows the block before it and belongs to a whole batch, and that the heads
known from elsewhere are the heads found here. Stamps that go back, or lie ahead, are noted and change nothing
(SECURITY R15).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import NamedTuple

from counterpoint.errors import Corrupt
from counterpoint.record.block import ZEROS
from counterpoint.record.findings import Finding, Forked, Level
from counterpoint.record.header import parse_stamp
from counterpoint.record.seal import Seal
from counterpoint.record.speakers import Speakers

__all__ = ["Anchor", "Chain"]


class Anchor(NamedTuple):
    """A head known from outside the record."""

    n: int
    head: str
    source: str


@dataclass(slots=True, kw_only=True)
class Chain:
    channel: str
    speakers: Speakers
    anchors: Sequence[Anchor]
    now: str
    """The stamp of this moment, or "" where nobody asks whether entries lie ahead of it."""
    n: int = -1
    head: str = ZEROS
    last_stamp: str = ""
    plain: list[int] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)
    due: tuple[int, int] | None = None
    """The part of a batch that has to come next."""

    def follow(self, found: Seal, content: bytes) -> None:
        """Go one entry further; `content` is the file it was found in.

        Raises:
            Corrupt: `found` does not follow what came before.
        """
        if found.n != self.n + 1:
            raise self._misplaced(found.n)
        key = ""
        if found.channel_id is None:
            self.plain.append(found.n)
        else:
            key = self._link(found, content)
        if self.due or found.batch != (1, 1):
            self._batch(found)
        if found.stamp < self.last_stamp or (self.now and found.stamp > self.now) or found.channel_id is None:
            self._note_time(found)
        else:
            self.last_stamp = found.stamp
        if found.n and self.speakers.are_held and (note := self.speakers.hold(found, content, key, self.last_stamp)):
            self.notes.append(note)
        self.n, self.head = found.n, found.digest
        for anchor in self.anchors:
            if anchor.n == found.n and anchor.head != found.digest:
                raise Forked(self.channel, found.n, known=anchor.head, found=found.digest, source=anchor.source)

    def _link(self, found: Seal, content: bytes) -> str:
        """Return the key that signed an entry of ours; "" where it is not signed."""
        genesis = self.speakers.genesis
        if found.channel_id != genesis.channel_id:
            reason = f"it is an entry of channel {found.channel_id}; this is {genesis.channel_id}"
            raise Corrupt(self.channel, found.n, reason)
        key = ""
        if genesis.keys or genesis.party_keys or found.sig is not None:
            key = self.speakers.check(found, content)
        if found.prev != self.head:
            reason = f"it follows a block with digest {found.prev}; MSG-{self.n} has {self.head}"
            raise Corrupt(self.channel, found.n, reason)
        return key

    def _batch(self, found: Seal) -> None:
        part, total = found.batch
        if found.batch != (self.due or (1, total)):
            due = f"{self.due[0]}/{self.due[1]}" if self.due else f"1/{total}"
            raise Corrupt(self.channel, found.n, f"it is part {part}/{total} of a batch; {due} has to come here")
        self.due = (part + 1, total) if part < total else None

    def _misplaced(self, n: int) -> Corrupt:
        if n <= self.n:
            return Corrupt(self.channel, n, f"it stands twice, or behind MSG-{self.n}")
        return Corrupt(self.channel, self.n + 1, f"it is missing; MSG-{n} comes after MSG-{self.n}")

    def _note_time(self, found: Seal) -> None:
        stamp = _canonical(found.stamp)
        if not stamp:
            self._note(found.n, Level.INFO, "unreadable-stamp", f"its stamp is {found.stamp!r}")
            return
        if stamp < self.last_stamp:
            self._note(found.n, Level.WARNING, "clock-back", f"its stamp is {stamp}, after {self.last_stamp}")
        if self.now and stamp > self.now:
            self._note(found.n, Level.WARNING, "clock-ahead", f"its stamp is {stamp}; now it is {self.now}")
        self.last_stamp = stamp

    def _note(self, n: int, level: Level, code: str, detail: str) -> None:
        self.notes.append(Finding(level=level, code=code, detail=f"MSG-{n}: {detail}", entry=n))


def _canonical(stamp: str) -> str:
    """Return the stamp as we write it, "" where it is none."""
    moment = parse_stamp(stamp)
    try:
        return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""
    except OverflowError:
        return ""
