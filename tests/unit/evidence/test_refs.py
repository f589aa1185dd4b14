"""Does the candidate have this file, and that many lines."""

from pathlib import Path

import pytest

from counterpoint.core.checks import Evidence, EvidenceStatus, PathCheck
from counterpoint.evidence.lookup import MAX_TEXT
from counterpoint.evidence.refs import check_path
from counterpoint.isolation.export import ExportReport, Limits, export
from counterpoint.isolation.repository import Quarantine, Repository
from tests.repositories import Scratch

VERIFIED, REFUTED, NOT_CHECKED = EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED, EvidenceStatus.NOT_CHECKED
WITHHELD = "it is withheld from the export"

Export = tuple[Path, ExportReport]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Export:
    folder = tmp_path_factory.mktemp("refs")
    scratch = Scratch(folder / "repo")
    scratch.commit(
        {
            "src/a.py": "one\ntwo\n",
            "src/open": "one\r\ntwo",
            "empty": "",
            "blob.bin": b"\0\n\n",
            "large": "x" * (MAX_TEXT + 1),
            "huge": "x" * (MAX_TEXT + 2),
            "bad\nname/x": "1",
        }
    )
    (scratch.top / "link").symlink_to("/etc/passwd")
    (scratch.top / "up").symlink_to("..")
    scratch.git("add", "link", "up")
    scratch.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    tree = scratch.id("write-tree")
    with Quarantine(Repository.find(scratch.top)) as quarantine:
        report = export(quarantine.objects, tree, folder / "out", limits=Limits(blob_bytes=MAX_TEXT + 1))
    (folder / "repo" / "secret").write_text("1\n2\n")
    return folder / "out", report


def check(exported: Export, path: str, line: int | None = None) -> Evidence:
    out, report = exported
    return check_path(PathCheck(path=path, line=line, candidate=report.source), out, report)


@pytest.mark.parametrize(
    ("path", "line", "status", "detail"),
    [
        ("src/a.py", None, VERIFIED, "the file is there"),
        ("./src/a.py", 1, VERIFIED, "the file has 2 lines"),
        ("src/a.py", 2, VERIFIED, "the file has 2 lines"),
        ("src/a.py", 3, REFUTED, "the file has 2 lines, and no line 3"),
        ("src/a.py", 0, REFUTED, "the file has 2 lines, and no line 0"),
        ("src/a.py", -1, REFUTED, "the file has 2 lines, and no line -1"),
        ("src/open", 2, VERIFIED, "the file has 2 lines"),
        ("empty", 1, REFUTED, "the file has 0 lines, and no line 1"),
        ("link", 1, VERIFIED, "the file has 1 lines"),
        ("src", None, VERIFIED, "it is a folder"),
        ("src/", None, VERIFIED, "it is a folder"),
        ("src", 1, REFUTED, "it is a folder"),
        ("src/b.py", None, REFUTED, "there is no such file"),
        ("", None, REFUTED, "there is no such file"),
        ("blob.bin", None, VERIFIED, "the file is there"),
        ("blob.bin", 1, NOT_CHECKED, "the file is binary"),
        ("large", 1, NOT_CHECKED, f"the file has {MAX_TEXT + 1} bytes; at most {MAX_TEXT} are read"),
        ("huge", 1, NOT_CHECKED, f"{WITHHELD}: it has {MAX_TEXT + 2} bytes; at most {MAX_TEXT + 1} are exported"),
        ("bad\\u{a}name/x", 1, NOT_CHECKED, f"{WITHHELD}: a control or format character is in the name"),
        ("sub/x", 1, NOT_CHECKED, "it is in a submodule, which is not fetched"),
        ("sub", None, NOT_CHECKED, "it is in a submodule, which is not fetched"),
    ],
)  # fmt: skip
def test_a_path_and_a_line_are_looked_up(
    exported: Export, path: str, line: int | None, status: EvidenceStatus, detail: str
) -> None:
    """DESIGN 4, "Evidence": verified and refuted are said only of what was looked at."""
    found = check(exported, path, line)
    assert (found.status, found.detail) == (status, detail)
    assert found.request == PathCheck(path=path, line=line, candidate=exported[1].source)


@pytest.mark.parametrize(
    "path",
    [
        "../repo/secret",
        "src/../../repo/secret",
        "/etc/passwd",
        "up/repo/secret",
        "link/x",
        "//etc/passwd",
        "~/x",
        "src//a.py",
    ],
)
def test_no_path_leads_out_of_the_export(exported: Export, path: str) -> None:
    """SECURITY R20: steps up, absolute paths and links are no files of the candidate, whatever lies there."""
    assert check(exported, path, 1).status is REFUTED


def test_a_file_that_was_changed_after_the_export_is_not_evidence(exported: Export) -> None:
    """FIELD-FAULTS F30: an agent cannot make its own claim true by writing it into the tree."""
    out, report = exported
    path = out / "src" / "open"
    path.chmod(0o644)
    path.write_text("1\n2\n3\n4\n")
    found = check(exported, "src/open", 3)
    assert (found.status, found.detail) == (NOT_CHECKED, "the file is no longer as it was exported")
    assert report.files["src/open"].size == 8


def test_a_claim_about_another_candidate_is_not_checked_here(exported: Export) -> None:
    """SECURITY R22: evidence is bound to the commit or tree that the claim names."""
    out, report = exported
    found = check_path(PathCheck(path="src/a.py", line=1, candidate="2" * 40), out, report)
    assert (found.status, found.detail) == (
        NOT_CHECKED,
        f"the export is of {report.source}, the claim is about {'2' * 40}",
    )
