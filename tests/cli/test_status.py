"""`counterpoint status`: from another terminal, at any time, and without disturbing anybody."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.core.canonical import HIDDEN
from counterpoint.core.limits import Limits
from counterpoint.drive.lease import hold_lease
from counterpoint.drive.paths import find_folders
from counterpoint.drive.store import machine_key, open_store
from tests.command_line import call, keep
from tests.example_cases import CRITIC, Play
from tests.reviewing import BOUND_S, FINDING, Project, answer

FIXED: Final = answer({**FINDING, "status": "resolved", "reason": "It is right now."}, approved=True)
STANDS: Final = answer({**FINDING, "id": "F1", "reason": "It is wrong."})
REPLY: Final = json.dumps(
    {
        "summary": "Made it right",
        "dispositions": [{"finding": "F1", "disposition": "fix", "reasoning": "It was wrong."}],
        "changed": ["price.py"],
    }
)
REBUTTAL: Final = json.dumps(
    {
        "summary": "It is right",
        "dispositions": [{"finding": "critic-F1", "disposition": "rebut", "reasoning": "It is right."}],
        "changed": [],
    }
)
AGREE: Final = ("--author", "ana", "--reviewer", "critic", "--trust-commands")


def _begin(project: Project, before_editing: str = ":") -> None:
    """Have a reviewer who finds one bug, and an author who mends it after doing something else first."""
    project.begin()
    for key, value in (("user.name", "Ana"), ("user.email", "ana@example.org")):
        project.git.git("config", key, value)
    read = project.bin / "read"
    critic = project.critic(
        f"test -e {read} && cat {read} || {{ cat $out; cp {read}.next {read}; }}", says=answer(FINDING)
    )
    read.with_suffix(".next").write_text(FIXED)
    ana = project.critic(f"{before_editing}; echo x = 3 > price.py; cat $out", says=REPLY, name="ana")
    project.configure(critic + ana)


def _status(project: Project) -> tuple[str, Any]:
    return project.call("status", "last").out, project.call("status", "last", "--json").json


def _files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_a_review_is_seen_from_another_terminal_while_its_author_edits(project: Project) -> None:
    """Round, seats, who is awaited and until when, findings, spending, who drives; nothing is written (F17)."""
    gate = project.gate()
    _begin(project, gate.wait)
    driver = project.start("review", *AGREE)
    gate.arrived()
    before = _files(project.top / ".counterpoint")
    shown, found = _status(project)
    assert _files(project.top / ".counterpoint") == before
    gate.open()
    _, told = driver.communicate(timeout=BOUND_S)
    assert driver.returncode == 0, told

    lines = dict(line.split(":", 1) for line in shown.splitlines() if line[0] != " ")
    assert lines["round"].strip() == "1 of at most 3; the author answers"
    assert lines["pulse"].strip().startswith("at work: ana is awaited; the last entry is ")
    assert lines["moved"].strip() == "in the last reading, F1 was raised"
    assert lines["findings"].strip() == "1 major open"
    assert lines["driven by"].strip().startswith(f"pid {driver.pid} on {os.uname().nodename}, since ")
    assert "go on" not in lines
    seats = {seat["seat"]: seat for seat in found["seats"]}
    assert (seats["ana"]["state"], seats["critic"]["state"], seats["critic"]["approves"]) == (
        "asked",
        "answered",
        False,
    )
    asked = [datetime.fromisoformat(seats["ana"][key]) for key in ("since", "until")]
    assert (asked[1] - asked[0]).total_seconds() == 1800
    assert (found["pulse"], found["awaited"], found["late"], found["resume"]) == ("driven", ["ana"], [], None)
    assert (found["round"], found["max_rounds"], found["phase"]) == (1, 3, "answering")


def test_a_closed_case_shows_what_it_came_to(project: Project) -> None:
    """Its commits, what moved last, and how long it took: time stands still at its end."""
    _begin(project)
    done = project.review(*AGREE)
    assert done.code == 0, done
    shown, found = _status(project)
    commit = project.git.id("rev-parse", "HEAD")
    offer = {
        "round": 1,
        "previous": project.git.id("rev-parse", "HEAD~1"),
        "candidate": commit,
        "paths": ["price.py"],
    }
    assert found["candidate"] == {
        "id": commit,
        "base": project.git.id("rev-parse", "main"),
        "offers": [offer],
        "are_commits": True,
    }
    assert found["moved"] == [
        {
            "finding": "F1",
            "from": {"status": "open", "disposition": None},
            "to": {"status": "settled", "disposition": "fix"},
        }
    ]
    assert found["closed"] == {"decision": "approved", "stop_reason": "agreed"}
    assert found["findings"] == {
        "open": {"blocking": 0, "major": 0, "minor": 0, "nit": 0},
        "disputed": 0,
        "refuted": 0,
        "settled": 1,
        "deferred": 0,
        "block_on": "nit",
    }
    assert f"round 1: price.py, committed as {commit[:12]}" in shown
    assert "in the last reading, F1 was settled" in shown
    assert f"read it:   counterpoint report {found['case']}" in shown


def test_progress_is_one_line_after_each_reading_and_after_each_answer(project: Project) -> None:
    """Round, what is open by severity, tokens, who is awaited, what was committed; none ends in nothing (F17)."""
    _begin(project)
    told = [line.partition("] ")[2] for line in project.review(*AGREE).err.splitlines() if line.startswith("[")]
    commit = project.git.id("rev-parse", "HEAD")[:12]
    assert told == [
        "critic: asked",
        "critic: answered; sealed until all have",
        "round 1 of at most 3 read: 1 major open; tokens not reported; ana owes 1 answer",
        "ana: asked",
        "ana: answered",
        f"ana: committed 1 path as {commit}",
        "round 2 of at most 3: the edit of ana is read next; critic is awaited",
        "critic: asked",
        "critic: answered; sealed until all have",
    ]


def test_an_approver_stands_and_a_review_in_which_nothing_moves_is_seen(project: Project) -> None:
    """Stances are compared, never prose: another wording of the same dispute moves nothing (F17)."""
    project.begin()
    count = f"echo >> {project.bin}/count; n=$(wc -l < {project.bin}/count)"
    gate = project.gate()
    critic = project.critic(f'{count}; test $n = 3 && {{ {gate.wait}; }}; sed "s/wrong/wrong, $n/" $out', says=STANDS)
    ana = project.critic(f'{count}; sed "s/right/right, $n/" $out', says=REBUTTAL, name="ana")
    project.configure(critic + ana)
    for key, value in (("user.name", "Ana"), ("user.email", "ana@example.org")):
        project.git.git("config", key, value)
    driver = project.start("review", *AGREE, "--reviewer", "checks", "--until-agreement")
    gate.arrived()
    shown, found = _status(project)
    gate.open()
    driver.communicate(timeout=BOUND_S)
    assert driver.returncode == 3

    assert [(seat["seat"], seat["state"]) for seat in found["seats"]] == [
        ("ana", "waits"),
        ("critic", "asked"),
        ("checks", "stands"),
    ]
    assert "\nround:     2 (until they agree); the reviewers read\n" in shown
    assert "\nfindings:  1 major open; 1 disputed by the author\n" in shown
    shown, found = _status(project)
    assert found["closed"] == {"decision": "undetermined", "stop_reason": "stalled"}
    assert found["moved"] == []
    assert "\nmoved:     nothing, in the last reading\n" in shown


def test_a_case_whose_driver_was_killed_is_not_shown_as_live(project: Project) -> None:
    """It is stopped, says how to go on, and goes on (F43)."""
    _begin(project, f"test -e {project.bin}/killed || {{ touch {project.bin}/killed; kill -9 $PPID; exit 1; }}")
    assert project.run("review", *AGREE).code == -9
    project.sweep()
    shown, found = _status(project)
    assert (found["pulse"], found["driven_by"]) == ("stopped", None)
    assert found["resume"] == f"counterpoint resume {found['case']}"
    assert f"go on:     {found['resume']}\n" in shown
    assert "ana     author: owes an answer, and is not being asked\n" in shown
    assert project.call("resume", "last", "--trust-commands").code == 0
    assert _status(project)[1]["pulse"] == "closed"


def test_a_lease_cannot_add_a_line(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its text is for people, and anybody may have written it (SECURITY B.5)."""
    (name,) = keep(tmp_path, own_home, "open-and-waiting")
    with hold_lease(tmp_path / name, case=name, now=datetime(2024, 11, 30, 11, tzinfo=UTC)):
        lease = {"pid": 1, "host": "h\npulse: fine \x1b[2J", "start": "now\r\nround: 9"}
        (tmp_path / name / "lease").write_text(json.dumps(lease))
        shown = call(capsys, "status", name, "--root", tmp_path).out
    assert shown.endswith("\ndriven by: pid 1 on h\\npulse: fine \\u{1b}[2J, since now\\nround: 9\n")


