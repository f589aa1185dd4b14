"""Ask the program of a coding agent about itself, and its own files whether the person is signed in.

Every start has an empty standard input, a bounded time and none of the person's keys, and nothing of it is left
running. For its version and options a program has an empty HOME, which is removed afterwards.
"""

import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from counterpoint.agents.probes import Drift, Probe, drift_of, version_of
from counterpoint.agents.profiles import Client
from counterpoint.agents.program import PERSON_VARIABLES
from counterpoint.drive.paths import read_plain
from counterpoint.errors import ConfigError, Unreachable
from counterpoint.frozen import dataclass
from counterpoint.isolation.environment import passed
from counterpoint.isolation.process import Finished, find_program, run
from counterpoint.isolation.removal import remove

__all__ = ["NOT_STARTED", "Seen", "SignedIn", "locate", "login_of", "look_at"]

TIMEOUT_S: Final = 20.0
"""For one start of a program."""
_MAX_PRINTED: Final = 1 << 20
_MAX_LOGIN: Final = 1 << 20
_PASSED: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE")


class SignedIn(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """It can be signed in where nobody else may look."""
    NOT_NEEDED = "not needed"


def locate(program: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the path of a program, or "" and why there is none."""
    try:
        found = find_program(program, env={"PATH": environment.get("PATH", os.defpath)}, cwd=Path("/"))
    except Unreachable as error:
        return "", str(error)
    return str(found), ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    program: str = ""
    version: str = ""
    drift: tuple[Drift, ...] = ()
    faults: tuple[str, ...] = ()
    remark: str = ""


NOT_STARTED: Final = "not started to look at it, because the repository's settings name its program"


async def look_at(client: Client, probe: Probe, program: str, environment: Mapping[str, str]) -> Seen:
    """Start a client for its version and its options, in an empty HOME."""
    path, fault = locate(program, environment)
    if fault:
        return Seen(faults=(fault,))
    home = Path(tempfile.mkdtemp(prefix="counterpoint-look-"))
    try:
        env = {**_variables(client, environment), "HOME": str(home), "TMPDIR": str(home)}
        version, why_no_version = await _ask(path, ("--version",), home, env)
        options, why_no_options = await _ask(path, probe.help, home, env)
    finally:
        remove(home)
    faults = [why for why in (why_no_version, why_no_options) if why]
    number = version_of(version)
    if not why_no_version and not number:
        faults.append(f"what {path} prints for `--version` holds no version")
    drift = () if why_no_options else drift_of(client, options)
    return Seen(program=path, version=number, drift=drift, faults=tuple(faults))


def _variables(client: Client, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a client is given that is asked about itself: no key, and what keeps it from updating itself."""
    fixed = {name: value for name, value in client.set.items() if "{" not in value}
    return {"LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", **passed(environment, _PASSED), **fixed}


async def _ask(path: str, words: Sequence[str], folder: Path, env: Mapping[str, str]) -> tuple[str, str]:
    """Return what a program prints, or "" and why it cannot be known."""
    line = f"`{' '.join((Path(path).name, *words))}`"
    try:
        finished = await _start(path, words, folder, env)
    except Unreachable as error:
        return "", str(error)
    if finished.timed_out:
        return "", f"{line} did not end within {TIMEOUT_S:g} s"
    if finished.exit_code != 0:
        return "", f"{line} ended with {finished.ending}"
    return (finished.stdout + b"\n" + finished.stderr).decode("utf-8", "replace"), ""


async def _start(path: str, words: Sequence[str], folder: Path, env: Mapping[str, str]) -> Finished:
    argv = (path, *words)
    return await run(argv, cwd=folder, env=env, stdin=None, timeout_s=TIMEOUT_S, max_output=_MAX_PRINTED)


async def login_of(
    client: Client, probe: Probe, program: str, environment: Mapping[str, str]
) -> tuple[SignedIn, str]:
    """Say whether the person is signed in to a client, and what says so."""
    home = environment.get("HOME", "")
    for name, pattern in probe.logins.items():
        path = _moved(probe, name, environment)
        if home and _holds(path, pattern):
            return SignedIn.YES, str(path)
    if probe.status and program and home:
        env = {
            **_variables(client, environment),
            **passed(environment, (*PERSON_VARIABLES, *client.home_variables)),
        }
        try:
            finished = await _start(program, probe.status, Path("/"), env)
        except Unreachable:
            return SignedIn.UNKNOWN, ""
        if finished.timed_out or finished.exit_code is None:
            return SignedIn.UNKNOWN, ""
        line = f"`{' '.join((client.program, *probe.status))}`"
        return (SignedIn.YES if finished.exit_code == 0 else SignedIn.NO), line
    return (SignedIn.UNKNOWN if sys.platform in probe.keyrings else SignedIn.NO), ""


def _moved(probe: Probe, name: str, environment: Mapping[str, str]) -> Path:
    variable, folder = probe.moved
    if environment.get(variable):
        return Path(environment[variable], name.removeprefix(f"{folder}/"))
    return Path(environment.get("HOME", "/"), name)


def _holds(path: Path, pattern: str) -> bool:
    try:
        found = read_plain(path, max_bytes=_MAX_LOGIN, follow=True)
    except ConfigError:
        return False
    return found is not None and re.search(pattern, found[0].decode("utf-8", "replace")) is not None
