"""`counterpoint resume`: after a kill, an interruption, a wait for a person (DESIGN 6; FIELD-FAULTS F31, F43).

Each driver that is killed or interrupted here is a real process, stopped at a stated moment: its reviewer is at a
gate that the test holds.
"""

import signal

import pytest

from tests.processes import is_gone
from tests.reviewing import FINDING, Gate, Project, answer, wait_until_said

ALONE = "[review]\nreviewers = ['critic']\n"


@pytest.fixture
def gate(project: Project) -> Gate:
    """Return the gate at which the project's only reviewer waits before it approves; every call is counted."""
    project.begin()
    gate = project.gate()
    project.configure(ALONE + project.critic(f"echo >> {project.bin}/calls; {gate.wait}; cat $out"))
    return gate


def calls(project: Project) -> int:
    return len((project.bin / "calls").read_text().splitlines())


def gate_is_off(project: Project) -> None:
    """Let the reviewer answer without waiting from now on."""
    project.critic(f"echo >> {project.bin}/calls; cat $out")


def way_on(err: bytes) -> list[str]:
    """Return the command that an interrupted one named."""
    return err.decode().partition("go on with: counterpoint ")[2].splitlines()[0].split()


def attempts(result: dict[str, object]) -> list[str]:
    failed = result["failed_attempts"]
    assert isinstance(failed, list)
    return [attempt["reason"] for attempt in failed]


def test_after_kill_9_the_seat_is_asked_again_and_the_lost_question_is_counted(project: Project, gate: Gate) -> None:
    """F43: the case is free at once, nothing is doubled, the record verifies, and the budget knows of both calls."""
    driver = project.start("review")
    agent = gate.arrived()
    driver.send_signal(signal.SIGKILL)
    assert driver.wait(30) == -signal.SIGKILL
    driver.communicate()
    gate.open()
    assert is_gone(agent)
    gate_is_off(project)
    assert project.call("cases").out.splitlines()[1].split()[1] == "open"
    called = project.call("resume", "last", "--json")
    assert (called.code, called.json["decision"]) == (0, "approved")
    assert attempts(called.json) == ["driver_lost"]
    assert called.json["usage"]["calls"] == calls(project) == 2
    assert project.call("verify", "last").code == 0
    assert list(project.tmp.iterdir()) == []


def test_the_beginning_of_an_entry_that_a_crash_left_is_kept_aside(project: Project, gate: Gate) -> None:
    """SECURITY C.3: nobody was told of it. What was acknowledged is never cut off, however it ends."""
    driver = project.start("review")
    gate.arrived()
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    gate.open()
    gate_is_off(project)
    (case,) = project.cases
    (record,) = case.glob("*.channel.md")
    whole = record.read_bytes()
    record.write_bytes(whole[:-40])
    refused = project.call("resume", "last")
    assert (refused.code, record.read_bytes()) == (1, whole[:-40]), refused
    record.write_bytes(whole + b"\n## MSG-9 | 2026-")
    called = project.call("resume", "last", "--json")
    assert (called.code, called.json["decision"]) == (0, "approved"), called
    (torn,) = case.glob("*torn-*")
    assert torn.read_bytes().strip() == b"## MSG-9 | 2026-"
    assert project.call("verify", "last").code == 0


def test_after_kill_9_a_seat_that_had_answered_is_not_asked_again(project: Project, gate: Gate) -> None:
    """DESIGN 6: its answer is in the vault, whatever the driver had done with it."""
    counted = f"echo >> {project.bin}/quick-calls; cat $out"
    quick = project.critic(counted, says=answer(FINDING), name="quick")
    project.configure((project.config / "config.toml").read_text() + quick)
    driver = project.start("review", "--reviewer", "quick", "--reviewer", "critic")
    gate.arrived()
    wait_until_said(driver, "quick: answered")
    driver.send_signal(signal.SIGKILL)
    driver.communicate(timeout=30)
    gate.open()
    gate_is_off(project)
    called = project.call("resume", "last", "--json")
    assert (called.code, [finding["id"] for finding in called.json["findings"]]) == (3, ["quick-F1"])
    assert (project.bin / "quick-calls").read_text() == "\n"


