"""`counterpoint consent`: which destinations may be sent what, for which repository, until when."""

import secrets
from datetime import timedelta

import click

from counterpoint.cli.manual import ManualGroup, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.answers import login_name
from counterpoint.drive.clock import SystemClock, format_stamp
from counterpoint.drive.consent import DEFAULT_LENGTH, ConsentBook, Scope, make_grant
from counterpoint.drive.paths import path_text
from counterpoint.isolation.repository import Repository

__all__ = ["consent"]


@click.group(
    cls=ManualGroup,
    examples=[
        ("counterpoint consent grant my-provider", "the change under review may go there, for this repository"),
        ("counterpoint consent grant my-provider --scope tree --days 7", "the whole tree, for a week"),
        ("counterpoint consent list", "every grant ever given"),
        ("counterpoint consent revoke 4e9f21", "take one back"),
    ],
)
def consent() -> None:
    """Say which destinations may be sent what, and until when.

    Nothing leaves this machine without a grant. Grants lie in your state folder; a case records a copy.
    """


@consent.command()
@click.argument("destination")
@where_options
@click.option(
    "--scope",
    type=click.Choice(["change", "tree"]),
    default="change",
    show_default=True,
    help="What may be sent: the change alone, or any file of the tree.",
)
@click.option(
    "--days", type=click.IntRange(1, 365), default=DEFAULT_LENGTH.days, show_default=True, help="For how long."
)
def grant(destination: str, where: Where, scope: str, days: int) -> int:
    """Let the change under review, or the whole tree, of this repository be sent to DESTINATION."""
    repository = Repository.find(where.repo)
    given = make_grant(
        destination=destination,
        scope=Scope.TREE if scope == "tree" else Scope.CHANGE,
        repository=path_text(repository.top.resolve()),
        by=login_name(),
        now=SystemClock().now(),
        length=timedelta(days=days),
        nonce=secrets.token_hex(16),
    )
    ConsentBook(where.folders.state).keep(given)
    say(f"granted as {given.digest[:12]}, until {given.until}")
    say(f"the {given.scope} of {given.repository} may go to {destination}")
    return 0


@consent.command(name="list")
@where_options
@json_option
def list_grants(*, where: Where, as_json: bool) -> int:
    """List every grant ever given, oldest first."""
    kept = ConsentBook(where.folders.state).grants()
    now = SystemClock().now()
    if as_json:
        rows = [{**k.grant.fields(), "digest": k.grant.digest, "revoked": k.is_revoked} for k in kept]
        print_json({"grants": rows, "now": format_stamp(now)})
        return 0
    for each in kept:
        state = "revoked" if each.is_revoked else "valid" if each.grant.is_valid(now) else "expired"
        say(
            f"{each.grant.digest[:12]}  {state:7}  {each.grant.destination}  {each.grant.scope}"
            f"  until {each.grant.until}  {each.grant.repository}"
        )
    if not kept:
        say("nothing has been granted")
    return 0


@consent.command()
@click.argument("digest")
@where_options
def revoke(digest: str, where: Where) -> int:
    """Take back the grant whose digest begins with DIGEST."""
    revoked = ConsentBook(where.folders.state).revoke(digest, by=login_name(), now=SystemClock().now())
    say(f"revoked {revoked.digest[:12]}: nothing more goes to {revoked.destination}")
    return 0
