"""What `verify` found, for people and for programs."""

from collections.abc import Iterator
from typing import Any, Final

from counterpoint.drive.verifying import Verified
from counterpoint.record.findings import Finding, Level, Verification

__all__ = ["finding_line", "json_of", "lines_of"]

_MODES: Final = {
    "strict": "strict: every byte of the file counts",
    "shared": "shared: entries of the public tool may stand between those of the chain",
    "plain": "plain: begun by the public tool, without a chain; nothing vouches for it",
}
_MAX_LINES: Final = 20
_SAID: Final = frozenset({"unsigned", "plain-entries"})
"""Findings that `lines_of` says in its own place."""


def lines_of(verified: Verified) -> Iterator[str]:
    """Yield what was verified, a line for each fact."""
    record = verified.record
    yield f"{record.channel}: {_counted(record.entries)}, {'clean' if record.is_clean else 'NOT CLEAN'}"
    yield f"  {_MODES[record.mode]}"
    yield f"  {_evident(record)}"
    yield f"  {_signed(verified)}"
    if verified.checkpoint is not None:
        yield f"  the checkpoint holds: it knows MSG-{verified.checkpoint.n}, {verified.checkpoint.head}"
    if verified.case is not None:
        outcome = verified.case.outcome
        stands = f"{outcome.decision} ({outcome.stop_reason})" if outcome.stop_reason else "the case is open"
        yield f"  the rules of {verified.case.state.case.protocol!r} accept every entry: {stands}"
    yield f"  head     MSG-{record.n} {record.head}"
    yield f"  genesis  {record.genesis_digest}"
    others = [finding for finding in record.findings if finding.code not in _SAID]
    for finding in others[:_MAX_LINES]:
        yield f"  {finding_line(finding)}"
    if len(others) > _MAX_LINES:
        yield f"  and {len(others) - _MAX_LINES} more; --json prints them all"


def finding_line(finding: Finding) -> str:
    """Return a finding as a line."""
    return finding.detail if finding.level is Level.INFO else f"{finding.level}: {finding.detail}"


def json_of(verified: Verified) -> dict[str, Any]:
    """Return what was verified as a JSON object."""
    record, case, checkpoint = verified.record, verified.case, verified.checkpoint
    genesis = record.genesis
    return {
        "channel": record.channel,
        "clean": record.is_clean,
        "mode": record.mode,
        "entries": record.entries,
        "head": {"n": record.n, "digest": record.head},
        "genesis": record.genesis_digest,
        "channel_id": genesis.channel_id if genesis else None,
        "keys": list(genesis.keys) if genesis else [],
        "own_key": verified.own_key,
        "tamper_evident_from": record.tamper_evident_from,
        "plain": list(record.plain),
        "checkpoint": None if checkpoint is None else {"n": checkpoint.n, "digest": checkpoint.head},
        "case": None
        if case is None
        else {
            "name": case.name,
            "protocol": case.state.case.protocol,
            "decision": case.outcome.decision.value,
            "stop_reason": case.outcome.stop_reason.value if case.outcome.stop_reason else None,
        },
        "findings": [
            {"level": found.level.value, "code": found.code, "detail": found.detail, "entry": found.entry}
            for found in record.findings
        ],
    }


def _counted(entries: int) -> str:
    return f"{entries} {'entry' if entries == 1 else 'entries'}"


def _evident(record: Verification) -> str:
    if record.genesis is None:
        return "tamper-evident from nowhere: there is no genesis entry"
    named = ", ".join(f"MSG-{n}" for n in record.plain)
    return f"tamper-evident from MSG-{record.tamper_evident_from}" + (
        f"; by the public tool: {named}" if named else ""
    )


def _signed(verified: Verified) -> str:
    genesis = verified.record.genesis
    if genesis is None or not (genesis.keys or genesis.party_keys):
        return "not signed: whoever can write the file can write it all anew"
    if not genesis.keys:
        return (
            f"signed only by {', '.join(sorted({party for party, _ in genesis.party_keys}))}, each with its own key"
        )
    if verified.own_key is not None:
        return f"signed with this machine's key: {verified.own_key}"
    return f"signed with a key that is not this machine's: {', '.join(genesis.keys)}"
