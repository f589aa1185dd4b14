"""`counterpoint demo`: a whole review on a small repository, with what can go wrong shown going wrong.

Everything is real: the repository, the driver, the record, the checks, the commit. Only the critic's opinion is a
script, and the author a short program.
"""

import asyncio
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.cli.manual import Manual, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.core.case import CaseState
from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.outcome import exit_code
from counterpoint.core.values import Turn
from counterpoint.core.wording import say_command
from counterpoint.drive.cases import case_name, load_case, make_home
from counterpoint.drive.demo import BRANCH, CRITIC, MENDER, TAMPERED, build_repository, build_settings
from counterpoint.drive.driver import Driver, Step
from counterpoint.drive.paths import Folders
from counterpoint.drive.planning import ReviewPlan, ReviewRequest, plan_review
from counterpoint.drive.plans import open_planned
from counterpoint.drive.progress import DriveEvent, EventKind
from counterpoint.drive.running import Session, check_agents, drive_case_on_disk, driving, objects_of
from counterpoint.drive.store import open_store
from counterpoint.drive.verifying import CHANNEL_FILE, verify_file
from counterpoint.errors import Corrupt, Refused, SourceError
from counterpoint.protocols.review import GiveVerdict
from counterpoint.views.report import headline
from counterpoint.views.writing import write_reports

__all__ = ["demo"]

EXITS: Final[Mapping[int, str]] = {
    0: "everything went as it should",
    1: "something did not, or it could not run",
    2: "the command line is wrong",
}
_EXPECTED_CODE: Final = 0
"""What the review of the demo's branch ends with: approved, once the author has answered."""
_SECOND_THOUGHT: Final = GiveVerdict(
    summary="On second thought it is fine.",
    findings=(),
    claims=(),
    response_to_rebuttal="",
    candidate=None,
    approved=True,
)


@click.command(
    cls=Manual,
    exits=EXITS,
    examples=[
        ("counterpoint demo", "in a new temporary folder"),
        ("counterpoint demo --dir here", "in the new folder `here`"),
    ],
)
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), metavar="DIR", help="A folder that is not there yet."
)
@click.option("--local", "with_local", is_flag=True, help="Let the small model on this machine read the branch, too.")
@json_option
def demo(*, folder: Path | None, with_local: bool, as_json: bool) -> int:
    """Run a whole review on a small repository: no key, no network, under a minute.

    Two reviewers judge a branch with a bug in it. One runs the project's tests; the other is a script that also says
    two things that are not true. An author mends the bug, its edit is committed, and they read again. Then one byte
    of a copy of the record is changed. Your own settings and state are not touched.
    """
    place = _new_folder(folder)
    told = _Teller(silent=as_json)
    result = _run(place, told, with_local=with_local)
    if as_json:
        print_json({"folder": str(place), **result})
    return 0 if all(value is True for key, value in result.items() if key.startswith("is_")) else 1


class _Teller:
    def __init__(self, *, silent: bool) -> None:
        self._silent = silent
        self._checked: list[str] = []
        self._answered: list[str] = []

    def __call__(self, text: str = "") -> None:
        if not self._silent:
            say(text)

    def event(self, event: DriveEvent) -> None:
        """Keep what happens side by side, to be told in an order that is the same every time."""
        if event.kind is EventKind.CHECKED:
            self._checked.append(event.text)
        elif event.kind in {EventKind.ANSWERED, EventKind.ATTEMPT_FAILED}:
            self._answered.append(f"{event.seat}: {event.text}")

    def forget_events(self) -> None:
        self._checked.clear()
        self._answered.clear()

    def tell_events(self) -> None:
        for line in (*sorted(self._checked), *sorted(self._answered)):
            self(f"   {line}")


def _new_folder(folder: Path | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="counterpoint-demo-"))
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise SourceError(
            f"{folder} cannot be made: {error.strerror}", hint="name a folder that is not there yet with --dir"
        ) from None
    return folder.absolute()


def _run(place: Path, told: _Teller, *, with_local: bool) -> dict[str, Any]:
    shop = place / "shop"
    folders = Folders(state=place / "state", config=place / "settings")
    build_repository(shop, os.environ)
    build_settings(folders.config)
    session = Session.of(repo=shop, cases=make_home(shop), folders=folders, environment=os.environ)
    model = _model_plan(session) if with_local else None
    case = case_name("review", session.clock.now(), session.ids.token(4))
    told(f"1. A small repository; its branch {BRANCH!r} has a bug in price.py")
    _open(session, case, told)
    told()
    told("2. Two reviewers judge the branch, neither seeing the other's answer")
    with driving(session, case, may_run=True, on_event=told.event) as driver:
        refused_by = asyncio.run(_drive(driver, _Scene(session=session, case=case, told=told)))
    loaded = load_case(open_store(session.cases, folders), session.cases, case)
    report, *_ = write_reports(loaded)
    named = _tamper(session, case, place / "tampered", told)
    said_by_model = {} if model is None else {"local": _ask_model(session, model, told)}
    _say_where(place, case, report, told, number=8 if model is None else 9)
    return {
        **said_by_model,
        "case": case,
        "refused_by": refused_by,
        "tampering_named_in": named,
        "is_decided_as_expected": exit_code(loaded.outcome) == _EXPECTED_CODE,
        "is_out_of_turn_refused": refused_by == "TURN-1",
        "is_claim_refuted": any(c.status is EvidenceStatus.REFUTED for c in loaded.state.claims),
        "is_finding_refuted": any(f.evidence is EvidenceStatus.REFUTED for f in loaded.state.ledger),
        "is_tampering_named": named > 0,
    }


