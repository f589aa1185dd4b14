"""`counterpoint show`."""

import re
from pathlib import Path

import pytest

from counterpoint.core.canonical import HIDDEN
from tests.command_line import call, keep


@pytest.fixture
def rejected(tmp_path: Path, own_home: Path) -> str:
    return keep(tmp_path, own_home, "rejected")[0]


def test_the_record_is_shown_in_words(rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every entry, by any unambiguous end or beginning of the case's name, and nothing is written."""
    before = sorted(path.name for path in (tmp_path / rejected).iterdir())
    done = call(capsys, "show", "last", "--root", tmp_path)
    assert done.code == 0
    assert len(re.findall("^MSG-", done.out, re.MULTILINE)) == 21
    assert "  critic-F1 (blocking) at shop/price.py:12\n" in done.out
    assert call(capsys, "show", rejected[:20], "--root", tmp_path).out == done.out
    assert call(capsys, "show", rejected[-8:], "--root", tmp_path).out == done.out
    assert sorted(path.name for path in (tmp_path / rejected).iterdir()) == before


def test_a_pipe_gets_no_colour(rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does a file (DESIGN 8)."""
    assert "\x1b" not in call(capsys, "show", rejected, "--root", tmp_path).out


def test_a_hostile_record_cannot_act_on_the_terminal(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every way to print it (SECURITY T1)."""
    keep(tmp_path, own_home, "hostile")
    for more in ([], ["--json"], ["--entry", "4"], ["--entry", "12"]):
        assert not HIDDEN.search(call(capsys, "show", "last", *more, "--root", tmp_path).out)


def test_one_entry_is_shown_whole(rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its header, its words and its typed fields; the genesis too."""
    shown = call(capsys, "show", rejected, "--entry", "13", "--root", tmp_path).out
    assert shown.startswith("MSG-13  2024-11-30T10:19:30+00:00  finding-raised\nsender  counterpoint\n")
    assert '"severity": "blocking"' in shown
    entry = call(capsys, "show", rejected, "--entry", "0", "--json", "--root", tmp_path).json
    assert (entry["n"], entry["type"], entry["fields"]["mode"]) == (0, "info", "strict")


def test_the_whole_record_is_one_object(rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a program: a list of every entry with its digest."""
    shown = call(capsys, "show", rejected, "--json", "--root", tmp_path).json
    assert shown["case"] == rejected
    assert [entry["n"] for entry in shown["entries"]] == list(range(21))


def test_an_entry_that_is_not_there_is_named(
    rejected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the newest one."""
    done = call(capsys, "show", rejected, "--entry", "21", "--root", tmp_path)
    assert done.code == 1
    assert done.err.startswith(f"error: {rejected} has no MSG-21; its newest is MSG-20\n")


def test_a_name_that_fits_two_cases_is_refused(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are named, and none is taken."""
    names = keep(tmp_path, own_home, "approved", "failed")
    done = call(capsys, "show", "review-2024", "--root", tmp_path)
    assert done.code == 1
    assert all(name in done.err for name in names)
