"""From an open case to its end on the command line: drive it, write the reports, print a short result, exit.

Shared by every command that drives a case.
"""

import asyncio
import os
import shlex
import sys

import click

from counterpoint.cli.allow import Allowed
from counterpoint.cli.commenting import leave_comment
from counterpoint.cli.output import fail, say_interrupted, styled, tell
from counterpoint.cli.watching import Watcher, watched
from counterpoint.cli.where import Where
from counterpoint.core.canonical import visible
from counterpoint.drive.cases import PROTOCOLS, LoadedCase
from counterpoint.drive.paths import path_text
from counterpoint.drive.progress import DriveEvent, EventKind, OnEvent, ignore_events
from counterpoint.drive.running import Session, drive_case_on_disk, keep_document_of_closed, put_away_of_closed
from counterpoint.errors import CounterpointError, LeaseHeld, NeedsPerson
from counterpoint.views.kinds import view_of
from counterpoint.views.writing import render_result, write_files, write_reports

__all__ = ["end_case", "put_away", "run_to_its_end"]


def run_to_its_end(
    session: Session, where: Where, case: str, allowed: Allowed, *, as_json: bool, quiet: bool = False
) -> int:
    """Drive an open case to its end and print the result, or what stopped it and how to go on; return the code.

    With `quiet`, nothing is told of what happens meanwhile.
    """
    taping = session.taping
    resume = where.command_line("resume", case)
    if taping is not None:
        resume += f" {taping.flag} {shlex.quote(path_text(taping.folder))}"
    try:
        with Watcher() as watcher:
            on_event = _keeping_files(ignore_events if quiet else watcher, where, case)
            driven = drive_case_on_disk(
                session, case, may_run=allowed.may_run, grants=allowed.grants, on_event=on_event, resume=resume
            )
            ended = asyncio.run(driven if quiet else watched(driven, watcher))
        if taping is not None and (unused := taping.unused(ended.entries)):
            tell(f"note: the cassette has turns that were not asked for: {', '.join(unused)}", colour="yellow")
        code = end_case(where, ended, as_json=as_json)
    except KeyboardInterrupt:
        return say_interrupted(as_json=as_json, resume=resume)
    except NeedsPerson as error:
        loaded = where.load(case)
        if loaded.state.closed is None:
            return fail(error, as_json=as_json, resume=resume)
        return end_case(where, loaded, as_json=as_json, unkept=error)
    except CounterpointError as error:
        return fail(error, as_json=as_json, resume=resume)
    leave_comment(session, ended, as_json=as_json)
    return code


def put_away(where: Where, case: str) -> NeedsPerson | None:
    """Leave no half edit of a closed case, where its driver was killed: what lies in files is put right, or away.

    Return why the document that it was begun on is not what was decided, where a person has to mend that.
    """
    session = Session.of(repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ)
    if line := put_away_of_closed(session, case):
        tell(f"note: {line}", colour="yellow")
    try:
        note = keep_document_of_closed(session, case, resume=where.command_line("resume", case))
    except NeedsPerson as error:
        return error
    except LeaseHeld as error:
        note = str(error)
    if note:
        tell(f"note: {note}", colour="yellow")
    return None


def _keeping_files(watcher: OnEvent, where: Where, case: str) -> OnEvent:
    """Return an observer that watches, and keeps the files for scripts as the rounds go."""

    def hear(event: DriveEvent) -> None:
        watcher(event)
        if event.kind is not EventKind.ROUND:
            return
        try:
            write_files(where.load(case))
        except CounterpointError as error:  # the case goes on; what the files say stands in its record
            tell(f"note: {error}", colour="yellow")

    return hear


def end_case(where: Where, loaded: LoadedCase, *, as_json: bool, unkept: NeedsPerson | None = None) -> int:
    """Write the reports, print the result, and return the exit code.

    With `unkept` the file that the case was begun on is not what was decided: that is said last, or as the object.
    """
    report, _, *pages = write_reports(loaded)
    write_files(loaded)
    if as_json and unkept is not None:
        return fail(unkept, as_json=True)
    code = PROTOCOLS[loaded.state.case.protocol].exit_code(loaded.outcome)
    if as_json:
        click.echo(render_result(loaded), nl=False)
        return code
    for line in view_of(loaded).summary(loaded, _paint):
        click.echo(line)
    click.echo(f"report:   {visible(path_text(report))}")
    for page in pages:
        click.echo(f"page:     {visible(path_text(page))}")
    click.echo(f"check it: {where.command_line('verify', loaded.name)}")
    return code if unkept is None else fail(unkept, as_json=False)


def _paint(text: str, colour: str) -> str:
    return styled(text, colour, sys.stdout)
