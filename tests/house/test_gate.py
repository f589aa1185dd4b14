"""The gate judges what it should, and a skip fails where none is allowed."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests import gate
from tests.need import ROOT


def _measured(lines: tuple[int, int], branches: tuple[int, int]) -> dict[str, Any]:
    """Return a file as coverage reports it; `lines` and `branches` are how many there are and how many ran."""
    summary = {
        "num_statements": lines[0],
        "covered_lines": lines[1],
        "missing_lines": lines[0] - lines[1],
        "num_branches": branches[0],
        "covered_branches": branches[1],
        "missing_branches": branches[0] - branches[1],
    }
    return {"summary": summary, "missing_lines": [1, 2, 3, 9], "missing_branches": [[2, 4], [5, 7], [6, -1]]}


@pytest.mark.parametrize(
    ("path", "lines", "branches", "stands"),
    [
        ("src/counterpoint/core/x.py", (10, 10), (10, 10), True),
        ("src/counterpoint/core/x.py", (1000, 1000), (1000, 999), False),
        ("src/counterpoint/protocols/review/x.py", (10, 9), (0, 0), False),
        ("src/counterpoint/drive/x.py", (10, 9), (10, 9), True),
        ("src/counterpoint/drive/x.py", (1000, 1000), (1000, 899), False),
        ("src/counterpoint/errors.py", (100, 89), (100, 100), False),
    ],
)
def test_package_is_held_to_its_floor(
    path: str, lines: tuple[int, int], branches: tuple[int, int], *, stands: bool
) -> None:
    """Lines and branches each stand at 100 % in core and protocols, at 90 % elsewhere; nothing is rounded up."""
    (package,) = gate.packages({path: _measured(lines, branches)})
    assert package.stands is stands


def test_files_of_one_package_are_added_up() -> None:
    """Floors hold for packages; a gap is named by file, lines and branches."""
    one, two = "src/counterpoint/drive/a.py", "src/counterpoint/drive/b/c.py"
    (package,) = gate.packages({one: _measured((10, 5), (4, 4)), two: _measured((30, 30), (6, 5))})
    assert (package.name, package.lines, package.lines_run) == ("drive", 40, 35)
    assert (package.branches, package.branches_run) == (10, 9)
    assert package.gaps == [f"{one}: 1-3, 9, 5->7, 6->exit", f"{two}: 1-3, 9, 5->7, 6->exit"]


def test_closing_line_and_skips_come_from_the_report() -> None:
    """The last line counts what ran; every skip is named with its reason."""
    skipped = '<testcase><skipped message="no strace"/></testcase>'
    suite = f'<testsuite tests="7" failures="1" errors="1" skipped="2">{skipped * 2}</testsuite>'
    report = ET.fromstring(f"<testsuites>{suite}</testsuites>")
    assert gate.closing_line(report) == "3 passed, 2 failed, 2 skipped"
    assert gate.skips(report) == {"no strace": 2}


@pytest.mark.parametrize(
    ("where", "require_all", "code"),
    [("body", "", 0), ("body", "1", 1), ("module", "", 0), ("module", "1", 2)],
)
def test_skip_fails_where_everything_is_required(where: str, require_all: str, code: int, tmp_path: Path) -> None:
    """Under `REQUIRE_ALL=1` any skip is a failure, however it was asked for (issue: the house)."""
    skip = {"body": "def test_it():\n    {}", "module": "{}\ndef test_it(): pass"}[where]
    call = "pytest.skip('by hand', allow_module_level=True)"
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    (tmp_path / "test_skipping.py").write_text("import pytest\n" + skip.format(call))
    (tmp_path / "test_passing.py").write_text("def test_it(): pass\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-q",
            "-ra",
            f"--basetemp={tmp_path / 'base'}",
            str(tmp_path),
        ],
        cwd=tmp_path,
        env=os.environ | {"REQUIRE_ALL": require_all, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stdout
    assert "by hand" in done.stdout
