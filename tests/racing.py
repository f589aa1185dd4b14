"""Start programs that wait for a word, then let them all go at once."""

import subprocess
import sys
from collections.abc import Sequence

__all__ = ["all_at_once"]

_BOUND_S = 60


def all_at_once(program: str, arguments: Sequence[Sequence[str]]) -> list[str]:
    """Run `program` once for each list of arguments and return what each printed.

    The program prints one line when it is ready and then reads one from its standard input.
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, *each], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for each in arguments
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline()
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        printed = [process.communicate(timeout=_BOUND_S)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait(timeout=_BOUND_S)
    assert [process.returncode for process in processes] == [0] * len(processes)
    return printed
