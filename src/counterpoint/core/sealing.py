"""Sealing: commit to a reply before anybody else's is known, and open it later.

The seal is the SHA-256 of a random salt and the reply's bytes. The salt keeps a short reply from being guessed. What
code found for a reply is sealed with it, by the same salt.
"""

import re
from collections.abc import Sequence
from typing import Final

from counterpoint.core.canonical import canonical_json, digest
from counterpoint.core.codec import encode_value
from counterpoint.core.edits import CheckResult

__all__ = ["SALT_HEX", "opens", "seal", "seal_evidence"]

SALT_HEX: Final = 32
"""Hex digits of a salt: 128 bits."""

_SALT: Final = re.compile(f"[0-9a-f]{{{SALT_HEX}}}")


def seal(salt: str, content: bytes) -> str:
    """Return the digest that commits to `content`."""
    assert _SALT.fullmatch(salt), f"a salt is {SALT_HEX} hex digits, not {salt!r}"
    return digest(bytes.fromhex(salt) + content)


def opens(sealed: str, salt: str, content: bytes) -> bool:
    """Return whether `salt` and `content` are what `sealed` committed to."""
    return _SALT.fullmatch(salt) is not None and seal(salt, content) == sealed


def seal_evidence(salt: str, evidence: Sequence[CheckResult]) -> str:
    """Return the digest that commits to what code found for a reply, in this order."""
    return seal(salt, canonical_json([encode_value(each) for each in evidence]).encode())
