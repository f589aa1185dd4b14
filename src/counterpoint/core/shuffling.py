"""Neutral names in an order of one's own: who said what must not weigh, nor who was listed first.

The order is drawn from the case's recorded seed, so a replay draws the same one; it differs from reader to reader and
stays through a case. Source: DESIGN 4 "Anonymity and order".
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from counterpoint.core.canonical import canonical_json, digest

__all__ = ["labels_of", "shuffled"]


def shuffled(seed: str, reader: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in the order that this reader is shown them."""
    return tuple(sorted(names, key=lambda name: digest(canonical_json([seed, reader, name]).encode())))


def labels_of(seed: str, reader: str, names: Iterable[str]) -> Mapping[str, str]:
    """Return the names of the other seats by the labels under which this reader knows them: `peer-1`, `peer-2`."""
    others = shuffled(seed, reader, (name for name in names if name != reader))
    return MappingProxyType({f"peer-{number}": name for number, name in enumerate(others, start=1)})
