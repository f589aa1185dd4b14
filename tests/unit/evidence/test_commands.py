"""Project commands, run for real on small trees."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.errors import SourceError
from counterpoint.evidence.commands import MAX_SHOWN, Watch, command_environment, run_command
from tests import need
from tests.processes import finish, is_gone

COMMIT = "4e9f21c0aa31" + "0" * 28
PYTEST = ("python", "-m", "pytest", "-p", "no:cacheprovider")
UNITTEST = ("python", "-m", "unittest")
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Make an export: its files and its top folder are read-only. A text that begins with `#!` is a program."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o555 if text.startswith("#!") else 0o444)
    folder.chmod(0o555)
    return folder


def program(folder: Path, script: str) -> Path:
    """Make an export that holds one program, `run`."""
    return write(folder, {"run": f"#!/bin/sh\n{script}\n"})


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def checked(
    argv: tuple[str, ...],
    tree: Path,
    scratch: Path,
    *,
    purpose: Purpose = Purpose.TEST,
    environ: Mapping[str, str] | None = None,
    timeout_s: float = 50.0,
    extra: tuple[str, ...] = (),
    before: Callable[[], Awaitable[Path]] | None = None,
    watch: Watch | None = None,
) -> Evidence:
    evidence = finish(
        run_command(
            CommandCheck(argv=argv, purpose=purpose, candidate=COMMIT),
            tree=tree,
            scratch=scratch,
            environ={"PATH": PATH} | dict(environ or {}),
            timeout_s=timeout_s,
            extra=extra,
            before=before,
            watch=watch,
        )
    )
    assert list(scratch.iterdir()) == []
    return evidence


GOOD = "def test_one():\n    assert True\n"
BAD = "def test_one():\n    assert False\n"


def test_a_test_run_that_passes_is_verified(tmp_path: Path, scratch: Path) -> None:
    """DESIGN 4: verified means that it ran on the candidate and passed."""
    evidence = checked(PYTEST, write(tmp_path / "tree", {"test_a.py": GOOD}), scratch)
    assert (evidence.status, evidence.detail) == (EvidenceStatus.VERIFIED, "exit 0: 1 passed, 0 failed")
    assert (evidence.exit_code, evidence.failing_before, evidence.request.candidate) == (0, None, COMMIT)
    assert "1 passed" in evidence.output


def test_a_failing_run_is_refuted_with_the_end_of_its_output(tmp_path: Path, scratch: Path) -> None:
    """DESIGN 4: the finding carries the evidence, and no path of this machine."""
    evidence = checked(PYTEST, write(tmp_path / "tree", {"test_a.py": BAD}), scratch)
    assert (evidence.status, evidence.detail) == (EvidenceStatus.REFUTED, "exit 1: 0 passed, 1 failed")
    assert "rootdir: .\n" in evidence.output
    assert str(tmp_path) not in evidence.output


@pytest.mark.parametrize(("at_base", "failing_before"), [("exit 1", True), ("exit 0", False), ("exit 127", None)])
def test_a_failure_is_held_against_the_merge_base(
    tmp_path: Path, scratch: Path, at_base: str, *, failing_before: bool | None
) -> None:
    """DESIGN 4: a command that fails at the merge base too is reported as failing before."""
    base = program(tmp_path / "base", at_base)

    async def before() -> Path:
        await asyncio.sleep(0)
        return base

    evidence = checked(("./run",), program(tmp_path / "tree", "exit 1"), scratch, before=before)
    assert (evidence.status, evidence.failing_before) == (EvidenceStatus.REFUTED, failing_before)


def test_the_merge_base_is_not_exported_for_a_run_that_passes(tmp_path: Path, scratch: Path) -> None:
    """Ours: it costs an export and a run."""

    async def before() -> Path:
        raise AssertionError

    checked(("./run",), program(tmp_path / "tree", "exit 0"), scratch, before=before)


def test_a_run_that_tested_nothing_is_not_checked(tmp_path: Path, scratch: Path) -> None:
    """DESIGN 4: "no tests collected" is never a pass, whatever the exit code."""
    tree = write(tmp_path / "tree", {"a.py": ""})
    assert checked(PYTEST, tree, scratch).detail == "exit 5: no tests collected"
    assert checked(UNITTEST, tree, scratch).status is EvidenceStatus.NOT_CHECKED


def test_a_module_that_is_not_installed_is_not_checked(tmp_path: Path, scratch: Path) -> None:
    """DESIGN 4: a missing tool is never a finding."""
    evidence = checked(("python", "-m", "no_such_runner"), write(tmp_path / "tree", {"a.py": ""}), scratch)
    assert (evidence.status, evidence.detail) == (EvidenceStatus.NOT_CHECKED, "exit 1: the module is not installed")


def test_a_missing_program_is_not_checked(tmp_path: Path, scratch: Path) -> None:
    """DESIGN 4: a missing tool is never a finding, and its sentence names no path of this machine."""
    tree = write(tmp_path / "tree", {"a.py": ""})
    evidence = checked(("no-such-linter", "."), tree, scratch)
    assert (evidence.status, evidence.exit_code) == (EvidenceStatus.NOT_CHECKED, None)
    assert evidence.detail == "no program 'no-such-linter' on PATH"
    assert checked(("./run",), tree, scratch).detail == "there is no program at './run'"


def test_a_run_that_takes_too_long_is_not_checked_and_gone(tmp_path: Path, scratch: Path) -> None:
    """DESIGN 4, FIELD-FAULTS F29: a timeout is never a pass, and nothing is left running."""
    tree = program(tmp_path / "tree", f"echo $$ > {tmp_path}/pid; sleep 600")
    evidence = checked(("./run",), tree, scratch, timeout_s=0.5)
    assert (evidence.status, evidence.detail) == (EvidenceStatus.NOT_CHECKED, "not finished after 0.5 s")
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_the_export_stays_as_it_is(tmp_path: Path, scratch: Path) -> None:
    """FIELD-FAULTS F30: a command writes, rewrites and deletes in a copy."""
    script = "echo new > new; echo more >> a.py; chmod 777 a.py .; rm b.py; mkdir c; echo d > c/d; chmod 0 c"
    tree = write(tmp_path / "tree", {"run": f"#!/bin/sh\n{script}\n", "a.py": "one\n", "b.py": "two\n"})

    def state() -> dict[str, tuple[int, int, str]]:
        stats = {path: path.stat() for path in tree.iterdir()}
        return {path.name: (found.st_mode, found.st_mtime_ns, path.read_text()) for path, found in stats.items()}

    before = state()
    assert checked(("./run",), tree, scratch).status is EvidenceStatus.VERIFIED
    assert state() == before


def test_whoever_watches_sees_the_copy_before_and_after(tmp_path: Path, scratch: Path) -> None:
    """FIELD-FAULTS F25: what was read is told by the file system, on the copy in which the command ran."""

    def watch(copy: Path) -> Callable[[], tuple[str, ...]]:
        assert not (copy / "made").exists()
        return lambda: tuple(sorted(path.name for path in copy.iterdir()))

    evidence = checked(("./run",), program(tmp_path / "tree", "echo > made"), scratch, watch=watch)
    assert evidence.paths_unread == ("made", "run")
    assert checked(("./none",), tmp_path / "tree", scratch, watch=watch).paths_unread is None


def test_the_candidates_own_packages_come_first(tmp_path: Path, scratch: Path) -> None:
    """Ours: a package installed from the user's working tree does not stand in for the code under judgement."""
    installed = write(tmp_path / "installed", {"thing.py": "WHERE = 'the working tree'\n"})
    tree = write(tmp_path / "tree", {"src/thing.py": "WHERE = 'here'\n"})
    shows = ("python", "-c", "import thing; assert thing.WHERE == 'here', thing.WHERE")
    assert checked(shows, tree, scratch, environ={"PYTHONPATH": str(installed)}).status is EvidenceStatus.VERIFIED


