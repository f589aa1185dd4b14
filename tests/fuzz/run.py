"""Fuzz one target with atheris, in the environment that `make soak` sets up for it.

    python tests/fuzz/run.py TARGET [--planted FAULT] [options of libFuzzer] CORPUS

What the code under test runs guides the choice of bytes. `--planted` breaks the code first, so that a test can see
the fault found. It ends with 0 where the time was used up and nothing was wrong.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def plant(fault: str) -> None:
    """Break the code under test."""
    modules: list[Any] = [import_module(f"counterpoint.record.{name}") for name in ("block", "scan")]
    block, scan = modules
    match fault:
        case "crash":
            block.read_header = _crashing(block.read_header)
        case "change":
            block.write_fields = _changing(block.write_fields)
        case "hang":
            scan.read_header = _hanging(scan.read_header)
        case _:
            raise SystemExit(f"no fault is called {fault!r}")


def _crashing(read_header: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def broken(line: bytes) -> Any:
        found = read_header(line)
        if found and "_" in found.sender:
            raise ValueError(line)
        return found

    return broken


def _changing(write_fields: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    return lambda fields: write_fields(fields).replace(b":7", b":1")


def _hanging(read_header: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def broken(line: bytes) -> Any:
        while b"\t" in line:
            pass
        return read_header(line)

    return broken


def main() -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    name, *options = sys.argv[1:]
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=["counterpoint"], enable_loader_override=False):
        target = import_module("tests.fuzz.targets").TARGETS[name]
    if options[0] == "--planted":
        plant(options[1])
        del options[:2]
    atheris.Setup([sys.argv[0], *options], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
