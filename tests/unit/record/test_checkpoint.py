"""Checkpoints: signed notes of a record's head."""

import base64
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterpoint.errors import RecordError
from counterpoint.record.checkpoint import MAX_CHECKPOINT, parse_checkpoint, render_checkpoint, verifier_key
from counterpoint.record.findings import Checkpoint
from tests.records import CHANNEL_ID, signer

CHECKPOINT = Checkpoint(channel_id=CHANNEL_ID, genesis="cd" * 32, n=12, head="ab" * 32)
NOTE = render_checkpoint(CHECKPOINT, signer())
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)


def _parse(note: bytes, keys: Sequence[str] = (signer().public,)) -> Checkpoint:
    return parse_checkpoint(note, keys=keys, source="note")


@given(channel=st.binary(min_size=16, max_size=16), genesis=DIGESTS, head=DIGESTS, n=st.integers(0, 10**15 - 1))
def test_checkpoint_is_read_as_it_was_written(channel: bytes, genesis: str, head: str, n: int) -> None:
    """There and back, for every channel, head and number."""
    checkpoint = Checkpoint(channel_id=channel.hex(), genesis=genesis, n=n, head=head)
    assert _parse(render_checkpoint(checkpoint, signer())) == checkpoint


def test_checkpoint_is_a_signed_note() -> None:
    """C2SP signed-note and tlog-checkpoint: origin, size, root, blank line, em dash, name, key id and signature."""
    text, signature = NOTE.decode().split("\n\n")
    assert (
        text == f"counterpoint/{CHANNEL_ID}\n13\n{base64.b64encode(bytes([0xAB] * 32)).decode()}\ngenesis {'cd' * 32}"
    )
    dash, name, encoded = signature.removesuffix("\n").split(" ")
    assert (dash, name) == ("\u2014", f"counterpoint/{CHANNEL_ID}")
    raw = base64.b64decode(encoded)
    key_id = hashlib.sha256(f"{name}\n".encode() + b"\1" + signer().raw_public).digest()[:4]
    assert raw == key_id + signer().sign_raw(f"{text}\n".encode())
    assert verifier_key(CHANNEL_ID, signer().public) == (
        f"{name}+{key_id.hex()}+{base64.b64encode(bytes([1]) + signer().raw_public).decode()}"
    )


def test_signatures_of_strangers_are_passed_over() -> None:
    """C2SP signed-note: a witness may sign too; one key that may sign is enough."""
    other = render_checkpoint(CHECKPOINT, signer(2)).split(b"\n\n")[1]
    text, ours = NOTE.split(b"\n\n")
    stranger = "\u2014 witness.example/w AAAAAAAA\n".encode()
    assert _parse(text + b"\n\n" + stranger + other + ours) == CHECKPOINT
    assert _parse(NOTE, [signer(2).public, signer().public]) == CHECKPOINT


TEXT, SIGNATURE = NOTE.split(b"\n\n")


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"\xff",
        NOTE[:-1],
        NOTE + b"\n",
        NOTE + b"x",
        NOTE + SIGNATURE * 16,
        NOTE.replace(b"\n", b"\r\n"),
        NOTE.replace(b"\n13\n", b"\n14\n"),
        NOTE.replace(b"\n13\n", b"\n013\n"),
        NOTE.replace(b"\n13\n", b"\n0\n"),
        NOTE.replace(b"\n13\n", b"\n" + b"9" * 16 + b"\n"),
        NOTE.replace(b"\n13\n", b"\n" + "١٣".encode() + b"\n"),
        NOTE.replace(b"q6s=", b"q6t="),
        NOTE.replace(b"genesis cd", b"genesis ce"),
        NOTE.replace(b"counterpoint/0", b"counterpoint/1", 1),
        TEXT + b"\n\n",
        TEXT + b"\n" + SIGNATURE,
        TEXT + b"\nmore\n\n" + SIGNATURE,
        TEXT + b"\n\n" + SIGNATURE.replace("\u2014".encode(), b"-"),
        TEXT + b"\n\n" + SIGNATURE[:-20] + b"\n",
        TEXT + b"\n\n" + SIGNATURE[:-6] + b"AAAA=\n",
        TEXT + b"\n\n" + render_checkpoint(CHECKPOINT, signer(2)).split(b"\n\n")[1],
        render_checkpoint(replace(CHECKPOINT, n=10**15), signer()),
        b"a" * (MAX_CHECKPOINT + 1),
    ],
)
def test_note_that_is_no_checkpoint_of_a_known_key_is_refused(note: bytes) -> None:
    """Another text, spelling, signature or key: a typed error that names the file."""
    with pytest.raises(RecordError, match="note") as caught:
        _parse(note)
    assert caught.value.hint


def test_key_that_is_none_is_refused() -> None:
    """A trusted key line with a slip in it is the caller's fault, and typed."""
    with pytest.raises(RecordError, match="ssh-ed25519"):
        _parse(NOTE, ["ssh-ed25519 AAAA"])


@given(at=st.integers(0, len(NOTE) - 1), byte=st.integers(0, 255))
@example(at=0, byte=NOTE[0])
def test_one_other_byte_is_refused(at: int, byte: int) -> None:
    """No byte of a note is without meaning."""
    damaged = NOTE[:at] + bytes([byte]) + NOTE[at + 1 :]
    if damaged == NOTE:
        assert _parse(damaged) == CHECKPOINT
        return
    with pytest.raises(RecordError):
        _parse(damaged)


@given(
    st.one_of(
        st.binary(max_size=300), st.text(max_size=100).map(str.encode), st.binary(max_size=40).map(NOTE.__add__)
    )
)
def test_parser_raises_nothing_else(note: bytes) -> None:
    """Fuzz: a checkpoint or a `RecordError`."""
    with suppress(RecordError):
        assert _parse(note) == CHECKPOINT
