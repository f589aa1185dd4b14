"""Channels in memory: the same bytes as in files, nothing on disk. For tests, simulations and short-lived cases."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from counterpoint.errors import RecordError
from counterpoint.record.bell import FRESH_BELL, default_bell, next_bell
from counterpoint.record.block import ZEROS, parse, render
from counterpoint.record.claims import next_claim
from counterpoint.record.findings import Checkpoint, Remembered, Verification
from counterpoint.record.genesis import genesis_draft
from counterpoint.record.keys import sign_with
from counterpoint.record.settings import whole_settings
from counterpoint.record.signing import Signer
from counterpoint.record.store import Bell, Block, Claim, Draft, Genesis, Held, Store, Vault
from counterpoint.record.vault import check_vault_name, refuse_other
from counterpoint.record.verify import verify

__all__ = ["MemoryStore"]


@dataclass(slots=True, kw_only=True)
class _Channel(Held):
    name: str
    genesis: Genesis
    settings: Mapping[str, Any]
    signer: Callable[[], Signer] | None
    blocks: list[Block] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    fields: Mapping[str, Any] = field(default_factory=lambda: FRESH_BELL)
    claims: list[Claim] = field(default_factory=list)
    sealed: dict[str, bytes] = field(default_factory=dict)
    remembered: Remembered | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def n(self) -> int:
        return len(self.blocks) - 1

    @property
    def bell(self) -> Mapping[str, Any] | None:
        return self.fields

    def count(self, thread: str) -> int:
        return sum(block.thread == thread for block in self.blocks)

    def newest(self, thread: str) -> Iterator[Block]:
        return (block for block in reversed(self.blocks) if block.thread == thread)

    def read(self, after: int = -1) -> tuple[Block, ...]:
        return tuple(self.blocks[max(0, after + 1) :])

    def repair(self) -> None:
        """Nothing is torn in memory."""

    def append(self, drafts: Sequence[Draft], *, bell: Bell | None = None) -> tuple[Block, ...]:
        assert drafts, "an append has at least one entry"
        strict = self.genesis.mode == "strict"
        prev = self.blocks[-1].digest if self.blocks else ZEROS
        added: list[Block] = []
        raw: list[bytes] = []
        for n, draft in enumerate(drafts, len(self.blocks)):
            block = render(
                draft,
                n=n,
                channel_id=self.genesis.channel_id,
                prev=prev,
                batch=(n - len(self.blocks) + 1, len(drafts)),
                sign=sign_with(self.signer, self.genesis, channel=self.name, sender=draft.sender if n else ""),
                strict=strict,
            )
            raw.append(block)
            added.append(parse(block, channel=self.name, strict=strict))
            prev = added[-1].digest
        fields = next_bell(self.fields, (bell or default_bell)(added[-1]))
        self.raw += raw
        self.blocks += added
        self.fields = fields
        self.changed.notify_all()
        return tuple(added)


@dataclass(frozen=True, slots=True)
class _MemoryVault(Vault):
    channel: _Channel

    def put(self, name: str, content: bytes) -> None:
        check_vault_name(name)
        with self.channel.changed:
            if self.channel.sealed.setdefault(name, content) != content:
                raise refuse_other(name)

    def put_new(self, name: str, content: bytes) -> bool:
        check_vault_name(name)
        with self.channel.changed:
            if name in self.channel.sealed:
                return False
            self.channel.sealed[name] = content
            return True

    def get(self, name: str) -> bytes | None:
        check_vault_name(name)
        return self.channel.sealed.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.channel.sealed))


class MemoryStore(Store):
    """Keeps channels as long as it lives itself. It may be used from several threads."""

    def __init__(self, *, signer: Callable[[], Signer] | None = None) -> None:
        self._signer = signer
        self._channels: dict[str, _Channel] = {}

    def create(self, channel: str, genesis: Genesis, *, stamp: str, sender: str, settings: Mapping[str, Any]) -> None:
        begun = _Channel(
            name=channel,
            genesis=genesis,
            settings=whole_settings(channel, genesis, sender=sender, given=settings),
            signer=self._signer,
        )
        with begun.changed:
            begun.append([genesis_draft(genesis, stamp=stamp, sender=sender)], bell=lambda _: FRESH_BELL)
        if self._channels.setdefault(channel, begun) is not begun:
            raise RecordError(f"{channel} is a channel already", hint="choose another name")

    def settings(self, channel: str) -> Mapping[str, Any]:
        return self._channel(channel).settings

    def content(self, channel: str) -> bytes:
        """Return the bytes that the channel file would hold."""
        return b"".join(b"\n%b\n" % block for block in self._channel(channel).raw)

    def head(self, channel: str) -> tuple[int, str]:
        newest = self._channel(channel).blocks[-1]
        return newest.n, newest.digest

    def read(self, channel: str, after: int = -1) -> tuple[Block, ...]:
        return self._channel(channel).read(after)

    def read_thread(self, channel: str, thread: str) -> tuple[Block, ...]:
        return tuple(block for block in self._channel(channel).read() if block.thread == thread)

    @contextmanager
    def hold(self, channel: str) -> Iterator[Held]:
        found = self._channel(channel)
        with found.changed:
            yield found

    def verify(self, channel: str, *, checkpoint: Checkpoint | None = None, now: str = "") -> Verification:
        """Verify the whole record, as `FileStore.verify` does."""
        found = self._channel(channel)
        verified = verify(
            channel,
            self.content(channel),
            remembered=found.remembered,
            checkpoint=checkpoint,
            doorbell=found.fields["seq"],
            mode=found.genesis.mode,
            now=now,
        )
        found.remembered = verified.remembered()
        return verified

    def vault(self, channel: str) -> Vault:
        return _MemoryVault(self._channel(channel))

    def claim_all(self, channel: str, turns: Sequence[tuple[str, datetime]], *, driver: str) -> tuple[Claim, ...]:
        found = self._channel(channel)
        with found.changed:
            for turn, until in turns:
                found.claims.append(next_claim(found.claims, turn, driver=driver, until=until))
            return tuple(found.claims[-len(turns) :])

    def claims(self, channel: str) -> tuple[Claim, ...]:
        return tuple(self._channel(channel).claims)

    def list_open(self) -> tuple[str, ...]:
        begun = sorted((found.blocks[0].stamp, name) for name, found in self._channels.items())
        return tuple(name for _, name in begun)

    def watch(self, channel: str, *, after: int, timeout_s: float) -> bool:
        found = self._channel(channel)
        with found.changed:
            return found.changed.wait_for(lambda: found.n > after, timeout_s)

    def _channel(self, name: str) -> _Channel:
        try:
            return self._channels[name]
        except KeyError:
            raise RecordError(f"there is no channel {name!r} in memory", hint="name a channel that exists") from None
