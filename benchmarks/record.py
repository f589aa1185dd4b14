"""What one more entry costs at entry 100 and at entry 100,000: CPU time, beside the floor of what cannot be left out.

    python benchmarks/record.py [--entries 100000] [--appends 200]

Signed entries of 1 kB in threads of five. *case* appends to a case channel as the driver does; *post* is the public
posting function on a shared channel. *read* is the open thread alone. The floor is one write and fsync of the same
bytes, their SHA-256 and one signature. CPU is this process's own, system time included. Both sizes are measured in
turns, and the better half of the rounds counts, since a busy neighbour slows rounds and speeds up none.

Exits with 1 where an append costs more than 1.5 times as much in the long record.
"""

import argparse
import base64
import hashlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from counterpoint.drive.posting import begin_channel, post
from counterpoint.record.block import render
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.heads import Heads
from counterpoint.record.signing import Signer, load_key, make_key
from counterpoint.record.store import Draft, Genesis

MAX_RATIO = 1.5
ROUNDS = 10
STAMP = "2026-07-06T14:07:48+00:00"
LINE = "The backoff in `retry.py` doubles once too often, so that the last wait is longer than the deadline. "
TEXT = (LINE * 11)[:1000]
CHANNEL = "bench-00001"
CHANNEL_ID = "0123456789abcdef" * 2
KEY: Signer = load_key(make_key(b"\x07" * 32), source="a fixed key")


class Cost(NamedTuple):
    kind: str
    short_us: float
    long_us: float

    @property
    def ratio(self) -> float:
        return self.long_us / self.short_us

    def __str__(self) -> str:
        return f"{self.kind:6} {self.short_us:9.0f} {self.long_us:11.0f} {self.ratio:8.2f}"


def store_in(folder: Path, layout: Layout) -> FileStore:
    heads = Heads(RealFiles(), str(folder / "state" / "heads"))
    return FileStore(str(folder / "root"), layout, signer=lambda: KEY, heads=heads)


def fill(folder: Path, layout: Layout, entries: int) -> FileStore:
    """Begin a channel and write its entries straight into the file.

    They carry a signature of no meaning: appending and reading a thread verify none.
    """
    (folder / "root").mkdir(parents=True)
    (folder / "state").mkdir()
    store = store_in(folder, layout)
    if layout is Layout.CASES:
        genesis = Genesis(channel_id=CHANNEL_ID, mode="strict", roster=("counterpoint", "owner"), keys=(KEY.public,))
        store.create(CHANNEL, genesis, stamp=STAMP, sender="counterpoint", settings={})
    else:
        begin_channel(
            store,
            CHANNEL,
            parties=("claude", "codex"),
            supervisor="owner",
            thread_cap=12,
            project=None,
            channel_id=CHANNEL_ID,
            stamp=STAMP,
            keys=(KEY.public,),
        )
    path = folder / "root" / (CHANNEL if layout is Layout.CASES else "") / f"{CHANNEL}.channel.md"
    sig = base64.b64encode(bytes(160)).decode()
    prev = store.head(CHANNEL)[1]
    with path.open("ab") as file:
        for n in range(1, entries + 1):
            block = render(draft_of(n), n=n, channel_id=CHANNEL_ID, prev=prev, sign=lambda _: sig, strict=True)
            prev = hashlib.sha256(block).hexdigest()
            file.write(b"\n%b\n" % block)
    return store


def draft_of(n: int) -> Draft:
    kind = "close" if n % 5 == 0 else "info"
    return Draft(stamp=STAMP, sender="owner", type=kind, thread=f"thread-{(n - 1) // 5}", text=TEXT)


def append(store: FileStore) -> None:
    store.append(CHANNEL, [draft_of(store.head(CHANNEL)[0] + 1)], expected=None)


def say(store: FileStore) -> None:
    draft = draft_of(store.head(CHANNEL)[0] + 1)
    post(store, CHANNEL, sender="owner", type=draft.type, thread=draft.thread, text=TEXT, stamp=STAMP)


def read(store: FileStore) -> None:
    assert store.read_thread(CHANNEL, draft_of(store.head(CHANNEL)[0]).thread)


def cpu_us(step: Callable[[], object], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        step()
    return (time.process_time() - begun) / times * 1e6


def compared(kind: str, step: Callable[[FileStore], object], short: FileStore, long: FileStore, times: int) -> Cost:
    """Measure a step on both records in turns."""
    rounds = [(cpu_us(lambda: step(short), times), cpu_us(lambda: step(long), times)) for _ in range(ROUNDS)]
    return Cost(kind, _better_half([pair[0] for pair in rounds]), _better_half([pair[1] for pair in rounds]))


def _better_half(rounds: list[float]) -> float:
    return statistics.mean(sorted(rounds)[: len(rounds) // 2])


def floor(folder: Path, times: int) -> float:
    """Return the CPU of one write and fsync, one SHA-256 and one signature of an entry's bytes."""
    block = render(draft_of(1), n=1, channel_id=CHANNEL_ID, prev="0" * 64, sign=KEY.sign, strict=True)
    fd = os.open(folder / "floor", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def step() -> None:
        hashlib.sha256(block).hexdigest()
        KEY.sign(block)
        os.write(fd, block)
        os.fsync(fd)

    try:
        return _better_half([cpu_us(step, times) for _ in range(ROUNDS)])
    finally:
        os.close(fd)


def measure(folder: Path, entries: int, appends: int) -> list[Cost]:
    times = max(1, appends // ROUNDS)
    costs = []
    for layout, kind, step in ((Layout.CASES, "case", append), (Layout.SHARED, "post", say)):
        short, long = (fill(folder / f"{kind}-{size}", layout, size) for size in (100, entries))
        begun = time.process_time()
        step(short)
        step(long)  # builds the index of a record that was not written by us
        print(f"{kind}: first entry behind {entries} foreign ones {time.process_time() - begun:.1f} s")
        costs += [compared(kind, step, short, long, times), compared("read", read, short, long, times)]
    return costs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--appends", type=int, default=200)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(Path(folder), chosen.entries, chosen.appends)
        least = floor(Path(folder), max(1, chosen.appends // ROUNDS))
    print(f"us CPU  at 100  at {chosen.entries:8}    ratio")
    for cost in costs:
        print(cost)
    print(f"floor  {least:9.0f}  (write + fsync, SHA-256, signature)")
    slow = [cost for cost in costs if cost.ratio > MAX_RATIO]
    for cost in slow:
        print(f"{cost.kind} costs {cost.ratio:.2f} times as much at {chosen.entries}; at most {MAX_RATIO}")
    return int(bool(slow))


if __name__ == "__main__":
    sys.exit(main())
