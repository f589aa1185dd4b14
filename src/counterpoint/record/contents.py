"""All the bytes that a channel's verification looks at, read in an order that a writer at work cannot upset."""

from collections.abc import Callable, Mapping
from contextlib import suppress
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
from counterpoint.record.listing import Listing
from counterpoint.record.names import bell_file, channel_file
from counterpoint.record.safe import open_plain, read_all, read_file
from counterpoint.record.speakers import Vouch
from counterpoint.record.verify import verify
from counterpoint.record.view import archived_genesis, genesis_in

__all__ = ["Contents", "Everything", "read_contents", "read_everything", "verify_channel", "verify_everything"]


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
    _remember(heads, channel, verified)
    return verified


def _remember(heads: Heads | None, channel: str, verified: Verification) -> None:
    if heads is not None and verified.genesis is not None:
        seen = Kept(genesis=verified.genesis_digest, n=verified.n, head=verified.head)
        heads.remember(channel, verified.genesis.channel_id, seen)
        if verified.mode == "strict":
            heads.pin(channel, verified.genesis_digest)


class Everything(NamedTuple):
    """A channel's files as they stand together."""

    bell: bytes | None
    content: bytes | None
    """The channel file; `None` where there is none."""
    archives: tuple[tuple[str, bytes], ...]
    listings: Mapping[str, Listing]
    """The entries of each file, by archive name; those of the channel file under ""."""


def read_everything(fs: Files, folder: Folder, channel: str) -> Everything:
    """Read a channel's files whole; its locks keep them together.

    Raises:
        RecordError: a file is too large, or not what it should be.
    """
    bell = read_file(fs, folder, bell_file(channel), max_bytes=MAX_BELL)
    content = None
    with suppress(FileNotFoundError):
        fd = open_plain(fs, folder, channel_file(channel))
        try:
            content = read_all(fs, fd)
        finally:
            fs.close(fd)
    archives = tuple(archived_files(fs, folder, channel))
    files = archives if content is None else (("", content), *archives)
    return Everything(bell, content, archives, {name: Listing(whole) for name, whole in files})


def verify_everything(
    channel: str, found: Everything, *, heads: Heads | None, now: str, vouch: Vouch | None = None
) -> Verification | None:
    """Verify the chain in a shared channel's files, and remember its head; `None` where there is no chain.

    Raises:
        Corrupt: it does not hold.
    """
    content = found.content or b""
    sources = (content, *(archived for _, archived in found.archives))
    first = next((block for source in sources if (block := genesis_in(source))), None)
    if first is None:
        return None
    genesis = parse_genesis(parse(first, channel=channel, strict=False), channel=channel)
    kept = heads.of(channel, genesis.channel_id) if heads is not None else None
    bell = read_bell(found.bell)
    verified = verify(
        channel,
        content,
        archives=found.archives,
        remembered=kept and Remembered(genesis=kept.genesis, n=kept.n, head=kept.head),
        doorbell=None if bell is None else bell[0],
        now=now,
        listings=found.listings,
        vouch=vouch,
    )
    _remember(heads, channel, verified)
    return verified
