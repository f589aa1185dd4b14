"""Where cases lie, as every command takes it, and that looking for them makes nothing."""

from pathlib import Path

import pytest

from counterpoint.cli.where import find_where
from counterpoint.errors import SourceError
from tests.command_line import call


def test_the_enclosing_repository_is_found_from_a_folder_in_it(tmp_path: Path) -> None:
    """As git finds it; a linked work tree has a file of that name."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    where = find_where(tmp_path / "a" / "b", None)
    assert (where.repo, where.cases) == (tmp_path, tmp_path / ".counterpoint" / "cases")


def test_without_a_repository_it_is_the_folder_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, when none is named."""
    monkeypatch.chdir(tmp_path)
    assert find_where(None, None).repo == tmp_path


def test_a_root_holds_the_cases_directly(tmp_path: Path) -> None:
    """For people who want to commit them; made when a case begins, and not before."""
    where = find_where(tmp_path, tmp_path / "deep" / "cases")
    assert where.cases == tmp_path / "deep" / "cases"
    assert not where.cases.exists()
    assert where.make() == where.cases
    assert where.cases.is_dir()


def test_the_default_folder_ignores_itself(tmp_path: Path) -> None:
    """`.counterpoint` has its own ignore file, so that nothing of it is committed by accident (DESIGN 5)."""
    where = find_where(tmp_path, None)
    assert where.make() == tmp_path / ".counterpoint" / "cases"
    assert (tmp_path / ".counterpoint" / ".gitignore").read_text() == "*\n"


def test_a_root_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    """One sentence with the path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot be made"):
        find_where(tmp_path, tmp_path / "file" / "cases").make()


@pytest.mark.parametrize("command", [["cases"], ["show", "last"], ["report", "last"], ["verify", "last"]])
def test_reading_makes_neither_folder_nor_key(
    command: list[str], tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a repository that was never reviewed, by a person who never used this (issue 2, point 7)."""
    call(capsys, *command, "--repo", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert list(own_home.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "report", "verify"])
def test_a_case_that_is_not_there_is_named(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The word that was written, and where it was looked for."""
    done = call(capsys, command, "nothing", "--root", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: no case 'nothing' among the 0 in {tmp_path}\nhint: run `counterpoint cases`\n"


def test_a_repository_that_is_no_folder_is_a_wrong_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 2, as every mistake of the command line."""
    assert call(capsys, "cases", "--repo", tmp_path / "missing").code == 2
