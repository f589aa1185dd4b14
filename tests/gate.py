"""Run every ordinary test with coverage, hold each package to its floor, and close with the counts.

`python -m tests.gate` is the last step of `make check`. Lines and branches are held to the floor separately.
The process is measured from its first import through `COVERAGE_PROCESS_START`, and so are the workers of
pytest-xdist; `conftest` says which further children are.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest
from coverage import Coverage
from coverage.exceptions import CoverageWarning

from tests.need import ROOT

__all__ = ["FLOORS", "OTHER_FLOOR", "Package", "closing_line", "main", "packages", "skips"]

FLOORS: Final = {"core": 100, "protocols": 100}
OTHER_FLOOR: Final = 90
MAX_GAPS: Final = 20
SETTINGS: Final = ROOT / "pyproject.toml"


@dataclass(slots=True, kw_only=True)
class Package:
    """What the tests ran of one package."""

    name: str
    lines: int = 0
    lines_run: int = 0
    branches: int = 0
    branches_run: int = 0
    gaps: list[str] = field(default_factory=list)
    """One line for each file with something that no test ran."""

    @property
    def floor(self) -> int:
        return FLOORS.get(self.name, OTHER_FLOOR)

    @property
    def stands(self) -> bool:
        return all(
            run * 100 >= total * self.floor
            for run, total in ((self.lines_run, self.lines), (self.branches_run, self.branches))
        )

    def row(self) -> str:
        lines, branches = _percent(self.lines_run, self.lines), _percent(self.branches_run, self.branches)
        verdict = "" if self.stands else "  BELOW"
        return f"{self.name:<12} {lines:>7} {branches:>9} {self.floor:>6} %{verdict}"


def _percent(part: int, whole: int) -> str:
    # Cut, not rounded: 99.96 % must not read as 100.
    return f"{part * 1000 // whole / 10:.1f} %" if whole else "-"


def packages(files: Mapping[str, Mapping[str, Any]]) -> list[Package]:
    """Add up coverage's JSON report by the package under `counterpoint`; its own modules count as `counterpoint`."""
    found: dict[str, Package] = {}
    for path, measured in sorted(files.items()):
        inner = path.replace(os.sep, "/").rpartition("src/counterpoint/")[2]
        name = inner.partition("/")[0] if "/" in inner else "counterpoint"
        package = found.setdefault(name, Package(name=name))
        summary = measured["summary"]
        package.lines += summary["num_statements"]
        package.lines_run += summary["covered_lines"]
        package.branches += summary["num_branches"]
        package.branches_run += summary["covered_branches"]
        if summary["missing_lines"] or summary["missing_branches"]:
            package.gaps.append(f"{path}: {_missing(measured)}")
    return list(found.values())


def _missing(measured: Mapping[str, Any]) -> str:
    lines: list[int] = measured["missing_lines"]
    starts = [line for line in lines if line - 1 not in lines]
    ends = [line for line in lines if line + 1 not in lines]
    spans = [str(start) if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=True)]
    # A branch out of a line that never ran is said by the line.
    partial = [(start, end) for start, end in measured["missing_branches"] if start not in lines]
    gaps = [*spans, *(f"{start}->{end if end > 0 else 'exit'}" for start, end in partial)]
    more = [f"and {len(gaps) - MAX_GAPS} more"] if len(gaps) > MAX_GAPS else []
    return ", ".join([*gaps[:MAX_GAPS], *more])


def skips(report: ET.Element) -> dict[str, int]:
    """Return each reason of a skip in a JUnit report, with how often it stands there."""
    reasons: dict[str, int] = defaultdict(int)
    for skipped in report.iter("skipped"):
        reasons[skipped.get("message", "no reason")] += 1
    return dict(reasons)


def closing_line(report: ET.Element) -> str:
    """Return `N passed, N failed, N skipped` from a JUnit report."""
    suites = list(report.iter("testsuite"))
    count = {
        name: sum(int(suite.get(name, "0")) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    }
    failed = count["failures"] + count["errors"]
    return f"{count['tests'] - failed - count['skipped']} passed, {failed} failed, {count['skipped']} skipped"


def _run_tests(work: Path, arguments: Sequence[str]) -> int:
    environment = {"COVERAGE_PROCESS_START": str(SETTINGS), "COVERAGE_FILE": str(work / "coverage")}
    workers = min(os.cpu_count() or 1, 4)
    options = [
        "-q",
        f"-n{workers}",
        "--dist=loadfile",
        "--durations=5",
        "--durations-min=2",
        f"--junit-xml={work / 'junit.xml'}",
    ]
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode


def _measure(work: Path) -> list[Package]:
    coverage = Coverage(data_file=str(work / "coverage"), config_file=str(SETTINGS))
    with warnings.catch_warnings():
        # A measured child that was killed or ran out of disk left half a file; what it ran then does not count.
        warnings.simplefilter("ignore", CoverageWarning)
        coverage.combine()
    coverage.json_report(outfile=str(work / "coverage.json"))
    return packages(json.loads((work / "coverage.json").read_text())["files"])


def main(arguments: Sequence[str]) -> int:
    """Return 0 when every test passed and every package stands at its floor; part of the tests has no floor."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        code = _run_tests(work, arguments)
        if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            return code
        report = ET.parse(work / "junit.xml").getroot()
        measured = [] if arguments else _measure(work)
    low = [package for package in measured if not package.stands]
    if measured:
        print(f"\n{'package':<12} {'lines':>7} {'branches':>9} {'floor':>6}")
    for package in measured:
        print(package.row())
    for gap in (gap for package in low for gap in package.gaps):
        print(f"not run: {gap}")
    for reason, count in skips(report).items():
        print(f"skipped {count}: {reason}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s of CPU")
    if low:
        print(f"below its floor: {', '.join(package.name for package in low)}")
    print(closing_line(report))
    return code or int(bool(low))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
