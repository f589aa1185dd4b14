"""Asking a person, on one screen, for what a run needs: agents, consent for each destination, trust in the commands.

Shared by every command that drives a case. Without a terminal nothing is asked: the run is refused with the flags
that answer.
"""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from counterpoint.cli.output import tell
from counterpoint.cli.where import find_where
from counterpoint.drive.answers import login_name
from counterpoint.drive.clock import format_stamp
from counterpoint.drive.consent import DEFAULT_LENGTH, ConsentBook, Grant, make_grant
from counterpoint.drive.paths import path_text
from counterpoint.drive.permission import Wanted, still_open
from counterpoint.drive.plans import Leave
from counterpoint.drive.questions import Answer, Subject, compose, needs_person, parse_answer
from counterpoint.drive.running import Session
from counterpoint.drive.trust import TrustBook
from counterpoint.errors import NeedsPerson

if TYPE_CHECKING:
    from counterpoint.drive.proposing import Proposal

__all__ = ["Allowed", "ask_leave", "can_ask"]

_FLAG_LENGTH = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What a person allows."""

    grants: tuple[Grant, ...]
    may_run: bool


def can_ask() -> bool:
    """Return whether somebody sits at a terminal and reads what is said."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_leave(
    session: Session,
    leave: Leave,
    *,
    trust_flag: bool,
    consent_flags: Sequence[str],
    proposal: "Proposal | None" = None,
) -> Allowed:
    """Return what is allowed, once everything that the run needs is.

    A yes to the agents of a `proposal` adds them to the person's own settings.

    Raises:
        NeedsPerson: something is not allowed, and nobody is there to ask, or a person said no.
    """
    asked, place = leave.wanted, leave.ground.place
    if proposal is not None:
        asked = replace(asked, proposed=proposal.asked)
        for remark in proposal.remarks:
            tell(f"note: {remark}", colour="yellow")
    _name_idle_consents(asked, consent_flags)
    grants = [*_kept(session, asked, place), *_flagged(session, asked, place, consent_flags)]
    trusted = trust_flag or _is_trusted(session, leave)
    missing = still_open(asked, repository=place, grants=grants, is_trusted=trusted)
    if missing.is_settled:
        return Allowed(grants=tuple(grants), may_run=trusted)
    if not can_ask():
        raise needs_person(missing, own_branch=leave.own_branch, place=_repo_option(session))
    allowed = Allowed(grants=tuple(grants), may_run=trusted)
    return _ask(session, leave, missing, allowed, proposal=proposal)


def _is_trusted(session: Session, leave: Leave) -> bool:
    """Return whether a kept answer covers this checkout; outside a repository there is none."""
    repository = leave.ground.repository
    if repository is None:
        return False
    book = TrustBook(session.folders.state)
    return book.find(repository.common_dir, own_branch=leave.own_branch) is not None


def _name_idle_consents(asked: Wanted, destinations: Sequence[str]) -> None:
    """Say which `--consent` covers nothing here, most likely because it is misspelt."""
    sends_to = [each.destination for each in asked.sending]
    for destination in destinations:
        if destination not in sends_to:
            listing = f"sends to {', '.join(sends_to)}" if sends_to else "sends nothing anywhere"
            tell(f"note: --consent {destination} covers nothing: this {asked.what} {listing}", colour="yellow")


def _repo_option(session: Session) -> str:
    """Return ` --repo DIR` where a command typed in the current folder would mean another repository."""
    is_here = find_where(None, None).repo == session.repo
    return "" if is_here else f" --repo {shlex.quote(str(session.repo))}"


def _kept(session: Session, asked: Wanted, place: str) -> list[Grant]:
    book = ConsentBook(session.folders.state)
    now = session.clock.now()
    found = [book.find(destination=s.destination, repository=place, scope=s.scope, now=now) for s in asked.sending]
    return [grant for grant in found if grant is not None]


def _flagged(session: Session, asked: Wanted, place: str, destinations: Sequence[str]) -> list[Grant]:
    """Return grants for this run alone, from `--consent`."""
    return [
        _grant(session, s.destination, asked, place, _FLAG_LENGTH)
        for s in asked.sending
        if s.destination in destinations
    ]


def _grant(session: Session, destination: str, asked: Wanted, place: str, length: timedelta) -> Grant:
    scope = next(s.scope for s in asked.sending if s.destination == destination)
    return make_grant(
        destination=destination,
        scope=scope,
        repository=place,
        by=login_name(),
        now=session.clock.now(),
        length=length,
        nonce=session.ids.token(16),
    )


def _ask(
    session: Session, leave: Leave, missing: Wanted, allowed: Allowed, *, proposal: "Proposal | None"
) -> Allowed:
    place, own_branch, repository = leave.ground.place, leave.own_branch, leave.ground.repository
    until = format_stamp(session.clock.now() + DEFAULT_LENGTH)
    settings_file = path_text(session.folders.settings_file)
    screen = compose(missing, repository=place, until=until, own_branch=own_branch, settings_file=settings_file)
    tell(screen.text)
    for question in screen.questions:
        if _answer(question.prompt) is not Answer.YES:
            raise NeedsPerson(
                f"{question.subject} was not given; nothing was sent and nothing was run",
                hint="run the command again when you are ready to answer",
            )
        if question.subject is Subject.AGENTS:
            assert proposal is not None, "nothing else is asked about"
            proposal.add(folders=session.folders, environment=session.environment)
        elif question.subject is Subject.CONSENT:
            grants = [_grant(session, s.destination, missing, place, DEFAULT_LENGTH) for s in missing.sending]
            for grant in grants:
                ConsentBook(session.folders.state).keep(grant)
            allowed = Allowed(grants=(*allowed.grants, *grants), may_run=allowed.may_run)
        else:
            if own_branch and repository is not None:  # what is said of a pull request holds for this run alone
                TrustBook(session.folders.state).keep(
                    repository.common_dir, by=login_name(), now=session.clock.now(), mark=session.ids.token(16)
                )
            allowed = Allowed(grants=allowed.grants, may_run=True)
    return allowed


def _answer(prompt: str) -> Answer:
    while True:
        click.echo(prompt, nl=False, err=True)
        line = sys.stdin.readline()
        answer = parse_answer(line or None)
        if answer is not None:
            return answer
        tell("y is yes, n or Enter is no, q ends the command")
