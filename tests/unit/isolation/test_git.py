"""Finding git, and running it with bounds."""

import os
from pathlib import Path

import pytest

from counterpoint.errors import SourceError
from counterpoint.isolation.git import Git, Place, complaint
from tests.processes import is_gone


def fake_git(folder: Path, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


def fake(folder: Path, script: str) -> Git:
    return Git(program=fake_git(folder, script) / "git", version=(2, 40))


def test_a_machine_without_git_is_told_so(tmp_path: Path) -> None:
    """Ours: git missing is a typed error with advice."""
    with pytest.raises(SourceError, match="no program 'git' on PATH") as caught:
        Git.find(checkout=tmp_path / "repo", search=str(tmp_path))
    assert caught.value.hint.startswith("install git")


def test_an_old_git_is_refused_with_both_versions(tmp_path: Path) -> None:
    """Ours: before 2.32 git would read the user's own settings."""
    search = fake_git(tmp_path / "bin", "echo git version 2.31.8")
    with pytest.raises(SourceError, match=r"git 2\.31 at .* 2\.32 or newer is needed"):
        Git.find(checkout=tmp_path / "repo", search=str(search))


def test_a_program_that_is_not_git_is_refused(tmp_path: Path) -> None:
    """Ours: a stray program of that name is not asked twice."""
    search = fake_git(tmp_path / "bin", "echo hello")
    with pytest.raises(SourceError, match="is not git: it says 'hello"):
        Git.find(checkout=tmp_path / "repo", search=str(search))


def test_a_repository_cannot_supply_the_git_that_reads_it(tmp_path: Path) -> None:
    """SECURITY I13: a folder of PATH that lies in the checkout, or is relative, is passed over."""
    bad = fake_git(tmp_path / "repo" / "bin", "echo git version 9.9.9")
    link = tmp_path / "link"
    link.symlink_to(bad)
    search = os.pathsep.join(["", "bin", str(bad), str(link), os.environ["PATH"]])
    assert Git.find(checkout=tmp_path / "repo", search=search).version != (9, 9)


def test_git_gets_no_variable_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SECURITY G1 to G8: what a user's environment could start or point at stays behind."""
    for name in ("GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "LD_PRELOAD", "SECRET"):
        monkeypatch.setenv(name, "touch pwned")
    shown = fake(tmp_path / "bin", "env").run("x", place=Place(cwd=tmp_path)).decode()
    assert "pwned" not in shown
    assert "HOME=/nonexistent" in shown.splitlines()


def test_an_endless_output_is_cut_off(tmp_path: Path) -> None:
    """SECURITY S7: memory does not grow with what is printed."""
    with pytest.raises(SourceError, match="printed more than 1000 bytes"):
        fake(tmp_path / "bin", "exec yes").run("x", place=Place(cwd=tmp_path), max_output=1000)


def test_a_git_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    """SECURITY G10: a repository that makes git wait, such as one with a pipe for a pack, costs a bounded time."""
    script = f"sleep 600 & echo $! > {tmp_path}/pids; wait"
    with pytest.raises(SourceError, match=r"took longer than 0\.3 s"):
        fake(tmp_path / "bin", script).run("x", place=Place(cwd=tmp_path), timeout_s=0.3)
    assert is_gone(int((tmp_path / "pids").read_text()))


def test_a_git_that_closes_its_output_and_stays_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FIELD-FAULTS F29: the end of the output is not the end of the program."""
    monkeypatch.setattr("counterpoint.isolation.git._DEATH_S", 0.3)
    with pytest.raises(SourceError, match="closed its output and did not end"):
        fake(tmp_path / "bin", "exec sleep 600 >&- 2>&-").run("x", place=Place(cwd=tmp_path))


def test_a_flood_of_complaints_is_drained_and_one_line_is_kept(tmp_path: Path) -> None:
    """SECURITY S7, T1: standard error can neither block git nor reach a terminal as it is."""
    script = "printf '\\033[31mbad\\n' >&2; yes no 2>/dev/null | head -c 300000 >&2; exit 3"
    with pytest.raises(SourceError) as caught:
        fake(tmp_path / "bin", script).run("x", place=Place(cwd=tmp_path))
    assert str(caught.value) == "git x ended with 3: \\u{1b}[31mbad"
    assert complaint(b"warning: odd\nfatal: bad\n") == "fatal: bad"
    assert complaint(b"") == "it said nothing"


def test_what_is_fed_arrives_whole_before_any_output_is_read(tmp_path: Path) -> None:
    """FIELD-FAULTS F28: input comes from a file, so that it cannot deadlock with the output."""
    fed = b"x" * 300_000
    assert fake(tmp_path / "bin", "exec cat").run("x", place=Place(cwd=tmp_path), stdin=fed) == fed


def test_a_stream_that_fails_or_hangs_says_so(tmp_path: Path) -> None:
    """Ours: a diff that ends early is an error, not a short diff."""
    git = fake(tmp_path / "bin", 'test "$#" -gt 0; for last; do :; done; echo one; eval "$last"')
    place = Place(cwd=tmp_path)
    with (
        pytest.raises(SourceError, match="ended with 4: why"),
        git.stream("echo why >&2; exit 4", place=place) as out,
    ):
        assert list(out) == [b"one\n"]
    with (
        pytest.raises(SourceError, match=r"took longer than 0\.3 s"),
        git.stream("exec sleep 600", place=place, timeout_s=0.3) as out,
    ):
        assert list(out) == [b"one\n"]


def test_leaving_a_stream_early_is_no_error_and_leaves_nothing(tmp_path: Path) -> None:
    """Ours: a reader that has seen enough goes."""
    git = fake(tmp_path / "bin", f"echo $$ > {tmp_path}/pids; exec yes")
    with git.stream("x", place=Place(cwd=tmp_path)) as out:
        assert out.readline() == b"y\n"
    assert is_gone(int((tmp_path / "pids").read_text()))


def test_a_folder_that_is_gone_is_a_typed_error(tmp_path: Path) -> None:
    """Ours: the folder can vanish between two calls."""
    with pytest.raises(SourceError, match="git cannot start in"):
        fake(tmp_path / "bin", "true").run("x", place=Place(cwd=tmp_path / "gone"))
