"""What is fuzzed: every parser of the record and of the mailbox, held to what each promises of any bytes.

A target takes bytes, and fails where a promise is broken: nothing but a named error leaves a parser, what a parser
accepts is written as the same bytes again, and two ways to look at the same bytes see the same.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, Final

from counterpoint.cli.channel import COMMANDS, command
from counterpoint.cli.channel.parsing import Usage
from counterpoint.cli.channel.parsing import parse as parse_words
from counterpoint.core.canonical import digest
from counterpoint.drive.watching.config import parse_config
from counterpoint.drive.watching.state import parse_state
from counterpoint.errors import ConfigError, Corrupt, CounterpointError, RecordError, Refused
from counterpoint.protocols.mailbox import read_parties
from counterpoint.record import claims, heads
from counterpoint.record.bell import read_bell
from counterpoint.record.block import parse, read_trailer, render, render_plain, take_apart
from counterpoint.record.checkpoint import parse_checkpoint
from counterpoint.record.ending import Part, find_ending
from counterpoint.record.fs import RealFiles
from counterpoint.record.genesis import parse_genesis
from counterpoint.record.header import is_stamp, line_end
from counterpoint.record.index import IndexDamaged, load
from counterpoint.record.listing import list_entries
from counterpoint.record.scan import Place, places
from counterpoint.record.seal import Seal, seal
from counterpoint.record.settings import read_settings
from counterpoint.record.signing import NotSigned, check, load_key
from counterpoint.record.store import Block, Draft
from counterpoint.record.tail import last_whole
from counterpoint.record.trailer import TRAILER
from counterpoint.record.verify import verify
from counterpoint.record.windows import windows

__all__ = ["TARGETS"]

CHANNEL: Final = "fuzzed"
KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"
PIECES: Final = (1, 64, 300)
"""Sizes of the windows that a file is read in."""


def block(content: bytes) -> None:
    """An entry that is accepted is written as the same bytes again; a plain one as what reads the same.

    No chance finds a digest, so each entry is looked at once more with the digest of its text put right.
    """
    _whole(content)
    if (mended := _mended(content)) != content:
        _whole(mended)


def _mended(content: bytes) -> bytes:
    line = content.rfind(b"\n") + 1
    found = TRAILER.match(content, line)
    if found is None:
        return content
    body = digest(content[line_end(content, 0)[0] + 2 : line - 2])
    return content[: found.start(6)] + body.encode() + content[found.end(6) :]


def _whole(content: bytes) -> None:
    for strict in (True, False):
        with suppress(Corrupt):
            found = parse(content, channel=CHANNEL, strict=strict)
            _comes_back(found, content, strict=strict)
            if found.n == 0:
                with suppress(CounterpointError):
                    parse_genesis(found, channel=CHANNEL)


def _comes_back(found: Block, content: bytes, *, strict: bool) -> None:
    trailer = read_trailer(content, found.n)
    if trailer is None:
        _comes_back_plain(found)
        return
    sig = trailer.sig
    again = render(
        _draft(found),
        n=found.n,
        channel_id=trailer.channel_id,
        prev=trailer.prev,
        batch=trailer.batch,
        sign=None if sig is None else lambda _: sig,
        strict=strict,
    )
    assert again == content


def _comes_back_plain(found: Block) -> None:
    if not is_stamp(found.stamp):
        return
    with suppress(Refused):  # the public tool lets names and texts in that we never write
        again = render_plain(_draft(found), found.n)
        other = parse(again, channel=CHANNEL, strict=False)
        assert _draft(other) == _draft(found)
        assert render_plain(_draft(other), other.n) == again


def _draft(found: Block) -> Draft:
    return Draft(
        stamp=found.stamp,
        sender=found.sender,
        type=found.type,
        thread=found.thread,
        refs=found.refs or "-",  # as it is written
        text=found.text,
        fields=found.fields,
    )


def file(content: bytes) -> None:
    """A channel file: every way to find its entries finds the same, and verification ends with a named error."""
    found = list(places(content))
    rows = list_entries(content)
    assert [(row.n, row.at, row.end, row.stop) for row in rows] == [
        (n, at, end, stop) for n, at, end, _, _, stop in found
    ]
    edges = [edge for row in rows for edge in (row.at, row.end)]
    assert edges == sorted(edges)
    for place in found:
        block(content[place[1] : place[2]])
        for strict in (True, False):
            assert _sealed(content, place, strict=strict) == _taken_apart(content, place, strict=strict)
    _look_at_windows(content, [(row.n, content[row.at : row.end]) for row in rows])
    _look_at_ending(content)
    for mode in (None, "strict", "shared"):
        with suppress(CounterpointError):
            verify(CHANNEL, content, mode=mode)
    with suppress(CounterpointError):
        verify(CHANNEL, b"", archives=[("archive", content)])


def _sealed(content: bytes, place: Place, *, strict: bool) -> Seal | str:
    try:
        return seal(content, place, channel=CHANNEL, strict=strict)
    except Corrupt as error:
        return str(error)


def _taken_apart(content: bytes, place: Place, *, strict: bool) -> Seal | str:
    n, at, end, _, _, _ = place
    whole = content[at:end]
    try:
        parts = take_apart(whole, channel=CHANNEL, strict=strict)
        own = parse(whole, channel=CHANNEL, strict=strict).digest
    except Corrupt as error:
        # `seal` reads no JSON.
        return _sealed(content, place, strict=strict) if "its typed object: " in str(error) else str(error)
    trailer, stamp = parts.trailer, parts.header.stamp
    if trailer is None:
        return Seal(n, at, end, stamp, own, None, (1, 1), "", None)
    return Seal(n, at, end, stamp, own, trailer.channel_id, trailer.batch, trailer.prev, trailer.sig)


def _look_at_windows(content: bytes, whole: list[tuple[int, bytes]]) -> None:
    with _on_disk(content) as fd:
        for size in PIECES:
            pieces = list(windows(RealFiles(), fd, size=size))
            assert b"".join(piece for _, piece in pieces) == content
            assert [(row.n, piece[row.at : row.end]) for _, piece in pieces for row in list_entries(piece)] == whole


def _look_at_ending(content: bytes) -> None:
    for strict in (True, False):
        assert 0 <= last_whole(content, channel=CHANNEL, strict=strict).end <= len(content)
        for chained in (True, False):
            part = Part(content, 0, CHANNEL, strict=strict, chained=chained, acknowledged=-1)
            with suppress(CounterpointError, IndexDamaged):
                ending = find_ending(part)
                assert ending.torn is None or 0 <= ending.torn <= len(content)


@contextmanager
def _on_disk(content: bytes) -> Iterator[int]:
    """Have a file of these bytes open for as long as the block runs."""
    with tempfile.TemporaryFile() as file:
        os.pwrite(file.fileno(), content, 0)
        yield file.fileno()


def beside(content: bytes) -> None:
    """What lies beside a channel file: doorbell, settings, claims, memory, index, keys, checkpoint, watcher files."""
    read_bell(content)
    _refused(lambda: read_parties(read_settings(content, channel="", source="settings")))
    _refused(lambda: claims._read(content, "claims"))
    _refused(lambda: parse_checkpoint(content, keys=[KEY], source="note"))
    _refused(lambda: load_key(content, source="key"))
    _refused(lambda: parse_config(content, source="config"))
    with suppress(CounterpointError):
        state = parse_state(content, path="state")
        assert parse_state(bytes(state), path="state") == state
    kept = heads._read(content)
    assert kept is None or heads._write(kept) == content
    with suppress(NotSigned):
        check([KEY], b"", content.decode("latin-1"))
    with _on_disk(content) as fd, suppress(IndexDamaged):
        load(RealFiles(), fd, fd, (0, 0))


def _refused(look: Callable[[], Any]) -> None:
    with suppress(ConfigError, RecordError):
        look()


def words(content: bytes) -> None:
    """The command line of each command: understood or refused as `Usage`, whatever the words are."""
    given = content.decode("utf-8", "surrogateescape").split("\n")
    for name in COMMANDS:
        with suppress(Usage):
            parse_words(command(name).SHAPE, given)


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = MappingProxyType(
    {"block": block, "file": file, "beside": beside, "words": words}
)
