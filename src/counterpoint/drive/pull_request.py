"""What a pull request is here: its values, what `gh` prints of it, and where its base lies in a clone.

Everything that `gh` prints is untrusted. It is read strictly, once, and an answer about another pull request is
refused. `forge` makes the calls; without `gh` the words at the end of this module say what to run by hand.

Source: SPEC D-04, D-07, D-19; FIELD-FAULTS F39.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from counterpoint.core.canonical import NotCanonical, parse_json, visible
from counterpoint.errors import SourceError
from counterpoint.isolation.repository import Repository

__all__ = [
    "COMMENT_ID",
    "FIELDS",
    "HOST",
    "MARKER",
    "MAX_BODY",
    "MAX_PRINTED",
    "NUMBER",
    "REPOSITORY",
    "Address",
    "PullRequest",
    "PullState",
    "marked",
    "read_own_comment",
    "read_posted",
    "read_pull_request",
    "remote_branch",
    "words_to_check_out",
    "words_to_post",
]

MARKER: Final = "<!-- counterpoint review -->"
"""The first line of the comment that is ours to write anew."""
MAX_BODY: Final = 65_536
"""Characters. GitHub answers a longer body with 422, "Body is too long (maximum is 65536 characters)"."""
MAX_PRINTED: Final = 64 << 20
"""Bytes. A thread of a thousand of the longest comments."""

HOST: Final = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"
REPOSITORY: Final = r"[A-Za-z0-9_][A-Za-z0-9_-]*/(?!\.{1,2}(?![A-Za-z0-9._-]))[A-Za-z0-9._-]+"
NUMBER: Final = r"[1-9][0-9]{0,9}"
COMMENT_ID: Final = r"[1-9][0-9]{0,15}"

_URL: Final = re.compile(rf"https://(?P<host>{HOST})/(?P<repository>{REPOSITORY})/pull/(?P<number>{NUMBER})")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCH: Final = re.compile(r"(?![-/.])[^\x00-\x20\x7f~^:?*\[\\]+(?<![/.])")
_ODD_BRANCH: Final = re.compile(r"\.\.|//|@\{|/\.|\.lock(?:/|$)")
_REMOTE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_REMOTE_KEY: Final = re.compile(r"remote\.(?P<name>.+)\.url")
_ADDRESS: Final = (
    re.compile(r"(?:https?|ssh|git|git\+ssh|git\+https)://(?:[^/@]*@)?(?P<host>[^/:@]+)(?::\d*)?/+(?P<path>.+)"),
    re.compile(r"(?:[^/:@]+@)?(?P<host>[^/:@]+):/*(?!/)(?P<path>.+)"),
)
_OTHER_NAMES: Final = {"ssh.github.com": "github.com", "www.github.com": "github.com"}
_SHOWN: Final = 80


class PullState(StrEnum):
    """As `gh` writes it."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    MERGED = "MERGED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a pull request is, as a case keeps it."""

    url: str
    host: str
    repository: str
    number: int

    @classmethod
    def read(cls, url: str) -> Self:
        """Read an address.

        Raises:
            SourceError: it is none of a pull request.
        """
        parts = _URL.fullmatch(url)
        if not parts:
            raise _unlike("url", url, "the address of a pull request")
        return cls(url=url, host=parts["host"].lower(), repository=parts["repository"], number=int(parts["number"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request as the forge has it."""

    number: int
    repository: str
    """The one it goes into, `owner/name`."""
    host: str
    url: str
    title: str
    """Anybody's text; what is invisible in it is written out."""
    base: str
    """The branch it goes into."""
    head: str
    """The branch it comes from, in the fork where it is from one."""
    commit: str
    """The full id of its newest commit."""
    state: PullState
    is_fork: bool

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


_KINDS: Final[Mapping[str, type]] = {
    "number": int,
    "url": str,
    "title": str,
    "state": str,
    "baseRefName": str,
    "headRefName": str,
    "headRefOid": str,
    "isCrossRepository": bool,
}
FIELDS: Final = ",".join(_KINDS)
"""What `gh pr view --json` is asked for."""
_COMMENT_KINDS: Final[Mapping[str, type]] = {"body": str, "url": str, "viewerDidAuthor": bool}
_UPDATE: Final = "update gh: `gh --version` says which one this is"