@pytest.mark.parametrize("example", ["hostile", "rejected", "open-and-waiting", "failed", "deadline-passed"])
def test_no_control_character_of_a_record_reaches_the_terminal(
    example: str, tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor a line break: whatever seats and paths are called (SECURITY B.5)."""
    (name,) = keep(tmp_path, own_home, example)
    done = call(capsys, "status", name, "--root", tmp_path)
    assert (done.code, done.err, HIDDEN.findall(done.out)) == (0, "", [])
    labels = [line.split(":")[0] for line in done.out.splitlines() if line[0] != " "]
    assert labels[:3] == ["case", "round", "pulse"]
    assert set(labels) <= {"case", "round", "pulse", "moved", "seats", "findings", "candidate", "spent", "time"} | {
        "driven by",
        "go on",
        "read it",
    }


@pytest.mark.parametrize("until", ["0001-01-01T00:00:00+14:00", "0001-01-01T00:10:00+00:00", "2024-11-30T10:15:00"])
def test_a_claim_of_no_possible_time_is_a_question_without_one(
    until: str, tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Claims are a file that anybody may have written."""
    (name,) = keep(tmp_path, own_home, "open-and-waiting")
    claim = {"attempt": 1, "driver": "d", "turn": "reviewing.1.critic.2", "until": until}
    (tmp_path / name / f"{name}.claims").write_text(json.dumps(claim, separators=(",", ":")) + "\n")
    with hold_lease(tmp_path / name, case=name, now=datetime(2024, 11, 30, 11, tzinfo=UTC)):
        done = call(capsys, "status", name, "--root", tmp_path, "--json")
        assert call(capsys, "status", name, "--root", tmp_path).code == 0
    (seat,) = (seat for seat in done.json["seats"] if seat["seat"] == "critic")
    assert (seat["state"], seat["since"]) == ("asked", None)


def test_a_driver_that_lets_a_call_run_on_is_called_late(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And one that has asked nobody yet is not (F17: a long review is told from a wedged one)."""
    (name,) = keep(tmp_path, own_home, "open-and-waiting")
    claim = {"attempt": 1, "driver": "d", "turn": "reviewing.1.critic.2", "until": "2024-11-30T11:00:00+00:00"}
    with hold_lease(tmp_path / name, case=name, now=datetime(2024, 11, 30, 10, tzinfo=UTC)):
        between = call(capsys, "status", name, "--root", tmp_path).out
        (tmp_path / name / f"{name}.claims").write_text(json.dumps(claim, separators=(",", ":")) + "\n")
        late = call(capsys, "status", name, "--root", tmp_path).out
    assert "\npulse:     at work between two questions; the last entry is " in between
    assert "\npulse:     late: the time of critic is over, and the driver still waits; the last entry is " in late
    assert (
        "(2024-11-30T10:30:00+00:00), may take until 2024-11-30T11:00:00+00:00; gave no valid answer once\n" in late
    )


def test_the_object_has_the_same_keys_in_every_case(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program need not ask what is there (issue 3 point 6)."""
    names = keep(tmp_path, own_home, "approved", "failed", "budget-spent", "withdrawn", "open-and-waiting", "hostile")
    shapes = {json.dumps(_shape(call(capsys, "status", n, "--root", tmp_path, "--json").json)) for n in names}
    assert len(shapes) == 1


def _shape(value: Any) -> Any:
    """Return the keys of an object, and those of the objects that always stand in it."""
    fixed = ("findings", "candidate", "spent", "last_entry")
    return {key: sorted(value[key]) if key in fixed else None for key in sorted(value)}


def test_a_deadline_that_has_passed_is_said(
    tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody drives it, and whoever goes on with it ends it: both are said before anybody does."""
    folders = find_folders({"HOME": str(own_home)})
    limits = Limits(deadline="2024-11-30T11:00:00+00:00")
    key = machine_key(folders).public
    name = Play(open_store(tmp_path, folders), roster=(CRITIC,), limits=limits, keys=(key,)).name
    shown = call(capsys, "status", name, "--root", tmp_path).out
    assert "; deadline 2024-11-30T11:00:00+00:00, which has passed\n" in shown
    assert f"\ngo on:     counterpoint resume {name} --root {tmp_path}\n           it ends the case" in shown
    assert call(capsys, "status", name, "--root", tmp_path, "--json").json["deadline_passed"] is True


def test_a_case_that_is_not_there_is_named(project: Project) -> None:
    """Exit 1, as every command that reads."""
    done = project.call("status", "last")
    assert done.code == 1
    assert "no case 'last'" in done.err
