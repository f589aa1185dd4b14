"""Kill a driver with SIGKILL before every write, rename, sync and agent call of a case, resume, and say what is left.

Run as a program: `python -m tests.crash.killed_drivers FOLDER FIRST STEP` prints one JSON line for each kill. It
imports everything once and forks for each run, so that a run costs milliseconds and a kill is a real one.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from counterpoint.agents.base import Agent, Progress, Reply, Workspace
from counterpoint.agents.checks import ChecksAgent
from counterpoint.core.briefs import Brief
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, LookUp, Purpose
from counterpoint.core.docket import ChangedPath, Docket, PathState, ProjectCommand
from counterpoint.core.entries import AttemptFailed
from counterpoint.drive.api import open_case, roster_of
from counterpoint.drive.cases import LoadedCase, list_cases, load_case
from counterpoint.drive.clock import ManualClock
from counterpoint.drive.driver import Driver
from counterpoint.drive.ids import CountedIds
from counterpoint.drive.lease import hold_lease
from counterpoint.drive.subject import TextSubject
from counterpoint.errors import CounterpointError
from counterpoint.protocols.review import REVIEW
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import Access, Folder, RealFiles
from counterpoint.record.heads import Heads
from counterpoint.record.signing import load_key, make_key

START = datetime(2026, 7, 6, 14, 7, 48, tzinfo=UTC)
DOCKET = Docket(
    question="Is it good?",
    candidate="c" * 40,
    base="b" * 40,
    paths=(ChangedPath(path="a.py", state=PathState.TEXT),),
    commands=(ProjectCommand(argv=("test",), purpose=Purpose.TEST, why="set by the test"),),
)
ANSWERS = {
    "one": [b"not JSON", b'{"summary": "s", "findings": [], "responseToRebuttal": "", "approved": true}'],
    "two": [
        (
            b'{"summary": "s", "findings": [{"id": "F1", "severity": "nit", "location": "all", "issue": "i", '
            b'"suggestion": "s", "status": "open"}], "responseToRebuttal": "", "approved": false}'
        )
    ],
}


class Killer:
    """Counts what it is told of and kills this process at one count."""

    def __init__(self, at: int | None) -> None:
        self.count = 0
        self._at = at

    def __call__(self) -> None:
        self.count += 1
        if self.count == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


class KillingFiles(RealFiles):
    """The real files, with a count before every operation that changes something."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self._killer = killer

    def open(self, folder: Folder, name: str, access: Access, mode: int = 0o600) -> int:
        if access is Access.NEW:
            self._killer()
        return super().open(folder, name, access, mode)

    def write(self, fd: int, content: bytes, offset: int | None = None) -> int:
        self._killer()
        return super().write(fd, content, offset)

    def truncate(self, fd: int, size: int) -> None:
        self._killer()
        super().truncate(fd, size)

    def sync(self, opened: int | Folder) -> None:
        self._killer()
        super().sync(opened)

    def rename(self, folder: Folder, name: str, to: str) -> None:
        self._killer()
        super().rename(folder, name, to)

    def unlink(self, folder: Folder, name: str) -> None:
        self._killer()
        super().unlink(folder, name)


class LoggedAgent(Agent):
    """Answers by the ask in its turn's id, and writes down that it was asked, and that it answered."""

    kind = "scripted"

    def __init__(self, seat: str, log: Path, killer: Killer) -> None:
        self._seat, self._log, self._killer = seat, log, killer

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        self._killer()
        _write(self._log, f"asked {self._seat}")
        answers = ANSWERS[self._seat]
        refused = "your_last_answer_was_not_accepted" in brief.payload
        was_bad = refused and "JSON" in str(brief.payload["your_last_answer_was_not_accepted"])
        self._killer()
        return Reply(content=answers[min(was_bad, len(answers) - 1)], model_requested="m", model_reported="m")


class LoggedSubject(TextSubject):
    """Every command passes; each run is written down."""

    def __init__(self, log: Path, killer: Killer) -> None:
        super().__init__("a change", shown_paths=("a.py",))
        self._log, self._killer = log, killer

    async def look_up(self, request: LookUp) -> Evidence:
        self._killer()
        if isinstance(request, CommandCheck):
            _write(self._log, "ran")
        return Evidence(request=request, status=EvidenceStatus.VERIFIED, detail="exit 0", exit_code=0)