def read_pull_request(printed: bytes, *, number: int | None) -> PullRequest:
    """Read what `gh pr view --json` printed.

    Args:
        printed: its standard output.
        number: the pull request that was asked for; `None` where it was the branch's.

    Raises:
        SourceError: it is no such answer, or is about another pull request.
    """
    found = _typed(_object(printed, "gh pr view"), _KINDS, "gh pr view")
    parts = _URL.fullmatch(found["url"])
    if not parts:
        raise _unlike("url", found["url"], "the address of a pull request")
    if number is not None and found["number"] != number:
        raise SourceError(f"gh was asked for pull request {number} and answered with {found['number']}", hint=_UPDATE)
    if int(parts["number"]) != found["number"]:
        raise SourceError(f"gh names pull request {found['number']} and gives the address of {parts['number']}")
    for key in ("baseRefName", "headRefName"):
        if not _BRANCH.fullmatch(found[key]) or _ODD_BRANCH.search(found[key]):
            raise _unlike(key, found[key], "the name of a branch")
    if not _COMMIT.fullmatch(found["headRefOid"]):
        raise _unlike("headRefOid", found["headRefOid"], "a full commit id")
    if found["state"] not in set(PullState):
        raise _unlike("state", found["state"], " or ".join(PullState))
    return PullRequest(
        number=found["number"],
        repository=parts["repository"],
        host=parts["host"].lower(),
        url=found["url"],
        title=visible(found["title"]),
        base=found["baseRefName"],
        head=found["headRefName"],
        commit=found["headRefOid"],
        state=PullState(found["state"]),
        is_fork=found["isCrossRepository"],
    )


def marked(body: str) -> str:
    """Return `body` under the line by which a later run finds it."""
    return body if _is_marked(body) else f"{MARKER}\n{body}"


def _is_marked(body: str) -> bool:
    return body.splitlines()[:1] == [MARKER]


def read_own_comment(printed: bytes, pull_request: PullRequest) -> int | None:
    """Return the number of our comment out of what `gh pr view --json comments` printed; `None` where it has none.

    Ours is the oldest one that begins with the marker and that the signed-in account wrote.

    Raises:
        SourceError: it is no such answer.
    """
    comments = _object(printed, "gh pr view").get("comments")
    if not isinstance(comments, list):
        raise _unlike("comments", comments, "a list")
    for comment in comments:
        if not isinstance(comment, dict):
            raise _unlike("comments", comment, "a list of objects")
        found = _typed(comment, _COMMENT_KINDS, "gh pr view --json comments")
        if found["viewerDidAuthor"] and _is_marked(found["body"]):
            return _comment_number(found["url"], pull_request)
    return None


def read_posted(printed: bytes, pull_request: PullRequest, *, comment: int | None) -> str:
    """Return the address of a comment out of the forge's answer to writing it.

    Args:
        printed: the answer.
        pull_request: where it was written.
        comment: the number of the one that was written anew; `None` for a new one.

    Raises:
        SourceError: it is no such answer, or is about another comment.
    """
    found = _typed(_object(printed, "gh api"), {"html_url": str}, "gh api")
    number = _comment_number(found["html_url"], pull_request)
    if comment is not None and number != comment:
        raise SourceError(f"comment {comment} was written anew and the forge answered with {number}")
    return str(found["html_url"])


def _comment_number(url: str, pull_request: PullRequest) -> int:
    place = re.escape(f"https://{pull_request.host}/{pull_request.repository}")
    form = rf"{place}/(?:pull|issues)/{pull_request.number}#issuecomment-({COMMENT_ID})"
    parts = re.fullmatch(form, url, re.IGNORECASE)
    if not parts:
        raise _unlike("url", url, f"the address of a comment on {pull_request}")
    return int(parts[1])


def _object(printed: bytes, call: str) -> dict[str, Any]:
    try:
        found = parse_json(printed, max_bytes=MAX_PRINTED)
    except NotCanonical as error:
        raise SourceError(f"{call} did not print one JSON object: {error}", hint=_UPDATE) from None
    if not isinstance(found, dict):
        raise SourceError(f"{call} printed a JSON {type(found).__name__}, not one object", hint=_UPDATE)
    return found


