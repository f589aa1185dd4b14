"""Is a record what its own chain, and what is known of it elsewhere, say that it is? Pure over bytes.

- The genesis entry says the mode. *Strict*: every byte of the file counts. *Shared*: plain entries of the public
  tool, a preamble and blank lines are allowed, and plain entries are named. Without one the channel is *plain*.
- Blocks may have moved to archives, as the public tool's `compact` moves them; the chain goes by number.
- A chain proves order and wholeness up to its head, not that there was no more, nor that it is the only one. That
  takes a head from elsewhere: `remembered` (genesis, rollback, fork) or a `checkpoint` (SECURITY R5, R6, R9, R11).
- It never repairs, and never reads the JSON of a typed object: the digests are over bytes.

What the chain contradicts is raised as `Corrupt`, `Torn` or `Forked` and names the first entry that does not hold;
what is odd and no contradiction is a finding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from counterpoint.errors import Corrupt
from counterpoint.record.block import parse
from counterpoint.record.chain import Anchor, Chain
from counterpoint.record.findings import Checkpoint, Finding, Forked, Level, Remembered, Signed, Torn, Verification
from counterpoint.record.genesis import parse_genesis
from counterpoint.record.listing import Listing
from counterpoint.record.plain import survey
from counterpoint.record.scan import places
from counterpoint.record.seal import Seal
from counterpoint.record.separators import Source
from counterpoint.record.signing import fingerprint
from counterpoint.record.speakers import Speakers, Vouch
from counterpoint.record.store import Block, Genesis

__all__ = [
    "Checkpoint",
    "Finding",
    "Forked",
    "Level",
    "Remembered",
    "Torn",
    "Verification",
    "verify",
    "verify_more",
]


def verify(
    channel: str,
    content: bytes,
    *,
    archives: Sequence[tuple[str, bytes]] = (),
    remembered: Remembered | None = None,
    checkpoint: Checkpoint | None = None,
    doorbell: int | None = None,
    mode: str | None = None,
    now: str = "",
    listings: Mapping[str, Listing] = MappingProxyType({}),
    vouch: Vouch | None = None,
) -> Verification:
    """Verify a whole record.

    Args:
        channel: the channel's name, for messages and for the banner that `compact` writes.
        content: the channel file.
        archives: name and content of each archive file, the index apart.
        remembered: what the state folder keeps of this channel; `None`: it was never seen here.
        checkpoint: a signed head, as `parse_checkpoint` returns it.
        doorbell: the doorbell's number, where there is one.
        mode: the mode that the channel's settings promise: a strict channel without genesis is no plain one.
        now: the stamp of this moment; entries beyond it are noted.
        listings: what takes down the entries on the way, by archive name; that of the channel file under "".
        vouch: says, from elsewhere, which key a sender may sign with at a time.

    Raises:
        Torn: the file ends inside an entry or a batch.
        Forked: an entry is not the one that `remembered` or `checkpoint` knows.
        Corrupt: anything else that does not hold.
        UnknownEntry: the genesis entry is of a version that this package does not know.
    """
    sources = _sources(channel, content, archives)
    first = _genesis(channel, sources)
    if first is None:
        if mode is not None or remembered or checkpoint:
            raise Corrupt(channel, 0, "the genesis entry is missing")
        return _with_doorbell(survey(channel, sources), doorbell)
    block, genesis = first
    _check_genesis(channel, block, genesis, remembered=remembered, checkpoint=checkpoint, mode=mode)
    chain = Chain(
        channel=channel,
        speakers=Speakers(channel=channel, genesis=genesis, vouch=vouch),
        anchors=_anchors(remembered, checkpoint),
        now=now,
    )
    strict = genesis.mode == "strict"
    sources = [replace(source, strict=strict, listing=listings.get(source.archive)) for source in sources]
    end = _follow(chain, sources)
    return _conclude(chain, genesis, block.digest, end=end, doorbell=doorbell)


def verify_more(
    before: Verification,
    more: bytes,
    *,
    remembered: Remembered | None = None,
    checkpoint: Checkpoint | None = None,
    doorbell: int | None = None,
    now: str = "",
) -> Verification:
    """Verify what was added since `before`, and return what there is to say of the whole.

    `more` is the channel file from `before.end` on, which must be the file of then (same inode, same bytes up to
    there). A `remembered` or `checkpoint` head that lies before it is not looked at again.

    Raises:
        Corrupt: as `verify`.
    """
    assert before.genesis is not None, "a plain channel has no chain to go on with"
    chain = Chain(
        channel=before.channel,
        speakers=Speakers(
            channel=before.channel, genesis=before.genesis, signed={one.key: one for one in before.signed}
        ),
        anchors=_anchors(remembered, checkpoint),
        now=now,
        n=before.n,
        head=before.head,
        last_stamp=before.last_stamp,
        plain=list(before.plain),
        notes=list(before.notes),
    )
    source = Source(
        channel=before.channel, content=more, strict=before.mode == "strict", base=before.end, after=before.n
    )
    end = _follow(chain, [source])
    return _conclude(chain, before.genesis, before.genesis_digest, end=end, doorbell=doorbell)


def _sources(channel: str, content: bytes, archives: Sequence[tuple[str, bytes]]) -> list[Source]:
    compacted = bool(archives)
    return [
        *(
            Source(channel=channel, content=moved, strict=False, compacted=True, archive=name)
            for name, moved in archives
        ),
        Source(channel=channel, content=content, strict=False, compacted=compacted),
    ]


def _genesis(channel: str, sources: Sequence[Source]) -> tuple[Block, Genesis] | None:
    for source in reversed(sources):
        for n, at, end, _, _, _ in places(source.content):
            if n == 0:
                block = parse(source.content[at:end], channel=channel, strict=False)
                return block, parse_genesis(block, channel=channel)
    return None


def _check_genesis(
    channel: str,
    block: Block,
    genesis: Genesis,
    *,
    remembered: Remembered | None,
    checkpoint: Checkpoint | None,
    mode: str | None,
) -> None:
    if mode is not None and genesis.mode != mode:
        raise Corrupt(channel, 0, f"it begins a {genesis.mode} channel; the settings promise a {mode} one")
    if remembered and remembered.genesis != block.digest:
        raise Forked(channel, 0, known=remembered.genesis, found=block.digest, source=_MEMORY)
    if checkpoint and checkpoint.channel_id != genesis.channel_id:
        reason = f"it begins channel {genesis.channel_id}; the checkpoint is of {checkpoint.channel_id}"
        raise Corrupt(channel, 0, reason)
    if checkpoint and checkpoint.genesis != block.digest:
        raise Forked(channel, 0, known=checkpoint.genesis, found=block.digest, source=_CHECKPOINT)


_MEMORY = "this machine's memory"
_CHECKPOINT = "the checkpoint"


def _anchors(remembered: Remembered | None, checkpoint: Checkpoint | None) -> tuple[Anchor, ...]:
    known = ((remembered, _MEMORY), (checkpoint, _CHECKPOINT))
    return tuple(Anchor(n=head.n, head=head.head, source=source) for head, source in known if head)


def _follow(chain: Chain, sources: Sequence[Source]) -> int:
    """Follow the chain to its end, and return where the channel file's last block ends."""
    source = sources[-1]
    end = source.base or 0
    if len(sources) == 1:
        for found in source.seals():
            chain.follow(found, source.content)
            end = (source.base or 0) + found.end
    else:
        entries = [(found, origin) for origin in sources for found in origin.seals()]
        end = max((found.end for found, origin in entries if origin is source), default=0)
        for found, origin in _without_copies(chain, entries):
            chain.follow(found, origin.content)
    if chain.due:
        reason = f"the batch ends with part {chain.due[0] - 1} of {chain.due[1]}"
        raise source.torn(chain.n + 1, reason)
    for anchor in chain.anchors:
        if anchor.n > chain.n:
            reason = f"it is gone: {anchor.source} knows MSG-{anchor.n}; the record ends at MSG-{chain.n}"
            raise Corrupt(chain.channel, chain.n + 1, reason)
    return end


