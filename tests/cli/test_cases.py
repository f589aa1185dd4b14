"""`counterpoint cases`."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterpoint.drive.lease import hold_lease
from tests.command_line import call, keep


def test_cases_are_listed_by_what_they_came_to(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Name, state, what it is about and open findings; the newest last (issue 2, point 7; newcomer 27)."""
    names = keep(tmp_path, own_home, "approved", "rejected", "failed", "open-and-waiting")
    done = call(capsys, "cases", "--root", tmp_path)
    assert done.code == 0
    assert [line.split() for line in done.out.splitlines()] == [
        ["CASE", "STATE", "ABOUT"],
        [names[0], "approved", "4e9f21c04e9f", "against", "0b5a77d10b5a"],
        [names[1], "rejected", "4e9f21c04e9f", "against", "0b5a77d10b5a"],
        ["5", "open", "findings"],
        [names[2], "undetermined", "4e9f21c04e9f", "against", "0b5a77d10b5a"],
        [names[3], "open", "4e9f21c04e9f", "against", "0b5a77d10b5a"],
    ]


def test_who_drives_a_case_is_named(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By process and start, as the lease has it (F43)."""
    (name,) = keep(tmp_path, own_home, "open-and-waiting")
    with hold_lease(tmp_path / name, case=name, now=datetime(2024, 11, 30, 11, tzinfo=UTC)):
        (line,) = call(capsys, "cases", "--root", tmp_path, "--json").json["cases"]
        shown = call(capsys, "cases", "--root", tmp_path).out
    holder = f"pid {os.getpid()} on {os.uname().nodename}"
    assert line["driven_by"] == {"name": holder, "since": "2024-11-30T11:00:00+00:00"}
    assert f"    driven by {holder} since 2024-11-30T11:00:00+00:00" in shown
    assert call(capsys, "cases", "--root", tmp_path, "--json").json["cases"][0]["driven_by"] is None


def test_a_damaged_case_is_listed_with_its_error(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list goes on, and the entry is named (issue 2, point 7)."""
    bad, good = keep(tmp_path, own_home, "rejected", "approved")
    record = tmp_path / bad / f"{bad}.channel.md"
    record.write_bytes(record.read_bytes().replace(b"good to merge", b"well to merge", 1))
    done = call(capsys, "cases", "--root", tmp_path)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[1].split() == [bad, "unreadable"]
    assert lines[2].startswith(f"    {bad} MSG-1: ")
    assert lines[3].split()[:2] == [good, "approved"]
    first = call(capsys, "cases", "--root", tmp_path, "--json").json["cases"][0]
    assert (first["standing"], first["error"]["code"], first["error"]["entry"]) == (
        "unreadable",
        "record.corrupt",
        1,
    )


def test_no_case_is_said_and_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the command that makes one."""
    done = call(capsys, "cases", "--repo", tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "hint: start one; `counterpoint` says which command does what" in done.err
    assert call(capsys, "cases", "--repo", tmp_path, "--json").json["cases"] == []