def test_output_is_cut_and_made_visible(tmp_path: Path, scratch: Path) -> None:
    """SECURITY S7, T1: the end of the output, a few kilobytes, nothing hidden in it."""
    script = "seq 100000; printf '\\033[2J\\342\\200\\256end\\n'; exit 1"
    evidence = checked(("./run",), program(tmp_path / "tree", script), scratch)
    assert evidence.output.startswith("…9")
    assert evidence.output.endswith("100000\n\\u{1b}[2J\\u{202e}end\n")
    assert len(evidence.output) <= MAX_SHOWN + 1


def test_nothing_secret_reaches_a_command_unless_it_is_passed_on(tmp_path: Path, scratch: Path) -> None:
    """SECURITY S8: an allow-list, and what the person adds is not repeated in the evidence."""
    environ = {
        "HOME": "/home/somebody",
        "LC_ALL": "C",
        "OPENAI_API_KEY": "sk-not-for-you",
        "PYTEST_ADDOPTS": "--nothing",
        "GIT_DIR": "/elsewhere",
        "GOPROXY": "https://user:word@proxy.example",
        "DB_TOKEN": "token-of-the-database",
    }
    tree = program(tmp_path / "tree", 'env | sort; echo "$GIT_CEILING_DIRECTORIES"; exit 1')
    evidence = checked(("./run",), tree, scratch, environ=environ, extra=("DB_TOKEN",))
    assert "HOME=/home/somebody\nLC_ALL=C\n" in evidence.output
    assert "TMPDIR=$TMPDIR\n" in evidence.output
    assert "DB_TOKEN=[$DB_TOKEN]\n" in evidence.output
    for value in ("sk-not-for-you", "--nothing", "/elsewhere", "user:word", "token-of-the-database"):
        assert value not in evidence.output
    assert evidence.output.splitlines()[-1].startswith(str(scratch))


