"""The journal of claims, `<id>.claims`: one JSON line for each right to ask that was ever taken.

A line is on disk before the call that it stands for, so that a driver that dies while it asks still counts. A last
line without its end was never acknowledged: it is passed over, and cut by the next claim.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from counterpoint.core.canonical import NotCanonical, canonical_json, parse_json
from counterpoint.errors import RecordError
from counterpoint.record.fs import Access, Files, Folder
from counterpoint.record.safe import open_own, open_plain, read_all, write_all
from counterpoint.record.store import Claim

__all__ = ["add_claims", "next_claim", "read_claims"]

_MAX_LINE = 64 * 1024


def next_claim(before: Sequence[Claim], turn: str, *, driver: str, until: datetime) -> Claim:
    """Return the claim that follows those made before."""
    attempt = 1 + sum(claim.turn == turn for claim in before)
    return Claim(turn=turn, driver=driver, attempt=attempt, until=until)


def add_claims(
    fs: Files, folder: Folder, name: str, turns: Sequence[tuple[str, datetime]], *, driver: str
) -> tuple[Claim, ...]:
    """Put the next claim of each of these turns on disk, all at once; the caller holds the channel's lock."""
    fd = open_own(fs, folder, name, Access.KEEP)
    try:
        content = read_all(fs, fd)
        whole = content[: content.rfind(b"\n") + 1]
        if not content:
            fs.sync(folder)
        if len(whole) < len(content):
            fs.truncate(fd, len(whole))
        claims = list(_read(whole, folder.of(name)))
        before = len(claims)
        for turn, until in turns:
            claims.append(next_claim(claims, turn, driver=driver, until=until))
        write_all(fs, fd, b"".join(map(_line, claims[before:])), len(whole))
        fs.sync(fd)
    finally:
        fs.close(fd)
    return tuple(claims[before:])


def read_claims(fs: Files, folder: Folder, name: str) -> tuple[Claim, ...]:
    """Return every claim, oldest first.

    Raises:
        RecordError: a line that is whole is no claim.
    """
    try:
        fd = open_plain(fs, folder, name)
    except FileNotFoundError:
        return ()
    try:
        content = read_all(fs, fd)
    finally:
        fs.close(fd)
    return _read(content[: content.rfind(b"\n") + 1], folder.of(name))


def _line(claim: Claim) -> bytes:
    fields = {
        "attempt": claim.attempt,
        "driver": claim.driver,
        "turn": claim.turn,
        "until": claim.until.isoformat(),
    }
    return canonical_json(fields).encode() + b"\n"


def _read(content: bytes, source: str) -> tuple[Claim, ...]:
    return tuple(_parse(line, f"{source}:{number}") for number, line in enumerate(content.splitlines(), 1))


def _parse(line: bytes, source: str) -> Claim:
    try:
        return _claim_in(line)
    except (NotCanonical, ValueError) as error:
        raise RecordError(f"{source}: {error}", hint="restore the journal of claims from a copy") from None


@lru_cache(maxsize=1024)
def _claim_in(line: bytes) -> Claim:
    """Return what a line says; each is read again for every claim that follows it.

    Raises:
        ValueError: it is no claim.
    """
    match parse_json(line, max_bytes=_MAX_LINE):
        case {"attempt": int(attempt), "driver": str(driver), "turn": str(turn), "until": str(until)}:
            return Claim(turn=turn, driver=driver, attempt=attempt, until=datetime.fromisoformat(until))
        case other:
            raise ValueError(f"{other!r} is no claim")
