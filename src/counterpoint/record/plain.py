"""A channel that the public tool began: no genesis, no chain, and little that can be said (SPEC C-044).

Numbers are looked at, as the tool itself does, and in the archives too, where it does not look (SPEC C-141).
"""

from collections.abc import Sequence
from itertools import pairwise

from counterpoint.errors import Corrupt
from counterpoint.record.block import ZEROS
from counterpoint.record.findings import Finding, Level, Verification
from counterpoint.record.scan import places
from counterpoint.record.seal import Seal, seal
from counterpoint.record.separators import Source

__all__ = ["survey"]


def survey(channel: str, sources: Sequence[Source]) -> Verification:
    """Return what there is to say of a channel without genesis; the channel file is the last of `sources`.

    Raises:
        Corrupt: an entry has a trailer, so that the genesis was taken away, or is not UTF-8.
    """
    found: dict[int, Seal] = {}
    notes: list[Finding] = []
    end = 0
    for source in sources:
        end = 0
        for place in places(source.content):
            one = seal(source.content, place, channel=channel, strict=False)
            if one.channel_id is not None:
                raise Corrupt(channel, 0, f"the genesis entry is missing; MSG-{one.n} is chained to it")
            if one.n in found:
                notes.append(_twice(found[one.n], one))
            found[one.n] = one
            end = one.end
    numbers = sorted(found)
    newest = numbers[-1] if numbers else -1
    notes.extend(_gap(low, high) for low, high in pairwise(numbers) if high > low + 1)
    return Verification(
        channel=channel,
        mode="plain",
        genesis=None,
        genesis_digest="",
        entries=len(found),
        n=newest,
        head=found[newest].digest if found else ZEROS,
        plain=tuple(numbers),
        end=end,
        last_stamp=found[newest].stamp if found else "",
        notes=tuple(notes),
        standing=(
            Finding(
                level=Level.INFO, code="no-chain", detail="the public tool began this channel; nothing is chained"
            ),
        ),
    )


def _twice(one: Seal, other: Seal) -> Finding:
    if one.digest == other.digest:
        detail = f"MSG-{one.n} lies in two places, the same bytes: a compaction was cut short"
        return Finding(level=Level.WARNING, code="copied-entry", detail=detail, entry=one.n)
    detail = f"two entries have the number {one.n}"
    return Finding(level=Level.ANOMALY, code="duplicate-seq", detail=detail, entry=one.n)


def _gap(low: int, high: int) -> Finding:
    return Finding(level=Level.INFO, code="gap", detail=f"MSG-{high} comes after MSG-{low}", entry=high)
