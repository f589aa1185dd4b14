"""Signatures over entries: SSHSIG with Ed25519.

- What `ssh-keygen -Y sign -n counterpoint-entry-v1` makes, byte for byte, without the armour lines: the blob as
  canonical base64. Stock `ssh-keygen -Y verify` accepts it (SECURITY B.2; docs/record.md has the three lines).
- The key inside a signature is never trusted by itself: it must be one that the genesis entry names.
- A private key is a file in OpenSSH's own form, so that `ssh-keygen` can use it too.

`cryptography` is imported inside the functions: it costs a cold start some 40 ms that reading does not need.
"""

import base64
import hashlib
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from counterpoint.errors import RecordError

__all__ = [
    "NAMESPACE",
    "SEED_BYTES",
    "NotSigned",
    "Signer",
    "check",
    "check_raw",
    "fingerprint",
    "is_locked",
    "load_key",
    "make_key",
    "public_of",
    "raw_public",
]

NAMESPACE: Final = "counterpoint-entry-v1"
SEED_BYTES: Final = 32

_ALGORITHM = b"ssh-ed25519"
_FORM = [b"OPENSSH", b"PRIVATE", b"KEY-----"]
_HEAD, _FOOT = [b"-----BEGIN", *_FORM], [b"-----END", *_FORM]
_PREFIX = f"{_ALGORITHM.decode()} "
_KEY_BYTES = 32
_SIGNATURE_BYTES = 64


_PUBLIC = b"\0\0\0\x0b" + _ALGORITHM + b"\0\0\0\x20"
_MAGIC = b"openssh-key-v1\0"
_OPEN = _MAGIC + b"\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01\0\0\0\x33" + _PUBLIC
"""How an Ed25519 key file without passphrase begins, up to the public key."""
_SEED_AT = _KEY_BYTES + 4 + 8 + len(_PUBLIC) + _KEY_BYTES + 4
"""Where, behind that, the seed lies: after the public key, a length, two checks, and the public key once more."""


class NotSigned(ValueError):
    """The signature does not stand for these bytes; `str()` says why."""


class Signer:
    """Signs with one Ed25519 key, wherever it is kept.

    Args:
        raw_public: the 32 bytes of its public half.
        sign_raw: returns the bare signature of what it is given.
    """

    def __init__(self, raw_public: bytes, sign_raw: Callable[[bytes], bytes]) -> None:
        self.raw_public = raw_public
        self.sign_raw = sign_raw
        """Returns the bare Ed25519 signature of its argument, as a signed note carries it."""
        self.public = public_line(raw_public)
        """The key as a line of `authorized_keys`, without comment."""

    def sign(self, content: bytes) -> str:
        """Return the base64 of the SSHSIG blob over `content`."""
        blob = _blob(self.raw_public, self.sign_raw(_to_sign(content)))
        return base64.b64encode(blob).decode()


def make_key(seed: bytes) -> bytes:
    """Return a private key file, in OpenSSH's form, of the key that `seed` (32 random bytes) stands for."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    assert len(seed) == SEED_BYTES, len(seed)
    key = Ed25519PrivateKey.from_private_bytes(seed)
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


_NEW_KEY = "move the file away; a new key is made then, and channels signed before keep the old one"


def load_key(content: bytes, *, source: str, hint: str = _NEW_KEY) -> Signer:
    """Return the signer of a private key file.

    Args:
        content: of the file.
        source: its path, for messages.
        hint: what to do where it holds no such key; by default it is this machine's own.

    Raises:
        RecordError: `content` is not an unencrypted Ed25519 key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if seed := _seed_in(content):
        known = Ed25519PrivateKey.from_private_bytes(seed)
        return Signer(known.public_key().public_bytes_raw(), known.sign)

    # The key file that we make never comes here, and a cold start pays 15 ms for this.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    try:
        key = load_ssh_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise RecordError(f"{source} holds no private key that can be read: {error}", hint=hint) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise RecordError(f"{source} holds a {type(key).__name__}; an Ed25519 key is needed", hint=hint)
    return Signer(key.public_key().public_bytes_raw(), key.sign)


def is_locked(content: bytes) -> bool:
    """Say whether a private key file has a passphrase."""
    blob = _key_blob(content)
    return blob is not None and blob.startswith(_MAGIC) and not blob.startswith(_OPEN[: len(_MAGIC) + 8])


