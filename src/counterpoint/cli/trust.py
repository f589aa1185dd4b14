"""`counterpoint trust`: whether a checkout's own commands may run unboxed, kept and revoked."""

import secrets
from collections.abc import Mapping
from typing import Any, Final

import click

from counterpoint.cli.manual import ManualGroup, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.answers import login_name
from counterpoint.drive.clock import SystemClock
from counterpoint.drive.trust import TrustAnswer, TrustBook
from counterpoint.isolation.repository import Repository

__all__ = ["trust"]

EXITS: Final = {
    0: "kept, taken back, or listed",
    1: "it cannot be kept, or what is kept cannot be read",
    2: "the command line is wrong",
}


@click.group(
    cls=ManualGroup,
    exits=EXITS,
    examples=[
        ("counterpoint trust grant", "this checkout's own commands may run, on its own branches"),
        ("counterpoint trust list", "every answer ever kept"),
        ("counterpoint trust revoke 4e9f21", "take one back"),
    ],
)
def trust() -> None:
    """Say whether a checkout's own commands may run with your permissions.

    An answer is for one checkout and its own branches. It lies in your state folder, where no repository can write.
    """


@trust.command(exits=EXITS)
@where_options
@json_option
def grant(*, where: Where, as_json: bool) -> int:
    """Let this checkout's own commands run unboxed."""
    repository = Repository.find(where.repo)
    kept = TrustBook(where.folders.state).keep(
        repository.common_dir, by=login_name(), now=SystemClock().now(), mark=secrets.token_hex(16)
    )
    if as_json:
        print_json(_fields(kept, is_revoked=False))
        return 0
    say(f"kept as {kept.digest[:12]}: commands of {kept.git_folder} may run")
    return 0


@trust.command(name="list", exits=EXITS)
@where_options
@json_option
def list_answers(*, where: Where, as_json: bool) -> int:
    """List every answer ever kept, oldest first."""
    kept = TrustBook(where.folders.state).answers()
    if as_json:
        print_json({"answers": [_fields(each.answer, is_revoked=each.is_revoked) for each in kept]})
        return 0
    for each in kept:
        state = "revoked" if each.is_revoked else "valid"
        answer = each.answer
        say(f"{answer.digest[:12]}  {state:7}  {answer.answered_at}  {answer.by}  {answer.git_folder}")
    if not kept:
        say("no answer has been kept")
    return 0


def _fields(answer: TrustAnswer, *, is_revoked: bool) -> Mapping[str, Any]:
    return {
        "digest": answer.digest,
        "git_folder": answer.git_folder,
        "by": answer.by,
        "answered_at": answer.answered_at,
        "revoked": is_revoked,
    }


@trust.command(exits=EXITS)
@click.argument("digest")
@where_options
@json_option
def revoke(*, digest: str, where: Where, as_json: bool) -> int:
    """Take back the answer whose digest begins with DIGEST."""
    revoked = TrustBook(where.folders.state).revoke(digest, by=login_name(), now=SystemClock().now())
    if as_json:
        print_json(_fields(revoked, is_revoked=True))
        return 0
    say(f"revoked {revoked.digest[:12]}: commands of {revoked.git_folder} may not run until you say so again")
    return 0
