"""How a driven case ends on the command line: the reports on disk, a short result, and the exit code."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from counterpoint.cli.output import styled, tell
from counterpoint.core.canonical import visible
from counterpoint.core.findings import Finding
from counterpoint.core.outcome import exit_code
from counterpoint.core.values import Decision, Severity
from counterpoint.drive.cases import LoadedCase
from counterpoint.errors import CounterpointError
from counterpoint.views.report import headline
from counterpoint.views.result import render_result
from counterpoint.views.writing import write_reports

__all__ = ["end_case", "going_on"]

_COLOURS = {Decision.APPROVED: "green", Decision.REJECTED: "red"}
_HEAVY = frozenset({Severity.BLOCKING, Severity.MAJOR})


@contextmanager
def going_on(case: str) -> Iterator[None]:
    """Say how to go on with a case that is left before its end; everything so far is kept."""
    try:
        yield
    except (KeyboardInterrupt, CounterpointError):
        tell(f"everything so far is kept; go on with: counterpoint resume {case}")
        raise


def end_case(loaded: LoadedCase, *, as_json: bool) -> int:
    """Write the reports, print the result, and return the exit code."""
    report, _ = write_reports(loaded)
    if as_json:
        click.echo(render_result(loaded), nl=False)
        return exit_code(loaded.outcome)
    outcome = loaded.outcome
    click.echo(styled(visible(headline(loaded)), _COLOURS.get(outcome.decision, "yellow"), sys.stdout))
    for finding in outcome.open_findings:
        click.echo(_line(finding))
    if outcome.refuted_findings:
        names = ", ".join(f.id for f in outcome.refuted_findings)
        click.echo(f"  refuted by evidence, and not counted: {visible(names)}")
    click.echo(f"evidence: {outcome.evidence}")
    click.echo(f"report:   {report}")
    click.echo(f"check it: counterpoint verify {loaded.name}")
    return exit_code(outcome)


def _line(finding: Finding) -> str:
    issue = visible(finding.issue).strip().splitlines()[0]
    colour = "red" if finding.severity in _HEAVY else None
    severity = styled(f"{finding.severity:8}", colour, sys.stdout)
    return f"  {severity} {visible(finding.id)} at {visible(finding.location)}: {issue}"
