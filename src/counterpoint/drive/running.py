"""Driving a case that lies on disk: the lease, the seats' agents, the subject, and the loop.

Opening and resuming meet here: both end in `drive_case_on_disk`, which needs nothing but the case's name. What the
case is about follows from its docket, and whether a work tree is edited from its rules.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.entries import CaseOpened
from counterpoint.drive.api import rules_of
from counterpoint.drive.cases import HOME, LoadedCase, load_case, make_home
from counterpoint.drive.consent import Grant
from counterpoint.drive.document import KeptDocument, cases_on
from counterpoint.drive.driver import Driver
from counterpoint.drive.editing import Editing
from counterpoint.drive.ground import Ground, ground_of
from counterpoint.drive.kept import Voucher
from counterpoint.drive.lease import current_holder, hold_lease
from counterpoint.drive.leftovers import clear, folder_for, programs_of
from counterpoint.drive.lent import SOURCES, LentFiles
from counterpoint.drive.paths import disk_asked, path_text
from counterpoint.drive.plans import consent_of
from counterpoint.drive.progress import OnEvent, ignore_events
from counterpoint.drive.reviewed import ReviewedChange
from counterpoint.drive.seat_homes import remove_homes
from counterpoint.drive.seating import agents_of, check_agents, check_seats
from counterpoint.drive.session import Session
from counterpoint.drive.store import machine_key, open_store
from counterpoint.drive.subject import Subject, TextSubject
from counterpoint.errors import LeaseHeld
from counterpoint.isolation.repository import Repository
from counterpoint.record.store import Vault

__all__ = [
    "Session",
    "check_agents",
    "check_seats",
    "drive_case_on_disk",
    "driving",
    "keep_document_of_closed",
    "objects_of",
    "put_away_of_closed",
    "refuse_edited",
]

OBJECTS: Final = "objects"
"""In a case's folder: the objects of a working tree's snapshot, and of what its author edits."""
WORKTREE: Final = "work-tree"
"""Beside the cases of a work tree: the lease on editing it."""


def objects_of(cases: Path, case: str) -> Path:
    """Return where a case keeps the objects of a working tree's snapshot."""
    return cases / case / OBJECTS


@contextmanager
def driving(
    session: Session, case: str, *, may_run: bool, on_event: OnEvent = ignore_events, resume: str = ""
) -> Iterator[Driver[CaseState]]:
    """Hold the lease of an open case and lend its driver.

    Args:
        session: what this process drives with.
        case: its name.
        may_run: whether a person allows project commands to run in this run.
        on_event: called with what happens.
        resume: the command line that goes on with the case, for a person who is not there.

    Raises:
        LeaseHeld: another process drives it.
        ConfigError: a seat's agent is not what it was when the case was opened.
        SourceError: the repository has not what the case is about, or the disk refuses.
        RecordError: the record cannot be read.
    """
    store = open_store(session.cases, session.folders)
    lease = hold_lease(session.cases / case, case=case, now=session.clock.now())
    with disk_asked("the case cannot go on"), lease:
        opened = load_case(store, session.cases, case).state.case
        ground = ground_of(session, opened)
        check_seats(opened, ground.settings)
        clear(case)
        # The subject makes folders: only once nobody else edits here.
        with (
            _worktree_of(ground.repository, session, opened),
            _subject(session, opened, ground, store.vault(case), may_run=may_run) as subject,
            programs_of(case),
        ):
            resume = resume or f"counterpoint resume {case}"
            document = _document(session, opened, ground, resume=resume)
            driver = Driver(
                rules_of(opened.protocol),
                store,
                case,
                agents_of(
                    session,
                    opened,
                    ground,
                    resume=resume,
                    objects=objects_of(session.cases, case),
                ),
                subject,
                clock=session.clock,
                salt=lambda: session.ids.token(16),
                name=f"driver-{session.ids.token(8)}",
                on_event=on_event,
                voucher=_voucher(session, case),
                keep=document.keep if document is not None else None,
            )
            try:
                yield driver
            finally:
                driver.put_away()


def _voucher(session: Session, case: str) -> Voucher:
    return Voucher(case=case, signer=lambda: machine_key(session.folders))


@contextmanager
def _subject(
    session: Session, opened: CaseOpened, ground: Ground, vault: Vault, *, may_run: bool
) -> Iterator[Subject]:
    """Lend what a case is about: a change, words with files beside them, or words alone."""
    docket, terms = opened.docket, opened.terms
    if docket.is_about_change:
        with _change(session, opened, ground, vault, may_run=may_run) as change:
            yield change
    elif docket.tree or terms.sources:
        with LentFiles(
            folder=folder_for(opened.case),
            repository=ground.repository,
            tree=docket.tree,
            sources=session.cases / opened.case / SOURCES if terms.sources else None,
            digest=terms.sources,
        ) as files:
            yield files
    else:
        yield TextSubject(docket.text or docket.question)


def _change(session: Session, opened: CaseOpened, ground: Ground, vault: Vault, *, may_run: bool) -> ReviewedChange:
    folder, found = folder_for(opened.case), ground.repository
    assert found is not None, "a change lies in a repository"
    # What a killed driver leaves of its work on the files goes with this folder.
    repository = replace(found, scratch=folder)
    files = _editing(session, opened, vault, repository) if _holds_files(opened) else None
    return ReviewedChange(
        repository,
        opened.docket,
        folder=folder,
        objects=objects_of(session.cases, opened.case),
        checks=ground.settings.checks,
        environment=session.environment,
        may_run=may_run,
        clock=session.clock,
        ends=datetime.fromisoformat(opened.limits.deadline) if opened.limits.deadline else None,
        editing=files if _is_edited(opened) else None,
        watch=files.watch_as_they_lie if files is not None and not _is_edited(opened) else None,
    )


