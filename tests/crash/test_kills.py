"""A writer is killed at every file operation, at system calls, and at random beside others (SECURITY C.3)."""

import json
import os
import random
import select
import subprocess
import sys
import time
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple, Self

import pytest

from counterpoint.record.files import FileStore, Layout
from tests import need
from tests.channels import CASE, SHARED, begin, draft, file_store, texts

_BOUND_S: Final = 300


def run(program: str, *arguments: str, under: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*under, sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=need.ROOT,
        timeout=_BOUND_S,
        check=False,
    )


def test_a_writer_killed_at_any_file_operation_leaves_a_record_that_goes_on() -> None:
    """Before and after every operation of an append, a batch, a seal and a claim (SECURITY C.3 level 4)."""
    swept = run("from tests.crash.kill_points import main; main()")
    assert swept.returncode == 0, swept.stderr
    assert json.loads(swept.stdout) == []


APPENDS: Final = """
import sys
from counterpoint.record.files import Layout
from tests.channels import draft, file_store
root, layout, channel = sys.argv[1:4]
store = file_store(root, Layout(layout))
for name in sys.argv[4:]:
    store.append(channel, [draft(name), draft(name + " too")], expected=None)
    print(name, flush=True)
"""

CALLS: Final = ("write", "pwrite64", "fsync", "rename", "renameat", "renameat2", "ftruncate", "flock")


def injected(root: Path, layout: Layout, call: str, what: str, when: int) -> bool:
    """Let one system call of a writer kill it, or fail, and hold it to its promises; say whether it came so far."""
    store = file_store(str(root), layout)
    channel = CASE if layout is Layout.CASES else SHARED
    before = texts(store, channel)
    strace = (need.tool("strace"), "-f", "-qq", "-o", "/dev/null", "-e", f"inject=?{call}:{what}:when={when}")
    ran = run(APPENDS, str(root), str(layout), channel, "one", "two", under=strace)
    acked = [line for name in ran.stdout.split() for line in (name, f"{name} too")]
    for lock in root.glob("*.lock"):
        lock.unlink()
    found = texts(store, channel)
    assert found[: len(before)] == before
    new = found[len(before) :]
    assert new[: len(acked)] == acked, (call, what, when, new, acked)
    assert len(new) in {len(acked), len(acked) + 2}
    store.append(channel, [draft("after")], expected=None)
    assert texts(store, channel) == [*found, "after"]
    assert store.verify(channel).is_clean
    return ran.returncode != 0


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize(("call", "when"), [("write", 2), ("fsync", 2), ("renameat", 1)])
def test_a_writer_killed_at_a_system_call_leaves_a_record_that_goes_on(
    tmp_path: Path, layout: Layout, call: str, when: int
) -> None:
    """The kernel kills it at the call itself (SECURITY C.3 level 4)."""
    begin(file_store(str(tmp_path), layout), layout)
    assert injected(tmp_path, layout, call, "signal=SIGKILL", when)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("what", ["signal=SIGKILL", "error=EIO", "error=ENOSPC"])
@pytest.mark.parametrize("call", CALLS)
def test_a_writer_hit_at_every_system_call_leaves_a_record_that_goes_on(
    tmp_path: Path, layout: Layout, call: str, what: str
) -> None:
    """Every occurrence of every call that changes files, killed or failing (SECURITY C.3 level 4)."""
    begin(file_store(str(tmp_path), layout), layout)
    for when in range(1, 60):
        if not injected(tmp_path, layout, call, what, when):
            break


WRITES: Final = """
import os, sys, time
from counterpoint.record.files import FileStore, Layout
from tests.channels import CASE, draft, key
root, tag = sys.argv[1:3]
store = FileStore(root, Layout.CASES, signer=key)
for i in range(1_000_000):
    begun = time.monotonic_ns()
    (entry,) = store.append(CASE, [draft(f"{tag} {i}", typed=True)], expected=None)
    os.write(1, f"{tag} {i} {entry.n} {begun} {time.monotonic_ns()}\\n".encode())
"""


class Ack(NamedTuple):
    """What a writer was told, and when."""

    tag: str
    i: int
    n: int
    begun: int
    ended: int


class Writers:
    """Three writers that are kept going, and one pipe on which all of them tell what was acknowledged."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read, self._write = os.pipe()
        self._running: list[subprocess.Popen[bytes]] = []
        self._told = b""
        self.started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.kill()
            process.wait(_BOUND_S)
        os.close(self._write)

    def keep_going(self) -> None:
        while len(self._running) < 3:
            command = [sys.executable, "-c", WRITES, str(self._root), f"w{self.started}"]
            self._running.append(subprocess.Popen(command, cwd=need.ROOT, stdout=self._write))
            self.started += 1

    def kill(self, number: int) -> None:
        victim = self._running.pop(number)
        victim.kill()
        victim.wait(_BOUND_S)

    def wait_for(self, acks: int) -> None:
        """Wait until so many more entries were acknowledged."""
        due = self._told.count(b"\n") + acks
        while self._told.count(b"\n") < due:
            ready, _, _ = select.select([self._read], [], [], _BOUND_S)
            assert ready, "no writer gets on"
            self._told += os.read(self._read, 1 << 16)

    def acks(self) -> list[Ack]:
        """Return all that was acknowledged; every writer has ended."""
        while part := os.read(self._read, 1 << 16):
            self._told += part
        os.close(self._read)
        lines = (line.split() for line in self._told.decode().splitlines())
        return [Ack(tag, *map(int, numbers)) for tag, *numbers in lines]


def kill_loop(root: Path, *, kills: int) -> None:
    store = file_store(str(root), Layout.CASES, sleep=time.sleep)
    begin(store, Layout.CASES)
    dice = random.Random(kills)
    with Writers(root) as writers:
        for _ in range(kills):
            writers.keep_going()
            writers.wait_for(dice.randrange(1, 30))
            writers.kill(dice.randrange(3))
    acks = writers.acks()
    store.append(CASE, [draft("after", typed=True)], expected=None)
    hold_to_history(store, acks)


def hold_to_history(store: FileStore, acks: list[Ack]) -> None:
    """Every acknowledged entry is there once, under its number, and in the order of real time (Jepsen's check)."""
    said = {block.n: block.text for block in store.read(CASE, 0)}
    assert list(said) == list(range(1, len(said) + 1))
    assert max(Counter(said.values()).values()) == 1
    assert [said[ack.n] for ack in acks] == [f"{ack.tag} {ack.i}" for ack in acks]
    assert store.verify(CASE).is_clean
    ends = sorted((ack.ended, ack.n) for ack in acks)
    newest = list(accumulate((n for _, n in ends), max))
    for ack in acks:
        before = bisect_left(ends, (ack.begun, 0))
        assert before == 0 or ack.n > newest[before - 1]


def test_writers_killed_at_random_lose_and_double_nothing(tmp_path: Path) -> None:
    """Three at once, killed and replaced again and again (SECURITY C.3 level 5)."""
    kill_loop(tmp_path, kills=6)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_writers_killed_at_random_lose_and_double_nothing(tmp_path: Path) -> None:
    """As above, for longer (SECURITY C.3 level 5)."""
    kill_loop(tmp_path, kills=200)
