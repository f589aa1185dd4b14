"""Run a project's own command on the candidate and say what that shows.

- It runs in a writable copy of the export, with a TMPDIR of its own; the export stays as it is.
- Its environment is an allow-list without anything that looks secret. What the caller names is passed on top.
- The candidate's own packages come first on Python's path: a package that is installed from the user's working tree
  does not stand in for the code under judgement.
- Where it fails and there is a merge base, it runs there too, and the evidence says whether it failed before.
- Nothing that it started is left running.

Sources: DESIGN section 4 ("checks as a reviewer", "evidence"), sections 7.5, 7.7; FIELD-FAULTS F25, F29, F30.
"""

import asyncio
import os
import tempfile
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus
from counterpoint.errors import Unreachable
from counterpoint.evidence.endings import judge
from counterpoint.isolation.copies import copy_tree
from counterpoint.isolation.environment import holds_secret, passed, without_secrets
from counterpoint.isolation.process import Finished, find_program, run
from counterpoint.isolation.removal import remove

__all__ = ["Watch", "command_environment", "run_command"]

MAX_READ: Final = 1 << 20
"""How much of the output's end is read for what the runner says."""
MAX_SHOWN: Final = 4096
"""Characters of output that go into the evidence."""

Watch = Callable[[Path], Callable[[], tuple[str, ...] | None]]
"""Called with the copy before the command starts. What it returns is called when the command has ended, and says
which changed paths were not opened (None: the file system cannot tell)."""

_PASSED: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYENV_VERSION", "UV_CACHE_DIR", "PIP_CACHE_DIR"),
    *("NVM_DIR", "NODE_PATH", "VOLTA_HOME", "COREPACK_HOME", "PNPM_HOME"),
    *("CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"),
    *("GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "GOFLAGS", "GOPROXY", "GOSUMDB"),
    *("JAVA_HOME", "GRADLE_USER_HOME", "MAVEN_HOME", "RBENV_ROOT", "RBENV_VERSION", "GEM_HOME", "GEM_PATH"),
    *("CC", "CXX", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_PATH", "NIX_PROFILES"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)


async def run_command(
    check: CommandCheck,
    *,
    tree: Path,
    scratch: Path,
    environ: Mapping[str, str],
    timeout_s: float,
    extra: Sequence[str] = (),
    before: Callable[[], Awaitable[Path]] | None = None,
    watch: Watch | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Evidence:
    """Run one project command on an export and return the evidence.

    Args:
        check: what to run, and what for.
        tree: the export of the candidate.
        scratch: a folder for the copies. It should not lie in a work tree: tools look upwards for settings.
        environ: the environment that names are taken from.
        timeout_s: for each run of the command.
        extra: names of variables that the person passes on, whatever they hold.
        before: returns an export of the merge base; awaited only when the command fails.
        watch: sees the copy before and after the run on the candidate.
        on_line: called with the newest line of output.

    Raises:
        SourceError: the export cannot be copied.
    """
    command = _Command(
        check=check, scratch=scratch, environ=environ, timeout_s=timeout_s, extra=tuple(extra), on_line=on_line
    )
    evidence = await command.run_on(tree, watch)
    if evidence.status is not EvidenceStatus.REFUTED or before is None:
        return evidence
    earlier = await command.run_on(await before(), None)
    return replace(evidence, failing_before=_FAILED.get(earlier.status))


_FAILED: Final = {EvidenceStatus.REFUTED: True, EvidenceStatus.VERIFIED: False}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """One command, to be run on any number of trees."""

    check: CommandCheck
    scratch: Path
    environ: Mapping[str, str]
    timeout_s: float
    extra: tuple[str, ...]
    on_line: Callable[[str], None] | None

    async def run_on(self, tree: Path, watch: Watch | None) -> Evidence:
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.scratch))
        try:
            await _copied(tree, folder / _TREE)
            return await self._run_in(folder, watch)
        finally:
            await asyncio.to_thread(remove, folder)

    async def _run_in(self, folder: Path, watch: Watch | None) -> Evidence:
        copy, own_tmp = folder / _TREE, folder / _TMP
        own_tmp.mkdir()
        env = command_environment(self.environ, copy, own_tmp, self.extra)
        unread = watch(copy) if watch is not None else None
        try:
            finished = await run(
                _with_python(self.check.argv, env, copy),
                cwd=copy,
                env=env,
                stdin=None,
                timeout_s=self.timeout_s,
                max_output=MAX_READ,
                merge_stderr=True,
                on_line=self.on_line,
            )
        except Unreachable as error:
            detail = _without_paths(str(error), folder)
            return Evidence(request=self.check, status=EvidenceStatus.NOT_CHECKED, detail=detail)
        status, detail = judge(self.check.argv, self.check.purpose, finished, timeout_s=self.timeout_s)
        return Evidence(
            request=self.check,
            status=status,
            detail=detail,
            output=_shown(finished, env, folder),
            exit_code=finished.exit_code,
            paths_unread=unread() if unread is not None else None,
        )


async def _copied(tree: Path, target: Path) -> None:
    stop = threading.Event()
    copying = asyncio.ensure_future(asyncio.to_thread(copy_tree, tree, target, stop=stop))
    try:
        await asyncio.shield(copying)
    except asyncio.CancelledError:
        # The thread has to be out of the folder before that is removed.
        stop.set()
        await asyncio.wait({copying})
        raise


def command_environment(
    environ: Mapping[str, str], tree: Path, own_tmp: Path, extra: Sequence[str] = ()
) -> dict[str, str]:
    """Return the environment in which a project command runs on `tree`."""
    names = (*_PASSED, *(name for name in environ if name.startswith("LC_")))
    allowed = {name: value for name, value in passed(environ, names).items() if not holds_secret(name, value)}
    sources = [str(folder) for folder in (tree / "src", tree) if folder.is_dir()]
    return {
        **allowed,
        "TMPDIR": str(own_tmp),
        "TERM": "dumb",
        "NO_COLOR": "1",
        "CI": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(sources),
        "GIT_CEILING_DIRECTORIES": str(tree.parent),
        **passed(environ, extra),
    }


def _with_python(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> list[str]:
    """Return `argv` with the interpreter's name that this machine has."""
    other = {"python": "python3", "python3": "python"}.get(argv[0])
    for name in (argv[0], other):
        if name is not None:
            with suppress(Unreachable):
                find_program(name, env=env, cwd=cwd)
                return [name, *argv[1:]]
    return list(argv)


_TREE: Final = "tree"
_TMP: Final = "tmp"


def _without_paths(text: str, folder: Path) -> str:
    # The resolved path may hold the other one, so the longer one goes first.
    for path in sorted({str(folder), str(folder.resolve())}, key=len, reverse=True):
        text = text.replace(f"{path}/{_TREE}", ".").replace(f"{path}/{_TMP}", "$TMPDIR")
    return text


def _shown(finished: Finished, env: Mapping[str, str], folder: Path) -> str:
    """Return the end of the output: the copy's path as `.`, hidden characters and secrets not as they are."""
    text, _ = without_secrets(_without_paths(finished.stdout.decode("utf-8", "replace"), folder), env)
    text = visible(text)
    if len(text) <= MAX_SHOWN:
        return text
    return "…" + text[-MAX_SHOWN:].partition("\n")[2]
