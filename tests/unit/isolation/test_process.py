"""The process runner over real programs: output, input, endings, killing, and what is left afterwards."""

import asyncio
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from counterpoint.errors import Unreachable
from counterpoint.isolation.marks import MARK
from counterpoint.isolation.process import MAX_ARGUMENT, Finished, find_program, run
from tests import need
from tests.processes import BOUND_S, children, finish, is_gone, pids, shell

ENV = {"PATH": os.defpath}


def start(
    argv: Sequence[str],
    cwd: Path,
    *,
    env: Mapping[str, str] = ENV,
    stdin: bytes | None = None,
    timeout_s: float = 20.0,
    max_output: int = 1 << 20,
    merge_stderr: bool = False,
    on_line: Callable[[str], None] | None = None,
    grace_s: float = 2.0,
) -> Coroutine[Any, Any, Finished]:
    return run(
        argv,
        cwd=cwd,
        env=env,
        stdin=stdin,
        timeout_s=timeout_s,
        max_output=max_output,
        merge_stderr=merge_stderr,
        on_line=on_line,
        grace_s=grace_s,
    )


def test_output_ending_and_folder_are_returned(tmp_path: Path) -> None:
    """Ours: what a program prints on both outputs and how it ended arrive unchanged."""
    finished = finish(start(shell("pwd; echo no >&2; exit 3"), tmp_path))
    assert (finished.stdout, finished.stderr) == (f"{tmp_path}\n".encode(), b"no\n")
    assert (finished.exit_code, finished.signal, finished.ending) == (3, None, "exit 3")
    assert (finished.timed_out, finished.lingered, finished.truncated) == (False, False, False)
    assert 0 < finished.seconds < BOUND_S


def test_a_signal_is_told_from_an_exit_code(tmp_path: Path) -> None:
    """Ours: a crash is not an exit."""
    finished = finish(start(shell("kill -SEGV $$"), tmp_path))
    assert (finished.exit_code, finished.signal, finished.ending) == (None, 11, "killed by SIGSEGV")
    finished = finish(start(shell("kill -40 $$"), tmp_path))
    assert finished.ending == "killed by signal 40"


def test_the_environment_is_exactly_the_given_one(tmp_path: Path) -> None:
    """Ours: nothing of the driver's environment reaches a program but the mark of the run."""
    finished = finish(start(["env"], tmp_path, env={**ENV, "A": "b"}))
    names = {line.partition(b"=")[0] for line in finished.stdout.splitlines()}
    assert names - {b"PWD", b"SHLVL", b"_"} == {b"PATH", b"A", MARK.encode()}


def test_standard_input_is_at_its_end_when_nothing_is_fed(tmp_path: Path) -> None:
    """FIELD-FAULTS F27: a program that reads its input to the end gets there at once, whatever ours is."""
    reading, writing = os.pipe()
    own = os.dup(0)
    os.dup2(reading, 0)
    try:
        finished = finish(start(["cat"], tmp_path))
    finally:
        os.dup2(own, 0)
        for descriptor in (own, reading, writing):
            os.close(descriptor)
    assert (finished.stdout, finished.timed_out) == (b"", False)


def test_a_program_leads_a_session_of_its_own(tmp_path: Path) -> None:
    """SECURITY A.1: it has no controlling terminal, so it cannot type into ours."""
    script = "import os; print(os.getsid(0) == os.getpid() == os.getpgrp())"
    assert finish(start([sys.executable, "-c", script], tmp_path)).stdout == b"True\n"


def test_two_megabytes_go_through_a_pipe_in_both_directions(tmp_path: Path) -> None:
    """FIELD-FAULTS F28: feeding and reading run side by side, so a pipe of 64 KiB cannot block both ends."""
    fed = os.urandom(2_000_000)
    assert finish(start(["cat"], tmp_path, stdin=fed, max_output=3_000_000)).stdout == fed


def test_a_program_that_reads_no_input_still_ends_by_itself(tmp_path: Path) -> None:
    """FIELD-FAULTS F28: a closed pipe on the other side is no failure of ours."""
    finished = finish(start(shell("exec <&-; echo done"), tmp_path, stdin=b"x" * 2_000_000))
    assert (finished.stdout, finished.exit_code) == (b"done\n", 0)


