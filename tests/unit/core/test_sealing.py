"""Seals: what was committed to opens them, and nothing else does (SECURITY B.1)."""

import hashlib

import pytest

from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import Evidence, EvidenceStatus, PathCheck
from counterpoint.core.codec import encode_value
from counterpoint.core.sealing import SALT_HEX, opens, seal, seal_evidence

SALT = "00ff" * 8


def test_a_seal_is_the_digest_of_salt_and_reply() -> None:
    """Anybody can recompute it with a shell: `SHA-256(16 bytes of salt, then the reply)`."""
    assert len(SALT) == SALT_HEX
    assert seal(SALT, b"{}") == hashlib.sha256(b"\x00\xff" * 8 + b"{}").hexdigest()


def test_salt_and_reply_open_the_seal() -> None:
    """The way back of the test above (SECURITY B.1)."""
    assert opens(seal(SALT, b"{}"), SALT, b"{}")


@pytest.mark.parametrize(
    ("salt", "content"),
    [
        (SALT, b"{} "),
        ("11ff" + SALT[4:], b"{}"),
        (SALT.upper(), b"{}"),
        (SALT + "00", b"{}"),
        (SALT[:-2], b"\xff{}"),
        ("", b""),
        ("zz" * 16, b"{}"),
        ("00 ff" * 6 + "00", b"{}"),
        (SALT + "\n", b"{}"),
    ],
    ids=["reply", "salt", "capitals", "long", "shifted", "empty", "not hex", "spaces", "newline"],
)
def test_anything_else_does_not_open_it(salt: str, content: bytes) -> None:
    """Also a salt that is not written as salts are: no two spellings of one seal, and no untyped error."""
    assert not opens(seal(SALT, b"{}"), salt, content)


@pytest.mark.parametrize("salt", ["", SALT[:-1], SALT + "00", SALT.upper(), "zz" * 16])
def test_a_salt_that_is_none_is_our_own_mistake(salt: str) -> None:
    """The driver makes salts; a reply cannot choose one."""
    with pytest.raises(AssertionError, match="a salt is 32 hex digits"):
        seal(salt, b"{}")


def test_what_code_found_is_sealed_in_its_order() -> None:
    """By the same salt, as the canonical text of a list (SECURITY B.1)."""
    found = [
        Evidence(request=PathCheck(path=path, line=None, candidate="c"), status=EvidenceStatus.VERIFIED, detail="d")
        for path in ("a", "b")
    ]
    text = canonical_json([encode_value(each) for each in found])
    assert seal_evidence(SALT, found) == seal(SALT, text.encode())
    assert len({seal_evidence(SALT, each) for each in (found, found[::-1], found[:1], [])}) == 4
