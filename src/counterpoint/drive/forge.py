"""The forge, through GitHub's own program `gh`: look at a pull request, check it out, keep one comment on it.

- Every call goes through `Forge._call`, which knows the six shapes that there are. None of them pushes, approves,
  requests changes, merges, closes, labels or edits a pull request.
- `gh` is found on PATH, never in the repository under review, and neither is what it starts. It runs in the
  repository's top folder with the person's home and login and no other variable. It asks nothing.
- A checkout starts no hook: the hooks folder can be one of the tree that it brings.
- What `gh` says of a failure is cut to one line, without logins and tokens.

Synchronous: for before and after a driven case, outside any event loop.

Source: SPEC D-03, D-04, D-07, D-19; FIELD-FAULTS F27, F39; DESIGN "Trust".
"""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from counterpoint.drive.pull_request import (
    COMMENT_ID,
    FIELDS,
    HOST,
    MAX_BODY,
    MAX_PRINTED,
    NUMBER,
    REPOSITORY,
    PullRequest,
    marked,
    read_own_comment,
    read_posted,
    read_pull_request,
)
from counterpoint.errors import SourceError, Unreachable
from counterpoint.isolation.environment import passed, without_secrets
from counterpoint.isolation.git import complaint
from counterpoint.isolation.process import Finished, find_program, run

__all__ = ["Forge"]

_TIMEOUT_S: Final = 60.0
_CHECKOUT_S: Final = 600.0
_GH_FAILED: Final = 1
_FEED: Final = ("--input", "-")

_SHAPES: Final = tuple(
    re.compile("\0".join(shape))
    for shape in (
        ("pr", "view", "--json", FIELDS),
        ("pr", "view", NUMBER, "--json", FIELDS),
        ("pr", "view", NUMBER, "--repo", f"{HOST}/{REPOSITORY}", "--json", "comments"),
        ("pr", "checkout", NUMBER),
        ("api", "--hostname", HOST, "--method", "POST", f"repos/{REPOSITORY}/issues/{NUMBER}/comments", *_FEED),
        ("api", "--hostname", HOST, "--method", "PATCH", f"repos/{REPOSITORY}/issues/comments/{COMMENT_ID}", *_FEED),
    )
)
"""Every call that is ever made, argument by argument."""

# How `gh` says that there is none: cli/cli pkg/cmd/pr/shared/finder.go, and git/errors.go for a detached HEAD.
_NONE: Final = re.compile(
    r'no (?:open )?pull requests found(?: for branch ".*")?'
    r"|could not determine current branch: failed to run git: not on any branch"
)
_LOGIN: Final = re.compile(r"(?<=://)[^/\s@]+(?=@)|\bgh[a-z]_\w{16,}|\bgithub_pat_\w{16,}")