def test_the_interpreter_is_whichever_the_machine_has(tmp_path: Path, scratch: Path) -> None:
    """Issue 2 point 5: `python` or `python3`, as found when the command runs."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    tree = write(tmp_path / "tree", {"a.py": ""})
    quiet = ("python", "-c", "")
    assert checked(quiet, tree, scratch, environ={"PATH": str(tmp_path / "bin")}).status is EvidenceStatus.VERIFIED
    assert checked(quiet, tree, scratch, environ={"PATH": "/nowhere"}).detail == "no program 'python' on PATH"


def test_a_linter_passes_without_tests(tmp_path: Path, scratch: Path) -> None:
    """DESIGN 4: compiling everything is a linter, and finds what does not parse."""
    compileall = ("python", "-m", "compileall", "-q", ".")
    good, bad = (write(tmp_path / name, {"a.py": text}) for name, text in (("good", "a = 1\n"), ("bad", "a = (\n")))
    assert checked(compileall, good, scratch, purpose=Purpose.LINT).status is EvidenceStatus.VERIFIED
    assert checked(compileall, bad, scratch, purpose=Purpose.LINT).status is EvidenceStatus.REFUTED


def test_a_make_target_is_run_and_read(tmp_path: Path, scratch: Path) -> None:
    """Issue 2 point 5: what a test runner below make says is read too."""
    need.tool("make")
    test = "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"
    tree = write(tmp_path / "tree", {"Makefile": "test:\n\t@python -m unittest\nold:\n", "test_a.py": test})
    assert checked(("make", "test"), tree, scratch).detail == "exit 0: 1 passed, 0 failed"
    assert checked(("make", "old"), tree, scratch).detail == "exit 0: no tests ran"


def test_cancelling_leaves_neither_process_nor_copy(tmp_path: Path, scratch: Path) -> None:
    """agents.base: what was started is gone before the cancellation leaves the call."""
    tree = program(tmp_path / "tree", f"echo $$ > {tmp_path}/pid; echo ready; sleep 600")

    async def cancel() -> None:
        ready = asyncio.Event()
        check = CommandCheck(argv=("./run",), purpose=Purpose.TEST, candidate=COMMIT)
        task = asyncio.create_task(
            run_command(
                check,
                tree=tree,
                scratch=scratch,
                environ={"PATH": PATH},
                timeout_s=60,
                on_line=lambda _line: ready.set(),
            )
        )
        await asyncio.wait_for(ready.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    finish(cancel())
    assert is_gone(int((tmp_path / "pid").read_text()))
    assert list(scratch.iterdir()) == []


def test_cancelling_while_copying_leaves_no_copy(tmp_path: Path, scratch: Path) -> None:
    """Ours: the thread that copies is out of the folder before that is removed."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "one").write_text("x")
    for number in range(2000):
        (tmp_path / "tree" / f"f{number}").hardlink_to(tmp_path / "one")

    def begun() -> bool:
        return any(scratch.glob("run-*/tree/f*"))

    async def cancel() -> None:
        check = CommandCheck(argv=("true",), purpose=Purpose.TEST, candidate=COMMIT)
        task = asyncio.create_task(
            run_command(check, tree=tmp_path / "tree", scratch=scratch, environ={"PATH": PATH}, timeout_s=60)
        )
        # The thread that copies has no event to wait for.
        while not begun():  # noqa: ASYNC110
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    finish(cancel())
    assert list(scratch.iterdir()) == []


def test_an_export_that_cannot_be_copied_is_an_error_of_the_source(tmp_path: Path, scratch: Path) -> None:
    """Issue 2: a full disk and the like are typed, and leave nothing."""
    with pytest.raises(SourceError, match="cannot be copied"):
        checked(("true",), tmp_path / "nowhere", scratch)
    assert list(scratch.iterdir()) == []


def test_the_path_of_a_copy_below_a_link_is_hidden_too(tmp_path: Path) -> None:
    """Ours: some tools print the resolved path."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    tree = program(tmp_path / "tree", "pwd -P; exit 1")
    evidence = checked(("./run",), tree, tmp_path / "link")
    assert evidence.output == ".\n"


def test_python_looks_into_src_first(tmp_path: Path) -> None:
    """Ours: the order of Python's path."""
    tree = write(tmp_path / "tree", {"src/a.py": ""})
    env = command_environment({}, tree, tmp_path / "tmp")
    assert env["PYTHONPATH"] == f"{tree}/src{os.pathsep}{tree}"
    assert env["CI"] == "true"