def _open(session: Session, case: str, told: _Teller) -> None:
    plan = plan_review(
        ReviewRequest(repo=session.repo, flags={}, author=MENDER),
        folders=session.folders,
        environment={},
        snapshot_into=objects_of(session.cases, case),
    )
    open_planned(session, plan, case=case, grants=())
    judged = f"{plan.docket.candidate[:12]} against {plan.docket.base[:12]}"
    told(f"   judged: {judged}, by {' and '.join(plan.reviewers)}; {plan.author} answers")
    for command in plan.docket.commands:
        told(f"   found:  `{say_command(command.argv)}`, because {command.why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """A case while it is driven, and who tells of it."""

    session: Session
    case: str
    told: _Teller

    def look(self) -> CaseState:
        """Return what the record holds now."""
        session = self.session
        return load_case(open_store(session.cases, session.folders), session.cases, self.case).state

    def end(self) -> str:
        session = self.session
        return headline(load_case(open_store(session.cases, session.folders), session.cases, self.case))


async def _drive(driver: Driver[CaseState], scene: _Scene) -> str:
    """Drive to the end; in between, let the critic speak out of turn. Return the rule that refused it."""
    told = scene.told
    await driver.advance()
    told.tell_events()
    told()
    told("3. While every answer is sealed, the critic tries to take its answer back")
    turn = Turn(phase="reviewing", round=1, seat=CRITIC, ask=2, blind=True)
    rule = ""
    try:
        await driver.speak(CRITIC, _SECOND_THOUGHT, turn)
    except Refused as error:
        rule = error.rule
        told(f"   refused: {error}")
    await driver.advance()
    _show_reading(scene.look(), told)
    told()
    told("5. The author answers in the work tree; what it edited is committed, and nothing else is taken")
    while not scene.look().offers:
        await driver.advance()
    _show_answer(scene.look(), told)
    told()
    told("6. They read again: the new commit, their own findings, the answers")
    told.forget_events()
    while await driver.advance() is Step.AGAIN:
        pass
    told.tell_events()
    for finding in scene.look().ledger:
        told(f"   {finding.id} is {finding.status}: {finding.reason}")
    told(f"   {scene.end()}")
    return rule


def _show_reading(state: CaseState, told: _Teller) -> None:
    told()
    told("4. All answers are opened together; code looks at what they rest on")
    for claim in state.claims:
        told(f"   {claim.seat} says `{claim.command}` {'passes' if claim.says_passes else 'fails'}")
        told(f"      {claim.status}: {claim.detail}")
    for finding in state.ledger:
        told(f"   {finding.id} ({finding.severity}) at {finding.location}")
        told(f"      {finding.evidence}: {finding.detail}")


def _show_answer(state: CaseState, told: _Teller) -> None:
    for finding in state.ledger:
        answer = finding.answers[-1]
        told(f"   {finding.id}: {answer.disposition}, {answer.reasoning}")
    told(f"   committed: {', '.join(state.offers[-1].changed)}")


def _tamper(session: Session, case: str, copies: Path, told: _Teller) -> int:
    """Change one byte of a copy of the record; return the number of the entry that `verify` names."""
    before, after = TAMPERED
    told()
    told(f"7. In a copy of the record, one byte is changed: {before.decode()!r} becomes {after.decode()!r}")
    copies.mkdir()
    name = f"{case}{CHANNEL_FILE}"
    copy = copies / name
    shutil.copyfile(session.cases / case / name, copy)
    content = copy.read_bytes()
    copy.write_bytes(content.replace(before, after, 1))
    now = session.clock.now().isoformat(timespec="seconds")
    try:
        verify_file(copy, folders=session.folders, note=None, now=now)
    except Corrupt as error:
        told(f"   verify: MSG-{error.entry}: {error.reason}")
        return error.entry
    told("   verify found nothing")
    return 0


def _model_plan(session: Session) -> ReviewPlan:
    """Plan a review of the branch by the local model, before anything else happens.

    Raises:
        ConfigError: the model is not installed.
    """
    request = ReviewRequest(repo=session.repo, flags={"review.reviewers": ("local",)})
    plan = plan_review(request, folders=session.folders, environment={}, snapshot_into=session.cases)
    check_agents(session, plan)
    return plan


def _ask_model(session: Session, plan: ReviewPlan, told: _Teller) -> str:
    """Let the model read the branch with the bug; return what came of it, which nothing else hangs on."""
    told()
    told("8. A small model on this machine reads the same branch, for about a minute; do not expect judgement of it")
    case = case_name("review", session.clock.now(), session.ids.token(4))
    open_planned(session, plan, case=case, grants=())
    told.forget_events()
    loaded = asyncio.run(drive_case_on_disk(session, case, may_run=False, on_event=told.event))
    told.tell_events()
    for finding in loaded.state.ledger:
        told(f"   {finding.id} ({finding.severity}) at {finding.location}: {finding.issue}")
    told(f"   {headline(loaded)}")
    return headline(loaded)


def _say_where(place: Path, case: str, report: Path, told: _Teller, *, number: int) -> None:
    told()
    told(f"{number}. Everything lies in one folder; look around, then remove it")
    told(f"   {shlex.quote(str(report.relative_to(place)))}")
    told(f"   shop/.counterpoint/cases/{case}/{case}{CHANNEL_FILE}")
    told(f"   cd {shlex.quote(str(place / 'shop'))}")
    if shutil.which("counterpoint") is None:  # as after `make demo`, which starts it by its path
        told(f"   export PATH={shlex.quote(str(Path(sys.argv[0]).absolute().parent))}:$PATH")
    told("   export COUNTERPOINT_STATE=$PWD/../state COUNTERPOINT_CONFIG=$PWD/../settings")
    told("   counterpoint show last; counterpoint verify last; counterpoint review")
