"""Replies in the vault: kept the moment an answer arrives, so that no crash asks a finished seat again.

A kept reply is one line of JSON about the answer, then the answer's bytes as they came. Session ids stay here.
Evidence is one line of JSON. Both are signed: an agent can write here too, and what it leaves is not taken by the
next driver for what the last one had kept.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from counterpoint.agents.base import Reply, read_reply
from counterpoint.core.canonical import NotCanonical, canonical_json, digest, parse_json
from counterpoint.core.case import CaseState
from counterpoint.core.checks import CheckRequest, EditCheck, Evidence
from counterpoint.core.codec import decode_value, encode_value
from counterpoint.core.edits import CheckResult, Edit
from counterpoint.core.rules import Opened, Rules
from counterpoint.core.sealing import opens, seal_evidence
from counterpoint.core.values import Turn, Usage
from counterpoint.errors import BadReply, RecordError, UnknownEntry
from counterpoint.record.signing import NotSigned, check
from counterpoint.record.store import Vault

if TYPE_CHECKING:
    from counterpoint.record.signing import Signer

__all__ = [
    "KeptReply",
    "Openings",
    "Voucher",
    "evidence_name",
    "get_evidence",
    "get_reply",
    "is_ours",
    "put_evidence",
    "put_reply",
]

_MAX_LINE: Final = 1 << 20
_MAX_EVIDENCE: Final = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReply:
    """An answer and what is known of it."""

    salt: str
    attempt: int
    shown_paths: tuple[str, ...]
    reply: Reply
    touched: tuple[str, ...] = ()
    """Paths of the export that the agent changed although it was only to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voucher:
    """Signs what a driver keeps in the vault of one case. Without a key nothing is signed, and all is believed."""

    case: str = ""
    signer: "Callable[[], Signer] | None" = None

    def sign(self, name: str, content: bytes) -> str:
        return "" if self.signer is None else self.signer().sign(self._bound(name, content))

    def is_signed(self, name: str, content: bytes, signature: str) -> bool:
        if self.signer is None:
            return True
        try:
            check((self.signer().public,), self._bound(name, content), signature)
        except NotSigned:
            return False
        return True

    def _bound(self, name: str, content: bytes) -> bytes:
        return f"vault of {self.case}: {name}\n".encode() + content


_NOBODYS: Final = Voucher()


def is_ours(vault: Vault, name: str, voucher: Voucher) -> bool:
    """Say whether a driver with the voucher's key kept what lies under the name of a reply or of evidence."""
    line, _, rest = (vault.get(name) or b"").partition(b"\n")
    if not name.startswith("reply-"):
        return voucher.is_signed(name, line, rest.decode("ascii", "replace"))
    try:
        about = dict(parse_json(line, max_bytes=_MAX_LINE))
        signature = str(about.pop("signature", ""))
        return voucher.is_signed(name, canonical_json(about).encode() + b"\n" + rest, signature)
    except (NotCanonical, TypeError, ValueError):
        return voucher.signer is None


def put_reply(vault: Vault, turn_id: str, kept: KeptReply, voucher: Voucher = _NOBODYS) -> bool:
    """Keep an answer; on disk when this returns.

    Return False where anything lies in its place, whatever it is: then nothing is kept.
    """
    name, reply = f"reply-{turn_id}", kept.reply
    about = {
        "attempt": kept.attempt,
        "model_reported": reply.model_reported,
        "model_requested": reply.model_requested,
        "salt": kept.salt,
        "session": reply.session,
        "shown_paths": list(kept.shown_paths),
        "touched": list(kept.touched),
        "usage": encode_value(reply.usage),
    }
    if signature := voucher.sign(name, canonical_json(about).encode() + b"\n" + reply.content):
        about["signature"] = signature
    return vault.put_new(name, canonical_json(about).encode() + b"\n" + reply.content)


