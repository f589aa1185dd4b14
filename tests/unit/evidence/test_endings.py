"""What the end of a command says, from outputs as the tools print them."""

import time

import pytest

from counterpoint.core.checks import EvidenceStatus, Purpose
from counterpoint.evidence.endings import judge
from counterpoint.isolation.process import Finished

PYTEST = ("python", "-m", "pytest")
UNITTEST = ("python", "-m", "unittest", "discover")
NPM = ("npm", "test")
MAKE = ("make", "test")
CARGO = ("cargo", "test")
GO = ("go", "test", "./...")
SCRIPT = ("./run-tests",)


def finished(output: str, *, code: int | None = 0, signal: int | None = None, timed_out: bool = False) -> Finished:
    return Finished(
        exit_code=code,
        signal=signal,
        stdout=output.encode(),
        stderr=b"",
        printed=len(output),
        timed_out=timed_out,
        lingered=False,
        seconds=1.0,
    )


def judged(argv: tuple[str, ...], output: str, code: int = 0) -> tuple[str, str]:
    status, detail = judge(argv, Purpose.TEST, finished(output, code=code), timeout_s=60)
    return status.value, detail


VERIFIED = {
    "pytest": (PYTEST, "collected 3 items\n\n=== 2 passed, 1 skipped in 0.12s ===\n", "2 passed"),
    "pytest quiet": (("pytest", "-q"), "..\n2 passed in 65.20s (0:01:05)\n", "2 passed"),
    "pytest in colour": (PYTEST, "\x1b[32m=== \x1b[1m2 passed\x1b[0m in 0.12s ===\x1b[0m\n", "2 passed"),
    "pytest with deselection": (PYTEST, "== 2 passed, 3 deselected, 4 warnings in 0.12s ==\n", "2 passed"),
    "pytest under coverage": (("coverage", "run", "-m", "pytest"), "1 passed in 0.1s\n", "1 passed"),
    "unittest": (UNITTEST, "...\n------\nRan 3 tests in 0.001s\n\nOK (skipped=1)\n", "2 passed"),
    "cargo": (
        CARGO,
        "test result: ok. 2 passed; 0 failed; 0 ignored\ntest result: ok. 0 passed; 0 failed;\n",
        "2 passed",
    ),
    "go": (
        GO,
        "ok  \texample.com/a\t0.004s\nok  \texample.com/b\t(cached)\n?   \texample.com/c\t[no test files]\n",
        "2 passed",
    ),
    "jest": (NPM, "\n> jest\n\nTests:       1 skipped, 3 passed, 4 total\n", "3 passed"),
    "vitest": (NPM, " Test Files  1 passed (1)\n      Tests  2 passed | 1 skipped (3)\n", "2 passed"),
    "mocha": (NPM, "\n  4 passing (12ms)\n", "4 passed"),
    "node": (NPM, "# tests 2\n# suites 0\n# pass 2\n# fail 0\n", "2 passed"),
    "pytest below make": (MAKE, "python -m pytest\n1 passed in 0.10s\n", "1 passed"),
}


@pytest.mark.parametrize(("argv", "output", "said"), VERIFIED.values(), ids=VERIFIED)
def test_a_run_that_passed_is_verified_with_its_count(argv: tuple[str, ...], output: str, said: str) -> None:
    """DESIGN 4: verified means that it ran and passed."""
    assert judged(argv, output) == ("verified", f"exit 0: {said}, 0 failed")


def test_an_unknown_runner_is_believed_by_its_exit_code() -> None:
    """Ours: a script that says nothing of counts still passes or fails."""
    assert judged(SCRIPT, "all good\n") == ("verified", "exit 0")
    assert judged(SCRIPT, "bad\n", 1) == ("refuted", "exit 1")


