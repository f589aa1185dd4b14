"""`counterpoint doctor`: whether a case could start here and now."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from counterpoint.cli.answer import answer_options, answer_request
from counterpoint.cli.ballot import ballot_options, ballot_request
from counterpoint.cli.inquiring import Request
from counterpoint.cli.manual import Manual, ManualWithMore, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.propose import propose_request, shared_options
from counterpoint.cli.propose_options import propose_options
from counterpoint.cli.review_options import Asked, review_options
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.doctor import Check, examine_inquiry, examine_review
from counterpoint.drive.planning import ReviewRequest
from counterpoint.drive.session import Session

__all__ = ["doctor"]

EXITS: Final = {
    0: "the case could start",
    1: "something is missing; each line says what to do",
    2: "the command line is wrong",
}
_NOT_READY: Final = 1


@click.command(
    cls=ManualWithMore,
    exits=EXITS,
    examples=[
        ("counterpoint doctor", "could `counterpoint review` start?"),
        ("counterpoint doctor --author claude --reviewer codex", "the same, for this review"),
        ("counterpoint doctor --reviewer codex --json", "for a program"),
        ('counterpoint doctor answer --peers claude,codex -- "Why?"', "could this question be asked?"),
    ],
)
@where_options
@review_options
@json_option
def doctor(*, where: Where, as_json: bool, **given: Any) -> int:
    """Say what a review with these options still needs: repository, work tree, settings, agents, keys, leave.

    Nobody is asked and nothing is sent. The programs of agents are started for their version and their options alone.
    What a pull request brings is not looked at; without its number the options are those of `review`. The commands
    below look at the other cases, each with the options of its own command.
    """
    asked = Asked(**given)
    asked.check()
    if asked.pull is not None:
        raise click.UsageError(f"a doctor looks at what is checked out; check out {asked.pull} first")
    request = ReviewRequest(
        repo=where.repo,
        flags=asked.settings,
        worktree=asked.worktree,
        rationale=asked.rationale,
        author=asked.author,
        commits=not asked.no_commit,
        context=asked.context,
    )
    checks = examine_review(_session(where), request, trust_flag=asked.trust_commands, consent_flags=asked.consents)
    return _tell(checks, as_json=as_json)


@click.command(
    cls=Manual,
    exits=EXITS,
    examples=[('counterpoint doctor answer --peers claude,codex -- "Why?"', "could this question be asked?")],
)
@answer_options
@json_option
def answer(*, as_json: bool, **given: Any) -> int:
    """Say what `counterpoint answer` with these options still needs: settings, agents, keys, limits, leave."""
    return _examine(answer_request(**given), as_json=as_json)


@click.command(
    cls=Manual,
    exits=EXITS,
    examples=[('counterpoint doctor propose --critic codex "Let users export data"', "could this be proposed for?")],
)
@where_options
@propose_options(without=("out", "overwrite", "quiet", "demo"))
@shared_options
@json_option
def propose(*, as_json: bool, **given: Any) -> int:
    """Say what `counterpoint propose` with these options still needs: the pair, agents, keys, limits, leave."""
    return _examine(propose_request(**given), as_json=as_json)


@click.command(
    cls=Manual,
    exits=EXITS,
    examples=[("counterpoint doctor ballot DOC.md --voters claude,codex", "could this be voted on?")],
)
@ballot_options
@json_option
def ballot(*, as_json: bool, **given: Any) -> int:
    """Say what `counterpoint ballot` with these options still needs: document, agents, keys, limits, leave."""
    return _examine(ballot_request(**given), as_json=as_json)


for _command in (answer, propose, ballot):
    doctor.add(_command)


def _session(where: Where) -> Session:
    return Session.of(repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ)


def _examine(request: Request, *, as_json: bool) -> int:
    checks = examine_inquiry(
        _session(request.where),
        request.asked,
        arrange=request.arrange,
        trust_flag=request.common.trust_commands,
        consent_flags=request.common.consents,
    )
    return _tell(checks, as_json=as_json)


def _tell(checks: Sequence[Check], *, as_json: bool) -> int:
    is_ready = all(check.is_met for check in checks)
    if as_json:
        print_json({"ready": is_ready, "checks": [_fields(check) for check in checks]})
    else:
        _print(checks)
        wrong = sum(not check.is_met for check in checks)
        say("ready" if is_ready else f"not ready: {wrong} thing{'' if wrong == 1 else 's'} to do")
    return 0 if is_ready else _NOT_READY


def _print(checks: Sequence[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        say(f"{'ok' if check.is_met else '!!'}  {check.name:{width}}  {check.says}")
        if check.hint:
            say(f"    {'':{width}}  {check.hint}")


def _fields(check: Check) -> Mapping[str, Any]:
    return {"name": check.name, "ok": check.is_met, "says": check.says, "hint": check.hint}
