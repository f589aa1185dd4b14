"""`counterpoint review`: plan, ask leave, open, drive, print."""

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import Any

import click

from counterpoint.cli.allow import ask_leave
from counterpoint.cli.ending import end_case, going_on
from counterpoint.cli.manual import CASE_EXITS, Manual, json_option
from counterpoint.cli.output import tell
from counterpoint.cli.watching import Watcher
from counterpoint.cli.where import Where, where_options
from counterpoint.drive.cases import case_name
from counterpoint.drive.planning import ReviewPlan, ReviewRequest, plan_review
from counterpoint.drive.running import Session, drive_review, objects_of, open_review

__all__ = ["review"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class _Seconds(click.ParamType[int]):
    """A length of time: `90`, `90s`, `10m`, `2h`, `1d`."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", str(value))
        if found is None:
            self.fail(f"{value!r} is not a length of time such as 90s, 10m or 2h", param, ctx)
        return int(found[1]) * _UNITS[found[2] or "s"]


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
@click.option("--base", metavar="REV", help="Compare with this.  [default: origin's default branch]")
@click.option(
    "--reviewer",
    "reviewers",
    multiple=True,
    metavar="NAME",
    help="Who reviews; repeat for several.  [default: checks]",
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
@click.option("--max-calls", type=click.IntRange(min=1), help="How many questions may be asked in all.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Stop asking once this many tokens are reported.")
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
    folder = where.cases / name
    try:
        plan = plan_review(
            request,
            folders=where.folders,
            environment=os.environ,
            snapshot_into=objects_of(where.make() if worktree else where.cases, name),
        )
        for notice in plan.notices:
            tell(f"note: {notice}", colour="yellow")
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
        _tidy(folder)
        raise
    _say_what(plan, name)
    with going_on(name):
        loaded = asyncio.run(drive_review(session, name, may_run=allowed.may_run, on_event=Watcher()))
    return end_case(loaded, as_json=as_json)


def _say_what(plan: ReviewPlan, name: str) -> None:
    docket = plan.docket
    tell(f"case {name}")
    tell(f"judging {docket.candidate[:12]} against {docket.base[:12]}: {len(docket.paths)} changed paths")
    tell(f"reviewers: {', '.join(plan.reviewers)}")


def _tidy(folder: Path) -> None:
    """Remove what a review that never opened has left."""
    if not list(folder.glob("*.channel.md")):
        shutil.rmtree(folder, ignore_errors=True)
