"""Whether a review could start here and now: every thing that it needs, looked at by itself, with what to do.

Nobody is asked, nothing is sent, no code of the repository runs, and nothing is kept. What no single look covers, the
plan of the review itself finds at the end.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from counterpoint.drive.committed import read_at
from counterpoint.drive.config import load
from counterpoint.drive.consent import ConsentBook, Scope
from counterpoint.drive.ground import settings_here
from counterpoint.drive.paths import disk_asked, path_text
from counterpoint.drive.permission import Sending, still_open, wanted
from counterpoint.drive.planning import ReviewPlan, ReviewRequest, plan_review, refuse_dirty
from counterpoint.drive.probing import SignedIn
from counterpoint.drive.registry import Registry
from counterpoint.drive.running import Session
from counterpoint.drive.settings import LimitSettings, Settings, how_to_add
from counterpoint.drive.surveying import Surveyed, survey
from counterpoint.drive.trust import TrustBook
from counterpoint.errors import CounterpointError
from counterpoint.frozen import dataclass
from counterpoint.isolation.commits import Identity, identity_of
from counterpoint.isolation.removal import remove
from counterpoint.isolation.repository import Repository

__all__ = ["Check", "examine"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a review needs."""

    name: str
    is_met: bool
    says: str
    hint: str = ""
    """What to do where it is not met."""


def examine(
    session: Session, request: ReviewRequest, *, trust_flag: bool = False, consent_flags: Sequence[str] = ()
) -> tuple[Check, ...]:
    """Return everything that this review needs, met or not.

    Args:
        session: what it would be driven with.
        request: the review as it would be asked for.
        trust_flag: whether `--trust-commands` would be given.
        consent_flags: destinations that `--consent` would name.
    """
    found = _Examination(session, request)
    found.look()
    found.look_at_leave(trust_flag=trust_flag, consent_flags=consent_flags)
    return tuple(found.checks)


class _Examination:
    """The looks in their order; a look that needs what an earlier one did not find is left out."""

    def __init__(self, session: Session, request: ReviewRequest) -> None:
        self.checks: list[Check] = []
        self._session = session
        self._request = request
        self._repository: Repository | None = None
        self._settings: Settings | None = None
        self._known: tuple[str, ...] = ()
        """Who of the named agents there is, the author first."""
        self._plan: ReviewPlan | None = None

    def look(self) -> None:
        repository = self._repository = self._try("repository", lambda: Repository.find(self._request.repo), _top)
        if repository is None:
            return
        if not self._request.takes_worktree:
            self._try("work tree", lambda: refuse_dirty(repository), lambda _: "clean")
        if self._request.author and self._request.commits:
            self._try("identity", lambda: identity_of(repository, environ=self._session.environment), _who)
        self._settings, base = self._read_settings()
        if self._settings is not None:
            self._look_at_agents(self._settings, repository, base)
        self._look_at_plan()

    def look_at_leave(self, *, trust_flag: bool, consent_flags: Sequence[str]) -> None:
        """Look for consent and trust; which commands would run is known only where the review could be planned."""
        repository, settings, plan = self._repository, self._settings, self._plan
        if repository is None or settings is None:
            return
        parties, commands = (plan.seats, plan.docket.commands) if plan else (self._known, ())
        author = self._request.author
        asked = wanted(settings, parties, commands, author=author if author in parties else "")
        place, state = path_text(repository.top.resolve()), self._session.folders.state
        now = self._session.clock.now()
        try:
            kept = [each.grant for each in ConsentBook(state).grants() if not each.is_revoked]
            is_trusted = trust_flag or TrustBook(state).find(repository.common_dir, own_branch=True) is not None
        except CounterpointError as error:
            self._add("consent and trust", is_met=False, says=str(error), hint=error.hint)
            return
        grants = [grant for grant in kept if grant.is_valid(now)]
        missing = still_open(asked, repository=place, grants=grants, is_trusted=is_trusted)
        for each in asked.sending:
            self._add_consent(each, is_met=each not in missing.sending or each.destination in consent_flags)
        if asked.running:
            count = f"{len(asked.running)} command{'s' if len(asked.running) > 1 else ''}"
            says = f"{count} may run unboxed" if is_trusted else f"nobody allowed {count} to run unboxed"
            hint = "run `counterpoint trust grant`, or review with --trust-commands"
            self._add("trust", is_met=is_trusted, says=says, hint=hint)

    def _add_consent(self, sending: Sending, *, is_met: bool) -> None:
        to = sending.destination
        says = f"{'may' if is_met else 'nobody allowed to'} send the {sending.scope} to {to}"
        scope = " --scope tree" if sending.scope is Scope.TREE else ""
        hint = f"run `counterpoint consent grant {to}{scope}`, or review with --consent {to}"
        self._add("consent", is_met=is_met, says=f"{says}, for {' and '.join(sending.agents)}", hint=hint)

    def _read_settings(self) -> tuple[Settings | None, str]:
        """Return the settings of the review but for its reviewers, and the merge base."""
        session, flags = self._session, {**self._request.flags, "review.reviewers": None}

        def read() -> tuple[Settings, str]:
            # Why there is none, the plan says, too.
            files, _ = settings_here(
                self._request.repo, flags=flags, folders=session.folders, environment=session.environment
            )
            loaded = load(
                flags=flags,
                environment=session.environment,
                settings_file=session.folders.settings_file,
                repository=files,
            )
            return loaded.settings, files.commit if files else ""

        found = self._try("settings", read, lambda pair: f"valid at {pair[1][:12] or 'no merge base'}")
        return found or (None, "")

    def _look_at_agents(self, settings: Settings, repository: Repository, base: str) -> None:
        request, session = self._request, self._session
        named = request.flags.get("review.reviewers") or settings.review.reviewers
        assert isinstance(named, tuple), "reviewers are named in a tuple"
        names = tuple(dict.fromkeys([*([request.author] if request.author else []), *named]))
        self._known = tuple(name for name in names if name in settings.agents)
        registry = Registry(
            settings,
            read_at_base=partial(read_at, repository, base),
            environment=session.environment,
            resume="",
            drafts=session.cases,
        )
        surveyed = {each.name: each for each in survey(settings, environment=session.environment, only=self._known)}
        for name in names:
            if name not in surveyed:
                self._add(f"agent {name}", is_met=False, says="there is no such agent", hint=how_to_add(name))
                continue
            self._look_at_agent(surveyed[name], partial(registry.agent, name))

    def _look_at_agent(self, seen: Surveyed, build: Callable[[], object]) -> None:
        name = f"agent {seen.name}"
        try:
            build()
        except CounterpointError as error:
            self._add(name, is_met=False, says=str(error), hint=error.hint)
            return
        wrong = tuple(_wrong(seen))
        for says, hint in wrong:
            self._add(name, is_met=False, says=says, hint=hint)
        if not wrong:
            self._add(name, is_met=True, says=_describe(seen))

    def _look_at_plan(self) -> None:
        """Plan the review itself; what stops it and was told already is not told again."""
        session = self._session
        told = [each.says for each in self.checks]
        with _scratch() as folder:
            plan = partial(
                plan_review,
                self._request,
                folders=session.folders,
                environment=session.environment,
                snapshot_into=folder / "objects",
            )
            self._plan = self._try("change", plan, _what)
        if self.checks[-1].says in told:
            self.checks.pop()
        if self._plan is not None:
            self._add("limits", is_met=True, says=_limits(self._plan.settings.limits))

    def _try(self, name: str, look: Callable[[], T], says: Callable[[T], str]) -> T | None:
        try:
            found = look()
        except CounterpointError as error:
            self._add(name, is_met=False, says=str(error), hint=error.hint)
            return None
        self._add(name, is_met=True, says=says(found))
        return found

    def _add(self, name: str, *, is_met: bool, says: str, hint: str = "") -> None:
        self.checks.append(Check(name=name, is_met=is_met, says=says, hint="" if is_met else hint))