NOTHING_RAN = {
    "pytest, none collected": (
        PYTEST,
        "collected 0 items\n\n=== no tests ran in 0.01s ===\n",
        5,
        "no tests collected",
    ),
    "pytest, exit 0 all the same": (PYTEST, "=== no tests ran in 0.01s ===\n", 0, "no tests ran"),
    "pytest, all skipped": (PYTEST, "=== 3 skipped in 0.01s ===\n", 0, "no tests ran"),
    "pytest, all deselected": (PYTEST, "2 deselected in 0.74s\n", 0, "no tests ran"),
    "pytest says nothing": (PYTEST, "", 0, "pytest does not say that a test passed"),
    "pytest below a wrapper that hides it": (("coverage", "run", "-m", "pytest"), "fine\n", 0, "does not say"),
    "pytest below make, none collected": (
        MAKE,
        "no tests ran in 0.01s\nmake: *** [Makefile:2: test] Error 5\n",
        2,
        "no tests ran",
    ),
    "unittest": (UNITTEST, "\n------\nRan 0 tests in 0.000s\n\nOK\n", 0, "no tests ran"),
    "unittest since 3.12": (UNITTEST, "\n------\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", 5, "no tests ran"),
    "unittest, all skipped": (UNITTEST, "s\n------\nRan 1 test in 0.000s\n\nOK (skipped=1)\n", 0, "no tests ran"),
    "cargo": (CARGO, "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n", 0, "no tests ran"),
    "go": (GO, "?   \texample.com/c\t[no test files]\n", 0, "no tests ran"),
    "go, none match": (GO, "ok  \texample.com/c\t0.001s [no tests to run]\n", 0, "no tests ran"),
    "jest": (NPM, "\n> jest\n\nNo tests found, exiting with code 1\n", 1, "no tests ran"),
    "vitest": (NPM, "\nNo test files found, exiting with code 1\n", 1, "no tests ran"),
    "node": (NPM, "TAP version 13\n1..0\n# tests 0\n# pass 0\n# fail 0\n", 0, "no tests ran"),
    "make": (MAKE, "make: Nothing to be done for 'test'.\n", 0, "no tests ran"),
    "make, up to date": (MAKE, "make: 'test' is up to date.\n", 0, "no tests ran"),
    "module not installed": (PYTEST, "/usr/bin/python3: No module named pytest\n", 1, "the module is not installed"),
    "package without a main": (
        ("python", "-m", "a.b"),
        "python: No module named a.b.__main__; 'a.b' is a package\n",
        1,
        "not installed",
    ),
    "unknown option": (
        PYTEST,
        "ERROR: usage: ...\n: error: unrecognized arguments: --cov\n",
        4,
        "does not know one of its options",
    ),
    "no npm script": (NPM, 'npm error Missing script: "test"\nnpm error\n', 1, "package.json has no such script"),
    "tool missing below npm": (
        NPM,
        "\n> test\n> jest\n\nsh: 1: jest: not found\n",
        127,
        "a program that it needs is missing",
    ),
    "tool missing below make": (
        MAKE,
        "make: jest: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n",
        2,
        "is missing",
    ),
    "no target": (MAKE, "make: *** No rule to make target 'test'.  Stop.\n", 2, "the Makefile has no such target"),
    "no Makefile": (
        ("make",),
        "make: *** No targets specified and no makefile found.  Stop.\n",
        2,
        "there is no Makefile",
    ),
    "no cargo command": (
        ("cargo", "nextest"),
        "error: no such command: `nextest`\n\nhelp: ...\n",
        101,
        "no such command",
    ),
    "not executable": (SCRIPT, "", 126, "a program that it needs is missing"),
}


@pytest.mark.parametrize(("argv", "output", "code", "reason"), NOTHING_RAN.values(), ids=NOTHING_RAN)
def test_a_run_that_checked_nothing_is_not_checked(
    argv: tuple[str, ...], output: str, code: int, reason: str
) -> None:
    """DESIGN 4, FIELD-FAULTS F1: a missing tool and no tests are neither a finding nor a pass."""
    status, detail = judged(argv, output, code)
    assert status == "not_checked"
    assert reason in detail
    assert f"exit {code}" in detail


