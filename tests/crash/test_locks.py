"""What was measured of locks, held to (SECURITY C.2): each fact of its table, tried on the store's own locks."""

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from counterpoint.errors import LockBusy
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import RealFiles
from counterpoint.record.locks import hold
from counterpoint.record.safe import open_folder
from tests import need
from tests.channels import SHARED, begin, draft, file_store, texts

_BOUND_S: Final = 60

HOLDER: Final = """
import subprocess, sys
from counterpoint.record.files import Layout
from tests.channels import SHARED, file_store
with file_store(sys.argv[1], Layout.SHARED).hold(SHARED):
    child = subprocess.Popen(["sleep", "300"], close_fds=False) if len(sys.argv) > 2 else None
    print(child.pid if child else 0, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    store = file_store(str(tmp_path), Layout.SHARED)
    begin(store, Layout.SHARED)
    return store


@contextmanager
def holder(store: FileStore, *arguments: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """Run a process that holds the channel; give it back with the pid of its child, 0 where it has none."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, store.root, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=need.ROOT,
    )
    child = 0
    try:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        yield process, child
    finally:
        if child:
            os.kill(child, 9)
        process.kill()
        process.communicate(timeout=_BOUND_S)


def is_held(store: FileStore) -> bool:
    try:
        with (
            open_folder(RealFiles(), store.root) as folder,
            hold(RealFiles(), folder, SHARED, shared=False, sleep=lambda _: None),
        ):
            return False
    except LockBusy:
        return True


def test_a_killed_holder_holds_nothing(store: FileStore) -> None:
    """A flock is free at once after kill -9; the public tool's lock file is left, and broken when it is old."""
    with holder(store) as (process, _):
        assert is_held(store)
        process.kill()
        process.wait(_BOUND_S)
        assert not is_held(store)
    left = Path(store.root, f"{SHARED}.lock")
    assert left.exists()
    os.utime(left, (1, 1))
    store.append(SHARED, [draft("after")], expected=0)
    assert not left.exists()


def test_a_child_of_a_killed_holder_does_not_keep_the_lock(store: FileStore) -> None:
    """The descriptor is closed on exec: an inherited one would hold until the child ends (FIELD-FAULTS F29)."""
    with holder(store, "with a child") as (process, child):
        assert child
        process.kill()
        process.wait(_BOUND_S)
        assert not is_held(store)


def test_closing_another_descriptor_of_the_lock_file_releases_nothing(store: FileStore) -> None:
    """`fcntl.lockf` would be lost here; flock is not."""
    with store.hold(SHARED):
        Path(store.root, f"{SHARED}.flock").open().close()
        assert is_held(store)
    assert not is_held(store)


def test_a_lock_file_that_was_replaced_while_we_waited_is_not_taken_for_the_lock(tmp_path: Path) -> None:
    """After locking, the inode is compared with the path's: two files are two locks."""
    fs = RealFiles()
    path = tmp_path / "c.flock"
    held = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)

    def replace_and_release(_seconds: float) -> None:
        if not (tmp_path / "old").exists():
            path.rename(tmp_path / "old")
            path.touch()
            fcntl.flock(held, fcntl.LOCK_UN)

    try:
        with (
            open_folder(fs, str(tmp_path)) as folder,
            hold(fs, folder, "c", shared=False, sleep=replace_and_release),
            pytest.raises(LockBusy),
            hold(fs, folder, "c", shared=False, sleep=no_wait),
        ):
            pass
    finally:
        os.close(held)


def no_wait(_seconds: float) -> None:
    return


def test_a_stale_lock_of_the_public_tool_is_broken_by_one_at_a_time(store: FileStore) -> None:
    """Breaking is done under the flock: of many that find it stale, no two are inside at once.

    The public tool's own scheme let both of two in, in 7 of 200 races (SECURITY C.2).
    """
    inside = threading.Semaphore(1)
    lock = Path(store.root, f"{SHARED}.lock")
    lock.touch()
    os.utime(lock, (1, 1))
    start = threading.Barrier(8)

    def write(number: int) -> bool:
        opened = file_store(store.root, Layout.SHARED, sleep=time.sleep)
        start.wait(_BOUND_S)
        with opened.hold(SHARED) as held:
            alone = inside.acquire(blocking=False)
            held.append([draft(f"text {number}")])
            inside.release()
            return alone

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(8)))
    assert sorted(texts(store, SHARED)) == [f"text {number}" for number in range(8)]
    assert not lock.exists()


def test_waiting_for_our_own_lock_ends(store: FileStore) -> None:
    """Five seconds of patience, then a typed refusal; the sleeps grow and are bounded."""
    slept: list[float] = []
    waiting = file_store(store.root, Layout.SHARED, sleep=slept.append)
    with store.hold(SHARED), pytest.raises(LockBusy) as caught, waiting.hold(SHARED):
        pass
    assert caught.value.path.endswith(f"{SHARED}.flock")
    assert 5 <= sum(slept) <= 5.1
    assert (slept[0], max(slept)) == (0.001, 0.016)