@contextmanager
def _scratch() -> Iterator[Path]:
    """Lend a folder for what a plan of the work tree writes; it is gone afterwards."""
    with disk_asked("the review cannot be prepared"):
        folder = Path(tempfile.mkdtemp(prefix="counterpoint-doctor-"))
    try:
        yield folder
    finally:
        remove(folder)


def _top(repository: Repository) -> str:
    return path_text(repository.top)


def _who(identity: Identity) -> str:
    return f"commits are made as {identity.name} <{identity.email}>"


def _what(plan: ReviewPlan) -> str:
    docket, count = plan.docket, len(plan.docket.paths)
    paths = f"{count} changed path{'' if count == 1 else 's'}"
    return f"{docket.candidate[:12]} against {docket.base[:12]}: {paths}"


def _limits(limits: LimitSettings) -> str:
    said = [f"{limits.max_calls} calls, each {limits.call_timeout_s} s"]
    said += [f"{limits.max_tokens} tokens"] if limits.max_tokens else []
    said += [f"{limits.deadline_s} s in all"] if limits.deadline_s else []
    return ", ".join(said)


def _wrong(seen: Surveyed) -> Iterator[tuple[str, str]]:
    """Yield why an agent cannot take a seat, each with what to do."""
    for fault in seen.faults:
        yield fault, "run it by hand to see why"
    for each in seen.drift:
        line = f"the line `{each.line}` of its profile no longer holds"
        hint = f"use version {seen.tried}, which the profile was tried with"
        yield f"{line}: the help of {seen.version or 'this version'} does not name {each.word}", hint
    if seen.signed_in is SignedIn.NO:
        says = f"{seen.how} is not set" if seen.how.isupper() else "it is not signed in"
        yield says, f"run `{seen.missing[-1]}`"


def _describe(seen: Surveyed) -> str:
    said = [seen.kind.value, *([seen.model] if seen.model else []), *([seen.version] if seen.version else [])]
    if seen.signed_in is SignedIn.YES:
        said.append(f"signed in by {seen.how}")
    if seen.signed_in is SignedIn.UNKNOWN:
        said.append("whether it is signed in cannot be seen from here")
    said += [seen.remark] if seen.remark else []
    said.append(f"sends to {seen.destination}" if seen.destination != "local" else "stays on this machine")
    return ", ".join(said)
