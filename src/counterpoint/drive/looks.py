"""What a doctor looks at whatever the case is about: agents, what a person has to allow, and what a plan comes to.

Nobody is asked, nothing is sent, no code of a repository runs, and nothing is kept.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from counterpoint.drive.consent import ConsentBook
from counterpoint.drive.paths import disk_asked, path_text
from counterpoint.drive.permission import Sending, Wanted, still_open
from counterpoint.drive.plans import CasePlan
from counterpoint.drive.probing import SignedIn
from counterpoint.drive.questions import SCOPE_OPTION
from counterpoint.drive.registry import Registry
from counterpoint.drive.session import Session
from counterpoint.drive.settings import Settings, how_to_add
from counterpoint.drive.surveying import Surveyed, survey
from counterpoint.drive.trust import TrustBook
from counterpoint.errors import CounterpointError
from counterpoint.frozen import dataclass
from counterpoint.isolation.removal import remove
from counterpoint.isolation.repository import Repository

__all__ = ["Check", "Looks", "scratch"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that a case needs."""

    name: str
    is_met: bool
    says: str
    hint: str = ""
    """What to do where it is not met."""


class Looks:
    """What was looked at so far, in its order.

    Args:
        session: what the case would be driven with.
        trust_flag: whether `--trust-commands` would be given.
        consent_flags: destinations that `--consent` would name.
    """

    def __init__(self, session: Session, *, trust_flag: bool, consent_flags: Sequence[str]) -> None:
        self.checks: list[Check] = []
        self._session = session
        self._trust_flag = trust_flag
        self._consent_flags = consent_flags

    def look(self, name: str, find: Callable[[], T], says: Callable[[T], str]) -> T | None:
        """Return what there is, or None; either is told."""
        try:
            found = find()
        except CounterpointError as error:
            self.add(name, is_met=False, says=str(error), hint=error.hint)
            return None
        self.add(name, is_met=True, says=says(found))
        return found

    def add(self, name: str, *, is_met: bool, says: str, hint: str = "") -> None:
        self.checks.append(Check(name=name, is_met=is_met, says=says, hint="" if is_met else hint))

    def forget_what_was_told(self) -> None:
        """Leave the newest out where another says the same."""
        if self.checks[-1].says in [each.says for each in self.checks[:-1]]:
            self.checks.pop()

    def look_at_agents(
        self, settings: Settings, names: Sequence[str], read_at_base: Callable[[str], bytes | None]
    ) -> tuple[str, ...]:
        """Look at each of these agents, and return those that there are."""
        names = tuple(dict.fromkeys(names))
        known = tuple(name for name in names if name in settings.agents)
        session = self._session
        registry = Registry(
            settings, read_at_base=read_at_base, environment=session.environment, resume="", drafts=session.cases
        )
        surveyed = {each.name: each for each in survey(settings, environment=session.environment, only=known)}
        for name in names:
            if name in surveyed:
                self._look_at_agent(surveyed[name], partial(registry.agent, name))
            else:
                self.add(f"agent {name}", is_met=False, says="there is no such agent", hint=how_to_add(name))
        return known

    def _look_at_agent(self, seen: Surveyed, build: Callable[[], object]) -> None:
        name = f"agent {seen.name}"
        try:
            build()
        except CounterpointError as error:
            self.add(name, is_met=False, says=str(error), hint=error.hint)
            return
        wrong = tuple(_wrong(seen))
        for says, hint in wrong:
            self.add(name, is_met=False, says=says, hint=hint)
        if not wrong:
            self.add(name, is_met=True, says=_describe(seen))

    def look_at_limits(self, planned: CasePlan) -> None:
        limits = planned.limits
        said = [f"{planned.calls} calls, each {limits.call_timeout_s} s"]
        said += [f"{limits.max_tokens} tokens"] if limits.max_tokens else []
        said += [f"{planned.deadline_s} s in all"] if planned.deadline_s else []
        self.add("limits", is_met=True, says=", ".join(said))

    def look_at_leave(self, asked: Wanted, *, place: Path, repository: Repository | None) -> None:
        """Look for the consent and the trust that are asked for."""
        state, now = self._session.folders.state, self._session.clock.now()
        try:
            kept = [each.grant for each in ConsentBook(state).grants() if not each.is_revoked]
            is_trusted = self._trust_flag or _is_trusted(state, repository)
        except CounterpointError as error:
            self.add("consent and trust", is_met=False, says=str(error), hint=error.hint)
            return
        grants = [grant for grant in kept if grant.is_valid(now)]
        missing = still_open(asked, repository=path_text(place.resolve()), grants=grants, is_trusted=is_trusted)
        for each in asked.sending:
            self._add_consent(each, is_met=each not in missing.sending or each.destination in self._consent_flags)
        if asked.running:
            count = f"{len(asked.running)} command{'s' if len(asked.running) > 1 else ''}"
            says = f"{count} may run unboxed" if is_trusted else f"nobody allowed {count} to run unboxed"
            hint = "run `counterpoint trust grant`, or pass --trust-commands"
            self.add("trust", is_met=is_trusted, says=says, hint=hint)

    def _add_consent(self, sending: Sending, *, is_met: bool) -> None:
        to = sending.destination
        says = f"{'may' if is_met else 'nobody allowed to'} send the {sending.scope} to {to}"
        hint = f"run `counterpoint consent grant {to}{SCOPE_OPTION[sending.scope]}`, or pass --consent {to}"
        self.add("consent", is_met=is_met, says=f"{says}, for {' and '.join(sending.agents)}", hint=hint)


def _is_trusted(state: Path, repository: Repository | None) -> bool:
    return repository is not None and TrustBook(state).find(repository.common_dir, own_branch=True) is not None


@contextmanager
def scratch() -> Iterator[Path]:
    """Lend a folder for what a plan writes; it is gone afterwards."""
    with disk_asked("the case cannot be prepared"):
        folder = Path(tempfile.mkdtemp(prefix="counterpoint-doctor-"))
    try:
        yield folder
    finally:
        remove(folder)


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
