"""Verifying what lies on disk: a case by its store and then by its rules, or a channel file that somebody sent.

The record's own chain comes first, with what this machine remembers and a checkpoint where one is given. A chain says
nothing of sense, so the entries of a case are then replayed: a record whose every byte is in its place and whose
entries the rules refuse is reported too.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from counterpoint.drive.casefile import decode_blocks
from counterpoint.drive.cases import LoadedCase, fold_case, load_case
from counterpoint.drive.paths import Folders, make_private, path_text
from counterpoint.drive.store import heads_of, known_key, machine_key
from counterpoint.errors import Corrupt, RecordError, SourceError
from counterpoint.record.archive import archived_files
from counterpoint.record.block import parse
from counterpoint.record.checkpoint import MAX_CHECKPOINT, parse_checkpoint, render_checkpoint
from counterpoint.record.contents import verify_channel
from counterpoint.record.findings import Checkpoint, Torn, Verification
from counterpoint.record.fs import RealFiles
from counterpoint.record.safe import open_folder, typed
from counterpoint.record.scan import places
from counterpoint.record.store import Store

__all__ = [
    "CHANNEL_FILE",
    "Note",
    "Verified",
    "read_keys",
    "read_note",
    "sign_head",
    "verify_case",
    "verify_file",
    "verify_to_go_on",
]

CHANNEL_FILE: Final = ".channel.md"
_CASE_OPENED: Final = "case-opened"
_KEY_WORDS: Final = 2
_MAX_KEYS: Final = 1 << 20
_HINT: Final = "compare with a copy you trust; nothing from there on can be relied on"
_PAUSE_S: Final = 0.1

_Look = Callable[[Checkpoint | None], Verification]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A checkpoint as it lies in a file, and whose signature counts."""

    content: bytes
    source: str
    keys: tuple[str, ...] = ()
    """Public key lines; empty: this machine's key and those of the record count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A record that holds."""

    record: Verification
    checkpoint: Checkpoint | None
    case: LoadedCase | None
    """The case whose rules accept every entry; `None` where the record is no case's."""
    own_key: str | None
    """This machine's key, where it may sign the record."""


def read_note(path: Path, keys: Sequence[str]) -> Note:
    """Return the checkpoint in a file, as it lies there.

    Raises:
        RecordError: the file cannot be read.
    """
    return Note(content=_read(path, MAX_CHECKPOINT + 1), source=path_text(path), keys=tuple(keys))


def read_keys(path: Path) -> tuple[str, ...]:
    """Return the public keys in a file, one a line as `ssh-keygen` writes them, comments left out.

    Raises:
        RecordError: the file cannot be read, or has no such key.
    """
    lines = _read(path, _MAX_KEYS).decode("utf-8", "replace").splitlines()
    keys = tuple(" ".join(line.split()[:_KEY_WORDS]) for line in lines if line.startswith("ssh-ed25519 "))
    if not keys:
        raise RecordError(
            f"{path_text(path)} has no ssh-ed25519 key", hint="name a public key file, such as id_ed25519.pub"
        )
    return keys


def verify_case(store: Store, cases: Path, name: str, *, folders: Folders, note: Note | None, now: str) -> Verified:
    """Verify a case: its record, then its rules. Its head is remembered.

    Raises:
        Corrupt: an entry does not hold, or the rules refuse it.
        RecordError: it cannot be read.
    """
    with _looking(cases, name, name, mode="strict", folders=folders, now=now) as look:
        return _verified(look, lambda: load_case(store, cases, name), folders=folders, note=note)


def verify_to_go_on(store: Store, cases: Path, name: str, *, folders: Folders, now: str) -> Verified:
    """Verify a case for whoever writes on: what a crash left behind its last whole entry is kept aside first.

    What this machine has seen of the case is never cut off: the store compares before it writes.

    Raises:
        Corrupt: as `verify_case`.
        RecordError: it cannot be read or written, or is behind what was seen of it.
    """
    try:
        return verify_case(store, cases, name, folders=folders, note=None, now=now)
    except Torn:
        with store.hold(name) as held:
            held.repair()
        return verify_case(store, cases, name, folders=folders, note=None, now=now)


