import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterpoint.drive.lease import Holder, current_holder, hold_lease
from counterpoint.errors import LeaseHeld, RecordError
from tests import need

NOW = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)
STAMP = "2026-07-06T14:07:48+00:00"

# Holds the lease of the folder argv[1], starts a child of its own that outlives it, and waits to be killed.
HOLDER = """
import subprocess, sys
from datetime import UTC, datetime
from pathlib import Path
from counterpoint.drive.lease import hold_lease
with hold_lease(Path(sys.argv[1]), case="c", now=datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)):
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], close_fds=False)
    print(child.pid, flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds the lease; its own child ends when the pipe to both closes."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=20)


def test_a_second_driver_is_told_who_holds_the_lease_and_since_when(tmp_path: Path) -> None:
    """DESIGN section 6: the lease keeps a second driver away and names its holder."""
    name = f"pid {os.getpid()} on {os.uname().nodename}"
    with hold_lease(tmp_path, case="review-1", now=NOW):
        assert current_holder(tmp_path) == Holder(name=name, since=STAMP)
        with pytest.raises(LeaseHeld) as raised, hold_lease(tmp_path, case="review-1", now=NOW):
            pass
    assert (raised.value.case, raised.value.holder, raised.value.since) == ("review-1", name, STAMP)


def test_a_lease_is_free_after_the_block_whether_or_not_it_raised(tmp_path: Path) -> None:
    """Ours; the file stays where it is, since unlinking it would make two leases (SECURITY C.2)."""
    with pytest.raises(RuntimeError), hold_lease(tmp_path, case="c", now=NOW):
        raise RuntimeError
    assert current_holder(tmp_path) is None
    assert (tmp_path / "lease").read_bytes() == b""
    with hold_lease(tmp_path, case="c", now=NOW):
        pass


def test_a_case_without_a_lease_file_has_no_holder(tmp_path: Path) -> None:
    """F43: what is not held is not shown as live."""
    assert current_holder(tmp_path) is None


def test_the_lease_of_a_killed_driver_is_free_at_once_although_its_child_lives(tmp_path: Path) -> None:
    """F43 and SECURITY C.2: an inherited descriptor would keep the lock until the child ends."""
    with holder(tmp_path) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert current_holder(tmp_path) == Holder(name=f"pid {process.pid} on {os.uname().nodename}", since=STAMP)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
        os.kill(child, 0)
        assert current_holder(tmp_path) is None
        with hold_lease(tmp_path, case="c", now=NOW):
            os.kill(child, 0)


def test_a_fork_without_exec_does_not_keep_a_lease_that_was_given_back(tmp_path: Path) -> None:
    """Ours: closing alone leaves the lock with every copy of the descriptor."""
    with hold_lease(tmp_path, case="c", now=NOW):
        listed = [path for path in Path("/proc/self/fd").iterdir() if path.resolve() == tmp_path / "lease"]
        copy = os.dup(int(listed[0].name))
    try:
        with hold_lease(tmp_path, case="c", now=NOW):
            pass
    finally:
        os.close(copy)


def test_a_lease_on_a_file_that_was_replaced_meanwhile_is_taken_again(tmp_path: Path) -> None:
    """SECURITY C.2: whoever locks an unlinked file holds nothing."""
    path = tmp_path / "lease"
    path.touch()
    old = os.open(path, os.O_RDWR)
    fcntl.flock(old, fcntl.LOCK_EX)
    path.unlink()
    with hold_lease(tmp_path, case="c", now=NOW):
        assert not os.path.samestat(os.fstat(old), path.stat())
        with pytest.raises(LeaseHeld), hold_lease(tmp_path, case="c", now=NOW):
            pass
    os.close(old)


@pytest.mark.parametrize("recreate", [True, False])
def test_a_lease_file_that_is_replaced_while_it_is_being_locked_is_locked_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, recreate: bool
) -> None:
    """SECURITY C.2: after locking, the inode is compared with the path's."""
    path, flock = tmp_path / "lease", fcntl.flock

    def replacing(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        path.unlink()
        if recreate:
            path.touch()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", replacing)
    with hold_lease(tmp_path, case="c", now=NOW):
        assert current_holder(tmp_path) is not None
        with pytest.raises(LeaseHeld), hold_lease(tmp_path, case="c", now=NOW):
            pass


def test_a_file_system_without_locks_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SECURITY C.2: some mounts have none; driving without a lease is not offered."""

    def refusing(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", refusing)
    with pytest.raises(RecordError, match="cannot be locked"), hold_lease(tmp_path, case="c", now=NOW):
        pass


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        (b"", Holder(name="a process that left no name", since="unknown")),
        (b"torn {", Holder(name="a process that left no name", since="unknown")),
        (b'{"pid": "7"}', Holder(name="a process that left no name", since="unknown")),
        (
            json.dumps({"pid": 7, "host": "a\u202eb", "start": STAMP}).encode(),
            Holder(name="pid 7 on a\\u{202e}b", since=STAMP),
        ),
    ],
)
def test_damaged_text_in_a_held_lease_decides_nothing(tmp_path: Path, text: bytes, holder: Holder) -> None:
    """SECURITY C.2: pid, host and start are there for people only."""
    with hold_lease(tmp_path, case="c", now=NOW):
        (tmp_path / "lease").write_bytes(text)
        assert current_holder(tmp_path) == holder


def test_a_lease_that_is_a_link_or_a_pipe_or_in_no_folder_is_a_typed_error(tmp_path: Path) -> None:
    """Ours: the lease lies in a folder that the repository could have prepared."""
    (tmp_path / "target").touch()
    for name in ("link", "pipe"):
        (tmp_path / name).mkdir()
    (tmp_path / "link" / "lease").symlink_to(tmp_path / "target")
    os.mkfifo(tmp_path / "pipe" / "lease")
    for name in ("link", "pipe", "missing"):
        with pytest.raises(RecordError), hold_lease(tmp_path / name, case="c", now=NOW):
            pass
    for name in ("link", "pipe"):
        with pytest.raises(RecordError):
            current_holder(tmp_path / name)
    assert (tmp_path / "target").read_bytes() == b""


def test_a_full_disk_does_not_take_the_lease_away(tmp_path: Path, measured: Mapping[str, str]) -> None:
    """Ours: the text is a courtesy; the kernel's lock is the lease."""
    need.linux()
    program = """
import resource, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from counterpoint.drive.lease import current_holder, hold_lease
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
with hold_lease(Path(sys.argv[1]), case="c", now=datetime(2026, 7, 6, tzinfo=UTC)):
    print(current_holder(Path(sys.argv[1])).since)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    environment = {**os.environ, **measured}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout == "unknown\n"
