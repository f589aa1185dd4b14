"""Moving closed threads of a shared channel to its archive (SPEC C-045)."""

from datetime import datetime

from counterpoint.drive.channels import FileStore
from counterpoint.drive.reading import doorbell_in, doorbell_of
from counterpoint.record.compaction import Move, compact, plan
from counterpoint.record.listing import list_entries

__all__ = ["Move", "compact_channel", "plan_compaction"]


def plan_compaction(store: FileStore, channel: str, *, keep_days: float, now: datetime) -> tuple[Move, ...]:
    """Return what `compact_channel` would move; nothing is written.

    Raises:
        RecordError: the record cannot be read, or is damaged.
    """
    if not store.has_entries(channel):
        return ()
    open_thread = doorbell_of(store, channel).state.thread
    content = store.everything(channel).content or b""
    return plan(list_entries(content), open_thread=open_thread, keep_days=keep_days, now=now)


def compact_channel(store: FileStore, channel: str, *, keep_days: float, now: datetime) -> tuple[Move, ...]:
    """Move the threads that were closed at least `keep_days` ago to the archive of the month of their close.

    Raises:
        LockBusy: another writer held the channel for too long.
        RecordError: the record cannot be read or written, or is damaged.
    """
    if not store.has_entries(channel):
        return ()
    with store.hold(channel) as held:
        doorbell = doorbell_in(store, channel, held.view)
        return compact(held, open_thread=doorbell.state.thread, keep_days=keep_days, now=now)
