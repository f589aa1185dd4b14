"""`counterpoint resume`: go on with a case that waits or was interrupted."""

import os
from pathlib import Path

import click

from counterpoint.cli.allow import ask_leave
from counterpoint.cli.ending import end_case, put_away, run_to_its_end
from counterpoint.cli.manual import CASE_EXITS, Manual, json_option
from counterpoint.cli.review_options import taping_of, taping_options
from counterpoint.cli.where import Where, case_argument, where_options
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.clock import SystemClock, format_stamp
from counterpoint.drive.ground import ground_of
from counterpoint.drive.lease import current_holder
from counterpoint.drive.plans import leave_of
from counterpoint.drive.running import Session, check_seats
from counterpoint.drive.verifying import verify_to_go_on
from counterpoint.errors import LeaseHeld, SourceError

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
    help="Let what its seats are given be sent there, in this run.",
)
@taping_options
@json_option
def resume(
    *,
    case: str,
    where: Where,
    trust_commands: bool,
    consents: tuple[str, ...],
    record: Path | None,
    replay: Path | None,
    as_json: bool,
) -> int:
    """Go on with a case: no seat that has answered is asked again, and nothing is recorded twice.

    A closed case is left as it is; its result is printed. The record is verified first, and has to be this machine's.
    A case that is recorded, or played again, goes on so where the same folder is named.
    """
    taping = taping_of(record, replay)
    loaded = _load_own(where, case)
    if loaded.state.closed is not None:
        unkept = put_away(where, loaded.name)
        return end_case(where, loaded, as_json=as_json, unkept=unkept)
    if holder := current_holder(loaded.folder):
        raise LeaseHeld(loaded.name, holder=holder.name, since=holder.since)
    if taping is not None:
        taping.check_case(loaded.name, loaded.state.case.docket)
    session = Session.of(
        repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ, taping=taping
    )
    opened = loaded.state.case
    ground = ground_of(session, opened)
    check_seats(opened, ground.settings)
    allowed = ask_leave(session, leave_of(ground, opened), trust_flag=trust_commands, consent_flags=consents)
    return run_to_its_end(session, where, loaded.name, allowed, as_json=as_json)


def _load_own(where: Where, case: str) -> LoadedCase:
    """Read a case that this machine has begun. A repository can bring files that only look like one.

    Raises:
        SourceError: none or several fit, or another machine began it.
        RecordError: it does not verify.
    """
    name, now = where.find(case), format_stamp(SystemClock().now())
    verified = verify_to_go_on(where.store, where.cases, name, folders=where.folders, now=now)
    assert verified.case is not None, "a case is replayed, or an error is raised"
    if verified.own_key is None:
        raise SourceError(
            f"case {name} was not begun on this machine: this machine's key is none of those that sign its record",
            hint=f"resume it where it was begun; `counterpoint report {name}` says what it came to so far",
        )
    return verified.case