def public_of(content: bytes) -> str | None:
    """Return the public key line in a private key file, which no passphrase covers, or in a public one.

    `None`: it holds no Ed25519 key in OpenSSH's form.
    """
    words = content.split(None, 2)[:2]
    if len(words) == len(("type", "key")) and words[0] == _ALGORITHM:
        line = b" ".join(words).decode("ascii", "replace")
        try:
            raw_public(line)
        except NotSigned:
            return None
        return line
    blob = _key_blob(content)
    if blob is None or not blob.startswith(_MAGIC):
        return None
    # cipher, kdf and its options, the number of keys, then the public one.
    at = len(_MAGIC)
    for _ in range(3):
        at += 4 + int.from_bytes(blob[at : at + 4])
    start = struct.pack(">II", 1, len(_PUBLIC) + _KEY_BYTES) + _PUBLIC
    raw = blob[at + len(start) :][:_KEY_BYTES]
    return public_line(raw) if blob[at:].startswith(start) and len(raw) == _KEY_BYTES else None


def fingerprint(line: str) -> str:
    """Return the fingerprint of a public key line as `ssh-keygen -l` shows it."""
    hashed = hashlib.sha256(base64.b64decode(line.removeprefix(_PREFIX))).digest()
    return f"SHA256:{base64.b64encode(hashed).decode().rstrip('=')}"


def _seed_in(content: bytes) -> bytes | None:
    """Return the seed in a key file as `make_key` writes it, whatever its comment; `None`: it is of another form."""
    blob = _key_blob(content)
    if blob is None:
        return None
    start, rest = blob[: len(_OPEN)], blob[len(_OPEN) :]
    public, seed = rest[:_KEY_BYTES], rest[_SEED_AT : _SEED_AT + SEED_BYTES]
    private = rest[_KEY_BYTES + 4 :]
    is_ours = (
        start == _OPEN
        and private[:4] == private[4:8]
        and private[8 : 8 + len(_PUBLIC)] == _PUBLIC
        and private[8 + len(_PUBLIC) :][:_KEY_BYTES] == public
        and rest[_SEED_AT - 4 : _SEED_AT] == struct.pack(">I", SEED_BYTES + _KEY_BYTES)
        and rest[_SEED_AT + SEED_BYTES :][:_KEY_BYTES] == public
    )
    return seed if is_ours else None


def _key_blob(content: bytes) -> bytes | None:
    lines = content.split()
    if lines[:4] != _HEAD or lines[-4:] != _FOOT:
        return None
    try:
        return base64.b64decode(b"".join(lines[4:-4]), validate=True)
    except ValueError:
        return None


def public_line(raw: bytes) -> str:
    return _PREFIX + base64.b64encode(_string(_ALGORITHM) + _string(raw)).decode()


def raw_public(line: str) -> bytes:
    """Return the 32 bytes of a public key line.

    Raises:
        NotSigned: the line is not `ssh-ed25519` and canonical base64 of such a key.
    """
    blob = _decode64(line.removeprefix(_PREFIX))
    raw = blob[-_KEY_BYTES:]
    if public_line(raw) != line:
        raise NotSigned(f"{line!r} is no ssh-ed25519 public key line")
    return raw


def check(keys: Sequence[str], content: bytes, sig: str) -> str:
    """Return the line of `keys` whose key made `sig` over `content`.

    Raises:
        NotSigned: none of them did.
    """
    blob = _decode64(sig)
    for line in keys:
        raw = raw_public(line)
        if blob.startswith(_start(raw)):
            _check_blob(raw, content, blob)
            return line
    raise NotSigned("signed by a key or for a purpose that this channel does not name")


def check_raw(raw: bytes, content: bytes, signature: bytes) -> bool:
    """Say whether `signature` is the bare Ed25519 signature of `content` by the key with these 32 bytes."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def _check_blob(raw: bytes, content: bytes, blob: bytes) -> None:
    signature = blob[-_SIGNATURE_BYTES:]
    if _blob(raw, signature) != blob:
        raise NotSigned(f"the signature is not for {NAMESPACE}")
    if not check_raw(raw, _to_sign(content), signature):
        raise NotSigned("the signature is not of these bytes")


def _string(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


_FIELDS: Final = _string(NAMESPACE.encode()) + _string(b"") + _string(b"sha512")
"""Of every blob, and of all that is signed: the namespace, nothing, and the hash."""


@lru_cache(maxsize=64)
def _start(raw: bytes) -> bytes:
    return b"SSHSIG" + struct.pack(">I", 1) + _string(_string(_ALGORITHM) + _string(raw))


def _blob(raw: bytes, signature: bytes) -> bytes:
    return _start(raw) + _FIELDS + _string(_string(_ALGORITHM) + _string(signature))


def _to_sign(content: bytes) -> bytes:
    return b"SSHSIG" + _FIELDS + _string(hashlib.sha512(content).digest())


def _decode64(text: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise NotSigned("not base64") from None
    if base64.b64encode(content).decode() != text:
        raise NotSigned("not canonical base64")
    return content
