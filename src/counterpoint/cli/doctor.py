"""`counterpoint doctor`: whether a review could start here and now."""

import os
from collections.abc import Mapping
from typing import Any, Final

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.review_options import Asked, review_options
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.doctor import Check, examine
from counterpoint.drive.planning import ReviewRequest
from counterpoint.drive.running import Session

__all__ = ["doctor"]

EXITS: Final = {
    0: "the review could start",
    1: "something is missing; each line says what to do",
    2: "the command line is wrong",
}
_NOT_READY: Final = 1


@click.command(
    cls=Manual,
    exits=EXITS,
    examples=[
        ("counterpoint doctor", "could `counterpoint review` start?"),
        ("counterpoint doctor --author claude --reviewer codex", "the same, for this review"),
        ("counterpoint doctor --reviewer codex --json", "for a program"),
    ],
)
@where_options
@review_options
@json_option
def doctor(*, where: Where, as_json: bool, **given: Any) -> int:
    """Say what a review with these options still needs: repository, work tree, settings, agents, keys, leave.

    Nobody is asked and nothing is sent. The programs of agents are started for their version and their options alone.
    What a pull request brings is not looked at; without its number the options are those of `review`.
    """
    asked = Asked(**given)
    asked.check()
    if asked.pull is not None:
        raise click.UsageError(f"a doctor looks at what is checked out; check out {asked.pull} first")
    session = Session.of(repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ)
    request = ReviewRequest(
        repo=where.repo,
        flags=asked.settings,
        worktree=asked.worktree,
        rationale=asked.rationale,
        author=asked.author,
        commits=not asked.no_commit,
        context=asked.context,
    )
    checks = examine(session, request, trust_flag=asked.trust_commands, consent_flags=asked.consents)
    is_ready = all(check.is_met for check in checks)
    if as_json:
        print_json({"ready": is_ready, "checks": [_fields(check) for check in checks]})
    else:
        _print(checks)
        wrong = sum(not check.is_met for check in checks)
        say("ready" if is_ready else f"not ready: {wrong} thing{'' if wrong == 1 else 's'} to do")
    return 0 if is_ready else _NOT_READY


def _print(checks: tuple[Check, ...]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        say(f"{'ok' if check.is_met else '!!'}  {check.name:{width}}  {check.says}")
        if check.hint:
            say(f"    {'':{width}}  {check.hint}")


def _fields(check: Check) -> Mapping[str, Any]:
    return {"name": check.name, "ok": check.is_met, "says": check.says, "hint": check.hint}
