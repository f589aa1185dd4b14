"""`counterpoint withdraw`: the supervisor ends a case without a decision (DESIGN 4)."""

from pathlib import Path

import pytest

from tests.command_line import call, keep
from tests.processes import is_gone
from tests.reviewing import Project


def test_a_withdrawn_case_is_undetermined_and_says_why(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason stands in the record; resuming it changes nothing, and is no pass."""
    (case,) = keep(tmp_path / ".counterpoint" / "cases", own_home, "open-and-waiting")
    called = call(capsys, "withdraw", "last", "--reason", "wrong branch", "--repo", tmp_path)
    assert called.code == 0
    assert called.out.startswith(f"withdrew {case} as MSG-")
    ended = call(capsys, "resume", "last", "--repo", tmp_path, "--json")
    assert (ended.code, ended.json["decision"], ended.json["stop_reason"]) == (3, "undetermined", "withdrawn")
    printed = call(capsys, "resume", "last", "--repo", tmp_path).out
    assert printed.startswith("Unresolved: it was withdrawn; wrong branch.\n")
    assert "wrong branch" in call(capsys, "show", "last", "--repo", tmp_path).out
    again = call(capsys, "withdraw", "last", "--reason", "twice", "--repo", tmp_path)
    assert again.code == 1
    assert "[TURN-3]" in again.err


def test_a_reason_is_needed(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, with or without the option."""
    keep(tmp_path / ".counterpoint" / "cases", own_home, "open-and-waiting")
    assert call(capsys, "withdraw", "last", "--repo", tmp_path).code == 2
    assert call(capsys, "withdraw", "last", "--reason", "", "--repo", tmp_path).code == 2


def test_a_case_that_is_being_driven_can_be_withdrawn(project: Project) -> None:
    """The answer that comes too late is not taken, and the driver ends with what the case came to."""
    project.begin()
    gate = project.gate()
    project.configure(project.critic(f"{gate.wait}; cat $out"))
    driver = project.start("review", "--reviewer", "critic")
    gate.arrived()
    assert project.call("withdraw", "last", "--reason", "wrong branch").code == 0
    gate.open()
    out, err = driver.communicate(timeout=30)
    assert driver.returncode == 3, err
    assert b"Unresolved" in out
    assert is_gone(driver.pid)
