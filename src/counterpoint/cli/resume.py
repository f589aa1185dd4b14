"""`counterpoint resume`: go on with a case that waits or was interrupted."""

import asyncio
import os

import click

from counterpoint.cli.allow import ask_leave
from counterpoint.cli.ending import end_case, going_on
from counterpoint.cli.manual import CASE_EXITS, Manual, json_option
from counterpoint.cli.watching import Watcher
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.drive.running import Session, drive_review, settings_of
from counterpoint.isolation.repository import Repository

__all__ = ["resume"]


@click.command(
    cls=Manual,
    exits=CASE_EXITS,
    examples=[
        ("counterpoint resume last", "go on with the newest case"),
        ("counterpoint resume 1a2b3c4d", "any unambiguous part at either end of a case's name will do"),
    ],
)
@case_argument
@where_options
@click.option("--trust-commands", is_flag=True, help="Let project commands run unboxed, in this run.")
@click.option(
    "--consent",
    "consents",
    multiple=True,
    metavar="DEST",
    help="Let what its reviewers are given be sent there, in this run.",
)
@json_option
def resume(*, case: str, where: Where, trust_commands: bool, consents: tuple[str, ...], as_json: bool) -> int:
    """Go on with a case: no seat that has answered is asked again, and nothing is recorded twice.

    A closed case is left as it is; its result is printed.
    """
    session = Session.of(repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ)
    loaded = where.load(case)
    name = loaded.name
    if loaded.state.closed is not None:
        return end_case(loaded, as_json=as_json)
    opened = loaded.state.case
    repository = Repository.find(where.repo)
    settings = settings_of(session, repository, opened.docket.base)
    allowed = ask_leave(
        session,
        repository,
        settings,
        [seat.party for seat in opened.roster if seat.party in settings.agents],
        opened.docket.commands,
        trust_flag=trust_commands,
        consent_flags=consents,
    )
    with going_on(name):
        ended = asyncio.run(
            drive_review(session, name, may_run=allowed.may_run, grants=allowed.grants, on_event=Watcher())
        )
    return end_case(ended, as_json=as_json)
