"""A person's leave to send something outside this machine (DESIGN "Consent", SPEC B-08 and B-18).

A grant says who, when, to which destination, what, from which repository, and until when. Grants lie in the state
folder alone, so no repository can forge one; the case records a copy and its digest. `local` needs none.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from counterpoint.core.canonical import canonical_json, digest
from counterpoint.drive.answers import AnswerBook, unreadable
from counterpoint.drive.clock import format_stamp, parse_stamp
from counterpoint.drive.credentials import looks_like_credential
from counterpoint.drive.settings import LOCAL
from counterpoint.drive.shapes import DESTINATION
from counterpoint.errors import ConfigError

__all__ = ["DEFAULT_LENGTH", "ConsentBook", "Grant", "KeptGrant", "Scope", "make_grant"]

_VERSION: Final = 1
_FIELDS: Final = frozenset({"destination", "scope", "repository", "by", "granted_at", "until", "nonce"})
DEFAULT_LENGTH: Final = timedelta(days=30)
_NONCE: Final = re.compile(r"[0-9a-f]{8,64}")
_SHORTEST: Final = timedelta(seconds=1)
_LONGEST: Final = timedelta(days=366)


class Scope(StrEnum):
    """What may be sent."""

    CHANGE = "change under review"
    TREE = "whole tree"
    TEXT = "question and texts"

    def covers(self, other: "Scope") -> bool:
        return self in {Scope.TREE, other}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One leave, valid from `granted_at` until just before `until`."""

    destination: str
    scope: Scope
    repository: str
    """The resolved path of its top folder as `paths.path_text` gives it, or its remote."""
    by: str
    """Login name."""
    granted_at: str
    until: str
    nonce: str
    """8 to 64 random hex digits, so that no two grants are the same bytes."""

    def fields(self) -> Mapping[str, Any]:
        return {"v": _VERSION, **asdict(self)}

    @property
    def digest(self) -> str:
        """SHA-256 of the grant's canonical JSON, as the case records it."""
        return digest(canonical_json(self.fields()).encode())

    def is_valid(self, now: datetime) -> bool:
        start, end = parse_stamp(self.granted_at), parse_stamp(self.until)
        return start is not None and end is not None and start <= now < end

    def covers(self, *, destination: str, repository: str, scope: Scope) -> bool:
        same = (self.destination, self.repository) == (destination, repository)
        return same and self.scope.covers(scope)


def make_grant(
    *,
    destination: str,
    scope: Scope,
    repository: str,
    by: str,
    now: datetime,
    length: timedelta = DEFAULT_LENGTH,
    nonce: str,
) -> Grant:
    """Return a grant without keeping it: `--consent` grants for one run and leaves nothing behind.

    Raises:
        ConfigError: the destination needs no grant or cannot be one, or the length is out of range.
    """
    if destination == LOCAL or not DESTINATION.fullmatch(destination):
        expected = "a provider's name in lower-case letters, digits, dots and hyphens; 'local' needs no consent"
        raise ConfigError("destination", expected, got=destination[:80])
    assert _NONCE.fullmatch(nonce), "a nonce is random hex"
    if not _SHORTEST <= length <= _LONGEST:
        raise ConfigError("length", f"from one second to {_LONGEST.days} days", got=str(length))
    if looks_like_credential(repository) or repository != repository.encode("utf-8", "replace").decode():
        raise ConfigError("repository", "a path or a remote in UTF-8 without a password in it")
    return Grant(
        destination=destination,
        scope=scope,
        repository=repository,
        by=by,
        granted_at=format_stamp(now),
        until=format_stamp(now.replace(microsecond=0) + length),
        nonce=nonce,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptGrant:
    grant: Grant
    is_revoked: bool


class ConsentBook:
    """The grants in one person's state folder."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._book = AnswerBook(state, "consent")

    def keep(self, grant: Grant) -> None:
        self._book.keep(grant.fields())

    def grants(self) -> tuple[KeptGrant, ...]:
        """Return every grant ever kept, oldest first: expired and revoked ones too.

        Raises:
            ConfigError: one of them is damaged.
        """
        found = [
            KeptGrant(grant=self._parse(kept.fields, kept.digest), is_revoked=kept.is_revoked)
            for kept in self._book.all()
        ]
        return tuple(sorted(found, key=lambda kept: (kept.grant.granted_at, kept.grant.nonce)))

    def find(self, *, destination: str, repository: str, scope: Scope, now: datetime) -> Grant | None:
        """Return the grant that covers this and runs longest, or None.

        Raises:
            ConfigError: a kept grant is damaged; then nothing is granted.
        """
        covering = [
            kept.grant
            for kept in self.grants()
            if not kept.is_revoked
            and kept.grant.is_valid(now)
            and kept.grant.covers(destination=destination, repository=repository, scope=scope)
        ]
        return max(covering, key=lambda grant: grant.until, default=None)

    def revoke(self, prefix: str, *, by: str, now: datetime) -> Grant:
        """Revoke the grant whose digest begins with `prefix`, and return it."""
        kept = self._book.revoke(prefix, by=by, now=now)
        return self._parse(kept.fields, kept.digest)

    def _parse(self, fields: Mapping[str, Any], name: str) -> Grant:
        texts = {key: value for key, value in fields.items() if key in _FIELDS and isinstance(value, str)}
        is_grant = fields.get("v") == _VERSION and fields.keys() == {"v", *_FIELDS} and texts.keys() == _FIELDS
        if not is_grant or texts["scope"] not in list(Scope) or not _NONCE.fullmatch(texts["nonce"]):
            raise self._no_grant(name)
        if parse_stamp(texts["granted_at"]) is None or parse_stamp(texts["until"]) is None:
            raise self._no_grant(name)
        return Grant(
            destination=texts["destination"],
            scope=Scope(texts["scope"]),
            repository=texts["repository"],
            by=texts["by"],
            granted_at=texts["granted_at"],
            until=texts["until"],
            nonce=texts["nonce"],
        )

    def _no_grant(self, name: str) -> ConfigError:
        path = self._state / "consent" / f"{name}.json"
        return unreadable(path, f"a grant of version {_VERSION}", "other fields")