def _without_copies(chain: Chain, entries: list[tuple[Seal, Source]]) -> list[tuple[Seal, Source]]:
    """Put entries in the order of their numbers; of copies that a broken-off compaction left, keep one."""
    kept: list[tuple[Seal, Source]] = []
    for found, origin in sorted(entries, key=lambda entry: entry[0].n):
        if kept and kept[-1][0].digest == found.digest and (origin.archive or kept[-1][1].archive):
            detail = f"MSG-{found.n} lies in two places, the same bytes: a compaction was cut short"
            chain.notes.append(Finding(level=Level.WARNING, code="copied-entry", detail=detail, entry=found.n))
        else:
            kept.append((found, origin))
    return kept


def _conclude(chain: Chain, genesis: Genesis, digest: str, *, end: int, doorbell: int | None) -> Verification:
    standing = []
    anchored = max((anchor.n for anchor in chain.anchors), default=-1)
    if not chain.anchors:
        standing.append(Finding(level=Level.INFO, code="first-seen", detail="first seen here: no head is known yet"))
    if anchored < chain.n:
        detail = f"unanchored since MSG-{anchored + 1}: no head from elsewhere vouches for what follows"
        standing.append(Finding(level=Level.INFO, code="unanchored", detail=detail, entry=anchored + 1))
    if not genesis.keys and not genesis.party_keys:
        detail = "not signed: whoever can write the file can write it all anew"
        standing.append(Finding(level=Level.INFO, code="unsigned", detail=detail))
    if genesis.party_keys:
        standing += map(_signed, chain.speakers.signed.values())
    if chain.plain:
        detail = f"{_named(chain.plain)} by the public tool; tamper-evident from MSG-{chain.plain[-1] + 1}"
        standing.append(Finding(level=Level.INFO, code="plain-entries", detail=detail, entry=chain.plain[-1]))
    done = Verification(
        channel=chain.channel,
        mode=genesis.mode,
        genesis=genesis,
        genesis_digest=digest,
        entries=chain.n + 1,
        n=chain.n,
        head=chain.head,
        plain=tuple(chain.plain),
        end=end,
        last_stamp=chain.last_stamp,
        notes=tuple(chain.notes),
        standing=tuple(standing),
        signed=tuple(chain.speakers.signed.values()),
    )
    return _with_doorbell(done, doorbell)


