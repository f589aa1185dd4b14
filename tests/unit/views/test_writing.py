"""Reports on disk: whole or not at all, the same bytes twice."""

import stat
from pathlib import Path

import pytest

from counterpoint.drive.cases import LoadedCase, load_case
from counterpoint.errors import RecordError
from counterpoint.record.memory import MemoryStore
from counterpoint.views.report import render_report
from counterpoint.views.writing import render_result, write_reports
from tests import need
from tests.example_cases import play


def _loaded(cases: Path) -> LoadedCase:
    store = MemoryStore()
    return load_case(store, cases, play("rejected", store))


def test_both_reports_lie_in_the_cases_folder(tmp_path: Path) -> None:
    """Readable for everybody, whatever the temporary file was, and nothing else is left (issue 2 point 7)."""
    case = _loaded(tmp_path)
    report, result = write_reports(case)
    assert sorted(path.name for path in case.folder.iterdir()) == ["report.md", "result.json"]
    assert report.read_text("utf-8") == render_report(case)
    assert result.read_text("utf-8") == render_result(case)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (report, result)] == [0o644, 0o644]


def test_writing_twice_gives_the_same_bytes_elsewhere_too(tmp_path: Path) -> None:
    """The folder that takes them is not in them; a folder that is missing is made."""
    case = _loaded(tmp_path)
    first = [path.read_bytes() for path in write_reports(case)]
    again = [path.read_bytes() for path in write_reports(case)]
    elsewhere = [path.read_bytes() for path in write_reports(case, tmp_path / "deep" / "below")]
    assert first == again == elsewhere


def test_a_link_in_the_reports_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """What it points to keeps its bytes (SECURITY R21)."""
    case = _loaded(tmp_path)
    other = tmp_path / "precious.txt"
    other.write_text("mine")
    case.folder.mkdir()
    (case.folder / "report.md").symlink_to(other)
    report, _ = write_reports(case)
    assert other.read_text() == "mine"
    assert not report.is_symlink()


def test_a_folder_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    """One sentence that names the folder, and nothing half written."""
    case = _loaded(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot take the reports"):
        write_reports(case, tmp_path / "file" / "below")


def test_a_read_only_folder_is_a_typed_error(tmp_path: Path) -> None:
    """As on a read-only disk; what was there before stays."""
    need.not_root()
    case = _loaded(tmp_path)
    report, _ = write_reports(case)
    case.folder.chmod(0o500)
    try:
        with pytest.raises(RecordError, match=r"report\.md cannot be written: Permission denied"):
            write_reports(case)
    finally:
        case.folder.chmod(0o700)
    assert report.read_text("utf-8") == render_report(case)


def test_a_failed_replacement_leaves_no_half(tmp_path: Path) -> None:
    """A folder stands where the report belongs: refused, and the temporary file is gone."""
    case = _loaded(tmp_path)
    (case.folder / "report.md" / "inner").mkdir(parents=True)
    with pytest.raises(RecordError):
        write_reports(case)
    assert [path.name for path in case.folder.iterdir()] == ["report.md"]