def _typed(found: dict[str, Any], kinds: Mapping[str, type], call: str) -> dict[str, Any]:
    for key, kind in kinds.items():
        if key not in found:
            raise SourceError(f"{call} printed no {key!r}", hint=_UPDATE)
        # A boolean is an int to `isinstance`.
        if type(found[key]) is not kind:
            raise _unlike(key, found[key], f"of type {kind.__name__}")
    return found


def _unlike(key: str, value: object, expected: str) -> SourceError:
    shown = visible(repr(value))
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return SourceError(f"gh says that {key!r} is {shown}, which is not {expected}", hint=_UPDATE)


def remote_branch(repository: Repository, pull_request: PullRequest) -> str:
    """Return the remote-tracking ref of the branch that a pull request goes into, such as `refs/remotes/origin/main`.

    The remote is the one whose address names the pull request's repository, else `origin`. An address through a host
    alias of ssh names none.

    Raises:
        SourceError: there is no such remote, or the ref has not been fetched.
    """
    remote = _remote_of(repository, pull_request)
    ref = f"refs/remotes/{remote}/{pull_request.base}"
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", ref)
    if repository.git.run(*arguments, place=repository.place, accept=(0, 1)):
        return ref
    # The whole refspec: a clone of one branch would fetch another into FETCH_HEAD alone.
    refspec = shlex.quote(f"{pull_request.base}:{ref}")
    raise SourceError(
        f"{pull_request} goes into {pull_request.base!r}, and there is no {ref!r} in this clone",
        hint=f"run `git fetch {remote} {refspec}`",
    )


def _remote_of(repository: Repository, pull_request: PullRequest) -> str:
    wanted = (pull_request.host, pull_request.repository.lower())
    remotes = _remotes(repository)
    named = [name for name, address in remotes if _named_by(address) == wanted]
    names = {name for name, _ in remotes}
    for name in ("origin", "upstream"):
        if name in named:
            return name
    if named:
        return named[0]
    if "origin" in names:
        return "origin"
    known = ", ".join(sorted(names)) or "none"
    raise SourceError(
        f"no remote of this clone is {pull_request.host}/{pull_request.repository}, and none is `origin`; "
        f"it has {known}",
        hint=f"run `git remote add origin https://{pull_request.host}/{pull_request.repository}`, then fetch",
    )


def _remotes(repository: Repository) -> list[tuple[str, str]]:
    """Return the name and address of each remote, in the order of the settings."""
    listed = repository.git.run("config", "--list", "-z", place=repository.place).decode("utf-8", "replace")
    found = []
    for setting in listed.split("\0"):
        key, _, value = setting.partition("\n")
        parts = _REMOTE_KEY.fullmatch(key)
        if parts and _REMOTE.fullmatch(parts["name"]):
            found.append((parts["name"], value))
    return found


def _named_by(address: str) -> tuple[str, str] | None:
    """Return the host and `owner/name`, in lower case, that a remote's address names."""
    for form in _ADDRESS:
        if parts := form.fullmatch(address):
            host = parts["host"].lower()
            path = parts["path"].lower().rstrip("/").removesuffix(".git")
            return _OTHER_NAMES.get(host, host), path
    return None


def words_to_check_out(number: int, *, remote: str = "origin", base: str = "origin/main") -> str:
    """Say what brings a pull request here and reviews it, where there is no `gh`."""
    fetch = f"git fetch {shlex.quote(remote)} pull/{number}/head && git switch --detach FETCH_HEAD"
    return f"`{fetch}`, then `counterpoint review --base {shlex.quote(base)}`"


def words_to_post(number: int, file: Path, *, repository: str = "", host: str = "github.com") -> str:
    """Say what posts a file as a comment; without a repository `gh` takes the one it is run in."""
    place = repository if host == "github.com" else f"{host}/{repository}"
    where = f" --repo {shlex.quote(place)}" if repository else ""
    return f"`gh pr comment {number}{where} --body-file {shlex.quote(str(file))}`"
