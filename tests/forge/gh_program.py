"""A stand-in for `gh`: the calls that we make, answered from the loopback API of `tests.forge.fake`.

Started as a program: `gh_program.py FOLDER ARGUMENT...`, with the standard library alone. It writes down how it was
called, does what `FOLDER/behaviour.json` says of such calls, and otherwise does what the real one does: it is signed
in by a token of its environment, pages through a thread, words its failures and exits as `gh` does, and starts git
for a checkout. A call that it does not know fails.
"""

import fcntl
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

_FAILED, _NOT_SIGNED_IN = 1, 4
_FIELDS = {
    "number": "number",
    "url": "html_url",
    "title": "title",
    "state": "state",
    "isCrossRepository": "fork",
}


def main(folder: Path, arguments: list[str]) -> None:
    stdin = sys.stdin.read()
    _write_down(folder, arguments, stdin)
    settings = json.loads((folder / "settings.json").read_text())
    _misbehave(folder, arguments)
    gh = Gh(settings)
    match arguments:
        case ["pr", "view", "--json", fields]:
            print(json.dumps(gh.shown(gh.of_branch(), fields)))
        case ["pr", "view", number, "--json", fields]:
            print(json.dumps(gh.shown(gh.pull(number), fields)))
        case ["pr", "view", number, "--repo", _, "--json", "comments"]:
            print(json.dumps({"comments": gh.comments(number)}))
        case ["pr", "checkout", number]:
            gh.checkout(number)
        case ["api", "--hostname", host, "--method", method, path, "--input", "-"]:
            print(json.dumps(gh.api(method, f"/{path}", stdin, host=host)))
        case _:
            fail(f'unknown call {arguments!r} for "gh"')


def fail(words: str, code: int = _FAILED) -> NoReturn:
    print(words, file=sys.stderr)
    raise SystemExit(code)


def _write_down(folder: Path, arguments: list[str], stdin: str) -> None:
    call = {"arguments": arguments, "stdin": stdin, "cwd": str(Path.cwd()), "variables": dict(os.environ)}
    with (folder / "calls.jsonl").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(call) + "\n")


def _misbehave(folder: Path, arguments: list[str]) -> None:
    for told in json.loads((folder / "behaviour.json").read_text()):
        if arguments[: len(told["calls"])] != told["calls"]:
            continue
        sys.stdout.write(told["stdout"])
        for _ in range(told["flood"]):
            sys.stdout.write("x" * (1 << 20))
        sys.stdout.flush()
        sys.stderr.write(told["stderr"])
        sys.stderr.flush()
        if told["hangs"]:
            (folder / "pids").write_text(str(os.getpid()))
            signal.pause()
        raise SystemExit(told["code"])


class Gh:
    def __init__(self, settings: dict[str, Any]) -> None:
        self._port = settings["port"]
        self._host = settings["host"]
        self._repository = settings["repository"]
        self._token = os.environ.get("GH_TOKEN") or os.environ.get("GITHUB_TOKEN") or ""
        if not self._token:
            said = "To get started with GitHub CLI, please run:  gh auth login\n"
            fail(f"{said}Alternatively, populate the GH_TOKEN environment variable.", _NOT_SIGNED_IN)

    def _ask(self, method: str, path: str, body: str = "", *, host: str = "") -> tuple[int, Any, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        headers = {"Authorization": f"token {self._token}", "X-Forge-Host": host or self._host}
        connection.request(method, path, body=body.encode() or None, headers=headers)
        answer = connection.getresponse()
        found = json.loads(answer.read() or b"null")
        connection.close()
        if answer.status == http.client.UNAUTHORIZED:
            fail(f"HTTP 401: {found['message']} (https://api.{self._host})\nTry authenticating with:  gh auth login")
        return answer.status, found, answer.headers.get("Link", "")

    def pull(self, number: str) -> dict[str, Any]:
        status, found, _ = self._ask("GET", f"/repos/{self._repository}/pulls/{number}")
        if status != http.client.OK:
            words = f"Could not resolve to a PullRequest with the number of {number}."
            fail(f"GraphQL: {words} (repository.pullRequest)")
        return dict(found)

    def of_branch(self) -> dict[str, Any]:
        command = ["git", "symbolic-ref", "--quiet", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        if done.returncode:
            words = done.stderr.strip() or "not on any branch"
            fail(f"could not determine current branch: failed to run git: {words}")
        branch = done.stdout.strip().removeprefix("refs/heads/")
        _, found, _ = self._ask("GET", f"/repos/{self._repository}/pulls?head={branch}")
        if not found:
            fail(f"no pull requests found for branch {json.dumps(branch)}")
        return dict(found[0])

    def shown(self, pull: dict[str, Any], fields: str) -> dict[str, Any]:
        known = {name: pull[key] for name, key in _FIELDS.items()}
        known["state"] = "MERGED" if pull["merged"] else pull["state"].upper()
        known |= {"baseRefName": pull["base"]["ref"], "headRefName": pull["head"]["ref"]}
        known |= {"headRefOid": pull["head"]["sha"]}
        for name in fields.split(","):
            if name not in known:
                fail(f"Unknown JSON field: {json.dumps(name)}")
        return {name: known[name] for name in fields.split(",")}

    def comments(self, number: str) -> list[dict[str, Any]]:
        self.pull(number)
        _, viewer, _ = self._ask("GET", "/user")
        found, path = [], f"/repos/{self._repository}/issues/{number}/comments?page=1"
        while path:
            _, page, link = self._ask("GET", path)
            found += page
            following = re.search(r"<([^>]+)>; rel=\"next\"", link)
            path = following[1] if following else ""
        return [
            {
                "id": f"IC_{comment['id']}",
                "author": {"login": comment["user"]["login"]},
                "authorAssociation": "NONE",
                "body": comment["body"],
                "url": comment["html_url"],
                "viewerDidAuthor": comment["user"]["login"] == viewer["login"],
            }
            for comment in found
        ]

    def api(self, method: str, path: str, body: str, *, host: str) -> Any:
        status, found, _ = self._ask(method, path, body, host=host)
        if status >= http.client.BAD_REQUEST:
            print(json.dumps(found))
            fail(f"gh: {found['message']} (HTTP {status})")
        return found

    def checkout(self, number: str) -> None:
        branch = self.pull(number)["head"]["ref"]
        for command in (["fetch", "origin", f"refs/pull/{number}/head:{branch}"], ["checkout", branch]):
            code = subprocess.run(["git", *command], check=False, timeout=60).returncode
            if code:
                fail(f"failed to run git: exit status {code}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
