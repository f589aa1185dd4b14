"""All the bytes that a channel's verification looks at, read in an order that a writer at work cannot upset."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from counterpoint.errors import Corrupt
from counterpoint.record.archive import archived_blocks, archived_files
from counterpoint.record.bell import MAX_BELL, read_bell
from counterpoint.record.block import parse
from counterpoint.record.findings import Checkpoint, Remembered, Verification
from counterpoint.record.fs import Files, Folder
from counterpoint.record.genesis import parse_genesis
from counterpoint.record.heads import Heads, Kept
from counterpoint.record.names import bell_file, channel_file
from counterpoint.record.safe import open_plain, read_all, read_file
from counterpoint.record.verify import verify
from counterpoint.record.view import archived_genesis, genesis_in

__all__ = ["Contents", "read_contents", "verify_channel"]


class Contents(NamedTuple):
    """All that a channel's verification looks at."""

    doorbell: int | None
    remembered: Remembered | None
    archives: tuple[tuple[str, bytes], ...]
    content: bytes
    """The channel file."""

    def given_to(self, look: Callable[..., Verification]) -> Verification:
        return look(self.content, archives=self.archives, remembered=self.remembered, doorbell=self.doorbell)


def read_contents(fs: Files, folder: Folder, channel: str, *, heads: Heads | None) -> Contents:
    """Read a channel's bytes whole, in the order of a view.

    Raises:
        Corrupt: its genesis entry is damaged.
        UnsafeFile: a file of the channel is not what it should be.
    """
    bell = read_bell(read_file(fs, folder, bell_file(channel), max_bytes=MAX_BELL))
    fd = open_plain(fs, folder, channel_file(channel))
    try:
        content = read_all(fs, fd)
        remembered = None
        first = genesis_in(content) or archived_genesis(archived_blocks(fs, folder, channel))
        if heads is not None and first is not None:
            genesis = parse_genesis(parse(first, channel=channel, strict=False), channel=channel)
            kept = heads.of(channel, genesis.channel_id)
            remembered = kept and Remembered(genesis=kept.genesis, n=kept.n, head=kept.head)
        content += read_all(fs, fd, start=len(content))
    finally:
        fs.close(fd)
    return Contents(
        doorbell=None if bell is None else bell[0],
        remembered=remembered,
        archives=tuple(archived_files(fs, folder, channel)),
        content=content,
    )


def verify_channel(
    fs: Files,
    folder: Folder,
    channel: str,
    *,
    mode: str | None,
    heads: Heads | None,
    checkpoint: Checkpoint | None,
    now: str,
    wait: Callable[[], None],
) -> Verification:
    """Verify a channel's files, and remember its head.

    What looks damaged may be a writer at work; then the bytes are others after `wait`, and are looked at once more.

    Raises:
        Corrupt: the record does not hold.
    """
    contents = read_contents(fs, folder, channel, heads=heads)
    look = partial(verify, channel, checkpoint=checkpoint, mode=mode, now=now)
    try:
        verified = contents.given_to(look)
    except Corrupt:
        wait()
        before, contents = contents, read_contents(fs, folder, channel, heads=heads)
        if contents == before:
            raise
        verified = contents.given_to(look)
    if heads is not None and verified.genesis is not None:
        seen = Kept(genesis=verified.genesis_digest, n=verified.n, head=verified.head)
        heads.remember(channel, verified.genesis.channel_id, seen)
        if verified.mode == "strict":
            heads.pin(channel, verified.genesis_digest)
    return verified