_PASSED: Final = (
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    # Where the system's keyring answers; gh keeps its login there.
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_HOST",
    "GH_CONFIG_DIR",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    *(name for way in ("HTTP", "HTTPS", "ALL", "NO") for name in (f"{way}_PROXY", f"{way}_proxy".lower())),
)
_GIT_SETTINGS: Final = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    # They go on in the background, and would be killed with a lock in hand.
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_VARIABLES: Final = {
    "LC_ALL": "C",
    "NO_COLOR": "1",
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_TELEMETRY": "false",
    "GH_PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_COUNT": str(len(_GIT_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(_GIT_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(_GIT_SETTINGS.values())},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """The forge of one repository, as the account sees it that `gh` is signed in with."""

    program: Path
    top: Path
    """The top folder of the work tree; every call runs there."""
    variables: Mapping[str, str] = field(repr=False)
    """All that a call is given; it holds the person's tokens."""
    timeout_s: float = _TIMEOUT_S
    checkout_s: float = _CHECKOUT_S

    @classmethod
    def find(cls, top: Path, environment: Mapping[str, str]) -> Self | None:
        """Find `gh` on the PATH of `environment`, never below `top`; `None` where there is none."""
        inside = top.resolve()
        folders = [Path(entry) for entry in environment.get("PATH", os.defpath).split(os.pathsep)]
        kept = [f for f in folders if f.is_absolute() and not _leads_into(inside, f, f / "gh")]
        variables = passed(environment, _PASSED) | _VARIABLES | {"PATH": os.pathsep.join(map(str, kept))}
        try:
            program = find_program("gh", env=variables, cwd=top)
        except Unreachable:
            return None
        return cls(program=program, top=top, variables=variables)

    def view(self, number: int) -> PullRequest:
        """Look at a pull request.

        Raises:
            SourceError: there is none of that number, or `gh` failed.
        """
        return read_pull_request(self._call("pr", "view", _written(number), "--json", FIELDS).stdout, number=number)

    def discover(self) -> PullRequest | None:
        """Look at the pull request of the branch that is checked out; `None` where there is none, or no branch.

        `gh` prefers an open one, and gives a closed or merged one where there is no other: see its `state`.

        Raises:
            SourceError: `gh` failed, so that nobody knows whether there is one.
        """
        finished = self._call("pr", "view", "--json", FIELDS, may_find_none=True)
        return None if _found_none(finished) else read_pull_request(finished.stdout, number=None)

    def checkout(self, number: int) -> None:
        """Check out a pull request, in a clean work tree. Where HEAD is then is for the caller to see.

        A local branch of that name that has gone another way stays as it is and may be checked out when it fails.

        Raises:
            SourceError: `gh` or the git that it starts failed.
        """
        self._call("pr", "checkout", _written(number), timeout_s=self.checkout_s)

    def comment(self, pull_request: PullRequest, body: str) -> str:
        """Write our comment on a pull request, anew where an earlier run has left one, and return its address.

        Raises:
            SourceError: the body is too long, or `gh` failed. A call that took too long may have been carried out;
                the next run finds the comment.
        """
        body = marked(body)
        if len(body) > MAX_BODY:
            raise SourceError(
                f"the comment on {pull_request} has {len(body)} characters; GitHub takes {MAX_BODY}",
                hint="shorten it, or attach the report as a file",
            )
        host, repository, number = pull_request.host, pull_request.repository, pull_request.number
        # `viewerDidAuthor` is asked for, not the login and the REST list: a token of a workflow has no login that
        # `gh api user` would give. gh pages through the thread by itself.
        thread = self._call("pr", "view", str(number), "--repo", f"{host}/{repository}", "--json", "comments")
        own = read_own_comment(thread.stdout, pull_request)
        method, path = ("POST", f"issues/{number}/comments") if own is None else ("PATCH", f"issues/comments/{own}")
        # The host is always named: where gh is signed in to one other host only, it would take that.
        to = ("api", "--hostname", host, "--method", method, f"repos/{repository}/{path}", *_FEED)
        posted = self._call(*to, stdin=json.dumps({"body": body}).encode())
        return read_posted(posted.stdout, pull_request, comment=own)

    def _call(
        self, *arguments: str, stdin: bytes | None = None, timeout_s: float = 0, may_find_none: bool = False
    ) -> Finished:
        """Run `gh` to its end. The only way from here to the forge.

        Raises:
            SourceError: it failed, took too long, or printed too much.
        """
        if not any(shape.fullmatch("\0".join(arguments)) for shape in _SHAPES):
            raise AssertionError(f"no call of gh has this shape: {arguments!r}")
        timeout_s = timeout_s or self.timeout_s
        name, by_hand = _names(arguments)
        try:
            finished = asyncio.run(
                run(
                    [str(self.program), *arguments],
                    cwd=self.top,
                    env=self.variables,
                    stdin=stdin,
                    timeout_s=timeout_s,
                    max_output=MAX_PRINTED,
                )
            )
        except Unreachable as error:
            raise SourceError(f"{name}: {error}", hint=error.hint) from None
        if finished.timed_out:
            raise SourceError(f"{name} took longer than {timeout_s:g} s", hint=f"try again, or run {by_hand}")
        if finished.truncated:
            raise SourceError(f"{name} printed {finished.printed} bytes; at most {MAX_PRINTED} are read")
        if finished.exit_code != 0 and not (may_find_none and _found_none(finished)):
            said = self._own_words(finished.stderr)
            raise SourceError(f"{name} failed with {finished.ending}: {said}", hint=f"run {by_hand} to see why")
        return finished

    def _own_words(self, stderr: bytes) -> str:
        text, _ = without_secrets(stderr.decode("utf-8", "replace"), self.variables)
        return complaint(_LOGIN.sub("…", text).encode())


def _written(number: int) -> str:
    if not re.fullmatch(NUMBER, str(number)):
        raise SourceError(f"{number} is not the number of a pull request", hint="name one from 1 upwards, such as 12")
    return str(number)


def _leads_into(top: Path, *paths: Path) -> bool:
    return any(path.resolve().is_relative_to(top) for path in paths)


def _found_none(finished: Finished) -> bool:
    lines = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return finished.exit_code == _GH_FAILED and bool(lines) and _NONE.fullmatch(lines[-1].strip()) is not None


def _names(arguments: tuple[str, ...]) -> tuple[str, str]:
    """Return a call's short name, and what a person runs to see why it failed."""
    match arguments:
        case ("pr", "checkout", number):
            return f"gh pr checkout {number}", f"`gh pr checkout {number}`"
        case ("pr", "view", number, _, _, *_):
            return f"gh pr view {number}", "`gh auth status`"
        case ("api", _, _, _, method, path, *_):
            return f"gh api {method} {path}", "`gh auth status`"
        case _:
            return "gh pr view", "`gh auth status`"