def test_after_kill_9_in_the_middle_of_a_command_the_command_runs_again(project: Project) -> None:
    """The seat had answered which commands decide: no call is lost, and none is asked for again."""
    gate = project.gate()
    project.begin(test=f"test -e {project.bin}/killed || {{ {gate.wait}; exit 1; }}")
    driver = project.start("review", "--trust-commands")
    command = gate.arrived()
    driver.send_signal(signal.SIGKILL)
    driver.communicate(timeout=30)
    (project.bin / "killed").touch()
    assert project.call("resume", "last").code == 4
    called = project.call("resume", "last", "--trust-commands", "--json")
    assert (called.code, attempts(called.json), called.json["usage"]["calls"]) == (0, [], 1)
    assert is_gone(command)


def test_a_case_under_consent_goes_on_under_consent_alone(project: Project, gate: Gate) -> None:
    """What a flag granted for one run is not granted for the next; the case records each grant it ran under."""
    config = project.config / "config.toml"
    config.write_text(config.read_text().replace('destination = "local"', 'destination = "acme"'))
    driver = project.start("review", "--consent", "acme")
    gate.arrived()
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=30)
    gate_is_off(project)
    called = project.call("resume", "last")
    assert called.code == 4
    assert "consent to send the change under review to 'acme'" in called.err
    assert calls(project) == 1
    called = project.call("resume", "last", "--consent", "acme", "--json")
    assert (called.code, len({consent["digest"] for consent in called.json["consents"]})) == (0, 2)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_ends_everything_in_order(project: Project, gate: Gate, number: signal.Signals) -> None:
    """Exit 130 for Ctrl-C, for a scheduler's end and for a closed terminal alike; the line that goes on goes on."""
    driver = project.start("review", "--json")
    agent = gate.arrived()
    driver.send_signal(number)
    out, err = driver.communicate(timeout=30)
    assert driver.returncode == 130, err
    assert is_gone(agent)
    assert b"Traceback" not in err
    assert b'"code": "interrupted"' in out
    assert list(project.tmp.iterdir()) == []
    gate_is_off(project)
    called = project.call(*way_on(err), "--json")
    assert (called.code, attempts(called.json), called.json["usage"]["calls"]) == (0, ["interrupted"], 2)


def test_a_second_interruption_does_not_leave_anything_running(project: Project) -> None:
    """The reviewer ignores the request to end; whoever asks twice still leaves nothing behind."""
    project.begin()
    gate = project.gate()
    project.configure(ALONE + project.critic(f"trap '' TERM INT; {gate.wait}; while true; do sleep 1; done"))
    driver = project.start("review")
    agent = gate.arrived()
    gate.open()
    driver.send_signal(signal.SIGINT)
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=30)
    assert driver.returncode == 130, err
    assert b"Traceback" not in err
    assert is_gone(agent)
    assert list(project.tmp.iterdir()) == []


def test_while_one_process_drives_a_case_no_other_does(project: Project, gate: Gate) -> None:
    """Exit 1; the process is named; the case is free as soon as that has ended."""
    driver = project.start("review")
    gate.arrived()
    called = project.call("resume", "last")
    assert called.code == 1
    assert f"is driven by pid {driver.pid} on " in called.err
    assert "hint: wait for it, or end that process; the case is free at once then" in called.err
    gate.open()
    out, err = driver.communicate(timeout=30)
    assert driver.returncode == 0, err
    assert project.call("resume", "last").out == out.decode()


def test_a_closed_case_is_printed_and_left_as_it_is(project: Project) -> None:
    """Same words, same exit code, same bytes; no settings, no agent and no leave are needed."""
    project.begin(test="exit 1")
    first = project.review("--trust-commands")
    (case,) = project.cases
    before = {path.name: path.read_bytes() for path in case.iterdir() if path.is_file()}
    project.configure("this is no TOML")
    again = project.call("resume", "last")
    assert (again.code, again.out, again.err) == (first.code, first.out, "")
    assert {path.name: path.read_bytes() for path in case.iterdir() if path.is_file()} == before
    assert project.call("resume", "last", "--json").json["exit_code"] == 3


