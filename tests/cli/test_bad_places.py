"""Reviews where something around them is missing, broken, full or read-only: a sentence, a hint, a stated exit code.

Sources: issue 2, "bad input"; SPEC D-03 to D-05; STYLE 5. What each hint says is then done, and works.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests import need
from tests.reviewing import Project


def test_without_a_repository_there_is_nothing_to_review(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1; a repository that is named with `--repo` is used from wherever one stands."""
    project.begin()
    elsewhere = project.bin / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    called = project.review("--trust-commands")
    assert called.code == 1
    assert called.err == (
        f"error: '{elsewhere}' is in no git repository\n"
        "hint: go to one, or name one with --repo; `git init` begins one\n"
    )
    assert list(elsewhere.iterdir()) == []
    called = project.review("--trust-commands", "--repo", project.top)
    assert called.code == 0
    verify = called.out.splitlines()[-1].split()[3:]
    assert verify[-2:] == ["--repo", str(project.top)]
    assert project.call(*verify).code == 0


def test_a_folder_in_the_repository_will_do(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with git itself."""
    project.begin()
    (project.top / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(project.top / "deep" / "er")
    assert project.judge()["exit_code"] == 0
    assert len(project.cases) == 1


def test_a_folder_that_is_gone_is_said_to_be(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shell stands in a folder that somebody removed."""
    gone = project.top / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    called = project.review()
    assert (called.code, called.err) == (
        1,
        "error: the current folder is gone\nhint: go to a folder that is there\n",
    )


def test_without_a_branch_to_compare_with_one_is_asked_for(project: Project) -> None:
    """SPEC D-04; naming one works."""
    project.begin()
    project.git.git("branch", "-m", "main", "trunk")
    called = project.review("--trust-commands")
    assert called.code == 1
    assert "no branch to compare with" in called.err
    assert "hint: name one with --base, such as `--base main` or `--base HEAD~1`" in called.err
    assert project.judge("--base", "HEAD~1")["exit_code"] == 0
    assert project.judge("--base", "trunk")["exit_code"] == 0


def test_a_base_without_common_history_is_refused(project: Project) -> None:
    """SPEC D-04: a failing merge base ends it, and never becomes a diff against something else."""
    project.begin()
    project.git.git("checkout", "-q", "--orphan", "island")
    project.git.commit({"other.py": "y = 1\n"})
    called = project.review("--trust-commands", "--base", "main")
    assert called.code == 1
    assert "have no common commit in this clone" in called.err
    called = project.review("--base", "nowhere")
    assert called.code == 1
    assert "'nowhere' names no commit" in called.err


def test_a_shallow_clone_is_told_to_fetch_deeper(project: Project, tmp_path: Path) -> None:
    """The merge base lies beyond the cut; deepened, the review runs."""
    project.begin()
    project.git.git("checkout", "-q", "main")
    project.git.commit({"later.py": "z = 1\n"})
    origin = f"file://{project.top}"
    clone = tmp_path / "clone"
    project.git.git("clone", "-q", "--depth=1", "--no-single-branch", "--branch=change", origin, clone)
    called = project.review("--trust-commands", "--repo", clone, "--base", "origin/main")
    assert called.code == 1
    assert "hint: this clone is shallow: run `git fetch --unshallow`" in called.err
    project.git.git("fetch", "-q", "--unshallow", cwd=clone)
    assert project.judge("--repo", clone, "--base", "origin/main")["exit_code"] == 0


def test_a_detached_head_is_judged_as_any_other(project: Project) -> None:
    """Bad input of issue 2 that is none."""
    project.begin()
    project.git.git("checkout", "-q", "--detach")
    assert project.judge()["exit_code"] == 0


def test_a_repository_without_a_commit_is_told_to_commit(project: Project) -> None:
    """An unborn HEAD."""
    project.git.write("a.py", "x = 1\n")
    called = project.review()
    assert called.code == 1
    assert "has no commit yet\nhint: commit something before asking for a review" in called.err


def test_without_git_it_says_so(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH has none; with the folder of git on it again the review runs."""
    project.begin()
    tools = project.bin / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to(need.tool("sh"))
    monkeypatch.setenv("PATH", str(tools))
    called = project.review("--trust-commands")
    assert (called.code, called.err) == (1, "error: no program 'git' on PATH\nhint: install git, or put it on PATH\n")
    monkeypatch.undo()
    assert project.run("review", "--trust-commands").code == 0


def test_without_a_home_the_folders_have_to_be_named(project: Project) -> None:
    """The hint, followed, works: state and settings are found without any home."""
    project.begin()
    ours = ("COUNTERPOINT_STATE", "COUNTERPOINT_CONFIG", "HOME")
    called = project.run("review", "--trust-commands", without=ours)
    assert called.code == 1
    assert called.err == (
        "error: HOME: expected the path of a home folder; got ''\nhint: set HOME or COUNTERPOINT_STATE\n"
    )
    assert project.run("review", "--trust-commands", without=("HOME",)).code == 0


@pytest.mark.parametrize("arguments", [["--json"], []])
def test_output_that_nobody_reads_ends_in_exit_1_and_keeps_the_record(project: Project, arguments: list[str]) -> None:
    """`| head -0`: no traceback, nothing half written, and never exit 0."""
    project.begin()
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*project.command, "review", "--trust-commands", *arguments],
        cwd=project.top,
        env=project.outside({}),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=30,
    )
    os.close(writing)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
    assert project.call("verify", "last").code == 0
    assert project.call("resume", "last").code == 0


def test_standard_streams_that_are_closed_are_no_files_of_ours(project: Project) -> None:
    """Closed by the caller, they lead nowhere: the record does not become the standard output of anything."""
    need.linux()
    project.begin()
    gate = project.gate()
    project.configure(project.critic(f"{gate.wait}; cat $out"))
    driver = subprocess.Popen(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *project.command, "review", "--reviewer", "critic"],
        cwd=project.top,
        env=project.outside({}),
    )
    gate.arrived()
    streams = [Path(f"/proc/{driver.pid}/fd/{number}").readlink() for number in range(3)]
    gate.open()
    assert driver.wait(30) == 0
    assert streams == [Path(os.devnull)] * 3
    assert project.call("verify", "last").code == 0


def test_settings_with_a_typo_name_the_key_and_the_file(project: Project) -> None:
    """Bad input of issue 2, in the person's file and in the repository's."""
    project.begin()
    project.configure("[reveiw]\nbase = 'main'\n")
    called = project.review("--trust-commands")
    assert called.code == 1
    assert called.err == (
        "error: reveiw: expected one of agents, answer, ballot, checks, limits, propose, review;"
        f" got 'reveiw' (in {project.config / 'config.toml'})\n"
        "hint: did you mean 'review'?\n"
    )
    project.configure("")
    project.git.git("checkout", "-q", "main")
    project.git.commit({"counterpoint.toml": "[checks]\ntests = 'sh test.sh'\n"})
    project.git.git("checkout", "-q", "-B", "change")
    project.git.commit({"price.py": "x = 9\n"})
    called = project.review("--trust-commands")
    assert called.code == 1
    assert "error: checks.tests: expected one of" in called.err
    assert "(in counterpoint.toml at " in called.err
    assert "hint: did you mean 'test'?" in called.err


def test_a_read_only_folder_is_named_and_another_one_works(project: Project, tmp_path: Path) -> None:
    """`--root` on it, or `.counterpoint` where it cannot be made."""
    need.not_root()
    project.begin()
    (tmp_path / "locked").mkdir(mode=0o500)
    called = project.review("--trust-commands", "--root", tmp_path / "locked")
    assert called.code == 1
    assert "locked" in called.err
    assert "hint:" in called.err
    called = project.review("--trust-commands", "--root", tmp_path / "locked" / "cases")
    assert called.code == 1
    assert "hint: name a folder that can be written with --root DIR" in called.err
    called = project.review("--trust-commands", "--root", tmp_path / "open")
    assert called.code == 0
    assert project.call(*called.out.splitlines()[-1].split()[3:]).code == 0


def test_objects_that_are_missing_end_the_review(project: Project) -> None:
    """A damaged repository is never read as an empty one."""
    project.begin()
    blob = project.git.id("rev-parse", "HEAD:price.py")
    project.git.loose(blob).unlink()
    called = project.review("--trust-commands")
    assert called.code == 1
    assert blob in called.err


class Disk:
    """A disk of its own of one megabyte, of which as much is free as a test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def leave(self, size: int) -> None:
        """Fill it, but for `size` bytes."""
        self._filler.unlink(missing_ok=True)
        with self._filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        os.truncate(self._filler, max(0, self._filler.stat().st_size - size))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "none", folder], check=True, timeout=30)
    yield Disk(folder)
    subprocess.run(["umount", folder], check=True, timeout=30)