def test_empty_input_is_closed_too(tmp_path: Path) -> None:
    """FIELD-FAULTS F27: b"" is an input of no bytes, and then its end."""
    assert finish(start(["cat"], tmp_path, stdin=b"")).exit_code == 0


def test_a_hundred_megabytes_are_drained_in_bounded_memory(tmp_path: Path) -> None:
    """SECURITY S7: the flood is read to its end, counted, and only its newest bytes are held."""
    flood = "import sys\nfor _ in range(1600): sys.stdout.buffer.write(b'x' * 65536)\nprint('END')"
    tracemalloc.start()
    try:
        finished = finish(start([sys.executable, "-c", flood], tmp_path, max_output=100_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (finished.printed, len(finished.stdout), finished.truncated) == (1600 * 65536 + 4, 100_000, True)
    assert finished.stdout.endswith(b"xEND\n")
    assert peak < 2_000_000


def test_no_output_is_kept_where_none_is_wanted(tmp_path: Path) -> None:
    """Ours: a bound of nothing keeps nothing and still counts."""
    finished = finish(start(shell("head -c 200000 /dev/zero"), tmp_path, max_output=0))
    assert (finished.stdout, finished.printed) == (b"", 200_000)


def test_merged_outputs_keep_the_order_of_writing(tmp_path: Path) -> None:
    """Ours: the end of a command's output reads as on a terminal."""
    finished = finish(start(shell("echo 1; echo 2 >&2; echo 3"), tmp_path, merge_stderr=True))
    assert (finished.stdout, finished.stderr) == (b"1\n2\n3\n", b"")


def test_progress_lines_are_made_visible_and_cut(tmp_path: Path) -> None:
    """SECURITY T1, S7: what a program prints cannot steer the terminal that shows its progress."""
    lines: list[str] = []
    script = r"echo answer; printf '\033[2Jhello\n\n' >&2"
    finish(start(shell(script), tmp_path, on_line=lines.append))
    finish(start(shell("printf '%0999d\n' 0"), tmp_path, merge_stderr=True, on_line=lines.append))
    assert lines == ["\\u{1b}[2Jhello", "0" * 200]


def test_a_hang_is_ended_at_the_timeout(tmp_path: Path) -> None:
    """FIELD-FAULTS F29: the program and its children are gone when the call returns."""
    finished = finish(start(shell("sleep 600 & echo $$ $! > pids; echo half; wait"), tmp_path, timeout_s=0.3))
    assert (finished.timed_out, finished.stdout, finished.signal) == (True, b"half\n", 15)
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_program_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    """FIELD-FAULTS F29: after a short grace the group is killed outright."""
    script = "trap '' TERM; sleep 600 & echo $$ $! > pids; while :; do wait; done"
    finished = finish(start(shell(script), tmp_path, timeout_s=0.3, grace_s=0.1))
    assert (finished.timed_out, finished.signal) == (True, 9)
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_child_that_keeps_standard_output_open_cannot_hold_the_call(tmp_path: Path) -> None:
    """FIELD-FAULTS F29: reading goes on for a bounded time after the end, then the group is killed."""
    finished = finish(start(shell("sleep 600 & echo $! > pids; echo answer"), tmp_path))
    assert (finished.exit_code, finished.stdout, finished.lingered, finished.timed_out) == (
        0,
        b"answer\n",
        True,
        False,
    )
    assert finished.seconds < 10
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_silent_child_in_the_background_is_killed_too(tmp_path: Path) -> None:
    """FIELD-FAULTS F29: nothing is left running, whether or not it holds an output."""
    finished = finish(start(shell("sleep 600 >/dev/null 2>&1 & echo $! > pids"), tmp_path))
    assert (finished.exit_code, finished.lingered) == (0, False)
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_descendant_that_left_the_group_is_found_and_killed(tmp_path: Path) -> None:
    """FIELD-FAULTS F29, SECURITY S6: on Linux the mark in its environment gives it away."""
    need.tool("setsid")
    finished = finish(
        start(
            shell("setsid sh -c 'echo $$ > pids; exec sleep 600' & while ! [ -s pids ]; do sleep 0.01; done"),
            tmp_path,
        )
    )
    assert (finished.exit_code, finished.lingered) == (0, True)
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_descendant_that_left_the_group_and_wiped_its_environment_cannot_hold_the_call(tmp_path: Path) -> None:
    """FIELD-FAULTS F29: the one that no mark finds lives on, and the call returns all the same."""
    need.tool("setsid")
    script = "setsid env -i sh -c 'echo $$ > pids; exec sleep 600' & while ! [ -s pids ]; do sleep 0.01; done"
    finished = finish(start(shell(script), tmp_path))
    assert (finished.exit_code, finished.lingered, finished.seconds < 10) == (0, True, True)
    (escaped,) = pids(tmp_path)
    os.kill(escaped, 9)
    assert is_gone(escaped)


def test_the_mark_of_an_outer_run_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a run inside a run can be ended from the outer one."""
    monkeypatch.setenv(MARK, "outer")
    finished = finish(start(shell(f'echo "${MARK}"'), tmp_path))
    assert finished.stdout.startswith(b"outer:")


def test_cancellation_ends_the_group_before_it_leaves_the_call(tmp_path: Path) -> None:
    """agents.base: cancelling the task ends everything that was started for it."""

    async def cancel() -> float:
        ready = asyncio.Event()
        task = asyncio.create_task(
            start(
                shell("sleep 600 & echo $$ $! > pids; echo ready >&2; wait"),
                tmp_path,
                on_line=lambda _line: ready.set(),
            )
        )
        await asyncio.wait_for(ready.wait(), 10)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    assert finish(cancel()) < 1.5
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_cancelled_program_may_end_in_order(tmp_path: Path) -> None:
    """Ours: it is asked to end before it is killed."""

    async def cancel() -> None:
        ready = asyncio.Event()
        script = "trap 'echo bye > bye; exit 0' TERM; echo ready >&2; sleep 600 & wait"
        task = asyncio.create_task(start(shell(script), tmp_path, on_line=lambda _line: ready.set()))
        await asyncio.wait_for(ready.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    finish(cancel())
    assert (tmp_path / "bye").read_text() == "bye\n"


def test_a_second_cancellation_skips_the_grace(tmp_path: Path) -> None:
    """Ours: a second Ctrl-C kills at once."""

    async def cancel() -> float:
        ready = asyncio.Event()
        script = "trap '' TERM; echo $$ > pids; echo ready >&2; while :; do sleep 600; done"
        task = asyncio.create_task(start(shell(script), tmp_path, on_line=lambda _line: ready.set(), grace_s=60))
        await asyncio.wait_for(ready.wait(), 10)
        task.cancel()
        await asyncio.sleep(0)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - began

    assert finish(cancel()) < 5
    assert all(is_gone(pid) for pid in pids(tmp_path))


def open_descriptors() -> set[str]:
    return {link.name for link in Path("/proc/self/fd").iterdir()}


def test_neither_zombies_nor_descriptors_are_left(tmp_path: Path) -> None:
    """Ours: a driver may run thousands of programs."""
    before = open_descriptors()
    for argv in (["true"], shell("exit 4"), shell("sleep 600 >/dev/null 2>&1 & echo x")):
        finish(start(argv, tmp_path, stdin=b"x"))
    assert open_descriptors() == before
    assert children() == set()


def test_a_kernel_without_pidfd_is_served_by_polling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: macOS has no pidfd; endings, timeouts and killing are the same."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sys, "platform", "darwin")
        assert finish(start(shell("echo hi; exit 2"), tmp_path)).exit_code == 2
        finished = finish(start(shell("sleep 600 & echo $! > pids; wait"), tmp_path, timeout_s=0.3))
    assert finished.timed_out
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """Issue 2 point 5: never a bare OSError."""
    with pytest.raises(Unreachable, match=r"no program 'no-such-program' on PATH") as refused:
        finish(start(["no-such-program"], tmp_path))
    assert refused.value.hint
    with pytest.raises(Unreachable, match=r"there is no program at '.*/bin/agent'"):
        finish(start(["./bin/agent"], tmp_path))


def test_a_program_without_the_executable_bit_is_named(tmp_path: Path) -> None:
    """Issue 2 point 5: not executable is told from not there, and the hint mends it."""
    (tmp_path / "agent").write_text("#!/bin/sh\n")
    with pytest.raises(Unreachable, match=r"agent' is not executable") as refused:
        finish(start(["./agent"], tmp_path))
    assert "chmod +x" in refused.value.hint


def test_a_folder_or_a_broken_program_cannot_be_started(tmp_path: Path) -> None:
    """Issue 2 point 5: what the kernel refuses is typed."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(Unreachable, match="there is no program"):
        finish(start(["./folder"], tmp_path))
    (tmp_path / "broken").write_bytes(b"\x7fELF nothing")
    (tmp_path / "broken").chmod(0o755)
    with pytest.raises(Unreachable, match="cannot be started: Exec format error"):
        finish(start(["./broken"], tmp_path))


def test_a_missing_folder_to_start_in_is_named(tmp_path: Path) -> None:
    """Issue 2 point 5: a bad cwd is not blamed on the program."""
    with pytest.raises(Unreachable, match="no such folder"):
        finish(start(["true"], tmp_path / "nowhere"))


@pytest.mark.parametrize("argument", ["a\0b", "\ud800"])
def test_an_argument_that_no_program_can_take_is_refused(tmp_path: Path, argument: str) -> None:
    """Ours: a NUL or a lone surrogate surfaces as a typed error."""
    with pytest.raises(Unreachable, match="cannot be started"):
        finish(start(["true", argument], tmp_path))


def test_an_argument_over_the_limit_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """FIELD-FAULTS F28: a prompt passed as one argument dies in the kernel; here it dies with a sentence."""
    assert finish(start(["true", "x" * MAX_ARGUMENT], tmp_path)).exit_code == 0
    with pytest.raises(Unreachable, match=r"100001 bytes; at most 100000") as refused:
        finish(start(["true", "x" * (MAX_ARGUMENT + 1)], tmp_path))
    assert "standard input" in refused.value.hint


def test_arguments_too_long_together_are_typed_too(tmp_path: Path) -> None:
    """FIELD-FAULTS F28: the kernel's limit on all arguments together."""
    with pytest.raises(Unreachable, match="Argument list too long"):
        finish(start(["true", *["x" * MAX_ARGUMENT] * 40], tmp_path))


def test_a_relative_entry_of_path_supplies_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SECURITY I13: the tree under review cannot stand in for a tool by way of `.` in PATH."""
    monkeypatch.chdir(tmp_path)
    planted = tmp_path / "ruff-of-the-tree"
    planted.write_text("#!/bin/sh\necho planted\n")
    planted.chmod(0o755)
    with pytest.raises(Unreachable, match="no program"):
        finish(start([planted.name], tmp_path, env={"PATH": f".::{os.defpath}"}))


def test_the_first_executable_of_that_name_is_taken(tmp_path: Path) -> None:
    """Ours: like a shell, a file without the executable bit is passed over."""
    for folder, mode in (("a", 0o644), ("b", 0o755)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").write_text("#!/bin/sh\n")
        (tmp_path / folder / "tool").chmod(mode)
    path = os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")])
    assert find_program("tool", env={"PATH": path}, cwd=tmp_path) == tmp_path / "b" / "tool"


@pytest.mark.soak
def test_two_hundred_runs_side_by_side_lose_nothing(tmp_path: Path) -> None:
    """Ours: several cases run in one process under one loop."""

    async def many() -> list[Finished]:
        return await asyncio.gather(*(start(["cat"], tmp_path, stdin=b"%d" % n * 5000) for n in range(200)))

    assert [f.stdout for f in finish(many())] == [b"%d" % n * 5000 for n in range(200)]
    assert children() == set()
