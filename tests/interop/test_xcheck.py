"""Our channel commands against the public tool's: no difference but those that are written down (issue 4).

`allowed.txt` names each step that may differ and the defect of the public tool that it mends; `docs/interop.md` has a
paragraph for each of these. A line that no difference uses is a fault too.
"""

import io
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Final

import pytest

from counterpoint.cli.channel import run
from tests import need
from tests.interop import xcheck

HERE: Final = Path(__file__).parent
STORED: Final = HERE.parent / "data" / "interop" / "samples"
MENDED: Final = frozenset(f"C-{n}" for n in (21, 51, *range(140, 155)))
OURS: Final = xcheck.command(sys.executable, "-m", "counterpoint", "channel", COUNTERPOINT_CHANNEL_FORM="plain")


def allowed() -> dict[str, str]:
    """Return by step which mended defect lets it differ."""
    lines = (line.split() for line in (HERE / "allowed.txt").read_text().splitlines() if line)
    return {step: defect.replace("C-0", "C-") for step, defect in lines}


def hold(report: xcheck.Report, *kinds: str) -> None:
    """Every difference is allowed, and every allowed step of these kinds differs."""
    differing = {difference.step: difference for difference in report.differences}
    expected = {step for step in allowed() if step.partition(":")[0] in kinds}
    assert [str(differing[step]) for step in sorted(differing.keys() - expected)] == []
    assert sorted(expected - differing.keys()) == []
    print(f"{report.checks} checks, {len(differing)} allowed differences")


def test_one_session_comes_out_alike_with_both_tools(tmp_path: Path) -> None:
    """Codes, output and files of some seventy steps agree; apart from two files of ours the bytes do (SPEC 3.11)."""
    hold(xcheck.mirror(xcheck.command(need.oracle()), OURS, tmp_path), "mirror", "files", "bytes")


def test_each_tool_goes_on_where_the_other_stopped(tmp_path: Path) -> None:
    """Read, verified, posted to and compacted, in both directions (SPEC 3.11)."""
    hold(xcheck.cross(xcheck.command(need.oracle()), OURS, tmp_path), "cross")


@pytest.mark.soak
def test_the_older_tool_is_no_other(tmp_path: Path) -> None:
    """`debate` 0.6.0, whose manual the behaviour was read from, against us (issue 4)."""
    older = xcheck.command(need.old_oracle())
    hold(xcheck.mirror(older, OURS, tmp_path), "mirror", "files", "bytes")
    hold(xcheck.cross(older, OURS, tmp_path), "cross")


def in_process(words: Sequence[str], folder: Path) -> xcheck.Answer:
    raw = io.BytesIO(), io.BytesIO()
    output, errors = (io.TextIOWrapper(stream, encoding="utf-8", newline="") for stream in raw)
    with redirect_stdout(output), redirect_stderr(errors):
        code = run(words)
    output.flush()
    errors.flush()
    # As `subprocess` reads text.
    texts = [stream.getvalue().decode("utf-8", "replace").replace("\r\n", "\n") for stream in raw]
    return xcheck.Answer(code, *texts)


def test_stored_channels_are_answered_as_recorded(tmp_path: Path) -> None:
    """Healthy, legacy, brokered and damaged channels, five commands each; no traceback on any (SPEC 3.11, C-144)."""
    report = xcheck.samples(in_process, STORED, tmp_path)
    assert report.checks == 149
    hold(report, "sample")


def test_every_allowed_difference_has_its_defect_and_its_paragraph() -> None:
    """Only defects that SPEC 3.9 names may be mended by another answer, each with a paragraph (issue 4)."""
    page = (need.ROOT / "docs" / "interop.md").read_text()
    written = set(re.findall(r"^\*(C-\d+)\.\*", page, re.MULTILINE))
    used = set(allowed().values())
    assert used <= MENDED
    assert used <= written
    assert written <= MENDED


def test_a_difference_that_is_not_written_down_is_found(tmp_path: Path) -> None:
    """The checker sees one word more, in the session and in a stored channel."""
    report = xcheck.Report()
    report.same("mirror:open", 1, 1)
    report.same("mirror:turn", xcheck.Answer(1, "", "refused\n"), xcheck.Answer(1, "", "refused!\n"))
    assert (report.checks, [difference.step for difference in report.differences]) == (2, ["mirror:turn"])
    with pytest.raises(AssertionError, match="mirror:turn"):
        hold(report, "cross")
