"""After somebody used an export: what changed in it, what a file still is, and getting rid of it."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.export import ExportReport, export
from counterpoint.isolation.exported import differences, read_exported
from counterpoint.isolation.removal import remove, removed_on_failure
from counterpoint.isolation.repository import Quarantine, Repository
from tests import need
from tests.repositories import Scratch


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, str]:
    scratch = Scratch(tmp_path_factory.mktemp("origin") / "repo")
    scratch.write("src/run", "#!/bin/sh\n").chmod(0o755)
    commit = scratch.commit({"a": "one", "src/b": "two", "src/deep/c": "three"})
    return Repository.find(scratch.top), commit


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def report(origin: tuple[Repository, str], out: Path) -> ExportReport:
    repository, commit = origin
    with Quarantine(repository) as quarantine:
        return export(quarantine.objects, commit, out)


def test_an_untouched_export_has_no_difference(out: Path, report: ExportReport) -> None:
    """FIELD-FAULTS F30: reading everything is allowed."""
    for path in out.rglob("*"):
        if path.is_file():
            path.read_bytes()
    assert differences(out, report) == ()


def unlocked(path: Path) -> Path:
    for folder in (path.parent, path):
        folder.chmod(folder.stat().st_mode | 0o200)
    return path


def rewrite(out: Path) -> None:
    unlocked(out / "src" / "b").write_text("TWO")
    (out / "src" / "b").chmod(0o444)
    (out / "src").chmod(0o555)


def stray(out: Path) -> None:
    out.chmod(0o755)
    (out / "new" / "x").mkdir(parents=True)
    (out / "note").write_text("hello")
    out.chmod(0o555)


def delete(out: Path) -> None:
    unlocked(out / "src" / "deep" / "c").unlink()
    unlocked(out / "src" / "deep").rmdir()
    (out / "src").chmod(0o555)


def link_folder(out: Path) -> None:
    unlocked(out / "src").rename(out / "moved")
    (out / "src").symlink_to("moved")
    (out / "moved").chmod(0o555)
    out.chmod(0o555)


def pipe(out: Path) -> None:
    unlocked(out / "a").unlink()
    os.mkfifo(out / "a")
    out.chmod(0o555)


def permit(out: Path) -> None:
    (out / "src").chmod(0o755)
    (out / "src" / "run").chmod(0o444)


@pytest.mark.parametrize(
    ("vandal", "found"),
    [
        (rewrite, {("src/b", "content")}),
        (stray, {("new", "added"), ("note", "added")}),
        (delete, {("src/deep", "removed"), ("src/deep/c", "removed")}),
        (
            link_folder,
            {("src", "kind"), ("moved", "added")}
            | {(path, "removed") for path in ("src/b", "src/run", "src/deep", "src/deep/c")},
        ),
        (pipe, {("a", "kind")}),
        (permit, {("src", "mode"), ("src/run", "mode")}),
    ],
)
def test_every_way_to_change_an_export_shows(
    out: Path, report: ExportReport, vandal: Callable[[Path], None], found: set[tuple[str, str]]
) -> None:
    """FIELD-FAULTS F30: stray files, edits, checkouts, and what is no file any more."""
    vandal(out)
    assert {(difference.path, difference.kind.value) for difference in differences(out, report)} == found


def test_an_edit_of_the_same_size_that_restores_every_time_shows(out: Path, report: ExportReport) -> None:
    """FIELD-FAULTS F30: contents are compared, not times."""
    before = (out / "src" / "b").stat()
    rewrite(out)
    os.utime(out / "src" / "b", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [difference.kind for difference in differences(out, report)] == ["content"]


def test_an_export_that_is_gone_differs_in_everything(out: Path, report: ExportReport) -> None:
    """FIELD-FAULTS F30: and the look at it does not fail."""
    remove(out)
    found = differences(out, report)
    assert {difference.path for difference in found} == {
        ".",
        "a",
        "src",
        *(f"src/{x}" for x in ("b", "run", "deep", "deep/c")),
    }


def test_a_folder_that_cannot_be_read_shows(out: Path, report: ExportReport) -> None:
    """FIELD-FAULTS F30: what cannot be looked at is not the same."""
    need.not_root()
    (out / "src").chmod(0)
    assert ("src", "mode") in {(difference.path, difference.kind.value) for difference in differences(out, report)}


def test_a_file_that_cannot_be_read_shows(out: Path, report: ExportReport) -> None:
    """FIELD-FAULTS F30: as above, for a file that kept its name."""
    need.not_root()
    (out / "a").chmod(0)
    assert [(difference.path, difference.kind.value) for difference in differences(out, report)] == [("a", "mode")]


def test_the_number_of_differences_is_bounded(
    out: Path, report: ExportReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: an agent that writes a million files does not fill a report."""
    monkeypatch.setattr("counterpoint.isolation.exported.MAX_DIFFERENCES", 10)
    out.chmod(0o755)
    for number in range(30):
        (out / f"x{number}").touch()
    assert len(differences(out, report)) == 11


