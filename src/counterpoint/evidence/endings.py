"""Read what the end of a project command says: passed, failed, or that it never ran anything.

- Only exit 0 verifies. A test command also has to say that at least one test passed, where its runner is known to
  count them. Where the runner is not known, exit 0 counts unless the output says that nothing ran.
- A missing tool, no tests, a timeout and a kill from outside are `not_checked`, whatever the exit code.
- The output belongs to the candidate. It can turn a failure into `not_checked`, which approves nothing; it cannot
  turn a failure into a pass.

Sources: DESIGN section 4 ("checks as a reviewer"), section 7.7; FIELD-FAULTS F1.
"""

import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from counterpoint.core.checks import EvidenceStatus, Purpose
from counterpoint.isolation.process import Finished

__all__ = ["Count", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many tests a runner says passed, and how many did not."""

    passed: int
    failed: int

    def plus(self, other: "Count") -> "Count":
        return Count(passed=self.passed + other.passed, failed=self.failed + other.failed)


def judge(
    argv: Sequence[str], purpose: Purpose, finished: Finished, *, timeout_s: float
) -> tuple[EvidenceStatus, str]:
    """Return the status of a finished command and one sentence that says why."""
    text = _COLOUR.sub("", finished.stdout.decode("utf-8", "replace").replace("\r\n", "\n"))
    if reason := _not_run(argv, finished, text, timeout_s):
        return EvidenceStatus.NOT_CHECKED, reason
    if purpose is Purpose.LINT:
        passed = finished.exit_code == 0
        return (EvidenceStatus.VERIFIED if passed else EvidenceStatus.REFUTED), finished.ending
    counts = {runner.name: count for runner in _RUNNERS if (count := runner.count(text)) is not None}
    total = _sum(list(counts.values()))
    if total == Count(passed=0, failed=0) or (total is None and _NOTHING.search(text)):
        return EvidenceStatus.NOT_CHECKED, f"{finished.ending}: no tests ran"
    said = f"{finished.ending}: {total.passed} passed, {total.failed} failed" if total else finished.ending
    if finished.exit_code != 0:
        return EvidenceStatus.REFUTED, said
    named = next((runner.name for runner in _RUNNERS if runner.is_named(argv)), None)
    if named is not None and (named not in counts or not counts[named].passed):
        return EvidenceStatus.NOT_CHECKED, f"exit 0, but {named} does not say that a test passed"
    return EvidenceStatus.VERIFIED, said


def _not_run(argv: Sequence[str], finished: Finished, text: str, timeout_s: float) -> str:
    """Say why the command checked nothing; "" where it did."""
    if finished.timed_out:
        return f"not finished after {timeout_s:g} s"
    if finished.signal == signal.SIGKILL:
        return "killed by SIGKILL, by something else than the command"
    if finished.exit_code in {126, 127}:
        return f"exit {finished.exit_code}: a program that it needs is missing"
    if finished.exit_code in _PYTEST_ENDINGS and _is_module(argv, "pytest", "py.test"):
        return f"exit {finished.exit_code}: {_PYTEST_ENDINGS[finished.exit_code]}"
    for pattern, reason in _MISSING if finished.exit_code != 0 else ():
        found = pattern.search(text)
        if found and (not found.groups() or found[1] in argv):
            return f"{finished.ending}: {reason}"
    return ""


_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_PYTEST_ENDINGS: Final = {4: "pytest does not know one of its options", 5: "no tests collected"}

# A group in a pattern has to be one of the command's own words: output of the tests cannot stand in for it.
_MISSING: Final = tuple(
    (re.compile(pattern, re.MULTILINE), reason)
    for pattern, reason in (
        (r"^[^\n]*: No module named '?([\w.]+?)(?:\.__main__)?'?(?:;[^\n]*)?\n?\Z", "the module is not installed"),
        (r"^npm (?:ERR!|error) [Mm]issing script: \"?([\w:-]+)\"?", "package.json has no such script"),
        (r"^make: \*\*\* No rule to make target [`']([^']+)'\.", "the Makefile has no such target"),
        (r"^make: \*\*\* No targets specified and no makefile found\.", "there is no Makefile"),
        (r"^make(?:\[\d+\])?: \*\*\* \[.*\] Error 12[67]\n?\Z", "a program that it needs is missing"),
        (r"^error: no such command: `(\w+)`", "cargo has no such command"),
    )
)
_NOTHING: Final = re.compile(
    r"^(?:No tests found|No test files found|Error: No test files found|no tests ran|no test files)\b"
    r"|\Amake: (?:Nothing to be done for|'.*' is up to date|`.*' is up to date)",
    re.MULTILINE,
)


def _is_module(argv: Sequence[str], *names: str) -> bool:
    """Say whether a command runs a program of one of these names, by itself or as `-m name`."""
    if PurePath(argv[0]).name in names:
        return True
    return any(flag == "-m" and name in names for flag, name in pairwise(argv))


_PYTEST_LINE: Final = re.compile(
    r"=*\s*(no tests (?:ran|collected)|\d+ [a-z]+(?:, \d+ [a-z]+)*)(?: \(\d+ deselected\))? in \d[\d.]*s\b.*"
)
_UNITTEST: Final = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s\n+(?:(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?)?", re.MULTILINE
)
_CARGO: Final = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)
_GO_PASSED: Final = re.compile(r"^ok[ \t]+\S+[ \t]+(?:\(cached\)|[\d.]+s)(?!.*\[no tests to run\])", re.MULTILINE)
_GO_FAILED: Final = re.compile(r"^FAIL[ \t]+\S+", re.MULTILINE)
_GO_EMPTY: Final = re.compile(r"^(?:\?|ok)[ \t]+\S+.*\[no test(?:s to run| files)\]", re.MULTILINE)
_JEST: Final = re.compile(r"^[ \t]*Tests:?[ \t]+(\d.*)$", re.MULTILINE)
_MOCHA: Final = re.compile(r"^[ \t]+(\d+) (passing|failing)\b", re.MULTILINE)
_NODE: Final = re.compile(r"^(?:#|\u2139) (pass|fail) (\d+)$", re.MULTILINE)


def _pytest(text: str) -> Count | None:
    for line in reversed(text.splitlines()):
        if found := _PYTEST_LINE.fullmatch(line.strip()):
            numbers = _numbers(found[1])
            passed = numbers.get("passed", 0) + numbers.get("xpassed", 0)
            failed = sum(numbers.get(word, 0) for word in ("failed", "error", "errors"))
            return Count(passed=passed, failed=failed)
    return None


def _unittest(text: str) -> Count | None:
    def one(found: re.Match[str]) -> Count:
        noted = {word: int(number) for word, number in re.findall(r"([a-z]+)=(\d+)", found[3] or "")}
        failed = noted.get("failures", 0) + noted.get("errors", 0)
        return Count(passed=max(0, int(found[1]) - failed - noted.get("skipped", 0)), failed=failed)

    return _sum([one(found) for found in _UNITTEST.finditer(text)])


def _cargo(text: str) -> Count | None:
    return _sum([Count(passed=int(found[1]), failed=int(found[2])) for found in _CARGO.finditer(text)])


def _go(text: str) -> Count | None:
    passed, failed = len(_GO_PASSED.findall(text)), len(_GO_FAILED.findall(text))
    return Count(passed=passed, failed=failed) if passed or failed or _GO_EMPTY.search(text) else None


def _jest(text: str) -> Count | None:
    lines = [_numbers(re.sub(r"[|,(].?", ",", line)) for line in _JEST.findall(text)]
    return _sum([Count(passed=line.get("passed", 0), failed=line.get("failed", 0)) for line in lines])


def _mocha(text: str) -> Count | None:
    return _by_word([(word, number) for number, word in _MOCHA.findall(text)], "passing", "failing")


def _node(text: str) -> Count | None:
    return _by_word(_NODE.findall(text), "pass", "fail")


def _by_word(pairs: list[tuple[str, str]], passed: str, failed: str) -> Count | None:
    if not pairs:
        return None
    return Count(
        passed=sum(int(number) for word, number in pairs if word == passed),
        failed=sum(int(number) for word, number in pairs if word == failed),
    )


def _numbers(listing: str) -> dict[str, int]:
    """Read `3 passed, 1 skipped`."""
    return {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", listing)}


def _sum(counts: Sequence[Count]) -> Count | None:
    total = None
    for count in counts:
        total = count if total is None else total.plus(count)
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runner:
    """A test runner that counts: how its command line looks, and how its output is read."""

    name: str
    is_named: Callable[[Sequence[str]], bool]
    count: Callable[[str], Count | None]


def _never(argv: Sequence[str]) -> bool:
    del argv
    return False


def _by(program: str) -> Callable[[Sequence[str]], bool]:
    return lambda argv: PurePath(argv[0]).name == program and "test" in argv[1:]


_RUNNERS: Final = (
    _Runner(name="pytest", is_named=lambda argv: _is_module(argv, "pytest", "py.test"), count=_pytest),
    _Runner(name="unittest", is_named=lambda argv: _is_module(argv, "unittest"), count=_unittest),
    _Runner(name="cargo test", is_named=_by("cargo"), count=_cargo),
    _Runner(name="go test", is_named=_by("go"), count=_go),
    _Runner(name="jest", is_named=_never, count=_jest),
    _Runner(name="mocha", is_named=_never, count=_mocha),
    _Runner(name="node", is_named=_never, count=_node),
)
