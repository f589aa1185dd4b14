"""What a tick does to the world: looks at the channel, calls a party, ends what a killed watcher left.

Loaded when something moved, so that a tick in which nothing did pays for neither the store nor what starts programs.
"""

from collections.abc import Sequence
from typing import NamedTuple

from counterpoint.drive.channels import FileStore
from counterpoint.drive.watching.child import Ended, call, end_left
from counterpoint.drive.watching.looking import Reading, look
from counterpoint.errors import CounterpointError
from counterpoint.protocols.mailbox import Parties
from counterpoint.record.store import Block

__all__ = ["Hands"]


class Hands(NamedTuple):
    store: FileStore
    channel: str
    parties: Parties

    def look(self, after: int, bell: bytes | None, *, now: str) -> Reading:
        """Return what there is to see, while no writer is at work.

        Raises:
            LockBusy: a writer held the channel for too long.
            RecordError: the files cannot be read or written.
        """
        return look(self.store, self.channel, after=after, parties=self.parties, bell=bell, now=now)

    def newer(self, after: int) -> Sequence[Block]:
        """Return the entries above a number; none where they cannot be read, which the next look tells."""
        try:
            return self.store.read(self.channel, max(after, 0))
        except CounterpointError:
            return ()

    def call(self, argv: Sequence[str], *, timeout_s: int, mark: str) -> Ended:
        return call(argv, timeout_s=timeout_s, mark=mark)

    def end_left(self, mark: str) -> None:
        end_left(mark)
