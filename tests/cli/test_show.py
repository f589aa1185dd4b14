"""`counterpoint show`."""

import os
import re
import subprocess
import sys
from contextlib import suppress
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
    """Nor does a file; and no line is wider than a hundred characters (DESIGN 8)."""
    shown = call(capsys, "show", rejected, "--root", tmp_path).out
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 100


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


def _on_a_terminal(*args: str, home: Path, **more: str) -> str:
    """Run the program with a terminal for its standard output, and return what it printed there."""
    ours, theirs = os.openpty()
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm", **more}
    with os.fdopen(ours, "rb", buffering=0) as screen:
        try:
            child = subprocess.Popen(
                [sys.executable, "-m", "counterpoint", *args],
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        finally:
            os.close(theirs)
        shown = b""
        with suppress(OSError):  # Linux's way to say that the other end is closed
            while part := screen.read(1 << 16):
                shown += part
        assert child.wait(timeout=30) == 0
    return shown.decode()


def test_a_terminal_gets_colour_unless_it_asks_for_none(rejected: str, tmp_path: Path, own_home: Path) -> None:
    """Numbers, types and quotations are painted; `NO_COLOR` is heeded (DESIGN 8)."""
    args = ("show", rejected, "--root", str(tmp_path))
    painted = _on_a_terminal(*args, home=own_home)
    assert "\x1b[36mMSG-13\x1b[0m" in painted
    assert "\x1b" not in _on_a_terminal(*args, home=own_home, NO_COLOR="1")
    assert "\x1b" not in re.sub("\x1b\\[[0-9]+m", "", painted)
