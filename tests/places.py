"""Channels on a real disk with their files at hand, for tests of repair and of the public tool's channels."""

import json
from pathlib import Path
from typing import Final

from counterpoint.record.bell import write_object
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.heads import Heads
from tests.channels import CASE, SETTINGS, SHARED, STAMP, begin, draft, file_store, texts

__all__ = ["PLAIN", "Place", "add", "archive_thread", "begun_place", "plain_entry", "plain_place", "ring"]

PLAIN: Final = "plain-00001"


class Place:
    """A channel on disk, and its files."""

    def __init__(self, folder: Path, layout: Layout, channel: str) -> None:
        self.layout = layout
        self.channel = channel
        self.heads = Heads(RealFiles(), str(folder / "state" / "heads"))
        self.root = folder / "root"
        self.folder = self.root / channel if layout is Layout.CASES else self.root

    @property
    def store(self) -> FileStore:
        return file_store(str(self.root), self.layout, heads=self.heads)

    def path(self, suffix: str) -> Path:
        return self.folder / f"{self.channel}.{suffix}"

    @property
    def record(self) -> Path:
        return self.path("channel.md")

    def say(self, *some: str) -> None:
        typed = self.layout is Layout.CASES
        self.store.append(self.channel, [draft(text, typed=typed) for text in some], expected=None)

    def texts(self) -> list[str]:
        return texts(self.store, self.channel)

    def bell(self) -> object:
        return json.loads(self.path("signal.json").read_bytes())["seq"]

    def aside(self) -> list[bytes]:
        return [path.read_bytes() for path in sorted(self.folder.glob("*.torn-*"))]

    def forget(self) -> None:
        """Let this machine remember nothing, as after the record came from elsewhere."""
        for path in (self.root.parent / "state" / "heads").iterdir():
            path.unlink()


def begun_place(folder: Path, layout: Layout) -> Place:
    """Return a channel of ours with two entries, "one" and "two"."""
    (folder / "root").mkdir()
    (folder / "state").mkdir()
    place = Place(folder, layout, CASE if layout is Layout.CASES else SHARED)
    begin(place.store, layout)
    place.say("one")
    place.say("two")
    return place


def plain_place(folder: Path) -> Place:
    """Return a channel as the public tool leaves it after two entries, "one" and "two"."""
    (folder / "root").mkdir()
    (folder / "state" / "heads").mkdir(parents=True)
    place = Place(folder, Layout.SHARED, PLAIN)
    place.record.write_text(plain_entry(1, "one") + plain_entry(2, "two"))
    place.path("signal.json").write_bytes(ring(2))
    place.path("debate.json").write_bytes(write_object({**SETTINGS, "name": PLAIN}))
    return place


def plain_entry(n: int, text: str, *, sender: str = "claude", thread: str = "retry") -> str:
    return f"\n## MSG-{n} | {STAMP} | from: {sender} | type: info | thread: {thread} | refs: -\n\n{text}\n"


def ring(seq: int) -> bytes:
    bell = {"seq": seq, "turn": "codex", "thread": "retry", "last_entry": f"MSG-{seq}", "updated_at": STAMP}
    return write_object(bell)


def add(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def archive_thread(place: Place, thread: str) -> None:
    """Move a thread's blocks as the public tool's `compact` does: a banner, blocks as they are, a blank line more."""
    content = place.record.read_bytes().decode()
    parts = ["\n## MSG-" + part for part in content.split("\n## MSG-")[1:]]
    kept = [part for part in parts if f"| thread: {thread} |" not in part]
    moved = [part for part in parts if f"| thread: {thread} |" in part]
    (place.folder / "archive").mkdir(exist_ok=True)
    add(place.folder / "archive" / f"{place.channel}-2026-07.md", "\n".join(moved).encode() + b"\n")
    banner = (
        f"> Older closed threads relocate verbatim to archive/ (see archive/{place.channel}-INDEX.md). "
        "Entries are never edited - `debate compact` only moves them.\n"
    )
    temporary = place.record.with_suffix(".tmp")
    temporary.write_text(banner + "".join(kept))
    temporary.rename(place.record)
