"""A case's record as the driver sees it: blocks of a store on one side, entries and their fold on the other.

The state is the fold and is never saved; it is kept in memory by (channel, number, digest of the head), and reading
on costs only what is new.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from counterpoint.core.canonical import visible
from counterpoint.core.case import CaseState
from counterpoint.core.codec import decode, encode, entry_type
from counterpoint.core.entries import Entry
from counterpoint.core.rules import Rules
from counterpoint.drive.clock import format_stamp
from counterpoint.errors import Conflict, Corrupt, Refused, UnknownEntry
from counterpoint.record.store import Block, Draft, Store
from counterpoint.record.text import indent_lookalikes

__all__ = ["DRIVER_PARTY", "CaseFile", "bell_of", "decode_blocks", "read_entries"]

DRIVER_PARTY: Final = "counterpoint"
"""The sender of every entry in a case channel: the driver is no party, and writes for all."""

_RACES: Final = 50

S = TypeVar("S", bound=CaseState)


class CaseFile(Generic[S]):
    """One case in one store, folded by one protocol's rules."""

    def __init__(self, store: Store, channel: str, rules: Rules[S]) -> None:
        self.store = store
        self.channel = channel
        self.rules = rules
        self.state: S = rules.initial
        self.number = 0
        """Number of the newest entry folded; 0 is the genesis."""

    def refresh(self) -> S:
        """Read what is new and fold it.

        Raises:
            Corrupt: an entry cannot stand where it stands.
            UnknownEntry: an entry is of a newer version.
        """
        for block in self.store.read(self.channel, self.number):
            self._fold(block)
        return self.state

    def append(self, entries: Sequence[Entry], now: datetime) -> None:
        """Append `entries` as one batch and fold them.

        Raises:
            Refused: the rules have no such step; nothing was written.
            Conflict: another writer was faster; nothing was written.
        """
        state = self.rules.fold(tuple(entries), self.state)
        stamp = format_stamp(now)
        drafts = [_draft(entry, self.channel, stamp, self.rules.describe) for entry in entries]
        blocks = self.store.append(self.channel, drafts, expected=self.number, bell=bell_of)
        self.state, self.number = state, blocks[-1].n

    def append_anyway(self, entries: Sequence[Entry], now: datetime) -> None:
        """Append `entries` also where another writer was faster, as long as the rules still accept them.

        A supervisor may speak while a driver is at work. Whoever loses the race reads what is new, and the rules
        decide again on the state that is there now.

        Raises:
            Refused: what the other writer appended leaves no place for these entries.
            Conflict: it lost the race too often.
        """
        for _ in range(_RACES):
            try:
                self.append(entries, now)
            except Conflict:
                self.refresh()
            else:
                return
        self.append(entries, now)

    def _fold(self, block: Block) -> None:
        try:
            entry = decode(block.type, block.fields)
            self.state = self.rules.apply(self.state, entry)
        except Refused as error:
            raise Corrupt(self.channel, block.n, f"the rules refuse this entry: {error}") from None
        self.number = block.n


def read_entries(store: Store, channel: str) -> tuple[tuple[Block, Entry], ...]:
    """Return every entry of a case with the block it lies in, the genesis left out.

    Raises:
        UnknownEntry: an entry is of a newer version.
        Corrupt: the channel is not a case's.
    """
    return decode_blocks(channel, store.read(channel, 0))


def decode_blocks(channel: str, blocks: Sequence[Block]) -> tuple[tuple[Block, Entry], ...]:
    """Return a case's entries with their blocks; raises as `read_entries`."""
    if not blocks:
        hint = "its beginning was interrupted; remove its folder, and begin anew"
        raise Corrupt(channel, 0, "the case was never opened: there is no entry after its genesis", hint=hint)
    try:
        return tuple((block, decode(block.type, block.fields)) for block in blocks)
    except UnknownEntry as error:
        if blocks[0].type == "case-opened":
            raise
        raise Corrupt(channel, blocks[0].n, f"not a case: {error}") from None


def _draft(entry: Entry, channel: str, stamp: str, describe: Callable[[Entry], str]) -> Draft:
    return Draft(
        stamp=stamp,
        sender=DRIVER_PARTY,
        type=entry_type(entry),
        thread=channel,
        text=indent_lookalikes(visible(describe(entry))),
        fields=encode(entry),
    )


def bell_of(block: Block) -> dict[str, Any]:
    """Return a case channel's doorbell: nobody's turn, since only the driver writes."""
    closed = block.type == "case-closed"
    return {
        "seq": block.n,
        "turn": "",
        "thread": "" if closed else block.thread,
        "last_entry": f"MSG-{block.n}",
        "updated_at": block.stamp,
    }
