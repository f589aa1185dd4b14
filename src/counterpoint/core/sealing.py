"""Sealing: commit to a reply before anybody else's is known, and open it later.

The seal is the SHA-256 of a random salt and the reply's bytes. The salt keeps a short reply from being guessed.
"""

from counterpoint.core.canonical import digest

__all__ = ["SALT_HEX", "opens", "seal"]

SALT_HEX = 32
"""Hex digits of a salt: 128 bits."""


def seal(salt: str, content: bytes) -> str:
    """Return the digest that commits to `content`."""
    assert len(salt) == SALT_HEX, f"salt of {len(salt)} hex digits"
    return digest(bytes.fromhex(salt) + content)


def opens(sealed: str, salt: str, content: bytes) -> bool:
    """Return whether `salt` and `content` are what `sealed` committed to."""
    return len(salt) == SALT_HEX and seal(salt, content) == sealed
