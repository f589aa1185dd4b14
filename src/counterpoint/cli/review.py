"""`counterpoint review`: plan, ask leave, open, drive, print."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from counterpoint.cli.allow import Allowed, ask_leave, can_ask
from counterpoint.cli.ending import run_to_its_end
from counterpoint.cli.manual import CASE_EXITS, Manual, json_option
from counterpoint.cli.output import tell
from counterpoint.cli.review_options import Asked, review_options
from counterpoint.cli.where import Where, where_options
from counterpoint.core.canonical import visible
from counterpoint.core.docket import Docket
from counterpoint.drive.cases import case_name
from counterpoint.drive.planning import ReviewPlan, ReviewRequest, plan_review
from counterpoint.drive.plans import open_planned
from counterpoint.drive.pulls import bring_pull, find_pull
from counterpoint.drive.running import Session, check_agents, objects_of, refuse_edited
from counterpoint.drive.settings import LOCAL, Settings

if TYPE_CHECKING:
    from counterpoint.drive.proposing import Proposal

__all__ = ["review"]

_SHOWN_REMARKS: Final = 5


@click.command(
    cls=Manual,
    exits=CASE_EXITS,
    examples=[
        ("counterpoint review", "the project's own checks judge the current branch"),
        ("counterpoint review --base origin/main --reviewer checks --reviewer critic", "with a reviewer of yours"),
        ("counterpoint review --author claude --reviewer codex", "to agreement, a commit for each round"),
        ("counterpoint review 12 --reviewer codex", "a pull request; the outcome is one comment there"),
        ("counterpoint review --worktree", "judge the files as they lie, committed or not"),
        ("counterpoint review --reviewer codex --record ~/tape", "keep what was answered"),
        ("counterpoint review --reviewer codex --replay ~/tape", "the same again, without asking anybody"),
        ("counterpoint review --trust-commands --json", "in a pipeline: nobody is asked"),
    ],
)
@where_options
@review_options
@json_option
def review(*, where: Where, as_json: bool, **given: Any) -> int:
    """Have reviewers judge the change between the merge base and HEAD.

    Every reviewer answers blind; the answers are revealed together, and the decision follows from findings, evidence
    and coverage. Without --author that is all, and nothing is committed. With one, the author fixes or disputes each
    finding in the work tree, its edits are committed on the branch with the findings in the message, and the
    reviewers read again. Nothing is pushed, merged or approved. A work tree that differs from HEAD is refused.

    PR is the number of a pull request: it is checked out through `gh`, compared with its base, and the outcome is
    posted there as one comment. With --author, the open pull request of the current branch is looked for, too.
    """
    asked = Asked(**given)
    asked.check()
    refuse_edited(where.repo)
    if asked.taping is not None:
        asked.taping.check(where.repo)
    request = _request(where, asked)
    session = Session.of(
        repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ, taping=asked.taping
    )
    name = case_name("review", session.clock.now(), session.ids.token(4))
    try:
        plan, allowed = _open(session, where, asked, request, name)
    except BaseException:
        # Nobody has been asked yet: what lies there is no case.
        shutil.rmtree(where.cases / name, ignore_errors=True)
        raise
    _say_what(plan, name, worktree=request.takes_worktree)
    return run_to_its_end(session, where, name, allowed, as_json=as_json)


def _request(where: Where, asked: Asked) -> ReviewRequest:
    """Return what is to be reviewed, with the pull request brought here or found."""
    settings, pull = asked.settings, None
    if asked.pull is not None:
        pull, base = bring_pull(where.repo, asked.pull, os.environ)
        settings = {**settings, "review.base": asked.base or base}
    elif asked.commits and not asked.no_comment:
        pull = find_pull(where.repo, os.environ)
    return ReviewRequest(
        repo=where.repo,
        flags=settings,
        worktree=asked.worktree,
        rationale=asked.rationale,
        author=asked.author,
        commits=not asked.no_commit,
        context=asked.context,
        pull_request=pull.url if pull is not None else "",
        comments=pull is not None and not asked.no_comment,
    )


def _proposal(session: Session, request: ReviewRequest, reviewers: Sequence[str]) -> "Proposal | None":
    """Return those named agents that nobody has set up and that could be, where somebody is there to say so."""
    is_replay = session.taping is not None and session.taping.is_replay
    if is_replay or not can_ask():
        return None
    # What it takes to look for agents is loaded where one may be missing.
    from counterpoint.drive.proposing import propose_named  # noqa: PLC0415

    flags = {**request.flags, "review.reviewers": None}
    return propose_named(session, (request.author, *reviewers), flags=flags)


def _open(
    session: Session, where: Where, asked: Asked, request: ReviewRequest, name: str
) -> tuple[ReviewPlan, Allowed]:
    """Plan the review, ask for leave and write the beginning of the case."""
    proposal = _proposal(session, request, asked.reviewers)
    if proposal is not None:
        request = replace(request, proposed=proposal.tables)
    plan = plan_review(
        request,
        folders=session.folders,
        environment=os.environ,
        snapshot_into=objects_of(where.make() if request.takes_worktree else where.cases, name),
    )
    for notice in plan.notices:
        tell(f"note: {notice}", colour="yellow")
    check_agents(session, plan)
    allowed = ask_leave(
        session,
        plan.leave(own_branch=asked.pull is None),
        trust_flag=asked.trust_commands,
        consent_flags=asked.consents,
        proposal=proposal,
    )
    where.make()
    if session.taping is not None:
        session.taping.begin(plan.settings, plan.docket, plan.seats, name)
    open_planned(session, plan, case=name, grants=allowed.grants)
    return plan, allowed


def _say_what(plan: ReviewPlan, name: str, *, worktree: bool) -> None:
    docket, count = plan.docket, len(plan.docket.paths)
    tell(f"case {name}")
    what = "the work tree, " if worktree else ""
    paths = "1 changed path" if count == 1 else f"{count} changed paths"
    tell(f"judging {what}{docket.candidate[:12]} against {docket.base[:12]}: {paths}")
    if plan.author:
        tell(f"author: {_reviewer(plan.settings, plan.author)}, {_how(plan)}")
    if docket.pull_request:
        posted = "the outcome is posted there" if plan.terms.comments else "nothing is posted there"
        tell(f"pull request: {visible(docket.pull_request)}; {posted}")
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
