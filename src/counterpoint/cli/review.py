"""`counterpoint review`: plan, ask leave, open, drive, print."""

import os
import re
import shutil
from enum import StrEnum
from typing import Any, Final

import click

from counterpoint.cli.allow import ask_leave
from counterpoint.cli.ending import run_to_its_end
from counterpoint.cli.manual import CASE_EXITS, Manual, json_option
from counterpoint.cli.output import tell
from counterpoint.cli.where import Where, where_options
from counterpoint.core.docket import Docket, Effort
from counterpoint.core.values import Severity
from counterpoint.drive.cases import case_name
from counterpoint.drive.planning import ReviewPlan, ReviewRequest, plan_review
from counterpoint.drive.running import Session, check_agents, objects_of, open_review
from counterpoint.drive.settings import LOCAL, Settings

__all__ = ["review"]

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST_S: Final = 31 * 86400
_SHOWN_REMARKS: Final = 5


class _Seconds(click.ParamType[int]):
    """A length of time: `90`, `90s`, `10m`, `2h`, `1d`."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", str(value))
        if found is None:
            self.fail(f"{value!r} is not a length of time such as 90s, 10m or 2h", param, ctx)
        seconds = int(found[1]) * _UNITS[found[2] or "s"]
        if not 1 <= seconds <= _LONGEST_S:
            self.fail(f"{value!r} is not from one second to 31 days", param, ctx)
        return seconds


def _words(kind: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([word.value for word in kind])


@click.command(
    cls=Manual,
    exits=CASE_EXITS,
    examples=[
        ("counterpoint review", "the project's own checks judge the current branch"),
        ("counterpoint review --base origin/main --reviewer checks --reviewer critic", "with a reviewer of yours"),
        ("counterpoint review --author claude --reviewer codex", "to agreement, a commit for each round"),
        ("counterpoint review --worktree", "judge the files as they lie, committed or not"),
        ("counterpoint review --trust-commands --json", "in a pipeline: nobody is asked"),
    ],
)
@where_options
@click.option("--base", metavar="REV", help="Compare with this.  [default: the remote's default branch, else main]")
@click.option(
    "--reviewer",
    "reviewers",
    multiple=True,
    metavar="NAME",
    help="Who reviews; repeat for several.  [default: what the settings name, else checks]",
)
@click.option("--author", default="", metavar="NAME", help="Who answers the findings, and edits the work tree.")
@click.option(
    "--max-rounds", type=click.IntRange(1, 100), metavar="N", help="How often the author answers.  [default: 3]"
)
@click.option(
    "--until-agreement",
    is_flag=True,
    help="No such number: go on until they agree, nothing moves, or a limit is reached.",
)
@click.option("--no-commit", is_flag=True, help="Leave the author's edits uncommitted; judge the files as they lie.")
@click.option("--worktree", is_flag=True, help="Judge the files as they lie instead of HEAD.")
@click.option("--rationale", default="", metavar="TEXT", help="Why the change was made; shown to every seat.")
@click.option("--context", default="", metavar="TEXT", help="What the author alone is told.")
@click.option("--effort", type=_words(Effort), help="How hard agents are asked to think.  [default: high]")
@click.option(
    "--block-on",
    type=_words(Severity),
    help="The least severity that must be settled.  [default: nit, which is everything]",
)
@click.option(
    "--quorum", type=click.IntRange(1, 256), metavar="N", help="How many reviewers must answer.  [default: all]"
)
@click.option(
    "--require-check",
    "required",
    multiple=True,
    metavar="CMD",
    help="A command that must pass on the candidate, whoever reviews; repeat for several.",
)
@click.option("--trust-commands", is_flag=True, help="Let project commands run unboxed, in this run.")
@click.option(
    "--consent",
    "consents",
    multiple=True,
    metavar="DEST",
    help="Let what its reviewers are given be sent there, in this run.",
)
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="How many questions may be asked in all.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), metavar="N", help="Stop asking once this many tokens are reported."
)
@click.option("--deadline", type=_Seconds(), help="End the case after this long: 90s, 10m, 2h.")
@json_option
def review(
    *,
    where: Where,
    base: str | None,
    reviewers: tuple[str, ...],
    author: str,
    max_rounds: int | None,
    until_agreement: bool,
    no_commit: bool,
    worktree: bool,
    rationale: str,
    context: str,
    effort: str | None,
    block_on: str | None,
    quorum: int | None,
    required: tuple[str, ...],
    trust_commands: bool,
    consents: tuple[str, ...],
    max_calls: int | None,
    max_tokens: int | None,
    deadline: int | None,
    as_json: bool,
) -> int:
    """Have reviewers judge the change between the merge base and HEAD.

    Every reviewer answers blind; the answers are revealed together, and the decision follows from findings, evidence
    and coverage. Without --author that is all, and nothing is committed. With one, the author fixes or disputes each
    finding in the work tree, its edits are committed on the branch with the findings in the message, and the
    reviewers read again. Nothing is pushed, merged or approved. A work tree that differs from HEAD is refused.
    """
    flags = {
        "review.base": base,
        "review.reviewers": reviewers,
        "review.max_rounds": 0 if until_agreement else max_rounds,
        "review.block_on": block_on,
        "review.quorum": quorum,
        "review.effort": effort,
        "checks.require": required,
        "limits.max_calls": max_calls,
        "limits.max_tokens": max_tokens,
        "limits.deadline_s": deadline,
    }
    _check_usage(author, no_commit=no_commit, rounds=max_rounds, until_agreement=until_agreement, context=context)
    request = ReviewRequest(
        repo=where.repo,
        flags=flags,
        worktree=worktree,
        rationale=rationale,
        author=author,
        commits=not no_commit,
        context=context,
    )
    session = Session.of(repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ)
    name = case_name("review", session.clock.now(), session.ids.token(4))
    try:
        plan = plan_review(
            request,
            folders=where.folders,
            environment=os.environ,
            snapshot_into=objects_of(where.make() if request.takes_worktree else where.cases, name),
        )
        for notice in plan.notices:
            tell(f"note: {notice}", colour="yellow")
        check_agents(session, plan)
        allowed = ask_leave(
            session,
            plan.repository,
            plan.settings,
            plan.seats,
            plan.docket.commands,
            author=plan.author,
            own_branch=True,
            trust_flag=trust_commands,
            consent_flags=consents,
        )
        where.make()
        open_review(session, plan, case=name, grants=allowed.grants)
    except BaseException:
        # Nobody has been asked yet: what lies there is no case.
        shutil.rmtree(where.cases / name, ignore_errors=True)
        raise
    _say_what(plan, name, worktree=request.takes_worktree)
    return run_to_its_end(session, where, name, allowed, as_json=as_json)


def _check_usage(author: str, *, no_commit: bool, rounds: int | None, until_agreement: bool, context: str) -> None:
    """Refuse flags that would do nothing."""
    if rounds is not None and until_agreement:
        raise click.UsageError("--max-rounds counts the rounds, and --until-agreement does not; give one of them")
    given = {
        "--no-commit": no_commit,
        "--max-rounds": rounds,
        "--until-agreement": until_agreement,
        "--context": context,
    }
    if not author and (idle := [flag for flag, value in given.items() if value]):
        raise click.UsageError(f"{', '.join(idle)} is about an author; name one with --author")


def _say_what(plan: ReviewPlan, name: str, *, worktree: bool) -> None:
    docket, count = plan.docket, len(plan.docket.paths)
    tell(f"case {name}")
    what = "the work tree, " if worktree else ""
    paths = "1 changed path" if count == 1 else f"{count} changed paths"
    tell(f"judging {what}{docket.candidate[:12]} against {docket.base[:12]}: {paths}")
    if plan.author:
        tell(f"author: {_reviewer(plan.settings, plan.author)}, {_how(plan)}")
    tell(f"reviewers: {', '.join(_reviewer(plan.settings, name) for name in plan.reviewers)}")
    _say_remarks(docket)


def _how(plan: ReviewPlan) -> str:
    most = plan.settings.review.max_rounds
    commits = "each answer a commit" if plan.terms.commits else "nothing is committed"
    if most:
        return f"{most} round{'s' if most > 1 else ''} at most, {commits}"
    calls = plan.settings.limits.max_calls
    return f"until they agree, nothing moves, or {calls} calls are spent, {commits}"


def _reviewer(settings: Settings, name: str) -> str:
    agent = settings.agents[name]
    about = [] if agent.kind == name else [agent.kind.value]
    about += [f"sends to {agent.destination}"] if agent.destination != LOCAL else []
    return f"{name} ({', '.join(about)})" if about else name


def _say_remarks(docket: Docket) -> None:
    for remark in docket.remarks[:_SHOWN_REMARKS]:
        tell(f"note: {remark}", colour="yellow")
    if len(docket.remarks) > _SHOWN_REMARKS:
        tell(f"note: and {len(docket.remarks) - _SHOWN_REMARKS} more; the report has them all", colour="yellow")
