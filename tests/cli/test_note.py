"""`counterpoint note`: the supervisor's word in an open case (DESIGN 4: unasked speech)."""

from pathlib import Path

import pytest

from tests.command_line import call, keep


def test_a_note_becomes_an_entry(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is in the record and in the transcript, hidden characters written out, and the record verifies."""
    (case,) = keep(tmp_path / ".counterpoint" / "cases", own_home, "open-and-waiting")
    called = call(capsys, "note", "last", "the flaky test is\nknown \x1b[1m", "--repo", tmp_path)
    assert (called.code, called.err) == (0, "")
    assert called.out.startswith(f"noted in {case} as MSG-")
    shown = call(capsys, "show", "last", "--repo", tmp_path)
    assert "the flaky test is" in shown.out
    assert "\x1b" not in shown.out
    assert call(capsys, "verify", "last", "--repo", tmp_path).code == 0


def test_a_closed_case_takes_no_note(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """TURN-3, exit 1; the record stays as it is."""
    (case,) = keep(tmp_path / ".counterpoint" / "cases", own_home, "approved")
    channel = tmp_path / ".counterpoint" / "cases" / case / f"{case}.channel.md"
    before = channel.read_bytes()
    called = call(capsys, "note", "last", "late", "--repo", tmp_path)
    assert called.code == 1
    assert "the case is closed; nothing more is taken in it [TURN-3]" in called.err
    assert channel.read_bytes() == before


def test_an_empty_note_is_refused(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing said is no entry."""
    keep(tmp_path / ".counterpoint" / "cases", own_home, "open-and-waiting")
    called = call(capsys, "note", "last", " \n", "--repo", tmp_path)
    assert called.code == 2
    assert "a text that is not blank is needed" in called.err


def test_a_program_is_told_the_number_of_the_entry(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--json`: one object."""
    (case,) = keep(tmp_path / ".counterpoint" / "cases", own_home, "open-and-waiting")
    first = call(capsys, "note", case, "one", "--repo", tmp_path, "--json").json
    second = call(capsys, "note", case, "two", "--repo", tmp_path, "--json").json
    assert second == {"case": case, "entry": first["entry"] + 1}
