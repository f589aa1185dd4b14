"""Parties that sign for themselves: whose signature counts for whom (SECURITY B.1, R3, R4, R12, R14)."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from counterpoint.errors import Corrupt, RecordError, UnknownEntry
from counterpoint.record.allowed import read_allowed
from counterpoint.record.block import parse, render, render_plain
from counterpoint.record.findings import Level, Signed, Verification
from counterpoint.record.genesis import parse_genesis
from counterpoint.record.signing import NAMESPACE, Signer, fingerprint
from counterpoint.record.verify import verify, verify_more
from tests import need
from tests.records import CHANNEL, CHANNEL_ID, STAMP, file_of, head_of, record, shared_drafts, signer

CHANNEL_KEY, CLAUDE, GLM, STRANGER = signer(1), signer(2), signer(3), signer(4)
OWN = {"claude": CLAUDE, "glm": GLM}
DRAFTS = shared_drafts()
"""1 and 3 are from glm, 2 and 4 from claude."""
BLOCKS = record(DRAFTS, mode="shared", key=CHANNEL_KEY, own=OWN)


def _made(*, own: dict[str, Signer] | None = None, **signs: Signer) -> list[bytes]:
    by = {int(name.removeprefix("n")): key for name, key in signs.items()}
    return record(DRAFTS, mode="shared", key=CHANNEL_KEY, own=OWN if own is None else own, signs=by)


def _verify(blocks: Sequence[bytes]) -> Verification:
    return verify(CHANNEL, file_of(blocks), now=STAMP)


def _refused(blocks: Sequence[bytes], entry: int, reason: str) -> None:
    with pytest.raises(Corrupt, match=reason) as caught:
        _verify(blocks)
    assert caught.value.entry == entry


def test_untouched_record_says_who_signed() -> None:
    """Issue 4 (5): a signature by its author, named; going on from a verified head adds to it."""
    found = _verify(BLOCKS)
    assert found.is_clean
    signed = (
        Signed(CHANNEL_KEY.public, "", 1, 0, 0),
        Signed(GLM.public, "glm", 2, 1, 3),
        Signed(CLAUDE.public, "claude", 2, 2, 4),
    )
    assert found.signed == signed
    details = [finding.detail for finding in found.standing if finding.code == "signed"]
    assert details[0] == f"MSG-0 by the channel's key {fingerprint(CHANNEL_KEY.public)}"
    assert details[1] == f"2 entries, MSG-1 to MSG-3, by glm's own key {fingerprint(GLM.public)}"
    before = _verify(BLOCKS[:3])
    assert verify_more(before, file_of(BLOCKS[3:])).signed == signed


def test_r3_entry_signed_with_another_seats_key_is_refused() -> None:
    """SECURITY R3: not the seat's key: the other party's, the channel's, or one that nobody knows."""
    _refused(
        _made(n2=GLM), 2, f"from claude, and signed with glm's key {fingerprint(GLM.public)}".replace("+", r"\+")
    )
    _refused(_made(n3=CHANNEL_KEY), 3, "from glm, and signed with the channel's key")
    _refused(_made(n4=STRANGER), 4, "does not name")
    stripped = BLOCKS[4].rpartition(b" sig=")[0] + b" -->"
    _refused([*BLOCKS[:4], stripped], 4, "has no signature; claude is signed")


def test_r4_seat_that_signs_its_own_old_entry_anew_breaks_the_chain() -> None:
    """SECURITY R4: its signature is good, and the next entry follows another block."""
    said = replace(DRAFTS[1], text="I never said that.")
    forged = render(said, n=2, channel_id=CHANNEL_ID, prev=head_of(BLOCKS[:2]), sign=CLAUDE.sign, strict=False)
    _refused([*BLOCKS[:2], forged, *BLOCKS[3:]], 3, "follows a block")


def test_r12_entry_from_another_seat_or_from_nobody_is_refused() -> None:
    """SECURITY R12: a party's key signs for nobody else, and only the roster speaks."""
    _refused(_made(own={"claude": CLAUDE}, n1=CLAUDE), 1, "from glm, and signed with claude's key")
    strange = replace(DRAFTS[0], sender="eve")
    _refused(record([strange], mode="shared", key=CHANNEL_KEY, own=OWN), 1, "'eve', who is none of claude, glm")


def test_r12_key_shared_by_two_seats_is_refused() -> None:
    """SECURITY R12: nor with the channel, which signs for everybody else; nor a key for nobody."""
    honest, line = BLOCKS[0].rpartition(b"\n\n<!-- cp1 ")[0], CLAUDE.public.encode()
    for before, after in (
        (GLM.public.encode(), line),
        (CHANNEL_KEY.public.encode(), line),
        (b'"glm":["ssh', b'"eve":["ssh'),
    ):
        block = parse(BLOCKS[0], channel=CHANNEL, strict=False)
        forged = _genesis_with(honest.replace(before, after))
        with pytest.raises(Corrupt, match=r"share the key|who is none of"):
            parse_genesis(replace(block, fields=forged), channel=CHANNEL)


def _genesis_with(text: bytes) -> dict[str, object]:
    fields: dict[str, object] = json.loads(text.rpartition(b"```json counterpoint\n")[2].removesuffix(b"\n```"))
    return fields


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"v": 1}, UnknownEntry),
        ({"v": 3}, UnknownEntry),
        ({"party_keys": {}}, Corrupt),
        ({"party_keys": {"claude": []}}, Corrupt),
        ({"party_keys": {"claude": CLAUDE.public}}, Corrupt),
        ({"party_keys": {"claude": ["ssh-ed25519 AAAA"]}}, Corrupt),
        ({"party_keys": [["claude", CLAUDE.public]]}, Corrupt),
    ],
)
def test_genesis_with_odd_party_keys_is_none(change: dict[str, object], error: type[RecordError]) -> None:
    """DESIGN 5: one form; other versions and shapes fail closed."""
    block = parse(BLOCKS[0], channel=CHANNEL, strict=False)
    with pytest.raises(error):
        parse_genesis(replace(block, fields={**(block.fields or {}), **change}), channel=CHANNEL)


