"""Who signed what, and whether that is who it is from (SECURITY B.1, R3, R12, R14).

An entry of ours that is not signed with a key of its sender's is no entry, and the chain ends there. One without a
trailer may be the public tool's or a forger's: where its sender has a key, it is an anomaly, and the chain goes on.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from counterpoint.errors import Corrupt
from counterpoint.record.findings import Finding, Level, Signed
from counterpoint.record.seal import Seal
from counterpoint.record.signing import NotSigned, check, fingerprint
from counterpoint.record.store import Genesis

__all__ = ["Speakers", "Vouch"]

Vouch = Callable[[str, str, str], str]
"""Given a sender, the key that signed ("": none) and the time, why that is not to be believed; "": it is."""

_FROM = b" | from: "
_BAR = b" | "


@dataclass(slots=True, kw_only=True)
class Speakers:
    channel: str
    genesis: Genesis
    vouch: Vouch | None = None
    signed: dict[str, Signed] = field(default_factory=dict)
    """By key."""
    latest: str = ""
    """The latest stamp so far. No entry is older than what stands before it, whatever its own stamp says."""

    @property
    def are_held(self) -> bool:
        """Say whether it matters who an entry is from."""
        return bool(self.genesis.party_keys) or self.vouch is not None

    def check(self, found: Seal, content: bytes) -> str:
        """Return the key that signed an entry of ours, "" where it is rightly not signed.

        Raises:
            Corrupt: none did, or not one that may.
        """
        genesis = self.genesis
        sender = _sender(found, content) if genesis.party_keys and found.n else ""
        if sender and sender not in genesis.roster:
            raise Corrupt(self.channel, found.n, f"it is from {sender!r}, who is none of {', '.join(genesis.roster)}")
        keys = genesis.keys_of(sender)
        if found.sig is None and not keys:
            return ""
        if found.sig is None or not keys:
            whose = "the channel" if keys is genesis.keys else sender
            signed = f"has no signature; {whose} is signed" if keys else "is signed; the channel is not"
            raise Corrupt(self.channel, found.n, f"it {signed}")
        block = content[found.at : found.end - len(f" sig={found.sig} -->")]
        try:
            key = check(keys, block, found.sig)
        except NotSigned as error:
            raise Corrupt(self.channel, found.n, self._whose(block, found.sig, sender) or str(error)) from None
        before = self.signed.get(key) or Signed(key, "" if keys is genesis.keys else sender, 0, found.n, found.n)
        self.signed[key] = before._replace(entries=before.entries + 1, last=found.n)
        return key

    def _whose(self, block: bytes, sig: str, sender: str) -> str:
        """Say whose key of this channel made a signature that its entry may not have; "": none of them."""
        known = (*self.genesis.party_keys, *(("", key) for key in self.genesis.keys))
        for party, key in known:
            with suppress(NotSigned):
                check((key,), block, sig)
                owner = f"{party}'s key" if party else "the channel's key"
                return f"it is from {sender or 'the channel'}, and signed with {owner} {fingerprint(key)}"
        return ""

    def hold(self, found: Seal, content: bytes, key: str, stamp: str) -> Finding | None:
        """Say what is wrong with who an entry of the chain is from, if anything.

        Args:
            found: the entry.
            content: the file it was found in.
            key: that signed it; "": none did.
            stamp: its own, in the form we write.
        """
        self.latest = max(self.latest, stamp)
        sender = _sender(found, content)
        own = [known for party, known in self.genesis.party_keys if party == sender]
        if own and not key:
            whose = " or ".join(map(fingerprint, own))
            detail = f"MSG-{found.n} is from {sender}, and not signed with its key {whose}"
            return Finding(level=Level.ANOMALY, code="not-its-key", detail=detail, entry=found.n)
        reason = self.vouch(sender, key, self.latest) if self.vouch else ""
        if reason:
            detail = f"MSG-{found.n} is from {sender}: {reason}"
            return Finding(level=Level.ANOMALY, code="not-vouched-for", detail=detail, entry=found.n)
        return None


def _sender(found: Seal, content: bytes) -> str:
    # What stands before it in a header has no bar.
    at = content.index(_FROM, found.at) + len(_FROM)
    return content[at : content.index(_BAR, at)].decode()
