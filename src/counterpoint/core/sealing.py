"""Sealing: commit to a reply before anybody else's is known, and open it later.

The seal is the SHA-256 of a random salt and the reply's bytes. The salt keeps a short reply from being guessed.
"""

import re
from typing import Final

from counterpoint.core.canonical import digest

__all__ = ["SALT_HEX", "opens", "seal"]

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
