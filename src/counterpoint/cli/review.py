"""`counterpoint review`: plan, ask leave, open, drive, print."""

import os
import re
import shutil
from typing import Any, Final

import click

from counterpoint.cli.allow import ask_leave
from counterpoint.cli.ending import run_to_its_end
from counterpoint.cli.manual import CASE_EXITS, Manual, json_option
from counterpoint.cli.output import tell
from counterpoint.cli.where import Where, where_options
from counterpoint.core.docket import Docket
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


@click.command(
    cls=Manual,
    exits=CASE_EXITS,
    examples=[
        ("counterpoint review", "the project's own checks judge the current branch"),
        ("counterpoint review --base origin/main --reviewer checks --reviewer critic", "with a reviewer of yours"),
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
@click.option("--worktree", is_flag=True, help="Judge the files as they lie instead of HEAD.")
@click.option("--rationale", default="", metavar="TEXT", help="Why the change was made; shown to every reviewer.")
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
    worktree: bool,
    rationale: str,
    trust_commands: bool,
    consents: tuple[str, ...],
    max_calls: int | None,
    max_tokens: int | None,
    deadline: int | None,
    as_json: bool,
) -> int:
    """Have reviewers judge the change between the merge base and HEAD.

    Every reviewer answers once and blind; the answers are revealed together, and the decision follows from findings,
    evidence and coverage. Nothing is committed, pushed or posted. A work tree that differs from HEAD is refused.
    """
    flags = {
        "review.base": base,
        "review.reviewers": reviewers,
        "limits.max_calls": max_calls,
        "limits.max_tokens": max_tokens,
        "limits.deadline_s": deadline,
    }
    request = ReviewRequest(repo=where.repo, flags=flags, worktree=worktree, rationale=rationale)
    session = Session.of(repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ)
    name = case_name("review", session.clock.now(), session.ids.token(4))
    try:
        plan = plan_review(
            request,
            folders=where.folders,
            environment=os.environ,
            snapshot_into=objects_of(where.make() if worktree else where.cases, name),
        )
        for notice in plan.notices:
            tell(f"note: {notice}", colour="yellow")
        check_agents(session, plan)
        allowed = ask_leave(
            session,
            plan.repository,
            plan.settings,
            plan.reviewers,
            plan.docket.commands,
            trust_flag=trust_commands,
            consent_flags=consents,
        )
        where.make()
        open_review(session, plan, case=name, grants=allowed.grants)
    except BaseException:
        # Nobody has been asked yet: what lies there is no case.
        shutil.rmtree(where.cases / name, ignore_errors=True)
        raise
    _say_what(plan, name, worktree=worktree)
    return run_to_its_end(session, where, name, allowed, as_json=as_json)


def _say_what(plan: ReviewPlan, name: str, *, worktree: bool) -> None:
    docket, count = plan.docket, len(plan.docket.paths)
    tell(f"case {name}")
    what = "the work tree, " if worktree else ""
    paths = "1 changed path" if count == 1 else f"{count} changed paths"
    tell(f"judging {what}{docket.candidate[:12]} against {docket.base[:12]}: {paths}")
    tell(f"reviewers: {', '.join(_reviewer(plan.settings, name) for name in plan.reviewers)}")
    _say_remarks(docket)


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