def _write(log: Path, line: str) -> None:
    with log.open("a") as file:
        file.write(f"{line}\n")


def drive(folder: Path, killer: Killer) -> None:
    """Open a case in `folder` unless one is open, and drive it to its end."""
    store = open_store(folder, killer)
    log, clock, ids = folder / "log", ManualClock(START), CountedIds()
    seats: dict[str, Agent] = {seat: LoggedAgent(seat, log, killer) for seat in ANSWERS}
    seats["checks"] = ChecksAgent()
    cases = folder / "cases"
    name = opened_case(store, cases)
    if name is None:
        name = f"review-20260706t140748z-{len(list_cases(cases)):08x}"
        open_case(
            "review",
            DOCKET,
            roster_of(seats),
            store=store,
            clock=clock,
            ids=ids,
            keys=(SIGNER.public,),
            case=name,
        )
    driver = Driver(
        REVIEW,
        store,
        name,
        seats,
        LoggedSubject(log, killer),
        clock=clock,
        salt=lambda: os.urandom(16).hex(),
        name=f"driver-{os.getpid()}",
    )
    with hold_lease(cases / name, case=name, now=START):
        asyncio.run(driver.run())


SIGNER = load_key(make_key(bytes(32)), source="the test's key")


def open_store(folder: Path, killer: Killer) -> FileStore:
    files = KillingFiles(killer)
    (folder / "cases").mkdir(exist_ok=True)
    (folder / "state").mkdir(exist_ok=True, mode=0o700)
    heads = Heads(files, str(folder / "state" / "heads"))
    return FileStore(str(folder / "cases"), Layout.CASES, signer=lambda: SIGNER, heads=heads, fs=files)


def opened_case(store: FileStore, cases: Path) -> str | None:
    """Return the case that was opened whole; one that was killed before that is left where it lies."""
    for name in list_cases(cases):
        try:
            load_case(store, cases, name)
        except CounterpointError:
            continue
        return name
    return None


def summary(folder: Path) -> dict[str, Any]:
    """Return what became of a folder's case: entries without what may differ, outcome, and who was asked."""
    store = open_store(folder, Killer(None))
    name = opened_case(store, folder / "cases")
    assert name is not None, "no case was opened"
    verified = store.verify(name)
    loaded = load_case(store, folder / "cases", name)
    log = (folder / "log").read_text().split("\n") if (folder / "log").exists() else []
    return {
        "entries": _entries(loaded),
        "decision": loaded.outcome.decision,
        "stop": loaded.outcome.stop_reason,
        "verified": verified.n,
        "asked": sorted(line for line in log if line),
        "failed": [f"{f.turn.seat} {f.reason}" for f in loaded.state.failures],
        "turns": [s.turn.id for s in loaded.state.sealed.values()],
    }


def _entries(loaded: LoadedCase) -> list[str]:
    """Return each entry but failed attempts, in order of seat, without seals, salts and the count of asks."""
    kept = [e for e in loaded.entries if not isinstance(e, AttemptFailed)]
    sealing = sorted(_plain(e) for e in kept if type(e).__name__ == "SubmissionSealed")
    rest = [_plain(e) for e in kept if type(e).__name__ not in {"SubmissionSealed", "CaseOpened"}]
    return [*sealing, *rest]


def _plain(entry: Any) -> str:
    hidden = {"digest", "salt", "ask"} | ({"evidence"} if type(entry).__name__ == "SubmissionSealed" else set())
    turn = getattr(entry, "turn", None)
    fields = {k: getattr(entry, k) for k in entry.__dataclass_fields__ if k not in {*hidden, "turn"}}
    return f"{type(entry).__name__} {turn.seat if turn else ''} {fields}"


def forked(work: Callable[[], None]) -> int:
    """Do `work` in a child and return how it ended: 0, or minus the signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def main(folder: Path, first: int, step: int) -> None:
    plain = folder / "plain"
    plain.mkdir()
    assert forked(lambda: drive(plain, Killer(None))) == 0
    print(json.dumps({"at": 0, **summary(plain)}))
    at = first
    while True:
        place = folder / f"kill-{at}"
        place.mkdir()
        ended = forked(partial(drive, place, Killer(at)))
        if ended == 0:
            return
        assert ended == -signal.SIGKILL, ended
        assert forked(partial(drive, place, Killer(None))) == 0
        print(json.dumps({"at": at, **summary(place)}))
        at += step


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
