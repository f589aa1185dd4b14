"""`counterpoint consent`: which destinations may be sent what, for which repository, until when."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import click

from counterpoint.cli.manual import ManualGroup, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.answers import login_name
from counterpoint.drive.clock import SystemClock, format_stamp
from counterpoint.drive.consent import DEFAULT_LENGTH, ConsentBook, Grant, KeptGrant, Scope, make_grant
from counterpoint.drive.paths import path_text
from counterpoint.isolation.repository import Repository

__all__ = ["consent"]

_SCOPES: Final[Mapping[str, Scope]] = {"change": Scope.CHANGE, "text": Scope.TEXT, "tree": Scope.TREE}

EXITS: Final = {
    0: "kept, taken back, or listed",
    1: "it cannot be granted or kept, or what is kept cannot be read",
    2: "the command line is wrong",
}


@click.group(
    cls=ManualGroup,
    exits=EXITS,
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


@consent.command(exits=EXITS)
@click.argument("destination")
@where_options
@click.option(
    "--scope",
    type=click.Choice(list(_SCOPES)),
    default="change",
    show_default=True,
    help="What may be sent: the change, a question with its texts, or all of these and any file of the tree.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    metavar="N",
    default=DEFAULT_LENGTH.days,
    show_default=True,
    help="For how long.",
)
@json_option
def grant(*, destination: str, where: Where, scope: str, days: int, as_json: bool) -> int:
    """Let what is under review be sent to DESTINATION.

    The grant is for this repository, and each case under it records a copy.
    """
    repository = Repository.find(where.repo)
    given = make_grant(
        destination=destination,
        scope=_SCOPES[scope],
        repository=path_text(repository.top.resolve()),
        by=login_name(),
        now=SystemClock().now(),
        length=timedelta(days=days),
        nonce=secrets.token_hex(16),
    )
    ConsentBook(where.folders.state).keep(given)
    if as_json:
        print_json(_fields(given, is_revoked=False))
        return 0
    say(f"granted as {given.digest[:12]}, until {given.until}")
    say(f"the {given.scope} of {given.repository} may go to {destination}")
    return 0


@consent.command(name="list", exits=EXITS)
@where_options
@json_option
def list_grants(*, where: Where, as_json: bool) -> int:
    """List every grant ever given, oldest first."""
    kept = ConsentBook(where.folders.state).grants()
    now = SystemClock().now()
    if as_json:
        rows = [_fields(each.grant, is_revoked=each.is_revoked) for each in kept]
        print_json({"grants": rows, "now": format_stamp(now)})
        return 0
    width = max((len(each.grant.destination) for each in kept), default=0)
    for each in kept:
        say(_line(each, now, width))
    if not kept:
        say("nothing has been granted")
    return 0


def _fields(grant: Grant, *, is_revoked: bool) -> Mapping[str, Any]:
    return {**grant.fields(), "digest": grant.digest, "revoked": is_revoked}


def _line(kept: KeptGrant, now: datetime, width: int) -> str:
    grant = kept.grant
    state = "revoked" if kept.is_revoked else "valid" if grant.is_valid(now) else "expired"
    about = f"{grant.destination:{width}}  {grant.scope:{_WIDEST}}  until {grant.until}  {grant.repository}"
    return f"{grant.digest[:12]}  {state:7}  {about}"


_WIDEST: Final = max(len(scope) for scope in Scope)


@consent.command(exits=EXITS)
@click.argument("digest")
@where_options
@json_option
def revoke(*, digest: str, where: Where, as_json: bool) -> int:
    """Take back the grant whose digest begins with DIGEST."""
    revoked = ConsentBook(where.folders.state).revoke(digest, by=login_name(), now=SystemClock().now())
    if as_json:
        print_json(_fields(revoked, is_revoked=True))
        return 0
    say(f"revoked {revoked.digest[:12]}: nothing more goes to {revoked.destination} by it")
    return 0