def verify_file(path: Path, *, folders: Folders, note: Note | None, now: str) -> Verified:
    """Verify a channel file, with the doorbell and the archives beside it. Its head is remembered.

    Raises:
        SourceError: it is not named as a channel file is.
        Corrupt: an entry does not hold, or the rules of the case in it refuse one.
        RecordError: it cannot be read.
    """
    if not path.name.endswith(CHANNEL_FILE):
        raise SourceError(
            f"{path_text(path)} is not named like a channel file, NAME{CHANNEL_FILE}",
            hint="name a case, or give the copy the name that the file had",
        )
    channel = path.name.removesuffix(CHANNEL_FILE)
    with _looking(path.parent, "", channel, mode=None, folders=folders, now=now) as look:
        return _verified(look, lambda: _case_in(path, channel), folders=folders, note=note)


@contextmanager
def _looking(
    place: Path, inside: str, channel: str, *, mode: str | None, folders: Folders, now: str
) -> Iterator[_Look]:
    """Give a look at the channel in a folder, which is held meanwhile."""
    make_private(folders.state)
    fs = RealFiles()
    with typed(f"{channel} in {path_text(place)} cannot be read"), open_folder(fs, str(place), inside) as folder:
        yield lambda checkpoint: verify_channel(
            fs,
            folder,
            channel,
            mode=mode,
            heads=heads_of(folders),
            checkpoint=checkpoint,
            now=now,
            wait=partial(time.sleep, _PAUSE_S),
        )


def sign_head(verified: Verified, folders: Folders) -> bytes:
    """Return the head of a verified record as a checkpoint, signed with this machine's key.

    Raises:
        RecordError: nothing vouches for the record, or what stands beside it disagrees with it.
    """
    record = verified.record
    if record.genesis is None or not record.is_clean:
        raise RecordError(
            f"{record.channel} is not clean; its head is not signed", hint="look at what was found, then mend it"
        )
    head = Checkpoint(
        channel_id=record.genesis.channel_id, genesis=record.genesis_digest, n=record.n, head=record.head
    )
    return render_checkpoint(head, machine_key(folders))


def _verified(
    look: _Look, replay: Callable[[], LoadedCase | None], *, folders: Folders, note: Note | None
) -> Verified:
    signer = known_key(folders)
    own = signer.public if signer else None
    checkpoint = None
    try:
        record = look(None)
        keys = record.genesis.keys if record.genesis else ()
        if note is not None:
            trusted = note.keys or (*([own] if own else []), *keys)
            checkpoint = parse_checkpoint(note.content, keys=trusted, source=note.source)
            record = look(checkpoint)
        case = replay()
    except Corrupt as error:
        # Whoever reads this has run `verify` already.
        if error.hint.startswith("run `counterpoint verify"):
            error.hint = _HINT
        raise
    return Verified(record=record, checkpoint=checkpoint, case=case, own_key=own if own in keys else None)


def _case_in(path: Path, channel: str) -> LoadedCase | None:
    """Replay the case in a verified file; `None` where it is no case's."""
    fs = RealFiles()
    with open_folder(fs, str(path.parent)) as folder:
        archives = [content for _, content in archived_files(fs, folder, channel)]
    found = {
        n: parse(content[at:end], channel=path.name, strict=False)
        for content in (*archives, _read(path, -1))
        for n, at, end, _, _, _ in places(content)
    }
    blocks = [found[n] for n in sorted(found) if n > 0]
    if not blocks or blocks[0].type != _CASE_OPENED:
        return None
    name = blocks[0].thread
    return fold_case(name, path.parent, decode_blocks(name, blocks))


def _read(path: Path, most: int) -> bytes:
    with typed(f"{path_text(path)} cannot be read"), path.open("rb") as file:
        return file.read(most)
