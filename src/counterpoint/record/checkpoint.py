"""A checkpoint: the signed head of a record, for another machine or another person.

A C2SP signed note with a tlog-checkpoint's three lines and one more:

    counterpoint/<channel id>
    <number of entries, the genesis counted>
    <base64 of the newest block's SHA-256>
    genesis <digest of the genesis block>

    — counterpoint/<channel id> <base64 of key id and Ed25519 signature>

The root is the head of a chain, not of a tree: it proves a whole record, not one entry without the rest. The first
line is the name of the key as well. Signatures by keys nobody asked about are passed over, as the note format wants.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Final

from counterpoint.errors import RecordError
from counterpoint.record.findings import Checkpoint
from counterpoint.record.header import MAX_NUMBER
from counterpoint.record.signing import NotSigned, Signer, check_raw, raw_public

__all__ = ["MAX_CHECKPOINT", "parse_checkpoint", "render_checkpoint", "verifier_key"]

MAX_CHECKPOINT: Final = 64 * 1024
_MAX_SIGNATURES = 16
_ED25519 = b"\x01"
_KEY_ID_BYTES = 4
_TEXT = re.compile(
    r"counterpoint/([0-9a-f]{32})\n([1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\ngenesis ([0-9a-f]{64})\n", re.ASCII
)
_SIGNATURE = re.compile(r"\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})\n")


def render_checkpoint(checkpoint: Checkpoint, signer: Signer) -> bytes:
    """Return the note, signed."""
    text = _text(checkpoint)
    name = f"counterpoint/{checkpoint.channel_id}"
    signature = signer.sign_raw(text)
    line = base64.b64encode(_key_id(name, signer.raw_public) + signature).decode()
    return text + f"\n\u2014 {name} {line}\n".encode()


def parse_checkpoint(content: bytes, *, keys: Sequence[str], source: str) -> Checkpoint:
    """Return what the note says, if one of `keys` signed it.

    Args:
        content: the note.
        keys: public key lines that the caller trusts; those of the record itself vouch for nothing new.
        source: where the note comes from, for messages.

    Raises:
        RecordError: it is no checkpoint of ours, or none of `keys` signed it.
    """
    hint = "ask for the checkpoint again, as a file, from whoever signed it"
    if len(content) > MAX_CHECKPOINT:
        raise RecordError(f"{source} has {len(content)} bytes; a checkpoint has at most {MAX_CHECKPOINT}", hint=hint)
    try:
        text, _, signatures = content.decode().partition("\n\n")
    except UnicodeDecodeError as error:
        raise RecordError(f"{source} is no checkpoint: not UTF-8 at byte {error.start}", hint=hint) from None
    found = _TEXT.fullmatch(f"{text}\n")
    if found is None:
        raise RecordError(f"{source} is no checkpoint: it begins with {text[:80]!r}", hint=hint)
    checkpoint = Checkpoint(
        channel_id=found[1], genesis=found[4], n=int(found[2]) - 1, head=base64.b64decode(found[3]).hex()
    )
    if _text(checkpoint) != f"{text}\n".encode() or checkpoint.n > MAX_NUMBER:
        raise RecordError(f"{source} is no checkpoint: its number or root has another spelling", hint=hint)
    _check(checkpoint, signatures, keys, source)
    return checkpoint


def verifier_key(channel_id: str, public: str) -> str:
    """Return the key as other readers of signed notes want it: name, key id, base64 of type and key."""
    name, raw = f"counterpoint/{channel_id}", raw_public(public)
    return f"{name}+{_key_id(name, raw).hex()}+{base64.b64encode(_ED25519 + raw).decode()}"


def _check(checkpoint: Checkpoint, signatures: str, keys: Sequence[str], source: str) -> None:
    name = f"counterpoint/{checkpoint.channel_id}"
    lines = signatures.splitlines(keepends=True)
    if not lines or len(lines) > _MAX_SIGNATURES or not all(_SIGNATURE.fullmatch(line) for line in lines):
        raise RecordError(f"{source} has no signature lines as a signed note has them", hint="take the note whole")
    try:
        known = {_key_id(name, raw): raw for raw in map(raw_public, keys)}
    except NotSigned as error:
        raise RecordError(str(error)) from None
    is_signed = False
    for line in lines:
        signer, _, encoded = line[2:-1].partition(" ")
        signature = _signature(encoded)
        raw = known.get(signature[:_KEY_ID_BYTES])
        if signer != name or raw is None:
            continue
        if not check_raw(raw, _text(checkpoint), signature[_KEY_ID_BYTES:]):
            raise RecordError(
                f"{source}: the signature of {signer} is not of this text", hint="do not trust this note"
            )
        is_signed = True
    if not is_signed:
        raise RecordError(
            f"{source} is signed by none of the {len(keys)} keys that may", hint="name the key of whoever signed it"
        )


def _signature(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except ValueError:
        return b""


def _text(checkpoint: Checkpoint) -> bytes:
    root = base64.b64encode(bytes.fromhex(checkpoint.head)).decode()
    return (
        f"counterpoint/{checkpoint.channel_id}\n{checkpoint.n + 1}\n{root}\ngenesis {checkpoint.genesis}\n"
    ).encode()


def _key_id(name: str, raw: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + raw).digest()[:_KEY_ID_BYTES]
