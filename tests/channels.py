"""What tests of the record share: a key, geneses, drafts, and stores over any files."""

from collections.abc import Callable
from functools import cache
from typing import Final

from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import Files
from counterpoint.record.heads import Heads
from counterpoint.record.signing import Signer, load_key, make_key
from counterpoint.record.store import Draft, Genesis, Store

__all__ = ["CASE", "HEADS", "SHARED", "STAMP", "begin", "draft", "file_store", "genesis", "key", "no_wait", "texts"]

STAMP: Final = "2026-07-06T14:07:48+00:00"
CASE: Final = "review-20260706t140748z-00000001"
SHARED: Final = "project-04711"
HEADS: Final = "/state/heads"
SETTINGS: Final = {
    "parties": ["claude", "codex"],
    "supervisor": "owner",
    "thread_cap": 12,
    "name": SHARED,
    "project": None,
    "managed_version": 1,
}


@cache
def key() -> Signer:
    return load_key(make_key(b"\x07" * 32), source="a fixed key")


def genesis(layout: Layout, *, signed: bool = True) -> Genesis:
    strict = layout is Layout.CASES
    return Genesis(
        channel_id=("c" if strict else "5") * 32,
        mode="strict" if strict else "shared",
        roster=("counterpoint", "owner", "critic") if strict else ("claude", "codex", "owner"),
        keys=(key().public,) if signed else (),
    )


def draft(text: str, *, thread: str = "retry", sender: str = "owner", typed: bool = False) -> Draft:
    return Draft(
        stamp=STAMP, sender=sender, type="info", thread=thread, text=text, fields={"said": text} if typed else None
    )


def no_wait(_seconds: float) -> None:
    """Go on at once: in these tests a lock that is held stays held."""


def file_store(
    root: str,
    layout: Layout,
    *,
    fs: Files | None = None,
    heads: Heads | None = None,
    sleep: Callable[[float], None] = no_wait,
) -> FileStore:
    return FileStore(root, layout, signer=key, heads=heads, fs=fs, sleep=sleep)


def begin(store: Store, layout: Layout, *, signed: bool = True) -> str:
    """Begin the channel that belongs to a layout, and return its name."""
    if layout is Layout.CASES:
        store.create(CASE, genesis(layout, signed=signed), stamp=STAMP, sender="counterpoint", settings={})
        return CASE
    store.create(SHARED, genesis(layout, signed=signed), stamp=STAMP, sender="owner", settings=SETTINGS)
    return SHARED


def texts(store: Store, channel: str) -> list[str]:
    """Return the text of every entry but the genesis."""
    return [block.text for block in store.read(channel, 0)]