def test_looking_at_an_export_leaves_no_access_time(out: Path, report: ExportReport) -> None:
    """FIELD-FAULTS F25: our own look must not count as somebody's reading."""
    need.linux()
    before = (out / "a").stat().st_atime_ns
    assert differences(out, report) == ()
    assert read_exported(out, report.files["a"]) == b"one"
    assert (out / "a").stat().st_atime_ns == before


@pytest.mark.parametrize(
    ("vandal", "path"), [(rewrite, "src/b"), (link_folder, "src/b"), (delete, "src/deep/c"), (pipe, "a")]
)
def test_only_what_was_exported_is_read_back(
    out: Path, report: ExportReport, vandal: Callable[[Path], None], path: str
) -> None:
    """SECURITY S1, S2: a link, a pipe or an edit in a file's place gives nothing, and blocks nothing."""
    vandal(out)
    assert read_exported(out, report.files[path]) is None


def test_a_read_only_export_is_removed(out: Path, report: ExportReport) -> None:
    """Ours: whoever owns it, and twice."""
    assert report.files
    remove(out)
    remove(out)
    assert not out.exists()


def test_removing_follows_no_link(out: Path, report: ExportReport, tmp_path: Path) -> None:
    """SECURITY R21: what an agent left may point at the user's own files."""
    assert report.files
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    unlocked(out / "a").unlink()
    (out / "a").symlink_to(tmp_path / "mine")
    os.mkfifo(out / "pipe")
    (out / "sealed").mkdir(mode=0)
    remove(out)
    assert not out.exists()
    assert (tmp_path / "mine" / "file").read_text() == "mine"


def test_what_cannot_be_removed_is_a_typed_error(tmp_path: Path) -> None:
    """Ours: the folder above it may be gone or closed."""
    with pytest.raises(SourceError, match="cannot be removed: No such file or directory"):
        remove(tmp_path / "gone" / "out")


def test_folders_nested_beyond_any_path_are_removed(tmp_path: Path) -> None:
    """Ours: an agent can make folders deeper than a path can be long, or a stack deep."""
    with ExitStack() as opened:
        folder = os.open(tmp_path, os.O_RDONLY)
        opened.callback(os.close, folder)
        for _ in range(80):
            os.mkdir("deep" * 60, dir_fd=folder)
            inner = os.open("deep" * 60, os.O_RDONLY, dir_fd=folder)
            opened.pop_all().close()
            folder = inner
            opened.callback(os.close, folder)
    remove(tmp_path / ("deep" * 60))
    assert list(tmp_path.iterdir()) == []


def test_a_failure_removes_what_was_begun(tmp_path: Path) -> None:
    """Ours: and the failure itself goes on."""
    (tmp_path / "half").mkdir()
    with pytest.raises(KeyError), removed_on_failure(tmp_path / "half"):
        raise KeyError
    assert not (tmp_path / "half").exists()
