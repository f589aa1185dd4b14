"""`counterpoint report`."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests import need
from tests.command_line import call, keep


@pytest.fixture
def rejected(tmp_path: Path, own_home: Path) -> str:
    return keep(tmp_path, own_home, "rejected")[0]


def test_both_reports_are_written_and_their_places_printed(
    rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Into the case's folder; the code says that they were written, not what was decided (issue 2, point 7)."""
    done = call(capsys, "report", "last", "--root", tmp_path)
    report, result = tmp_path / rejected / "report.md", tmp_path / rejected / "result.json"
    assert (done.code, done.out.splitlines()) == (0, [str(report), str(result)])
    assert report.read_text("utf-8").startswith("# Rejected: 5 open: ")
    schema = json.loads((need.ROOT / "docs/result.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(json.loads(result.read_text("utf-8")))


def test_reports_do_not_depend_on_where_or_when(
    rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twice the same bytes, elsewhere too, and printed (issue 2, point 7)."""
    call(capsys, "report", rejected, "--root", tmp_path)
    there = [(tmp_path / rejected / name).read_bytes() for name in ("report.md", "result.json")]
    done = call(capsys, "report", rejected, "--root", tmp_path, "--out", tmp_path / "out", "--json")
    assert done.json == {
        "case": rejected,
        "report": str(tmp_path / "out" / "report.md"),
        "result": str(tmp_path / "out" / "result.json"),
    }
    assert [(tmp_path / "out" / name).read_bytes() for name in ("report.md", "result.json")] == there
    printed = [
        call(capsys, "report", rejected, "--root", tmp_path, *more).out
        for more in (["--stdout"], ["--stdout", "--json"])
    ]
    assert [text.encode() for text in printed] == there


def test_printing_writes_nothing(rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And cannot be asked for together with a folder."""
    before = sorted((tmp_path / rejected).iterdir())
    assert call(capsys, "report", rejected, "--root", tmp_path, "--stdout").code == 0
    assert sorted((tmp_path / rejected).iterdir()) == before
    assert call(capsys, "report", rejected, "--root", tmp_path, "--stdout", "--out", tmp_path).code == 2


def test_a_damaged_record_gets_no_report(rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The entry is named, in words and as an object (F7, F41)."""
    record = tmp_path / rejected / f"{rejected}.channel.md"
    record.write_bytes(record.read_bytes().replace(b"good to merge", b"well to merge", 1))
    done = call(capsys, "report", rejected, "--root", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {rejected} MSG-1: ")
    assert not (tmp_path / rejected / "report.md").exists()
    error = call(capsys, "report", rejected, "--root", tmp_path, "--json").json["error"]
    assert (error["code"], error["entry"], error["exit_code"]) == ("record.corrupt", 1, 1)