def _signed(one: Signed) -> Finding:
    whose = f"{one.party}'s own key" if one.party else "the channel's key"
    span = f"MSG-{one.first}" if one.entries == 1 else f"{one.entries} entries, MSG-{one.first} to MSG-{one.last},"
    detail = f"{span} by {whose} {fingerprint(one.key)}"
    return Finding(level=Level.INFO, code="signed", detail=detail)


def _named(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"MSG-{n}" for n in numbers[:_MAX_NAMED])
    return shown if len(numbers) <= _MAX_NAMED else f"{shown} and {len(numbers) - _MAX_NAMED} more"


_MAX_NAMED = 20


def _with_doorbell(done: Verification, doorbell: int | None) -> Verification:
    if doorbell is None or doorbell == max(done.n, 0):
        return done
    if doorbell > done.n:
        level, code = Level.ANOMALY, "doorbell-ahead"
        detail = f"the doorbell stands at {doorbell}; the record ends at MSG-{done.n}"
    else:
        # A crash between append and doorbell leaves this behind; with the public tool about, so does a forger.
        level, code = (Level.WARNING if done.mode == "strict" else Level.ANOMALY), "mailbox-ahead-of-doorbell"
        detail = f"the record ends at MSG-{done.n}; the doorbell stands at {doorbell}"
    finding = Finding(level=level, code=code, detail=detail)
    return replace(done, standing=(*done.standing, finding))