def test_plain_entry_of_a_party_with_a_key_is_named() -> None:
    """Issue 4 (5): the public tool, or a forger, may write it; `verify` says that its author did not sign it."""
    forged = render_plain(replace(DRAFTS[3], text="Approved."), 5)
    found = verify(CHANNEL, file_of([*BLOCKS, forged]))
    assert not found.is_clean
    (anomaly,) = (one for one in found.findings if one.level is Level.ANOMALY)
    assert (anomaly.code, anomaly.entry) == ("not-its-key", 5)
    assert fingerprint(CLAUDE.public) in anomaly.detail
    only_glm = record(DRAFTS, mode="shared", key=CHANNEL_KEY, own={"glm": GLM})
    assert verify(CHANNEL, file_of([*only_glm, forged])).is_clean


def _later(hours: int) -> str:
    return (datetime.fromisoformat(STAMP) + timedelta(hours=hours)).isoformat(timespec="seconds")


def _compact(stamp: str) -> str:
    return stamp.replace("-", "").replace(":", "").replace("T", "").removesuffix("+0000") + "Z"


def test_r14_expired_key_stands_for_old_entries_alone() -> None:
    """SECURITY R14: entries after its end are refused, a stamp set back too; older ones keep their time."""
    stamps = [_later(hour) for hour in range(5)]
    until = _later(3)
    allowed = read_allowed(f'claude valid-before="{_compact(until)}" {CLAUDE.public}\n'.encode(), source="allowed")
    own = {"claude": CLAUDE}

    def anomalies(times: Sequence[str]) -> list[tuple[int | None, str]]:
        blocks = record(DRAFTS, mode="shared", key=CHANNEL_KEY, own=own, stamps=times)
        found = verify(CHANNEL, file_of(blocks), vouch=allowed.fault)
        return [(one.entry, one.code) for one in found.findings if one.level is Level.ANOMALY]

    assert anomalies(stamps[1:]) == [(4, "not-vouched-for")]
    # Whoever stole the key sets the stamp back, behind an entry that is later already.
    assert anomalies([*stamps[1:3], until, _later(1)]) == [(4, "not-vouched-for")]
    assert anomalies([_later(1)] * 4) == []


def test_r14_other_key_than_the_listed_one_is_named() -> None:
    """SECURITY R11, R14: the file is from elsewhere, so a genesis that names the forger's key does not help it."""
    allowed = read_allowed(f"claude {STRANGER.public} comment\n# glm too\n".encode(), source="allowed")
    found = verify(CHANNEL, file_of(BLOCKS), vouch=allowed.fault)
    assert [one.entry for one in found.findings if one.level is Level.ANOMALY] == [2, 4]


@pytest.mark.parametrize(
    "line",
    [
        "claude",
        "claude ssh-ed25519",
        "claude ssh-ed25519 AAAA",
        f"* {CLAUDE.public}",
        f"cl?ude {CLAUDE.public}",
        f"claude cert-authority {CLAUDE.public}",
        f'claude valid-before="20270101" {CLAUDE.public}',
        f'claude valid-before="20271301Z" {CLAUDE.public}',
        f'claude valid-before="20270101Z {CLAUDE.public}',
        f'claude verify-required="yes" {CLAUDE.public}',
    ],
)
def test_line_that_is_not_read_is_refused(line: str) -> None:
    """Fail closed: what is passed over would vouch, or hold nobody to anything."""
    with pytest.raises(RecordError, match="allowed line 2"):
        read_allowed(f"# who\n{line}\n".encode(), source="allowed")


@pytest.mark.parametrize(
    ("options", "stands"),
    [
        ("", True),
        (f'namespaces="git,{NAMESPACE}" ', True),
        ('namespaces="git" ', False),
        ('valid-after="20260701Z",valid-before="202607070000Z" ', True),
        ('valid-before="20260701Z" ', False),
        ('valid-after="20270101123059Z" ', False),
    ],
)
def test_stock_ssh_keygen_reads_the_same_file_alike(tmp_path: Path, options: str, *, stands: bool) -> None:
    """SECURITY B.2, R14: one file for both; neither is more lenient."""
    (tmp_path / "allowed").write_text(line := f"claude,glm {options}{CLAUDE.public} a comment\n")
    said = parse(BLOCKS[2], channel=CHANNEL, strict=False)
    content, _, sig = BLOCKS[2].removesuffix(b" -->").rpartition(b" sig=")
    armoured = f"-----BEGIN SSH SIGNATURE-----\n{sig.decode()}\n-----END SSH SIGNATURE-----\n"
    (tmp_path / "sig").write_text(armoured)
    argv = [
        "-Y",
        "verify",
        "-f",
        "allowed",
        "-I",
        "claude",
        "-n",
        NAMESPACE,
        "-s",
        "sig",
        "-Overify-time=20260706140748Z",
    ]
    done = subprocess.run(
        [need.tool("ssh-keygen"), *argv], cwd=tmp_path, input=content, capture_output=True, timeout=30, check=False
    )
    assert (done.returncode == 0) == stands, done.stderr
    held = read_allowed(f"{line}claude {STRANGER.public}\n".encode(), source="allowed")
    assert (held.fault("claude", CLAUDE.public, said.stamp) == "") == stands
