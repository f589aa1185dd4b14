"""What a tick sees of a channel: its doorbell, what is new, and whether the record adds up (SPEC C-064, C-140).

A doorbell that is missing or torn is written anew from the record. One that is behind is too where every entry
beyond it carries our trailer: a crash between entry and doorbell leaves that, and a forger cannot. Then `verify`'s
own look decides whether the record adds up; what does not is an anomaly, for `decision.weigh`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from counterpoint.drive.auditing import Audit, audit
from counterpoint.drive.channels import FileStore
from counterpoint.drive.posting import bell_of, entry_of
from counterpoint.drive.watching.decision import Anomaly, Bell, bell_in, bell_saying
from counterpoint.errors import Corrupt, RecordError, UnknownEntry
from counterpoint.protocols.mailbox import Mailbox, Parties, fold
from counterpoint.record.bell import FRESH_BELL, write_object
from counterpoint.record.contents import read_everything
from counterpoint.record.findings import Level
from counterpoint.record.fs import SHARED
from counterpoint.record.held import HeldFiles
from counterpoint.record.index import IndexDamaged
from counterpoint.record.index import store as store_rows
from counterpoint.record.names import bell_file
from counterpoint.record.safe import prepared
from counterpoint.record.store import Block

__all__ = ["Reading", "look"]


class Reading(NamedTuple):
    bell: Bell
    newest: int
    """The newest entry of the record."""
    blocks: tuple[Block, ...]
    """The entries that were not shown yet."""
    anomalies: tuple[Anomaly, ...] = ()
    mended: str = ""
    """Why the doorbell was written anew; empty: it was not."""


def look(store: FileStore, channel: str, *, after: int, parties: Parties, bell: bytes | None, now: str) -> Reading:
    """Return what there is to see of a channel, while no writer is at work.

    Args:
        store: where it is kept.
        channel: its name.
        after: the newest entry that was shown.
        parties: who speaks in it.
        bell: the doorbell's bytes as they were just before.
        now: the stamp of this moment.

    Raises:
        LockBusy: a writer held the channel for too long.
        RecordError: the files cannot be read or written.
    """
    try:
        with store.hold(channel) as held:
            newest = held.view.index.head.n
            _keep_rows(held)
            blocks = _newer(held, after)
            rung, mended = _settle_bell(held, newest, parties)
            found = read_everything(held.view.fs, held.view.folder, channel)
            audited = audit(store, channel, now=now, found=found)
            return Reading(rung, newest, blocks, _anomalies(audited), mended)
    except (Corrupt, UnknownEntry) as error:
        rung = bell_in(bell) or Bell()
        audited = audit(store, channel, now=now)
        said = _anomalies(audited) or (Anomaly(code="unreadable-record", detail=str(error)),)
        return Reading(rung, rung.n, (), said)


def _keep_rows(held: HeldFiles) -> None:
    """Write down where entries lie that the public tool has added, so that nobody looks for them again."""
    view = held.view
    if view.index_fd is not None and view.index.unwritten()[1]:
        store_rows(view.fs, view.index_fd, view.index)


def _newer(held: HeldFiles, after: int) -> tuple[Block, ...]:
    """Return the entries above a number, at their own cost."""
    index, after = held.view.index, max(after, 0)
    if index.base.archived.n > after:
        return held.read(after)
    try:
        rows, row = [], index.last
        while row is not None and row.top > after:
            rows += [row] if row.n > after else []
            row = index.row(row.number - 1) if row.number else None
        return tuple(held.view.read_row(row) for row in reversed(rows))
    except IndexDamaged:
        return held.read(after)


def _anomalies(audited: Audit) -> tuple[Anomaly, ...]:
    found = (each for each in audited.findings if each.level is Level.ANOMALY)
    return tuple(Anomaly(code=each.code, detail=each.detail) for each in found)


def _settle_bell(held: HeldFiles, newest: int, parties: Parties) -> tuple[Bell, str]:
    """Return the doorbell, written anew where it may be, and why it was."""
    found, name = held.view.bell, bell_file(held.view.channel)
    if found is not None and (found[0] >= newest or parties.brokered):
        return bell_saying(*found), ""
    if parties.brokered:  # its doorbell is its controller's
        return Bell(), ""
    if newest < 1:
        _ring(held, name, FRESH_BELL)
        return Bell(), ""
    if found is None:
        why = f"{name} was missing or torn"
    elif all(block.signed for block in _newer(held, found[0])):
        why = f"{name} stood at {found[0]}"
    else:
        return bell_saying(*found), ""
    fields = _folded(held.read(), parties)
    _ring(held, name, fields)
    return bell_saying(newest, fields), f"{why}; it is at MSG-{newest} again, from the record"


def _folded(entries: Sequence[Block], parties: Parties) -> Mapping[str, Any]:
    state: Mailbox = fold(parties, map(entry_of, entries))
    return bell_of(entries[-1], state)


def _ring(held: HeldFiles, name: str, fields: Mapping[str, Any]) -> None:
    view = held.view
    try:
        with prepared(view.fs, view.folder, name, write_object(fields), SHARED) as temporary:
            held.lock.check()
            view.fs.rename(view.folder, temporary, name)
        view.fs.sync(view.folder)
    except OSError as error:
        raise RecordError(f"{name} cannot be written anew: {error.strerror}", hint="look at the disk") from None