def _interrupted(project: Project, gate: Gate) -> None:
    driver = project.start("review")
    gate.arrived()
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=30)
    assert driver.returncode == 130


def test_an_agent_that_is_another_now_does_not_take_the_seat(project: Project, gate: Gate) -> None:
    """Consent and roster were for the agent of the opening; put back, as the hint says, the case goes on."""
    _interrupted(project, gate)
    config = project.config / "config.toml"
    kept = config.read_text()
    config.write_text(kept.replace('destination = "local"', 'destination = "acme"'))
    called = project.call("resume", "last")
    assert called.code == 1
    assert "agents.critic: expected the agent that the case was opened with: command, to local" in called.err
    assert "got 'command, to acme'" in called.err
    assert "hint: put the settings back, or withdraw the case and begin anew" in called.err
    config.write_text("")
    assert "got 'no such agent'" in project.call("resume", "last").err
    config.write_text(kept)
    gate_is_off(project)
    assert project.call("resume", "last").code == 0


def test_a_case_whose_objects_are_gone_waits_for_them(project: Project, gate: Gate) -> None:
    """The branch was removed and its objects collected: exit 1, no attempt is charged, no pass; back, it goes on."""
    _interrupted(project, gate)
    blob = project.git.loose(project.git.id("rev-parse", "HEAD:price.py"))
    away = blob.rename(project.bin / "blob")
    gate_is_off(project)
    called = project.call("resume", "last")
    assert called.code == 1
    assert "price.py" in called.err or blob.name in called.err
    away.rename(blob)
    called = project.call("resume", "last", "--json")
    assert called.code == 0
    assert called.json["usage"]["calls"] <= 3


def test_a_repository_that_is_gone_is_missed_by_an_open_case_only(project: Project, gate: Gate) -> None:
    """Cases can lie elsewhere (`--root`); a closed one needs no repository."""
    root = project.bin / "cases"
    driver = project.start("review", "--root", str(root))
    gate.arrived()
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=30)
    line = way_on(err)
    assert line[2:4] == ["--root", str(root)]
    gate_is_off(project)
    assert project.call(*line, "--repo", project.config).code == 1
    assert project.call(*line).code == 0
    assert project.call(*line, "--repo", project.config).code == 0


@pytest.mark.parametrize("code", [0, 130])
def test_a_case_of_another_machine_is_neither_driven_nor_taken_for_a_pass(
    project: Project, gate: Gate, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A repository can bring the files of an approved case; only what this machine signed is its own word."""
    if code:
        _interrupted(project, gate)
    else:
        gate_is_off(project)
        assert project.review().code == 0
    monkeypatch.setenv("COUNTERPOINT_STATE", str(project.bin / "another"))
    for _ in range(2):
        called = project.call("resume", "last")
        assert called.code == 1
        assert "was not begun on this machine" in called.err
        assert project.call("report", "last").code == 0
        assert project.call("trust", "grant").code == 0


def test_a_record_that_was_changed_is_not_gone_on_with(project: Project, gate: Gate) -> None:
    """The first thing is to verify it: one word of its text, and it is refused by the entry's name."""
    _interrupted(project, gate)
    (case,) = project.cases
    channel = case / f"{case.name}.channel.md"
    channel.write_bytes(channel.read_bytes().replace(b"good to merge", b"bad to merge!"))
    called = project.call("resume", "last")
    assert called.code == 1
    assert f"{case.name} MSG-1: " in called.err


def test_a_case_that_nobody_knows_is_exit_1(project: Project) -> None:
    """With the hint that lists them."""
    called = project.call("resume", "last", "--json")
    assert called.code == 1
    assert "hint" in called.json["error"]
