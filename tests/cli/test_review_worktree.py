"""What a review judges: HEAD where all is committed, or with `--worktree` the files as they lie.

Sources: SPEC D-05, D-06; issue 2, point 6; DESIGN 4 ("binding").
"""

import json
import signal

import pytest

from tests.reviewing import FINDING, Project, answer, everything_in


@pytest.fixture
def dirty(project: Project) -> Project:
    """Return a project with a committed change, and one of every kind that is not committed."""
    project.git.commit(
        {
            "price.py": "x = 1\n",
            "gone.py": "g = 1\n",
            "tool.sh": "exit 0\n",
            "staged.py": "s = 1\n",
            "test.sh": "exit 0\n",
            ".gitignore": "*.log\n",
            "counterpoint.toml": '[checks]\ntest = "sh test.sh"\n',
        }
    )
    project.branch()
    project.git.commit({"price.py": "x = 2\n"})
    project.git.write("staged.py", "s = 2\n")
    project.git.git("add", "staged.py")
    project.git.write("price.py", "x = 3\n")
    project.git.write("new.py", "n = 1\n")
    project.git.write("noise.log", "ignored\n")
    (project.top / "gone.py").unlink()
    (project.top / "tool.sh").chmod(0o755)
    return project


def test_a_tree_that_differs_from_its_commit_is_refused_with_advice(dirty: Project) -> None:
    """SPEC D-06: fail fast. Nothing is begun, nothing is asked."""
    called = dirty.review("--trust-commands")
    assert called.code == 1
    assert called.err == (
        "error: a review judges HEAD, and the work tree has 5 paths that no commit holds:"
        " gone.py, new.py, price.py, staged.py, tool.sh\n"
        "hint: commit or stash what is yours, ignore what is not in .gitignore,"
        " or judge all of it with --worktree\n"
    )
    assert dirty.cases == []


def test_the_advice_for_a_tree_that_differs_works(dirty: Project) -> None:
    """Each of the three: commit, stash with what is untracked, `--worktree`."""
    assert dirty.judge("--worktree")["exit_code"] == 0
    dirty.git.git("stash", "--include-untracked")
    assert dirty.judge()["exit_code"] == 0
    dirty.git.git("stash", "pop", "-q")
    assert dirty.judge()["error"]["code"] == "source"
    dirty.git.commit()
    assert dirty.judge()["exit_code"] == 0


def test_one_untracked_file_is_refused_and_an_ignored_one_is_not(project: Project) -> None:
    """What nobody committed would not be judged; what is ignored is nobody's change. Ours never counts."""
    project.begin()
    (project.git.git_dir / "info" / "exclude").write_text("*.log\n")
    project.git.write("noise.log", "x\n")
    assert project.judge()["exit_code"] == 0
    assert (project.top / ".counterpoint" / ".gitignore").read_text() == "*\n"
    project.git.write("stray.py", "x\n")
    called = project.review("--trust-commands")
    assert called.code == 1
    assert "has 1 path that no commit holds as it is: stray.py" in called.err


def test_with_worktree_the_files_are_judged_as_they_lie(dirty: Project) -> None:
    """Staged, unstaged, untracked, deleted and a mode alone; index, objects and settings stay byte for byte."""
    brief = dirty.bin / "brief.json"
    dirty.configure(dirty.critic(f"cp $1 {brief}; cat $out", arguments=', "{brief_json}"'))
    before = everything_in(dirty.top)
    found = dirty.judge("--worktree", "--reviewer", "critic", "--reviewer", "checks")
    assert everything_in(dirty.top) == before
    assert found["exit_code"] == 0
    assert [(path["path"], path["state"]) for path in found["docket"]["paths"]] == [
        ("gone.py", "deleted"),
        ("new.py", "text"),
        ("price.py", "text"),
        ("staged.py", "text"),
        ("tool.sh", "text"),
    ]
    change = json.loads(brief.read_text())["payload"]["change"]
    assert all(line in change for line in ("+x = 3", "+n = 1", "+s = 2", "-g = 1", "100755"))
    assert "noise" not in change


def test_the_verdict_is_bound_to_the_tree_that_was_judged(dirty: Project) -> None:
    """The candidate is the id of the tree that committing everything would make."""
    found = dirty.judge("--worktree")
    dirty.git.git("add", "--all")
    tree = dirty.git.id("write-tree")
    assert found["docket"]["candidate"] == tree
    assert {seat["verdict"]["candidate"] for seat in found["seats"]} == {tree}
    told = dirty.review("--worktree", "--trust-commands").err
    assert f"judging the work tree, {tree[:12]} against" in told


def test_a_case_about_a_work_tree_goes_on_about_that_tree(dirty: Project) -> None:
    """Resumed after the files changed, it still judges what it was opened with, from the objects it keeps."""
    finding = {**FINDING, "severity": "minor", "location": "price.py:1", "quote": "x = 3"}
    dirty.configure(dirty.critic(dirty.kills_its_driver_once, says=answer(finding)))
    assert dirty.run("review", "--worktree", "--reviewer", "critic").code == -signal.SIGKILL
    dirty.sweep()
    dirty.git.write("price.py", "x = 4\n")
    called = dirty.call("resume", "last", "--json")
    assert called.code == 3
    (found,) = called.json["findings"]
    assert (found["evidence"], found["detail"]) == ("verified", "it stands at line 1")
    assert called.json["docket"]["candidate"] != dirty.git.id("rev-parse", "HEAD^{tree}")


def test_nothing_to_judge_is_said(project: Project) -> None:
    """SPEC D-05: base and candidate have the same files; exit 1, with or without `--worktree`."""
    project.begin()
    project.git.git("checkout", "-q", "main")
    for arguments in (["--base", "main"], ["--base", "main", "--worktree"]):
        called = project.review(*arguments)
        assert called.code == 1
        assert "there is nothing to review" in called.err
        assert "hint: commit the change, name another --base" in called.err
    assert project.cases == []
