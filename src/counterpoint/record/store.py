"""The store interface: what keeps the blocks of channels, whoever keeps them.

A store knows entries as headers, text and JSON. It knows no protocol and no rule. Both stores (`MemoryStore` in
`memory`, `FileStore` in `files`) hold the same bytes, and one suite of tests runs over both.

The record is the only durable state. `append` is compare-and-append: it states the number it expects to
follow, so two drivers cannot both win. A claim is on disk before the call it stands for.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from counterpoint.errors import Conflict
from counterpoint.frozen import dataclass

__all__ = ["Bell", "Block", "Claim", "Draft", "Genesis", "Held", "Store", "Vault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a caller asks to append; the store adds number, digests and signature."""

    stamp: str
    """UTC, whole seconds: `2026-07-06T14:07:48+00:00`."""
    sender: str
    type: str
    thread: str
    refs: str = "-"
    text: str = ""
    fields: Mapping[str, Any] | None = None
    """The typed JSON object of the entry; `None` for an entry that is text alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One entry as stored."""

    n: int
    stamp: str
    sender: str
    type: str
    thread: str
    refs: str
    text: str
    fields: Mapping[str, Any] | None
    signed: bool
    """False for a plain entry of the public tool in a shared channel: no trailer at all."""
    digest: str
    """SHA-256 of the block's bytes, header to last non-blank line."""
    batch: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Genesis:
    """What entry 0 says of its channel."""

    channel_id: str
    """32 hex digits, random: no entry can be replayed in another channel."""
    mode: str
    """`strict` (every byte counts) or `shared` (plain entries of the public tool are allowed)."""
    roster: tuple[str, ...]
    keys: tuple[str, ...]
    """Public keys that may sign, in the `ssh-ed25519 AAAA…` form; empty: the channel is not signed."""
    party_keys: tuple[tuple[str, str], ...] = ()
    """Parties that sign for themselves, each with a key of its own. No other key may sign what they say."""

    def keys_of(self, sender: str) -> tuple[str, ...]:
        """Return the keys of which one signs what `sender` says; empty: that is not signed."""
        return tuple(key for party, key in self.party_keys if party == sender) or self.keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An exclusive right to ask for one turn, on disk before the call."""

    turn: str
    driver: str
    attempt: int
    until: datetime


Bell = Callable[[Block], Mapping[str, Any]]
"""Given the newest block, the doorbell's fields (`seq`, `turn`, `thread`, `last_entry`, `updated_at`)."""


class Held(ABC):
    """A channel that nobody else writes as long as this is held."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of the newest entry; -1 where there is none."""

    @property
    @abstractmethod
    def bell(self) -> Mapping[str, Any] | None:
        """The doorbell's fields; `None` where it is missing, torn, or not at the newest entry."""

    @abstractmethod
    def count(self, thread: str) -> int:
        """Return how many entries of a thread the channel file holds, archives left out."""

    @abstractmethod
    def newest(self, thread: str) -> Iterator[Block]:
        """Yield the entries of a thread in the channel file, the newest first."""

    @abstractmethod
    def read(self, after: int = -1) -> tuple[Block, ...]:
        """Return the entries with a number above `after`, in order."""

    @abstractmethod
    def append(self, drafts: Sequence[Draft], *, bell: Bell | None = None) -> tuple[Block, ...]:
        """As `Store.append`, at whatever end."""

    @abstractmethod
    def repair(self) -> None:
        """Keep aside what a crash left behind the last whole entry, then cut it off. `append` does it, too."""


class Vault(ABC):
    """Replies kept sealed beside a channel: written once, on disk before `put` returns."""

    @abstractmethod
    def put(self, name: str, content: bytes) -> None:
        """Keep `content` under `name`. The same bytes again are accepted; other bytes are refused."""

    def put_new(self, name: str, content: bytes) -> bool:
        """Keep `content` under a name that is free; where anything is kept there, do nothing and return False."""
        if self.get(name) is not None:
            return False
        self.put(name, content)
        return True

    @abstractmethod
    def get(self, name: str) -> bytes | None: ...

    @abstractmethod
    def names(self) -> tuple[str, ...]: ...


class Store(ABC):
    """Keeps channels. Every method may raise `RecordError` or one of its kinds; `append` may also raise `Refused`."""

    @abstractmethod
    def create(self, channel: str, genesis: Genesis, *, stamp: str, sender: str, settings: Mapping[str, Any]) -> None:
        """Begin a channel with its genesis entry (`MSG-0`) and its settings (`<id>.debate.json`)."""

    @abstractmethod
    def settings(self, channel: str) -> Mapping[str, Any]: ...

    @abstractmethod
    def head(self, channel: str) -> tuple[int, str]:
        """Return the number and digest of the newest entry, at a cost that does not grow with the record."""

    @abstractmethod
    def read(self, channel: str, after: int = -1) -> tuple[Block, ...]:
        """Return the entries with a number above `after`, in order. Entry 0 is the genesis."""

    @abstractmethod
    def read_thread(self, channel: str, thread: str) -> tuple[Block, ...]:
        """Return a thread's entries in the channel file, in order, at a cost that does not grow with the record."""

    @abstractmethod
    def hold(self, channel: str) -> AbstractContextManager[Held]:
        """Keep every other writer away for the length of the block.

        Raises:
            LockBusy: another writer holds the channel.
        """

    def append(
        self, channel: str, drafts: Sequence[Draft], *, expected: int | None, bell: Bell | None = None
    ) -> tuple[Block, ...]:
        """Append `drafts` as one batch, all or nothing, on disk before it returns; then ring the doorbell.

        Args:
            channel: the channel's name.
            drafts: at least one; several are one batch (`batch=1/2`, `2/2`).
            expected: the number of the newest entry the caller has seen; `None` appends at whatever end.
            bell: makes the doorbell's fields from the newest block; `None`: nobody's turn, no open thread.

        Raises:
            Conflict: the newest entry is not `expected`.
            Refused: a draft has no place in the channel; nothing was written.
        """
        with self.hold(channel) as held:
            if expected is not None and held.n != expected:
                raise Conflict(channel, expected=expected, found=held.n)
            return held.append(drafts, bell=bell)

    @abstractmethod
    def vault(self, channel: str) -> Vault: ...

    def claim(self, channel: str, turn: str, *, driver: str, until: datetime) -> Claim:
        """Put a claim on disk and return it with its attempt number (1 for the first claim of that turn)."""
        return self.claim_all(channel, [(turn, until)], driver=driver)[0]

    @abstractmethod
    def claim_all(self, channel: str, turns: Sequence[tuple[str, datetime]], *, driver: str) -> tuple[Claim, ...]:
        """Put a claim for each of these turns on disk, with the time that it ends; return them as `claim` does."""

    @abstractmethod
    def claims(self, channel: str) -> tuple[Claim, ...]:
        """Return every claim ever made in this channel, oldest first."""

    @abstractmethod
    def list_open(self) -> tuple[str, ...]:
        """Return the names of the channels this store holds, oldest first."""

    @abstractmethod
    def watch(self, channel: str, *, after: int, timeout_s: float) -> bool:
        """Wait until the channel has an entry above `after`; return whether it has."""
