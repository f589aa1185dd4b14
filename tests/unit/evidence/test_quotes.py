"""Does a quoted text stand in a file of the candidate."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.core.checks import EvidenceStatus, QuoteCheck
from counterpoint.evidence.quotes import _first_line, check_quote
from counterpoint.isolation.export import ExportReport, export
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.sources import copy_sources
from tests.repositories import Scratch

VERIFIED, REFUTED, NOT_CHECKED = EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED, EvidenceStatus.NOT_CHECKED

CODE = "def f(x):\n    if x:\n        return 1\n\n    return 2\n"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ExportReport]:
    folder = tmp_path_factory.mktemp("quotes")
    scratch = Scratch(folder / "repo")
    commit = scratch.commit(
        {
            "unix.py": CODE,
            "dos.py": CODE.replace("\n", "\r\n"),
            "open": "first\nlast",
            "bidi.py": "x = 1 \u202e# evil\n".encode(),
            "dos-bidi.py": "x = 1 \u202e# evil\r\ny = 2\r\n".encode(),
            "latin": b"caf\xe9 au lait\n",
            "binary": b"\0def f(x):\n",
        }
    )
    with Quarantine(Repository.find(scratch.top)) as quarantine:
        return folder / "out", export(quarantine.objects, commit, folder / "out")


@pytest.mark.parametrize(
    ("path", "text", "status", "detail"),
    [
        ("unix.py", "return 1", VERIFIED, "it stands at line 3"),
        ("unix.py", "        return 1", VERIFIED, "it stands at line 3"),
        ("unix.py", "         return 1", REFUTED, "it is not in the file"),
        ("unix.py", "return  1", REFUTED, "it is not in the file"),
        ("unix.py", "return 1  ", VERIFIED, "it stands at line 3"),
        ("unix.py", "    if x:\t\n        return 1 ", VERIFIED, "it stands at lines 2 to 3"),
        ("unix.py", "def f(x):\n    if x:", VERIFIED, "it stands at lines 1 to 2"),
        ("unix.py", "        return 1\n\n    return 2\n", VERIFIED, "it stands at lines 3 to 5"),
        ("unix.py", "f(x):\n    if x:", REFUTED, "it is not in the file"),
        ("unix.py", "def f(x):\n    if", REFUTED, "it is not in the file"),
        ("unix.py", "def f(x):\n        return 1", REFUTED, "it is not in the file"),
        ("unix.py", CODE, VERIFIED, "it stands at lines 1 to 5"),
        ("unix.py", CODE.replace("\n", "\r\n"), VERIFIED, "it stands at lines 1 to 5"),
        ("dos.py", "    if x:\n        return 1", VERIFIED, "it stands at lines 2 to 3"),
        ("dos.py", "    if x:\r\n        return 1", VERIFIED, "it stands at lines 2 to 3"),
        ("open", "first\nlast", VERIFIED, "it stands at lines 1 to 2"),
        ("open", "last", VERIFIED, "it stands at line 2"),
        ("bidi.py", "x = 1 \u202e# evil", VERIFIED, "it stands at line 1"),
        ("bidi.py", "x = 1 \\u{202e}# evil", VERIFIED, "it stands at line 1"),
        ("bidi.py", "x = 1 # evil", REFUTED, "it is not in the file"),
        ("dos-bidi.py", "x = 1 \u202e# evil\ny = 2", VERIFIED, "it stands at lines 1 to 2"),
        ("latin", "caf\\xe9 au", VERIFIED, "it stands at line 1"),
        ("latin", "café au", REFUTED, "it is not in the file"),
        ("unix.py", "", NOT_CHECKED, "the quote is empty"),
        ("unix.py", " \n\t\r\n", NOT_CHECKED, "the quote is empty"),
        ("binary", "def f(x):", NOT_CHECKED, "the file is binary"),
        ("gone.py", "def f(x):", REFUTED, "there is no such file"),
        ("../repo/unix.py", "def f(x):", REFUTED, "there is no such file"),
    ],
)
def test_a_quote_is_looked_up(
    exported: tuple[Path, ExportReport], path: str, text: str, status: EvidenceStatus, detail: str
) -> None:
    """DESIGN 4, "Evidence": part of a line or a run of whole lines, white space exact, CR LF as LF."""
    out, report = exported
    request = QuoteCheck(path=path, text=text, candidate=report.source)
    found = check_quote(request, out, report)
    assert (found.request, found.status, found.detail) == (request, status, detail)


PROSE = "Backups run at 02:00 every\r\n   night, \u202eon *both* disks.\n\nThen they (all) stop.\n"


@pytest.mark.parametrize(
    ("text", "status", "detail"),
    [
        ("run at 02:00", VERIFIED, "it stands at line 1"),
        ("02:00 every night,", VERIFIED, "it stands at lines 1 to 2"),
        ("  run  at\n02:00\tevery ", VERIFIED, "it stands at line 1"),
        ("night, \\u{202e}on *both* disks.", VERIFIED, "it stands at line 2"),
        ("both* disks. Then they (all)", VERIFIED, "it stands at lines 2 to 4"),
        ("02:00everynight", REFUTED, "it is not in the file"),
        ("night, every", REFUTED, "it is not in the file"),
        ("run at .....", REFUTED, "it is not in the file"),
        (" \n", NOT_CHECKED, "the quote is empty"),
    ],
)
def test_a_quote_from_prose_is_its_words(tmp_path: Path, text: str, status: EvidenceStatus, detail: str) -> None:
    """SPEC B-07: how a source breaks its lines says nothing about what stands in it."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ops.md").write_bytes(PROSE.encode())
    report = copy_sources(tmp_path / "notes", tmp_path / "out")
    request = QuoteCheck(path="ops.md", text=text, candidate=report.source)
    found = check_quote(request, tmp_path / "out", report, is_prose=True)
    assert (found.status, found.detail) == (status, detail)


lines = st.lists(st.text(alphabet="ab ", max_size=3), min_size=1, max_size=8)


@given(lines, st.data())
def test_every_run_of_lines_is_found_where_it_first_stands(made: list[str], data: st.DataObject) -> None:
    """Ours: the number named is right, beside a search by hand."""
    first = data.draw(st.integers(0, len(made) - 1))
    last = data.draw(st.integers(first + 1, len(made)))
    quote = made[first:last]
    number = _first_line("\n".join(made), "\n".join(quote))
    if len(quote) == 1:
        expected = next(i for i, line in enumerate(made, 1) if quote[0] in line)
    else:
        expected = next(i for i in range(1, len(made) + 1) if made[i - 1 : i - 1 + len(quote)] == quote)
    assert number == expected