def _holds_files(opened: CaseOpened) -> bool:
    """Return whether what is judged lies in the work tree and nowhere else, or may be edited there."""
    return _is_edited(opened) or not opened.terms.commits


def _is_edited(opened: CaseOpened) -> bool:
    return rules_of(opened.protocol).edits(opened)


def _editing(session: Session, opened: CaseOpened, vault: Vault, repository: Repository) -> Editing:
    return Editing(
        repository,
        objects=objects_of(session.cases, opened.case),
        vault=vault,
        case=opened.case,
        base=opened.docket.base,
        commits=opened.terms.commits,
        now=session.clock.now,
        environment=session.environment,
        voucher=_voucher(session, opened.case),
    )


@contextmanager
def _worktree_of(repository: Repository | None, session: Session, opened: CaseOpened) -> Iterator[None]:
    """Keep another case that edits away from this work tree."""
    if repository is None or not _is_edited(opened):
        yield
        return
    folder = make_home(repository.top).parent / WORKTREE
    folder.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(hold_lease(folder, case=opened.case, now=session.clock.now()))
        except LeaseHeld as error:
            raise _edited_by(repository, error.holder, error.since) from None
        yield


def refuse_edited(repo: Path) -> None:
    """Refuse to judge a work tree, or to work in it, while an author of another case edits there.

    Raises:
        LeaseHeld: one does.
        SourceError: there is no repository.
    """
    repository = Repository.find(repo)
    if holder := current_holder(repository.top / HOME / WORKTREE):
        raise _edited_by(repository, holder.name, holder.since)


def _edited_by(repository: Repository, holder: str, since: str) -> LeaseHeld:
    return LeaseHeld(path_text(repository.top), holder=holder, since=since, is_worktree=True)


def put_away_of_closed(session: Session, case: str) -> str:
    """Keep what a killed driver's author left behind in a case that is closed, and put the work tree back.

    Return a line that says where it is kept, or "" where there was nothing, or somebody else edits there now.

    Raises:
        SourceError: git or the disk refuses.
        RecordError: the record cannot be read.
    """
    store = open_store(session.cases, session.folders)
    loaded = load_case(store, session.cases, case)
    opened = loaded.state.case
    if loaded.state.closed is None or not _is_edited(opened):
        return ""
    repository = Repository.find(session.repo)
    try:
        with hold_lease(loaded.folder, case=case, now=session.clock.now()), _worktree_of(repository, session, opened):
            return _editing(session, opened, store.vault(case), repository).put_away(lambda _turn: False)
    except LeaseHeld:
        return ""  # whoever drives it puts away by itself


def _document(session: Session, opened: CaseOpened, ground: Ground, *, resume: str) -> KeptDocument[CaseState] | None:
    """Return the file that the case was begun on; None where it was begun on none."""
    rules, docket = rules_of(opened.protocol), opened.docket
    if rules.document is None or not docket.paths:
        return None
    return KeptDocument(
        ground.folder / docket.paths[0].path,
        folder=session.cases / opened.case,
        rules=rules,
        store=open_store(session.cases, session.folders),
        case=opened.case,
        resume=resume,
    )


def keep_document_of_closed(session: Session, case: str, *, resume: str) -> str:
    """Bring the file that a closed case was begun on to where its record is.

    Return a line that says why it was left alone, where a newer case was begun on it since, or "".

    Raises:
        NeedsPerson: somebody has edited it; it is left as it is.
        RecordError: the record cannot be read, or the file not written.
    """
    store = open_store(session.cases, session.folders)
    opened = load_case(store, session.cases, case).state.case
    if rules_of(opened.protocol).document is None or not opened.docket.paths:
        return ""
    ground = ground_of(session, opened)
    path = ground.folder / opened.docket.paths[0].path
    all_on = cases_on(path, protocol=opened.protocol, folder=ground.folder, store=store, cases=session.cases)
    if (newest := next(all_on).name) != case:
        return f"{path_text(path)} holds the newer {opened.protocol} {newest}, and is left to it"
    document = _document(session, opened, ground, resume=resume)
    assert document is not None, "it has rules and a path for one"
    with hold_lease(session.cases / case, case=case, now=session.clock.now()):
        document.keep()
    return ""


async def drive_case_on_disk(
    session: Session,
    case: str,
    *,
    may_run: bool,
    grants: Sequence[Grant] = (),
    on_event: OnEvent = ignore_events,
    resume: str = "",
) -> LoadedCase:
    """Go on with a case until it is closed, and return it.

    Args:
        session: what this process drives with.
        case: its name.
        may_run: whether a person allows project commands to run in this run.
        grants: consents; those that the case does not know yet are recorded.
        on_event: called with what happens.
        resume: as for `driving`.

    Raises:
        NeedsPerson: it cannot go on before a person decides; everything so far is kept.
        CounterpointError: what `driving` raises, and what the record or the repository refuse.
    """
    with driving(session, case, may_run=may_run, on_event=on_event, resume=resume) as driver:
        await driver.record_consents([consent_of(grant) for grant in grants])
        await driver.run()
    loaded = load_case(open_store(session.cases, session.folders), session.cases, case)
    if loaded.state.closed is not None:
        remove_homes(session.environment, case)
    return loaded
