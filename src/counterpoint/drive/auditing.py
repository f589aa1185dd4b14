"""Is a shared channel in order? What the public tool's `verify` looks at, and what it leaves out (SPEC C-044, C-141).

As the public tool: numbers within each file, and the doorbell against the channel file. Beyond it:

- the channel file against the archives: no number twice with other bytes, none missing, none beyond the doorbell;
- every entry against the rules: turns, openers, the cap, names and types; then the doorbell against what follows;
- the chain, where Counterpoint began the channel, and what this machine remembers of it.

What is numbered wrongly is not held against the rules: there is no order to replay it in. It never repairs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, pairwise
from operator import attrgetter, eq
from typing import Any, Final

from counterpoint.drive.channels import FileStore, beside, parties_of
from counterpoint.errors import ConfigError, RecordError
from counterpoint.frozen import dataclass
from counterpoint.protocols.mailbox import Parties
from counterpoint.protocols.mailbox.replay import replay
from counterpoint.record.bell import read_bell
from counterpoint.record.contents import Everything
from counterpoint.record.findings import Finding, Level, Verification
from counterpoint.record.header import parse_stamp
from counterpoint.record.listing import Listed
from counterpoint.record.names import bell_file, channel_file
from counterpoint.record.settings import CASE_VERSION
from counterpoint.record.speakers import Vouch

__all__ = ["Audit", "audit"]

_SAID: Final = attrgetter("n", "sender", "type", "thread", "is_ours")
"""Takes from a `Listed` what `replay` has to know."""
_NUMBER: Final = attrgetter("n")
_MANY: Final = 20
"""Findings of one kind after which the rest is only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What there is to say of a channel."""

    findings: tuple[Finding, ...]
    chain: Verification | None
    """`None`: the public tool began it, or the chain does not hold."""

    @property
    def is_clean(self) -> bool:
        return all(finding.level is not Level.ANOMALY for finding in self.findings)


def audit(
    store: FileStore, channel: str, *, now: str, found: Everything | None = None, vouch: Vouch | None = None
) -> Audit:
    """Look through a channel, and remember the head of its chain.

    Args:
        store: where it is kept.
        channel: its name.
        now: the stamp of this moment.
        found: its files, where the caller holds the channel and has read them.
        vouch: says, from elsewhere, which key a party may sign with at a time.

    Raises:
        RecordError: there is no such folder, or a writer held the channel for too long.
    """
    found = found or store.everything(channel)
    unreadable = _unreadable(found)
    chain, broken = None, None
    if not unreadable:
        # The chain before the rows: the one scan of each file takes these down.
        try:
            chain = store.verify_shared(channel, found, now=now, vouch=vouch)
        except RecordError as error:
            broken = error
    rows: _Rows = {
        name or channel_file(channel): unreadable.get(name) or listing.rows()
        for name, listing in found.listings.items()
    }
    findings = [*_numbered(channel, rows), *_doorbell(store.root, channel, found, rows)]
    if not unreadable:
        findings += _of_chain(chain, rows) if broken is None else [_anomaly("chain", str(broken))]
        if vouch and chain is None and broken is None:
            findings.append(_anomaly("not-vouched-for", "no entry is signed: the public tool began this channel"))
        findings += _together(found, rows)
        if not any(finding.level is Level.ANOMALY for finding in findings):
            findings += _by_rules(store, channel, found, rows, chain)
    return Audit(findings=tuple(findings), chain=chain)


_Rows = Mapping[str, Sequence[Listed] | UnicodeDecodeError]
"""By file, the channel file first: its entries, or why they cannot be read."""


def _unreadable(found: Everything) -> Mapping[str, UnicodeDecodeError]:
    """Return by archive name, "" for the channel file, why a file is no text."""
    files = (("", found.content or b""), *found.archives)
    return {name: error for name, content in files if (error := _why_no_text(content))}


def _why_no_text(content: bytes) -> UnicodeDecodeError | None:
    try:
        if not content.isascii():
            content.decode()
    except UnicodeDecodeError as error:
        return error
    return None


def _numbered(channel: str, rows: _Rows) -> Iterator[Finding]:
    for name, listed in rows.items():
        if isinstance(listed, UnicodeDecodeError):
            yield _anomaly("unreadable-record", f"{name}: {listed}")
            continue
        if _is_in_order(listed):
            continue
        seen: set[int] = set()
        for row in listed:
            if row.n in seen:
                yield _anomaly("duplicate-seq", f"{name}: MSG-{row.n} appears more than once")
            seen.add(row.n)
        for low, high in pairwise(sorted(seen)):
            if high != low + 1:
                detail = f"{name}: MSG-{low} -> MSG-{high} (legitimate after a by-thread compaction)"
                yield Finding(level=Level.INFO, code="gap", detail=detail)


def _is_in_order(listed: Sequence[Listed]) -> bool:
    """Say whether each number is one more than the one before."""
    return all(map(eq, map(_NUMBER, listed), count(listed[0].n))) if listed else True


def _doorbell(root: str, channel: str, found: Everything, rows: _Rows) -> Iterator[Finding]:
    name = bell_file(channel)
    if found.bell is None:
        detail = f"{name} is absent; the mailbox-ahead check needs it and was skipped"
        yield Finding(level=Level.INFO, code="no-doorbell", detail=detail)
        return
    bell = read_bell(found.bell)
    if bell is None:
        reason = _why_unreadable(found.bell)
        yield _anomaly(
            "unreadable-doorbell", f"{name}: refused: unreadable signal file {beside(root, name)}: {reason}"
        )
        return
    listed = rows.get(channel_file(channel), ())
    newest = 0 if isinstance(listed, UnicodeDecodeError) else max(map(_NUMBER, listed), default=0)
    if newest > bell[0]:
        yield _anomaly(
            "mailbox-ahead-of-doorbell",
            f"mailbox holds MSG-{newest} but the doorbell is at seq {bell[0]}; "
            "an entry was written without going through post()",
        )


def _why_unreadable(content: bytes) -> str:
    """Return what Python says of a doorbell that is no object, which is what the public tool prints."""
    try:
        value = json.loads(content.decode())
        fields: dict[str, Any] = dict(value)
    except (ValueError, TypeError, RecursionError) as error:
        return str(error)
    return f"seq is {fields.get('seq')!r}"


def _of_chain(chain: Verification | None, rows: _Rows) -> Iterator[Finding]:
    if chain is not None:
        # The numbers and the doorbell are looked at in the public tool's way.
        said = {"mailbox-ahead-of-doorbell", "doorbell-ahead", "copied-entry"}
        yield from (finding for finding in chain.findings if finding.code not in said)
        return
    ours = next((row.n for listed in rows.values() for row in _entries(listed) if row.is_ours), None)
    if ours is not None:
        yield _anomaly("chain", f"the genesis entry is missing; MSG-{ours} is chained to it")


def _entries(listed: Sequence[Listed] | UnicodeDecodeError) -> Sequence[Listed]:
    return () if isinstance(listed, UnicodeDecodeError) else listed


def _together(found: Everything, rows: _Rows) -> Iterator[Finding]:
    """Hold channel file, archives and doorbell against each other (SPEC C-141)."""
    contents = dict(found.archives)
    if not contents:  # there is nothing else to hold the channel file against
        yield from _whole(found, sorted({n for one in rows.values() for n in map(_NUMBER, _entries(one)) if n > 0}))
        return
    places: dict[int, tuple[str, bytes]] = {}
    for name, listed in rows.items():
        content = contents.get(name, found.content or b"")
        for row in _entries(listed):
            block = content[row.at : row.end]
            file, other = places.setdefault(row.n, (name, block))
            if file != name and other == block:
                detail = f"MSG-{row.n} lies in {file} and in {name}, the same bytes: a compaction was cut short"
                yield Finding(level=Level.WARNING, code="copied-entry", detail=detail, entry=row.n)
            elif file != name:
                yield _anomaly("duplicate-seq", f"MSG-{row.n} in {name} is not the MSG-{row.n} in {file}", row.n)
    numbers = sorted(number for number in places if number > 0)
    yield from _whole(found, numbers)


def _whole(found: Everything, numbers: Sequence[int]) -> Iterator[Finding]:
    """Say which numbers are missing, and whether the doorbell knows of more."""
    yield from _missing(numbers)
    bell = read_bell(found.bell)
    newest = max(numbers, default=0)
    if bell is not None and bell[0] > newest:
        yield _anomaly("doorbell-ahead", f"the doorbell is at seq {bell[0]}; the record ends at MSG-{newest}")


def _missing(numbers: Sequence[int]) -> Iterator[Finding]:
    if not numbers or numbers[-1] == len(set(numbers)):
        return
    for low, high in pairwise([0, *numbers]):
        if high > low + 1:
            gone = f"MSG-{low + 1}" if high == low + 2 else f"MSG-{low + 1} to MSG-{high - 1}"
            yield _anomaly("missing-entry", f"{gone}: neither in the channel file nor in an archive", low + 1)


def _by_rules(
    store: FileStore, channel: str, found: Everything, rows: _Rows, chain: Verification | None
) -> Iterator[Finding]:
    try:
        settings = store.settings(channel)
        if settings.get("managed_version") == CASE_VERSION and chain is not None and chain.mode == "strict":
            detail = "the entries of a case are held against its rules by `counterpoint verify`"
            yield Finding(level=Level.INFO, code="case", detail=detail)
            return
        parties = parties_of(store, channel)
    except (ConfigError, RecordError) as error:
        if not rows or (channel == "" and not any(rows.values())):
            return
        yield _anomaly("unreadable-config", f"turns and caps cannot be checked: {error}")
        return
    if not parties.brokered:  # the public tool's controller has rules of its own
        yield from _replayed(parties, found, _in_order(rows), is_chained=chain is not None)


def _in_order(rows: _Rows) -> Sequence[Listed]:
    if len(rows) == 1 and _is_in_order(only := _entries(*rows.values())):
        return only[max(0, 1 - only[0].n) :] if only else ()
    found = {row.n: row for listed in rows.values() for row in _entries(listed)}
    return [found[n] for n in sorted(found) if n > 0]


def _replayed(parties: Parties, found: Everything, rows: Sequence[Listed], *, is_chained: bool) -> Iterator[Finding]:
    breaches, states = replay(parties, map(_SAID, rows), is_chained=is_chained)
    for breach in breaches[:_MANY]:
        yield _anomaly("rule-broken", f"MSG-{breach.n}: {breach.reason} [{breach.rule}]", breach.n)
    if len(breaches) > _MANY:
        yield _anomaly("rule-broken", f"{len(breaches) - _MANY} more entries break a rule")
    bell = read_bell(found.bell)
    if bell is not None and not breaches and bell[0] == (rows[-1].n if rows else 0):
        turn, thread = str(bell[1].get("turn", "")), str(bell[1].get("thread", ""))
        if not any((state.turn, state.thread) == (turn, thread) for state in states):
            state = min(states, key=lambda one: (one.thread, one.turn))
            yield _anomaly(
                "doorbell-disagrees",
                f"the doorbell says turn {turn!r} in thread {thread!r}; "
                f"the record comes to turn {state.turn!r} in thread {state.thread!r}",
            )
    yield from _stamps(rows)


def _stamps(rows: Sequence[Listed]) -> Iterator[Finding]:
    back = [(low.n, high.n) for low, high in pairwise(rows) if _is_back(low.stamp, high.stamp)]
    if back:
        before, after = back[0]
        detail = f"MSG-{after} is stamped before MSG-{before}; {len(back)} stamps go back"
        yield Finding(level=Level.INFO, code="stamp-order", detail=detail, entry=after)


def _is_back(low: str, high: str) -> bool:
    # Stamps in the form that both tools write are in order as texts are.
    if low <= high:
        return False
    before, after = parse_stamp(low), parse_stamp(high)
    return before is None or after is None or after < before


def _anomaly(code: str, detail: str, entry: int | None = None) -> Finding:
    return Finding(level=Level.ANOMALY, code=code, detail=detail, entry=entry)
