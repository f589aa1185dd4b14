"""Whether a case could start here and now: every thing that it needs, looked at by itself, with what to do.

What no single look covers, the plan of the case itself finds at the end.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from counterpoint.drive.committed import read_at
from counterpoint.drive.config import load
from counterpoint.drive.consent import Scope
from counterpoint.drive.ground import Ground, find_repository, settings_here
from counterpoint.drive.inquiry import Inquiry, ground_for, plan_inquiry, seated_in
from counterpoint.drive.looks import Check, Looks, scratch
from counterpoint.drive.paths import path_text
from counterpoint.drive.permission import Proposed, wanted
from counterpoint.drive.planning import ReviewPlan, ReviewRequest, plan_review, refuse_dirty
from counterpoint.drive.plans import CasePlan, check_opening
from counterpoint.drive.session import Session
from counterpoint.drive.settings import Settings
from counterpoint.isolation.commits import Identity, identity_of
from counterpoint.isolation.repository import Repository

__all__ = ["Check", "examine_inquiry", "examine_review"]


def examine_review(
    session: Session, request: ReviewRequest, *, trust_flag: bool = False, consent_flags: Sequence[str] = ()
) -> tuple[Check, ...]:
    """Return everything that this review needs, met or not.

    Args:
        session: what it would be driven with.
        request: the review as it would be asked for.
        trust_flag: whether `--trust-commands` would be given.
        consent_flags: destinations that `--consent` would name.
    """
    looks = Looks(session, trust_flag=trust_flag, consent_flags=consent_flags)
    repository = looks.look("repository", lambda: Repository.find(request.repo), _top)
    if repository is None:
        return tuple(looks.checks)
    if not request.takes_worktree:
        looks.look("work tree", lambda: refuse_dirty(repository), lambda _: "clean")
    if request.author and request.commits:
        looks.look("identity", lambda: identity_of(repository, environ=session.environment), _who)
    found = looks.look("settings", partial(_settings_of, session, request), _valid_at)
    settings, base = found or (None, "")
    known = _agents_of(looks, request, settings, repository, base) if settings is not None else ()
    with scratch() as folder:
        plan = partial(
            plan_review,
            request,
            folders=session.folders,
            environment=session.environment,
            snapshot_into=folder / "objects",
        )
        planned = looks.look("change", plan, _change)
    looks.forget_what_was_told()
    if planned is not None:
        looks.look_at_limits(planned)
    if settings is not None:
        # Which commands would run is known only where the review could be planned.
        parties, commands = (planned.seats, planned.docket.commands) if planned else (known, ())
        author = request.author if request.author in parties else ""
        asked = wanted(settings, parties, commands, author=author)
        looks.look_at_leave(asked, place=repository.top, repository=repository)
    return tuple(looks.checks)


def _settings_of(session: Session, request: ReviewRequest) -> tuple[Settings, str]:
    """Return the settings of the review but for its reviewers, and the merge base."""
    own, flags = session.folders, {**request.flags, "review.reviewers": None}
    # Why there is none, the plan says, too.
    files, _ = settings_here(request.repo, flags=flags, folders=own, environment=session.environment)
    loaded = load(flags=flags, environment=session.environment, settings_file=own.settings_file, repository=files)
    return loaded.settings, files.commit if files else ""


def _agents_of(
    looks: Looks, request: ReviewRequest, settings: Settings, repository: Repository, base: str
) -> tuple[str, ...]:
    """Look at whom the review names, the author first, and return those that there are."""
    named = request.flags.get("review.reviewers") or settings.review.reviewers
    assert isinstance(named, tuple), "reviewers are named in a tuple"
    names = [*([request.author] if request.author else []), *named]
    return looks.look_at_agents(settings, names, partial(read_at, repository, base))


def examine_inquiry(
    session: Session,
    inquiry: Inquiry,
    *,
    arrange: Callable[[CasePlan], CasePlan],
    trust_flag: bool = False,
    consent_flags: Sequence[str] = (),
) -> tuple[Check, ...]:
    """Return everything that a case about a question or a text needs, met or not.

    Args:
        session: what it would be driven with.
        inquiry: the case as it would be asked for.
        arrange: returns its plan as the command would have it.
        trust_flag: whether `--trust-commands` would be given.
        consent_flags: destinations that `--consent` would name.
    """
    looks = Looks(session, trust_flag=trust_flag, consent_flags=consent_flags)
    looks.look("repository", lambda: find_repository(inquiry.folder), _around)
    ground = looks.look("settings", partial(ground_for, inquiry, session), _valid_here)
    if ground is None:
        looks.forget_what_was_told()
        return tuple(looks.checks)
    named = [name for name in seated_in(inquiry, ground.settings) if name]
    known = looks.look_at_agents(ground.settings, named, ground.read)
    planned = None
    if len(known) == len(dict.fromkeys(named)):
        with scratch() as folder:
            planned = looks.look("case", partial(_planned, session, inquiry, folder, arrange), _case)
        looks.forget_what_was_told()
    if planned is not None:
        for each in planned.proposal.chosen if planned.proposal is not None else ():
            _look_at_proposed(looks, each)
        looks.look_at_limits(planned)
    asked = (
        planned.leave().wanted
        if planned is not None
        else wanted(ground.settings, known, (), least=Scope.TEXT, has_tree=inquiry.reads_tree)
    )
    looks.look_at_leave(asked, place=ground.folder, repository=ground.repository)
    return tuple(looks.checks)


def _planned(session: Session, inquiry: Inquiry, folder: Path, arrange: Callable[[CasePlan], CasePlan]) -> CasePlan:
    plan = arrange(plan_inquiry(inquiry, session=session, case_folder=lambda: folder))
    check_opening(session, plan)
    return plan


def _look_at_proposed(looks: Looks, each: Proposed) -> None:
    """Tell who would take a seat that nobody is named for: whoever nobody has set up has to be, first."""
    says = f"would take a seat: {each.why}"
    looks.add(f"agent {each.name}", is_met=not each.add, says=says, hint=f"run `{each.add}`, or name another")


def _top(repository: Repository) -> str:
    return path_text(repository.top)


def _around(repository: Repository | None) -> str:
    return "none around; nothing but words is read" if repository is None else _top(repository)


def _valid_at(found: tuple[Settings, str]) -> str:
    return f"valid at {found[1][:12] or 'no merge base'}"


def _valid_here(ground: Ground) -> str:
    return f"valid at {ground.base[:12]}" if ground.base else "valid, your own alone"


def _who(identity: Identity) -> str:
    return f"commits are made as {identity.name} <{identity.email}>"


def _change(plan: ReviewPlan) -> str:
    docket, count = plan.docket, len(plan.docket.paths)
    paths = f"{count} changed path{'' if count == 1 else 's'}"
    return f"{docket.candidate[:12]} against {docket.base[:12]}: {paths}"


def _case(plan: CasePlan) -> str:
    said = [f"{plan.protocol} of {', '.join(plan.seats)}"]
    said += [f"the files of {plan.docket.tree[:12]}"] if plan.docket.tree else []
    said += ["quotations are looked up in the sources"] if plan.terms.sources else []
    return "; ".join(said)
