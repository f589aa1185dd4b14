"""How fast a whole record is verified: CPU time, beside the floor of two SHA-256 over the same bytes.

    python benchmarks/verify.py [--entries 100000]

Entries of 1 kB in a strict channel without signatures, once with text alone and once with typed objects. The aim is
60 MB a second or more. `process_time` counts this process alone; the best of three passes is shown, since a busy
neighbour on the same core slows every pass and speeds up none.
"""

import argparse
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from counterpoint.record.block import ZEROS, render, scan
from counterpoint.record.genesis import genesis_draft
from counterpoint.record.store import Draft, Genesis
from counterpoint.record.verify import verify

CHANNEL_ID = "0123456789abcdef" * 2
STAMP = "2026-07-06T14:07:48+00:00"
LINE = "The backoff in `retry.py` doubles once too often, so that the last wait is longer than the deadline. "
PASSES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    kind: str
    entries: int
    size: int
    verify_s: float
    floor_s: float

    @property
    def mb_per_s(self) -> float:
        return self.size / 1e6 / self.verify_s

    def __str__(self) -> str:
        floor = self.size / 1e6 / self.floor_s
        return (
            f"{self.kind:5} {self.entries:7} entries {self.size / 1e6:6.1f} MB  verify {self.mb_per_s:6.1f} MB/s"
            f"  floor (2 x SHA-256) {floor:6.1f} MB/s  {self.verify_s / self.entries * 1e6:5.1f} us an entry"
        )


def draft_of(n: int, *, is_typed: bool) -> Draft:
    """Return an entry of about a kilobyte, half of it typed where `is_typed`."""
    fields = None
    if is_typed:
        findings = [
            {"id": f"critic-F{k}", "severity": "major", "path": "src/retry.py", "line": n + k, "claim": "off by one"}
            for k in range(3)
        ]
        usage = {"input_tokens": n, "output_tokens": 7, "known": True}
        turn = {"id": f"reviewing.1.critic.{n}", "model_requested": "x-1", "model_reported": "x-1", "usage": usage}
        fields = {"decision": "PASS", "revision": f"sha256:{'ab' * 32}", "findings": findings, "turn": turn}
    text = f"{n}: {LINE * (2 if is_typed else 7)}"
    return Draft(
        stamp=STAMP, sender="counterpoint", type="submission-admitted", thread="case", text=text, fields=fields
    )


def record_of(entries: int, *, is_typed: bool) -> bytes:
    """Return the file of a strict channel without signatures."""
    genesis = Genesis(channel_id=CHANNEL_ID, mode="strict", roster=("author", "critic"), keys=())
    draft = genesis_draft(genesis, stamp=STAMP, sender="counterpoint")
    parts, prev = [], ZEROS
    for n in range(entries):
        block = render(draft if n == 0 else draft_of(n, is_typed=is_typed), n=n, channel_id=CHANNEL_ID, prev=prev)
        prev = hashlib.sha256(block).hexdigest()
        parts += [b"\n", block, b"\n"]
    return b"".join(parts)


def best(act: Callable[[], object]) -> float:
    """Return the least CPU seconds of a few passes."""
    spent = []
    for _ in range(PASSES):
        start = time.process_time()
        act()
        spent.append(time.process_time() - start)
    return min(spent)


def measure(entries: int, *, is_typed: bool) -> Speed:
    content = record_of(entries, is_typed=is_typed)
    blocks = [content[at : at + length] for at, length in scan(content)]

    def hash_twice() -> None:
        for block in blocks:
            hashlib.sha256(block).digest()
            hashlib.sha256(block).digest()

    return Speed(
        kind="typed" if is_typed else "text",
        entries=entries,
        size=len(content),
        verify_s=best(lambda: verify("bench", content, mode="strict")),
        floor_s=best(hash_twice),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast a whole record is verified.")
    parser.add_argument("--entries", type=int, default=100_000)
    entries = parser.parse_args().entries
    for is_typed in (False, True):
        print(measure(entries, is_typed=is_typed))


if __name__ == "__main__":
    main()
