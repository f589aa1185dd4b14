"""What a shared channel says now: its doorbell, the open thread, a thread's entries wherever they lie (SPEC 3.4).

A doorbell that is missing, torn or not at the newest entry is not believed: what it would say is folded from the
record (SPEC C-140). Reading takes no lock and changes nothing.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from counterpoint.drive.channels import FileStore, parties_of
from counterpoint.drive.posting import bell_of, entry_of, state_of
from counterpoint.frozen import dataclass
from counterpoint.protocols.mailbox import Mailbox, Parties, fold
from counterpoint.record.bell import FRESH_BELL
from counterpoint.record.block import read_trailer
from counterpoint.record.header import line_end, parse_stamp, read_header
from counterpoint.record.names import bell_file
from counterpoint.record.store import Block
from counterpoint.record.trailer import TRAILER_MARK
from counterpoint.record.view import View

__all__ = [
    "Doorbell",
    "Parked",
    "Raw",
    "Standing",
    "doorbell_in",
    "doorbell_of",
    "entry_fields",
    "open_thread",
    "since",
    "standing",
    "whole_thread",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doorbell:
    """What the doorbell says, or would say."""

    fields: Mapping[str, Any]
    state: Mailbox
    rebuilt: str = ""
    """Why it was found out from the record instead; empty where the doorbell itself is believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """How long the turn of the open thread has waited."""

    age_s: int | None
    """`None`: the stamps cannot be read."""
    seq: object
    """The entry that gave the turn away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A channel as it stands."""

    doorbell: Doorbell
    parked: Parked | None
    """`None`: no thread is open, or nobody's turn it is."""
    thread: tuple[Block, ...]
    """The entries of the open thread in the channel file."""


class Raw(NamedTuple):
    """An entry as it lies in its file, without outer line ends."""

    n: int
    content: bytes


def doorbell_of(store: FileStore, channel: str) -> Doorbell:
    """Return what a channel's doorbell says, or would say; a channel that is not there yet is a fresh one.

    Raises:
        RecordError: the record cannot be read, or is damaged.
        ConfigError: the settings are needed, and cannot be used.
    """
    if not store.has_entries(channel):
        fields = store.bell(channel)
        return Doorbell(fields=fields or FRESH_BELL, state=state_of(fields) or Mailbox())
    return store.look(channel, partial(doorbell_in, store, channel))


def doorbell_in(store: FileStore, channel: str, view: View) -> Doorbell:
    """Return what the doorbell of a channel says, or would say, given a view of the channel.

    Raises:
        RecordError: the record is damaged.
        ConfigError: the settings are needed, and cannot be used.
    """
    believed = view.believed
    if believed is None and view.bell is not None and _is_brokered(store, channel):
        believed = view.bell[1]  # the public tool's controller alone knows what it would say
    state = state_of(believed)
    if believed is not None and state is not None:
        return Doorbell(fields=believed, state=state)
    entries = view.read(-1)
    newest = entries[-1] if entries and entries[-1].n > 0 else None
    name, found = bell_file(channel), view.bell
    why = f"{name} is missing or torn" if found is None else f"{name} stands at {found[0]}"
    if newest is None:
        return Doorbell(fields=FRESH_BELL, state=Mailbox(), rebuilt=why if found else "")
    state = fold(parties_of(store, channel), map(entry_of, entries))
    return Doorbell(fields=bell_of(newest, state), state=state, rebuilt=f"{why}; the record ends at MSG-{newest.n}")


def _is_brokered(store: FileStore, channel: str) -> bool:
    return store.has_settings(channel) and parties_of(store, channel).brokered


def standing(store: FileStore, channel: str, *, now: datetime) -> Standing:
    """Return how a channel stands.

    Raises:
        RecordError: the record cannot be read, or is damaged.
        ConfigError: a thread is open, and the settings cannot be used.
    """
    if not store.has_entries(channel):
        return _standing(store, channel, doorbell_of(store, channel), (), now)

    def step(view: View) -> Standing:
        doorbell = doorbell_in(store, channel, view)
        name = doorbell.state.thread
        return _standing(store, channel, doorbell, view.read_thread(name) if name else (), now)

    return store.look(channel, step)


def _standing(
    store: FileStore, channel: str, doorbell: Doorbell, thread: tuple[Block, ...], now: datetime
) -> Standing:
    parked = None
    if doorbell.state.thread and doorbell.state.turn:
        parked = _parked(doorbell, thread, parties_of(store, channel), now)
    return Standing(doorbell=doorbell, parked=parked, thread=thread)


def _parked(doorbell: Doorbell, thread: tuple[Block, ...], parties: Parties, now: datetime) -> Parked:
    fields = doorbell.fields
    said = next((block for block in reversed(thread) if block.sender in parties.parties), None)
    stamp = parse_stamp(said.stamp) if said else None
    since = stamp or parse_stamp(str(fields.get("updated_at", "")))
    age = None if since is None else max(0, int((now - since).total_seconds()))
    return Parked(age_s=age, seq=said.n if said else fields.get("seq", 0))


def open_thread(store: FileStore, channel: str) -> tuple[Raw, ...] | None:
    """Return the entries of the open thread in the channel file; `None` where no thread is open.

    Raises:
        RecordError: the record cannot be read, or is damaged.
    """
    if not store.has_entries(channel):
        return () if doorbell_of(store, channel).state.thread else None

    def step(view: View) -> tuple[Raw, ...] | None:
        name = doorbell_in(store, channel, view).state.thread
        return _raws(view, name) if name else None

    return store.look(channel, step)


def _raws(view: View, thread: str) -> tuple[Raw, ...]:
    rows = reversed(tuple(view.index.thread(thread)))
    return tuple(Raw(row.n, view.raw(row)) for row in rows)


def whole_thread(store: FileStore, channel: str, thread: str) -> tuple[Raw, ...]:
    """Return a thread's entries in the archives and in the channel file, each once (SPEC C-143).

    Raises:
        RecordError: the record cannot be read, or is damaged.
    """
    if not store.has_entries(channel):
        return ()
    archived = store.archived_thread(channel, thread)
    present = store.look(channel, lambda view: _raws(view, thread))
    return tuple(dict.fromkeys(Raw(n, content) for n, content in chain(archived, present)))


def since(store: FileStore, channel: str, seq: int) -> tuple[Raw, ...]:
    """Return the entries above a number in the channel file, in its order.

    Raises:
        RecordError: the record cannot be read, or is damaged.
    """
    if not store.has_entries(channel):
        return ()

    def step(view: View) -> tuple[Raw, ...]:
        rows = (view.index.row(number) for number in range(view.first_row(seq), len(view.index)))
        return tuple(Raw(row.n, view.raw(row)) for row in rows if row.n > seq)

    return store.look(channel, step)


def entry_fields(raw: Raw) -> Mapping[str, Any]:
    """Return an entry as an object, for whoever wants it taken apart."""
    end, _ = line_end(raw.content, 0)
    header = read_header(raw.content[:end])
    assert header is not None, "an entry begins with a header"
    text, trailer = raw.content[end:].decode("utf-8", "replace").strip(), read_trailer(raw.content.rstrip(), header.n)
    if trailer is not None:
        text = text[: text.rindex(TRAILER_MARK)].rstrip()
    return {
        "n": header.n,
        "stamp": header.stamp,
        "sender": header.sender,
        "type": header.type,
        "thread": header.thread,
        "refs": header.refs,
        "text": text,
        "signed": trailer is not None and trailer.sig is not None,
    }
