"""Who may sign for whom, and when, from a file that is not the record's: OpenSSH's `allowed_signers` (SECURITY R14).

    claude valid-before="20270101Z" ssh-ed25519 AAAA… the key until the laptop was stolen
    claude valid-after="20270101Z",namespaces="counterpoint-entry-v1" ssh-ed25519 AAAA…

`ssh-keygen -Y verify -f` reads the same file. What is not read here is refused rather than passed over: patterns and
certificates in what names a party, times without a `Z` (they mean another moment on every machine), other options.
Lines for other keys than Ed25519, or for other purposes, vouch for nothing here.
"""

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

from counterpoint.errors import RecordError
from counterpoint.record.signing import NAMESPACE, NotSigned, fingerprint, raw_public

__all__ = ["MAX_ALLOWED", "AllowedSigners", "read_allowed"]

MAX_ALLOWED: Final = 1 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_ONE = r'[a-z-]+(?:="[^"]*")?'
_OPTION = re.compile(_ONE)
_LINE = re.compile(
    rf"\s*(?P<names>\S+)\s+(?:(?P<options>{_ONE}(?:,{_ONE})*)\s+)?"
    r"(?P<kind>(?:ssh|sk|ecdsa)-\S+)\s+(?P<key>\S+)(?:\s.*)?"
)
_TIME = re.compile(r"\d{8}(?:\d{4}(?:\d\d)?)?Z")
_TIME_FORMS: Final = {9: "%Y%m%dZ", 13: "%Y%m%d%H%MZ", 15: "%Y%m%d%H%M%SZ"}
_KIND: Final = "ssh-ed25519"


class _Allowed(NamedTuple):
    party: str
    key: str
    after: str
    """A stamp, or "" where it was valid from the beginning."""
    before: str
    """A stamp, or "" where it does not end."""


class AllowedSigners:
    """What a file allows."""

    def __init__(self, allowed: tuple[_Allowed, ...]) -> None:
        self._allowed = allowed
        self.parties = frozenset(one.party for one in allowed)

    def fault(self, sender: str, key: str, stamp: str) -> str:
        """Return why `key` ("": none) does not stand for what `sender` said at `stamp`; "" where it does.

        Parties that the file does not name are not held to it.
        """
        if sender not in self.parties:
            return ""
        if not key:
            return "it is not signed"
        reason = f"{fingerprint(key)} is not its key there"
        for one in self._allowed:
            if (one.party, one.key) == (sender, key):
                if one.after <= stamp and (not one.before or stamp < one.before):
                    return ""
                span = f"from {one.after or 'the beginning'} until {one.before or 'ever'}"
                reason = f"{fingerprint(key)} is its key {span}; this was said at {stamp}"
        return reason


def read_allowed(content: bytes, *, source: str) -> AllowedSigners:
    """Return what an `allowed_signers` file allows.

    Raises:
        RecordError: a line is not one that we read, or the file is no text.
    """
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise RecordError(
            f"{source} is not UTF-8 at byte {error.start}", hint="name an allowed_signers file"
        ) from None
    found: list[_Allowed] = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                found += _read(line)
            except (_Unread, ValueError) as error:
                raise RecordError(
                    f"{source} line {number}: {error}",
                    hint='write `PARTY valid-before="20270101Z" ssh-ed25519 AAAA…`',
                ) from None
    return AllowedSigners(tuple(found))


class _Unread(Exception):
    """Why a line is not one that we read."""


def _read(line: str) -> list[_Allowed]:
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise _Unread("it is not a party, options and a public key")
    known = _options(parts["options"] or "")
    parties = parts["names"].split(",")
    for name in parties:
        if not _NAME.fullmatch(name):
            raise _Unread(f"{name!r} is no name of a party")
    if parts["kind"] != _KIND or NAMESPACE not in known.get("namespaces", NAMESPACE).split(","):
        return []
    key = f"{_KIND} {parts['key']}"
    try:
        raw_public(key)
    except NotSigned as error:
        raise _Unread(str(error)) from None
    after, before = _stamp(known.get("valid-after", "")), _stamp(known.get("valid-before", ""))
    return [_Allowed(party, key, after, before) for party in parties]


def _options(text: str) -> dict[str, str]:
    found = {name: value for name, _, value in (one.partition("=") for one in _OPTION.findall(text))}
    if unread := found.keys() - {"namespaces", "valid-after", "valid-before"}:
        raise _Unread(f"the option {', '.join(sorted(unread))} is not read here")
    return {name: value.strip('"') for name, value in found.items()}


def _stamp(text: str) -> str:
    if not text:
        return ""
    if not _TIME.fullmatch(text):
        raise _Unread(f"{text!r} is no time in UTC, as 20270101Z or 202701011230Z")
    return datetime.strptime(text, _TIME_FORMS[len(text)]).replace(tzinfo=UTC).isoformat(timespec="seconds")
