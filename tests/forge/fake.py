"""A forge for one test: a loopback API that holds pull requests and comments, and a `gh` that talks to it.

    with FakeForge(folder) as forge:
        forge.open_pull(12, base="main", head="feature", commit=commit)
        Forge.find(top, forge.environment())
        assert forge.calls[0].arguments == ("pr", "view", "12", ...)

The program is `gh_program`; it stands on PATH as `gh`, first. `misbehave` makes it fail in one stated way.
"""

import json
import os
import re
import shlex
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from counterpoint.drive.pull_request import PullRequest, PullState

__all__ = ["PULL", "Call", "FakeForge"]

PER_PAGE: Final = 2
PULL: Final = PullRequest(
    number=12,
    repository="acme/shop",
    host="github.com",
    url="https://github.com/acme/shop/pull/12",
    title="Mend the till",
    base="main",
    head="feature",
    commit="c" * 40,
    state=PullState.OPEN,
    is_fork=False,
)
"""What `gh` shows of `open_pull(12)`."""
_JOIN_S: Final = 5.0
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How `gh` was called once."""

    arguments: tuple[str, ...]
    stdin: str
    cwd: Path
    variables: Mapping[str, str]


class FakeForge:
    """Use it in a `with` statement: leaving it stops the API."""

    def __init__(
        self,
        folder: Path,
        *,
        repository: str = "acme/shop",
        host: str = "github.com",
        viewer: str = "ada",
        token: str = "a-token-of-ada",
    ) -> None:
        self.repository = repository
        self.host = host
        self.viewer = viewer
        self.token = token
        self.pulls: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.requests: list[tuple[str, str]] = []
        """Method and path of what reached the API."""
        self.folder = folder
        self._last_comment = 1000
        self._told: list[dict[str, Any]] = []
        self._server = HTTPServer(("127.0.0.1", 0), _serving(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL_S,))

    def __enter__(self) -> Self:
        self.bin.mkdir(parents=True)
        settings = {"port": self._server.server_port, "host": self.host, "repository": self.repository}
        (self.folder / "settings.json").write_text(json.dumps(settings))
        self.behave()
        program = [sys.executable, "-I", "-S", str(Path(__file__).with_name("gh_program.py")), str(self.folder)]
        (self.bin / "gh").write_text(f'#!/bin/sh\nexec {shlex.join(program)} "$@"\n')
        (self.bin / "gh").chmod(0o755)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_JOIN_S)

    @property
    def bin(self) -> Path:
        """The folder to put first on PATH."""
        return self.folder / "bin"

    def environment(self, **more: str) -> dict[str, str]:
        """Return the process's variables with `gh` first on PATH and its token."""
        path = os.pathsep.join([str(self.bin), os.environ["PATH"]])
        return os.environ | {"PATH": path, "GH_TOKEN": self.token} | more

    @property
    def calls(self) -> list[Call]:
        written = self.folder / "calls.jsonl"
        lines = written.read_text().splitlines() if written.exists() else []
        return [
            Call(
                arguments=tuple(call["arguments"]),
                stdin=call["stdin"],
                cwd=Path(call["cwd"]),
                variables=call["variables"],
            )
            for call in map(json.loads, lines)
        ]

    @property
    def lines(self) -> list[str]:
        """The calls as command lines."""
        return [shlex.join(["gh", *call.arguments]) for call in self.calls]

    def open_pull(
        self,
        number: int,
        *,
        base: str = "main",
        head: str = "feature",
        commit: str = "c" * 40,
        title: str = "Mend the till",
        fork: bool = False,
        merged: bool = False,
    ) -> None:
        """Open a pull request, or put another in the place of one."""
        self.comments.setdefault(number, [])
        self.pulls[number] = {
            "number": number,
            "html_url": f"https://{self.host}/{self.repository}/pull/{number}",
            "title": title,
            "state": "closed" if merged else "open",
            "merged": merged,
            "base": {"ref": base},
            "head": {"ref": head, "sha": commit},
            "fork": fork,
        }

    def say(self, number: int, *, author: str, body: str) -> int:
        """Add a comment and return its number."""
        self._last_comment += 1
        url = f"https://{self.host}/{self.repository}/pull/{number}#issuecomment-{self._last_comment}"
        comment = {"id": self._last_comment, "html_url": url, "user": {"login": author}, "body": body}
        self.comments[number].append(comment)
        return self._last_comment

    def bodies(self, number: int) -> list[str]:
        return [comment["body"] for comment in self.comments[number]]

    def misbehave(
        self,
        *calls: str,
        stdout: str = "",
        stderr: str = "",
        code: int = 1,
        hangs: bool = False,
        flood: int = 0,
    ) -> None:
        """Answer the calls that begin with `calls` in this way from now on; the first that was told wins.

        Args:
            calls: their first arguments; none is every call.
            stdout: what is printed.
            stderr: what is said.
            code: how it exits.
            hangs: it never does.
            flood: how many MiB are printed besides.
        """
        told = {"calls": calls, "stdout": stdout, "stderr": stderr, "code": code, "hangs": hangs, "flood": flood}
        self._told.append(told)
        self._tell()

    def behave(self) -> None:
        self._told.clear()
        self._tell()

    def _tell(self) -> None:
        (self.folder / "behaviour.json").write_text(json.dumps(self._told))

    def answer(self, method: str, path: str, body: Any) -> tuple[HTTPStatus, Any, str]:
        """Return status, body and next page of the API's answer."""
        self.requests.append((method, path))
        split = urlsplit(path)
        asked = {key: values[0] for key, values in parse_qs(split.query).items()}
        place = f"/repos/{self.repository}"
        number = int((re.search(r"\d+", split.path.removeprefix(place)) or ["0"])[0])
        shape = re.sub(r"\d+", "N", split.path.removeprefix(place))
        match method, shape:
            case "GET", "/user":
                return HTTPStatus.OK, {"login": self.viewer}, ""
            case "GET", "/pulls":
                found = [pull for pull in self.pulls.values() if pull["head"]["ref"] == asked["head"]]
                return HTTPStatus.OK, sorted(found, key=lambda pull: str(pull["state"]), reverse=True), ""
            case "GET", "/pulls/N" if number in self.pulls:
                return HTTPStatus.OK, self.pulls[number], ""
            case "GET", "/issues/N/comments" if number in self.pulls:
                page = int(asked["page"])
                found = self.comments[number][(page - 1) * PER_PAGE :]
                more = f"{split.path}?page={page + 1}" if len(found) > PER_PAGE else ""
                return HTTPStatus.OK, found[:PER_PAGE], more
            case "POST", "/issues/N/comments" if number in self.pulls:
                self.say(number, author=self.viewer, body=body["body"])
                return HTTPStatus.CREATED, self.comments[number][-1], ""
            case "PATCH", "/issues/comments/N":
                for comment in (c for thread in self.comments.values() for c in thread if c["id"] == number):
                    comment["body"] = body["body"]
                    return HTTPStatus.OK, comment, ""
            case _:
                pass
        return HTTPStatus.NOT_FOUND, {"message": "Not Found"}, ""


def _serving(forge: FakeForge) -> type[BaseHTTPRequestHandler]:
    class Serving(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.headers.get("Authorization") != f"token {forge.token}":
                status, found, more = HTTPStatus.UNAUTHORIZED, {"message": "Bad credentials"}, ""
            elif self.headers.get("X-Forge-Host") != forge.host:
                status, found, more = HTTPStatus.NOT_FOUND, {"message": "Not Found"}, ""
            else:
                status, found, more = forge.answer(self.command, self.path, json.loads(content or b"null"))
            written = json.dumps(found).encode()
            self.send_response(status)
            if more:
                self.send_header("Link", f'<{more}>; rel="next"')
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _answer  # noqa: N815 - the names that http.server calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    return Serving