@pytest.mark.parametrize(
    "args",
    [
        ("answer", "--peers", "ana,ben", "--question-file", "pipe"),
        ("answer", "--peers", "ana,ben", "--context-file", "pipe", "Why?"),
        ("propose", "--proposer", "ana", "--critic", "ben", "--context-file", "pipe", "Why?"),
        ("ballot", "--orchestrator", "ana", "--voters", "ben", "pipe"),
        ("ballot", "verify", "pipe"),
    ],
)
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(project: Project, args: tuple[str, ...]) -> None:
    """Exit 1, at once: whoever opened it would wait for ever, and the terminal would say nothing of it."""
    os.mkfifo(project.top / "pipe")
    called = project.run(*args)
    assert (called.code, called.out) == (1, "")
    assert called.err == (
        "error: pipe is a pipe that nobody writes to\nhint: name a file, or let what writes to the pipe begin first\n"
    )


def test_a_pipe_that_somebody_writes_to_is_read(project: Project) -> None:
    """As a shell's `<(…)` is one: it is waited for, and nothing of it is lost."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as writer, os.fdopen(reading, "rb") as reader:
        writer.write(b"\xff")
        writer.close()
        called = project.call("answer", "--peers", "ana,ben", "--question-file", f"/dev/fd/{reader.fileno()}")
    assert (called.code, called.err) == (
        1,
        f"error: /dev/fd/{reading} is not UTF-8: byte 0\nhint: convert it to UTF-8\n",
    )


@pytest.mark.root
def test_a_full_disk_under_the_cases_is_a_sentence_and_no_pass(project: Project, disk: Disk) -> None:
    """Wherever in a case the disk runs full; with room again the case goes on, or a new one is reviewed."""
    project.begin(test="exit 1")
    at = ("--root", disk.folder / "cases")
    for size in range(0, 64 << 10, 4096):
        disk.leave(size)
        called = project.review("--trust-commands", *at)
        if called.code == 3:
            break
        assert called.code == 1
        assert "No space left on device\nhint: free some space" in called.err
        disk.leave(512 << 10)
        if "go on with:" in called.err:
            line = called.err.partition("go on with: counterpoint ")[2].splitlines()[0]
            assert project.call(*line.split(), "--trust-commands").code == 3
            assert project.call("verify", "last", *at).code == 0
            shutil.rmtree(disk.folder / "cases")
        else:
            assert list((disk.folder / "cases").glob("*")) == [], "what was never opened is no case"
    else:
        raise AssertionError("64 kB were not enough for a case")


@pytest.mark.root
def test_a_full_disk_under_the_temporary_folder_is_a_sentence_and_no_pass(project: Project, disk: Disk) -> None:
    """Copies of the tree do not fit; with TMPDIR elsewhere, as the hint says, the case goes on."""
    project.begin(test="exit 1")
    usual, project.tmp = project.tmp, disk.folder / "tmp"
    disk.leave(64 << 10)
    project.tmp.mkdir()
    seen = set()
    for size in range(0, 96 << 10, 8192):
        disk.leave(size)
        called = project.review("--trust-commands")
        seen.add(called.code)
        if called.code == 3:
            continue
        assert called.code == 1
        assert "No space left on device" in called.err
        assert "TMPDIR" in called.err
        if "go on with:" in called.err:
            here, project.tmp = project.tmp, usual
            assert project.call("resume", "last", "--trust-commands").code == 3
            project.tmp = here
    assert seen == {1, 3}
    assert list(project.tmp.iterdir()) == []
    project.tmp = usual


@pytest.mark.root
def test_a_full_disk_under_the_state_folder_is_a_sentence_and_no_pass(
    project: Project, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine key and the remembered heads lie there."""
    project.begin()
    monkeypatch.setenv("COUNTERPOINT_STATE", str(disk.folder / "state"))
    disk.leave(0)
    called = project.review("--trust-commands")
    assert called.code == 1
    assert "No space left on device" in called.err
    assert "hint:" in called.err
    disk.leave(64 << 10)
    assert project.review("--trust-commands").code == 0
