"""`counterpoint trust`: whether a checkout's own commands may run unboxed, kept and revoked."""

import secrets

import click

from counterpoint.cli.manual import ManualGroup, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.answers import login_name
from counterpoint.drive.clock import SystemClock
from counterpoint.drive.trust import TrustBook
from counterpoint.isolation.repository import Repository

__all__ = ["trust"]


@click.group(
    cls=ManualGroup,
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


@trust.command()
@where_options
def grant(where: Where) -> int:
    """Let this checkout's own commands run unboxed."""
    repository = Repository.find(where.repo)
    kept = TrustBook(where.folders.state).keep(
        repository.common_dir, by=login_name(), now=SystemClock().now(), mark=secrets.token_hex(16)
    )
    say(f"kept as {kept.digest[:12]}: commands of {kept.git_folder} may run")
    return 0


@trust.command(name="list")
@where_options
@json_option
def list_answers(*, where: Where, as_json: bool) -> int:
    """List every answer ever kept, oldest first."""
    kept = TrustBook(where.folders.state).answers()
    if as_json:
        rows = [
            {
                "digest": k.answer.digest,
                "git_folder": k.answer.git_folder,
                "by": k.answer.by,
                "answered_at": k.answer.answered_at,
                "revoked": k.is_revoked,
            }
            for k in kept
        ]
        print_json({"answers": rows})
        return 0
    for each in kept:
        state = "revoked" if each.is_revoked else "valid"
        answer = each.answer
        say(f"{answer.digest[:12]}  {state:7}  {answer.answered_at}  {answer.by}  {answer.git_folder}")
    if not kept:
        say("no answer has been kept")
    return 0


@trust.command()
@click.argument("digest")
@where_options
def revoke(digest: str, where: Where) -> int:
    """Take back the answer whose digest begins with DIGEST."""
    revoked = TrustBook(where.folders.state).revoke(digest, by=login_name(), now=SystemClock().now())
    say(f"revoked {revoked.digest[:12]}: commands of {revoked.git_folder} may not run until you say so again")
    return 0
