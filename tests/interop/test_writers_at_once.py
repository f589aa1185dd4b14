"""Many processes post to one channel at once, some the public tool's: none lost, doubled or torn (issue 2)."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from counterpoint.drive.posting import begin_channel
from counterpoint.record.store import Block
from tests import need
from tests.channels import SHARED, STAMP, key
from tests.interop.public_tool import debate, shared_store

_BOUND_S: Final = 550

OURS: Final = """
import json, sys
from counterpoint.drive.posting import post
from counterpoint.errors import LockBusy
from counterpoint.record.files import FileStore, Layout
from tests.channels import SHARED, STAMP, key
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = FileStore(root, Layout.SHARED, signer=key)
posted, busy = [], 0
sys.stdin.readline()
while len(posted) < count:
    text = f"{name} {len(posted)}\\n\\n" + "x" * 900
    try:
        said = post(store, SHARED, sender="owner", type="info", thread="notes", text=text, stamp=STAMP)
        posted.append(said.n)
    except LockBusy:
        busy += 1
print(json.dumps({"name": name, "posted": posted, "busy": busy}))
"""

THEIRS: Final = """
import json, sys
from pathlib import Path
from debate.channel import ChannelError, post
root, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
posted, busy = [], 0
sys.stdin.readline()
while len(posted) < count:
    text = f"{name} {len(posted)}\\n\\n" + "x" * 900
    try:
        entry = post(root, "owner", "info", "notes", text, name="project-04711")
        posted.append(int(entry.removeprefix("MSG-")))
    except ChannelError as error:
        if "another writer" not in str(error):
            raise
        busy += 1
print(json.dumps({"name": name, "posted": posted, "busy": busy}))
"""


class Writer(NamedTuple):
    name: str
    posted: list[int]
    """The numbers that were acknowledged to it, in its own order."""
    busy: int
    """How often a lock was refused and tried again."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    begin_channel(
        shared_store(tmp_path),
        SHARED,
        parties=("claude", "codex"),
        supervisor="owner",
        thread_cap=5000,
        project=None,
        channel_id="5" * 32,
        stamp=STAMP,
        keys=(key().public,),
    )
    return tmp_path


def write_at_once(root: Path, *, ours: int, theirs: int, each: int) -> list[Writer]:
    """Start the writers, let them go together, and return what was acknowledged to each."""
    commands: list[list[str | Path]] = [
        [sys.executable, "-c", OURS, root, f"ours-{i}", str(each)] for i in range(ours)
    ]
    if theirs:
        python = need.oracle().with_name("python")
        commands += [[str(python), "-c", THEIRS, str(root), f"theirs-{i}", str(each)] for i in range(theirs)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=need.ROOT)
        for command in commands
    ]
    try:
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        printed = [process.communicate(timeout=_BOUND_S)[0] for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait(10)
    assert [process.returncode for process in running] == [0] * len(running)
    return [Writer(**json.loads(line)) for line in printed]


def hold_to_history(root: Path, writers: Sequence[Writer], each: int) -> None:
    """Every acknowledged entry is in the record once, under the number that its writer was told, and nothing else."""
    store = shared_store(root)
    entries = store.read(SHARED, 0)
    said = {block.n: _words(block) for block in entries}
    assert list(said) == list(range(1, len(writers) * each + 1))
    assert Counter(said.values()) == Counter(f"{writer.name} {i}" for writer in writers for i in range(each))
    for writer in writers:
        assert [said[n] for n in writer.posted] == [f"{writer.name} {i}" for i in range(each)]
        assert writer.posted == sorted(writer.posted)
    assert all(block.text.endswith("x" * 900) for block in entries)
    verified = store.verify(SHARED)
    assert (verified.n, verified.is_clean) == (len(entries), True)
    theirs = [block.n for block in entries if not block.signed]
    assert verified.plain == tuple(theirs)
    assert [block for block in entries if block.signed == _words(block).startswith("theirs")] == []


def _words(block: Block) -> str:
    return block.text.partition("\n")[0]


def test_many_of_our_processes_post_at_once(root: Path) -> None:
    """32 processes with 50 notes each where every need has to be met, else fewer (issue 2)."""
    processes, each = (32, 50) if need.require_all() else (8, 8)
    writers = write_at_once(root, ours=processes, theirs=0, each=each)
    print(f"{sum(writer.busy for writer in writers)} locks refused and tried again")
    hold_to_history(root, writers, each)


def test_our_processes_and_the_public_tools_post_at_once(root: Path) -> None:
    """8 of ours beside 8 of the public tool's, 50 notes each where every need has to be met, else fewer (issue 2)."""
    processes, each = (8, 50) if need.require_all() else (3, 8)
    writers = write_at_once(root, ours=processes, theirs=processes, each=each)
    print(f"{sum(writer.busy for writer in writers)} locks refused and tried again")
    hold_to_history(root, writers, each)
    assert debate(root, "verify").output == "record verifies clean\n"