def get_reply(vault: Vault, turn_id: str) -> KeptReply | None:
    """Return the answer kept for a turn, or None.

    Raises:
        RecordError: what is kept under that name is not a kept reply.
    """
    stored = vault.get(f"reply-{turn_id}")
    if stored is None:
        return None
    line, _, content = stored.partition(b"\n")
    try:
        about = parse_json(line, max_bytes=_MAX_LINE)
        return KeptReply(
            salt=about["salt"],
            attempt=about["attempt"],
            shown_paths=tuple(about["shown_paths"]),
            touched=tuple(about["touched"]),
            reply=Reply(
                content=content,
                model_requested=about["model_requested"],
                model_reported=about["model_reported"],
                usage=decode_value(Usage, about["usage"]),
                session=about["session"],
            ),
        )
    except (NotCanonical, KeyError, TypeError, UnknownEntry) as error:
        raise RecordError(
            f"the reply kept for {turn_id} cannot be read: {error}",
            hint="put the file back as it was; an answer that is not sealed yet is asked for again without it",
        ) from None


def evidence_name(request: CheckRequest) -> str:
    """Return the name under which the vault keeps what a check returned."""
    return f"evidence-{digest(canonical_json(encode_value(request)).encode())[:32]}"


def put_evidence(vault: Vault, evidence: CheckResult, voucher: Voucher = _NOBODYS) -> bool:
    """Keep what a check returned, so that it runs once per candidate. Return False as `put_reply` does."""
    name = evidence_name(evidence.request)
    line = canonical_json(encode_value(evidence)).encode()
    signature = voucher.sign(name, line)
    return vault.put_new(name, line + b"\n" + signature.encode() if signature else line)


def get_evidence(vault: Vault, request: CheckRequest) -> CheckResult | None:
    """Return what the check returned before, or None."""
    stored = vault.get(evidence_name(request))
    if stored is None:
        return None
    try:
        plain = parse_json(stored.partition(b"\n")[0], max_bytes=_MAX_EVIDENCE)
        is_edit = isinstance(request, EditCheck)
        found: CheckResult = decode_value(Edit, plain) if is_edit else decode_value(Evidence, plain)
    except (NotCanonical, UnknownEntry) as error:
        raise RecordError(
            f"{evidence_name(request)} in the vault cannot be read: {error}",
            hint="put the file back as it was; where no answer that rests on it is sealed, it runs again without it",
        ) from None
    return found if found.request == request else None


class Openings(Mapping[str, Opened]):
    """This round's sealed replies by turn id, opened when they are looked at.

    A reply that is gone, or that is not what its seal committed to, is not in the mapping; nor is one for which the
    vault has other evidence than was found for it.
    """

    def __init__(self, vault: Vault, rules: Rules[Any], state: CaseState) -> None:
        self._vault = vault
        self._rules = rules
        self._state = state
        self._sealed = {s.turn.id: s for s in state.sealed.values()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._sealed)

    def __len__(self) -> int:
        return len(self._sealed)

    def __getitem__(self, turn_id: str) -> Opened:
        sealed = self._sealed[turn_id]
        kept = get_reply(self._vault, turn_id)
        if kept is None or not opens(sealed.digest, kept.salt, kept.reply.content):
            raise KeyError(turn_id)
        opened = self._open(sealed.turn, kept)
        if opened is None or seal_evidence(kept.salt, opened.evidence) != sealed.evidence:
            raise KeyError(turn_id)
        return opened

    def _open(self, turn: Turn, kept: KeptReply) -> Opened | None:
        brief_schema = self._rules.schema(self._state, turn)
        try:
            submission = self._rules.parse(self._state, turn, read_reply(kept.reply, brief_schema))
        except BadReply:
            return None
        found = [get_evidence(self._vault, r) for r in self._rules.checks(self._state, turn, submission)]
        evidence = tuple(e for e in found if e is not None)
        if len(evidence) != len(found):
            return None
        return Opened(
            salt=kept.salt,
            content=kept.reply.content.decode(),
            submission=submission,
            evidence=evidence,
        )