REFUTED = {
    "pytest": (PYTEST, "=== 1 failed, 2 passed in 0.12s ===\n", 1, "exit 1: 2 passed, 1 failed"),
    "pytest, error while collecting": (
        PYTEST,
        "!!!! Interrupted\n=== 1 error in 0.12s ===\n",
        2,
        "exit 2: 0 passed, 1 failed",
    ),
    "unittest": (UNITTEST, "Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n", 1, "exit 1: 1 passed, 2 failed"),
    "unittest, set-up failed": (
        UNITTEST,
        "Ran 0 tests in 0.1s\n\nFAILED (errors=1)\n",
        1,
        "exit 1: 0 passed, 1 failed",
    ),
    "cargo": (CARGO, "test result: FAILED. 1 passed; 1 failed;\n", 101, "exit 101: 1 passed, 1 failed"),
    "cargo does not build": (CARGO, "error: could not compile `c`\n", 101, "exit 101"),
    "go": (GO, "FAIL\texample.com/a\t0.004s\nFAIL\n", 1, "exit 1: 0 passed, 1 failed"),
    "an import fails": (
        PYTEST,
        "E   ModuleNotFoundError: No module named 'pytest'\n=== 1 error in 0.1s ===\n",
        2,
        "exit 2: 0 passed, 1 failed",
    ),
    "its own words do not hide a failure": (MAKE, "sh: No module named requests\n", 1, "exit 1"),
    "passed, and then the exit code": (PYTEST, "=== 2 passed in 0.12s ===\n", 3, "exit 3: 2 passed, 0 failed"),
}


@pytest.mark.parametrize(("argv", "output", "code", "detail"), REFUTED.values(), ids=REFUTED)
def test_a_run_that_failed_is_refuted(argv: tuple[str, ...], output: str, code: int, detail: str) -> None:
    """DESIGN 4: one finding per failing command."""
    assert judged(argv, output, code) == ("refuted", detail)


def test_nothing_that_is_printed_turns_a_failure_into_a_pass() -> None:
    """Ours: the output belongs to the candidate."""
    for _, output, _ in VERIFIED.values():
        for argv in (PYTEST, UNITTEST, NPM, MAKE, CARGO, GO, SCRIPT):
            assert judged(argv, output, 1)[0] != "verified"


def test_a_linter_needs_no_tests() -> None:
    """DESIGN 4: exit 0 of a linter is a pass of a linter, and no test."""
    for output in ("", "All checks passed!\n", "no tests ran in 0.01s\n"):
        assert judge(("ruff", "check"), Purpose.LINT, finished(output), timeout_s=60) == (
            EvidenceStatus.VERIFIED,
            "exit 0",
        )
    assert judge(("ruff", "check"), Purpose.LINT, finished("", code=1), timeout_s=60) == (
        EvidenceStatus.REFUTED,
        "exit 1",
    )


def test_a_crash_is_a_failure_and_a_kill_from_outside_is_none() -> None:
    """Ours: a segmentation fault is the candidate's, a SIGKILL is most often the machine's memory."""
    crashed = finished("", code=None, signal=11)
    assert judge(PYTEST, Purpose.TEST, crashed, timeout_s=60) == (EvidenceStatus.REFUTED, "killed by SIGSEGV")
    killed = finished("", code=None, signal=9)
    assert judge(PYTEST, Purpose.TEST, killed, timeout_s=60)[0] is EvidenceStatus.NOT_CHECKED


def test_a_timeout_is_not_checked_whatever_was_printed() -> None:
    """DESIGN 4: a timeout is never a finding and never a pass."""
    late = finished("=== 2 passed in 0.12s ===\n", timed_out=True)
    assert judge(PYTEST, Purpose.TEST, late, timeout_s=60) == (EvidenceStatus.NOT_CHECKED, "not finished after 60 s")


@pytest.mark.parametrize(
    "unit", ["\n", " ", "ok ", "ok\t", "=", "1 passed, ", "make: *** [", "Ran 1 tests in 1s\n", "FAIL "]
)
@pytest.mark.timeout(60)
def test_a_long_output_of_anything_is_read_in_a_moment(unit: str) -> None:
    """SECURITY S7: no pattern takes time that grows faster than the output."""
    began = time.process_time()
    judged(MAKE, unit * (400_000 // len(unit)))
    judged(PYTEST, unit * (400_000 // len(unit)), 1)
    assert time.process_time() - began < 5
