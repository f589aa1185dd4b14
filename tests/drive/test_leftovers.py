"""What a killed driver leaves is cleared by the next one, and nothing else is (FIELD-FAULTS F29, F43)."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from counterpoint.drive.leftovers import clear, folder_for, programs_of
from counterpoint.isolation.marks import marked
from tests import need
from tests.processes import is_gone

CASE, OTHER = "review-20260706t140748z-00000001", "review-20260706t140748z-00000002"


def _start(case: str) -> "subprocess.Popen[bytes]":
    # As a driver that was killed in the block leaves it.
    with marked(f"case.{case}"):
        # In a session of its own, as the runner starts programs; it would run for a minute.
        return subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True)


def test_programs_that_a_dead_driver_started_are_ended_and_no_others() -> None:
    """Under the case's lease nobody else can have started them."""
    need.linux()
    mine, other = _start(CASE), _start(OTHER)
    try:
        clear(CASE)
        assert mine.wait(5) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        os.killpg(other.pid, signal.SIGKILL)
        other.wait(5)
    assert is_gone(mine.pid)


def test_no_program_outlives_the_block_of_its_case() -> None:
    """A server that an agent left running ends with its case."""
    need.linux()
    with programs_of(CASE):
        left = subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True)
    assert left.wait(5) == -signal.SIGKILL


def test_folders_of_a_dead_driver_are_removed_and_no_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Read-only exports too; a link of the same name is not followed and not removed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine, other = folder_for(CASE), folder_for(OTHER)
    (mine / "tree").mkdir()
    (mine / "tree" / "a.py").write_text("x")
    (mine / "tree").chmod(0o555)
    link = tmp_path / f"counterpoint-{CASE}-link"
    link.symlink_to(other)
    clear(CASE)
    assert sorted(tmp_path.iterdir()) == sorted([other, link])


def test_the_mark_ends_with_the_block() -> None:
    """What is started afterwards is not the case's."""
    before = dict(os.environ)
    with programs_of(CASE), programs_of(OTHER):
        assert os.environ["COUNTERPOINT_RUN"].endswith(f"case.{CASE}:case.{OTHER}")
    assert dict(os.environ) == before
