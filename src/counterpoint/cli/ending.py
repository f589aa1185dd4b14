"""From an open case to its end on the command line: drive it, write the reports, print a short result, exit.

Shared by `review` and `resume`.
"""

import asyncio
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Final

import click

from counterpoint.cli.allow import Allowed
from counterpoint.cli.commenting import leave_comment
from counterpoint.cli.output import fail, say_interrupted, styled, tell
from counterpoint.cli.watching import Watcher
from counterpoint.cli.where import Where
from counterpoint.core.canonical import visible
from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.findings import Finding
from counterpoint.core.outcome import Outcome, exit_code
from counterpoint.core.values import Decision, Severity, StopReason
from counterpoint.core.wording import in_line
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.paths import path_text
from counterpoint.drive.progress import DriveEvent, EventKind, OnEvent
from counterpoint.drive.running import Session, drive_case_on_disk, put_away_of_closed
from counterpoint.errors import CounterpointError
from counterpoint.views.files import write_files
from counterpoint.views.report import DECISIONS, STOPS
from counterpoint.views.result import render_result
from counterpoint.views.writing import write_reports

__all__ = ["end_case", "put_away", "run_to_its_end"]

_COLOURS: Final = {Decision.APPROVED: "green", Decision.REJECTED: "red"}
_HEAVY: Final = frozenset({Severity.BLOCKING, Severity.MAJOR})
_EVIDENCE: Final = {
    EvidenceStatus.VERIFIED: "verified: a test of the project ran on this candidate and passed",
    EvidenceStatus.REFUTED: "refuted: a command of the project ran on this candidate and failed",
    EvidenceStatus.NOT_CHECKED: "not checked: no test of the project ran on this candidate and passed",
}
_MAX_ISSUE: Final = 200


def run_to_its_end(session: Session, where: Where, case: str, allowed: Allowed, *, as_json: bool) -> int:
    """Drive an open case to its end and print the result, or what stopped it and how to go on; return the code."""
    taping = session.taping
    resume = where.command_line("resume", case)
    if taping is not None:
        resume += f" {taping.flag} {shlex.quote(path_text(taping.folder))}"
    try:
        with Watcher() as watcher:
            on_event = _keeping_files(watcher, where, case)
            driven = drive_case_on_disk(
                session, case, may_run=allowed.may_run, grants=allowed.grants, on_event=on_event, resume=resume
            )
            ended = asyncio.run(driven)
        if taping is not None and (unused := taping.unused(ended.entries)):
            tell(f"note: the cassette has turns that were not asked for: {', '.join(unused)}", colour="yellow")
        code = end_case(where, ended, as_json=as_json)
    except KeyboardInterrupt:
        return say_interrupted(as_json=as_json, resume=resume)
    except CounterpointError as error:
        return fail(error, as_json=as_json, resume=resume)
    leave_comment(session, ended, as_json=as_json)
    return code


def put_away(where: Where, case: str) -> None:
    """Leave no half edit of a closed case in the work tree, where its driver was killed; say where it is kept."""
    session = Session.of(repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ)
    if line := put_away_of_closed(session, case):
        tell(f"note: {line}", colour="yellow")


def _keeping_files(watcher: Watcher, where: Where, case: str) -> OnEvent:
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


def end_case(where: Where, loaded: LoadedCase, *, as_json: bool) -> int:
    """Write the reports, print the result, and return the exit code."""
    report, _ = write_reports(loaded)
    write_files(loaded)
    if as_json:
        click.echo(render_result(loaded), nl=False)
        return exit_code(loaded.outcome)
    outcome = loaded.outcome
    click.echo(styled(_headline(outcome), _COLOURS.get(outcome.decision, "yellow"), sys.stdout))
    for finding in outcome.open_findings:
        click.echo(_line(finding))
        for position in _positions(finding):
            click.echo(f"           {position}")
    if outcome.refuted_findings:
        names = ", ".join(f.id for f in outcome.refuted_findings)
        click.echo(f"  refuted by evidence, and not counted: {visible(names)}")
    docket, opened = loaded.state.docket, loaded.state.case.docket
    click.echo(f"judged:   {docket.candidate[:12]} against {docket.base[:12]}")
    if docket.candidate != opened.candidate:
        offers = len(loaded.state.offers)
        what = "commit" if loaded.state.case.terms.commits else "edit"
        click.echo(f"since:    {opened.candidate[:12]}, {offers} {what}{'' if offers == 1 else 's'} by the author")
        if not loaded.state.case.terms.commits:
            edited = sorted({path for offer in loaded.state.offers for path in offer.changed})
            click.echo(f"edited:   {visible(', '.join(edited))}; nothing is committed")
    click.echo(f"evidence: {_EVIDENCE[outcome.evidence]}")
    click.echo(f"report:   {visible(path_text(report))}")
    click.echo(f"check it: {where.command_line('verify', loaded.name)}")
    return exit_code(outcome)


def _headline(outcome: Outcome) -> str:
    """Return the decision and why, in one sentence."""
    assert outcome.stop_reason is not None, "the case is closed"
    word, reasons = DECISIONS[outcome.decision], outcome.reasons
    if outcome.stop_reason is StopReason.FAILED:
        word, reasons = "Failed", reasons[1:]
    elif outcome.stop_reason is StopReason.STALLED:
        reasons = (STOPS[outcome.stop_reason], *reasons)
    elif outcome.stop_reason not in {StopReason.AGREED, StopReason.ROUNDS_SPENT}:
        # The first reason is the stop itself, as a word of the record.
        reasons = (STOPS[outcome.stop_reason], *reasons[1:])
    return f"{word}: {in_line('; '.join(reasons))}".removesuffix(".") + "."


def _positions(finding: Finding) -> Iterator[str]:
    """Yield what the author and the raiser said last of an open finding."""
    if finding.answers:
        answer = finding.answers[-1]
        yield f"the author: {answer.disposition}, {_short(answer.reasoning)}"
        if finding.rulings:
            yield f"{visible(finding.seat)}: {_short(finding.rulings[-1].reason)}"


def _short(text: str) -> str:
    line = visible(text).strip().splitlines()[0]
    return line if len(line) <= _MAX_ISSUE else f"{line[:_MAX_ISSUE]}…"


def _line(finding: Finding) -> str:
    issue = _short(finding.issue)
    severity = styled(f"{finding.severity:8}", "red" if finding.severity in _HEAVY else None, sys.stdout)
    # A failing command is its own location.
    at = "" if finding.issue.startswith(f"`{finding.location}`") else f" at {visible(finding.location)}"
    return f"  {severity} {visible(finding.id)}{at}: {issue}"
