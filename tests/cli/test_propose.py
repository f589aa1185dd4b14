"""`counterpoint propose` through the whole command line: who answers, what ends it, what is left.

Sources: SPEC A-01 to A-03, A-22, A-29, A-43 to A-46, A-57; issue 6.
"""

import json
import os
import signal
import stat

import pytest

from tests.agents.fake_api import FakeApi
from tests.agents.fake_script import Answer, Question
from tests.agents.models import KEY
from tests.proposing_seats import NEED, answer_of, program_of, result
from tests.reviewing import Project
from tests.terminals import CTRL_C

PAIR = ("--provider", "openai", "--model", "gpt-5.5", "--reasoning-effort", "high", "--api-key-env", "PAIR_KEY")


def asked(project: Project) -> list[str]:
    return (project.bin / "asked").read_text().splitlines()


def seats(project: Project, **first: str) -> None:
    """Set up a proposer and a critic that are programs; `first` is what one does before it answers."""
    names = ("ana", "ben")
    project.configure("\n".join(program_of(project.bin, name, first=first.get(name, "")) for name in names))


def once_in_a_review(project: Project, does: str) -> str:
    """Return what a seat does the first time that it is asked for a review."""
    done = repr(str(project.bin / "done"))
    return f"if phase == 'review' and not os.path.exists({done}):\n    open({done}, 'w').close()\n    {does}\n"


NAMED = ("--proposer", "ana", "--critic", "ben")


def test_the_demo_is_two_rounds_of_five_scripted_calls(project: Project) -> None:
    """A-46: no model is called, nothing has to be set up, and the record verifies."""
    called = project.call("propose", "--demo")
    assert called.code == 0, called
    found = result(project)
    assert (found["demo"], found["actual_model_calls"], found["usage"]["calls"]) == (True, 0, 5)
    assert (found["rounds_completed"], found["decision"]) == (2, "ready_to_validate")
    assert found["config"]["config_source"] == "demo"
    assert project.call("verify", "last").code == 0


@pytest.mark.parametrize(
    "extra",
    [
        (NEED,),
        ("--question-file", "q"),
        ("--context-file", "c"),
        ("--model", "m"),
        ("--provider", "openai"),
        ("--critic", "ben"),
        ("--proposer", "ana"),
        ("--tree",),
    ],
)
def test_the_demo_takes_no_question_no_context_and_no_model(project: Project, extra: tuple[str, ...]) -> None:
    """A-46."""
    called = project.call("propose", "--demo", *extra)
    assert called.code == 1
    assert "--demo is always the same" in called.err
    assert not project.cases


def test_two_programs_come_to_agreement_in_two_rounds(project: Project) -> None:
    """Issue 6: with `command` agents; the three reports lie in the case's folder."""
    seats(project)
    called = project.call("propose", NEED, *NAMED)
    assert called.code == 0, called
    assert sorted(asked(project)) == ["ana open", "ana revise", "ben open", "ben review", "ben review"]
    found = result(project)
    assert (found["status"], found["stop_reason"], found["exit_code"]) == ("completed", "converged", 0)
    assert [(i["id"], i["status"]) for i in found["issues"]] == [("I1", "resolved")]
    assert found["config"]["config_source"] == "explicit"
    assert (project.cases[-1] / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert project.call("verify", "last").code == 0


def test_several_critics_have_the_ledger_apart(project: Project) -> None:
    """Issue 6: ids begin with the seat, and agreement needs each of them."""
    project.configure("\n".join(program_of(project.bin, name) for name in ("ana", "ben", "cy")))
    called = project.call("propose", NEED, *NAMED, "--critic", "cy")
    assert called.code == 0, called
    assert [(i["id"], i["status"]) for i in result(project)["issues"]] == [
        ("ben-I1", "resolved"),
        ("cy-I1", "resolved"),
    ]


def test_one_pair_of_flags_fills_both_seats_behind_an_api(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A-01, A-03, A-43: one model and one effort in five requests, as given; no key is kept."""
    monkeypatch.setenv("PAIR_KEY", KEY)
    with FakeApi(answer_of) as api:
        called = project.call("propose", NEED, *PAIR, "--base-url", f"{api.url}/v1")
        api.idle()
    assert called.code == 0, called
    assert [(r.body["model"], r.body["reasoning"]) for r in api.requests] == [("gpt-5.5", {"effort": "high"})] * 5
    assert {r.body.get("max_output_tokens") for r in api.requests} == {12_000}
    found = result(project)
    assert (found["config"]["config_source"], found["config"]["model"]) == ("explicit", "gpt-5.5")
    assert found["model_identity"]["consistent"] is True
    assert KEY not in "".join(
        path.read_text("utf-8", "replace") for path in project.cases[-1].rglob("*") if path.is_file()
    )


def test_a_killed_run_goes_on_without_asking_whoever_has_answered(project: Project) -> None:
    """A-57: kill -9 in the first review; the openings are not asked again, and what was lost is counted."""
    once = once_in_a_review(project, "os.kill(os.getppid(), signal.SIGKILL)")
    seats(project, ben=once)
    driver = project.start("propose", NEED, *NAMED)
    assert driver.wait(30) == -signal.SIGKILL
    driver.communicate()
    project.sweep()
    called = project.call("resume", "last")
    assert called.code == 0, called
    assert sorted(asked(project)) == ["ana open", "ana revise", "ben open", *["ben review"] * 3]
    found = result(project)
    assert (found["decision"], found["usage"]["calls"], found["usage"]["failed_calls"]) == ("ready_to_validate", 6, 1)


def test_a_pair_goes_on_after_a_kill_with_exactly_what_it_was_given(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-01, A-57: the case holds the pair, without a key; settings and profile may say what they like meanwhile."""
    monkeypatch.setenv("PAIR_KEY", KEY)
    drivers: list[int] = []

    def answer(question: Question) -> Answer:
        if "your_issues" in json.dumps(question.body) and drivers:
            os.kill(drivers.pop(), signal.SIGKILL)
        return answer_of(question)

    with FakeApi(answer) as api:
        begun = project.start("propose", NEED, *PAIR, "--base-url", f"{api.url}/v1")
        drivers.append(begun.pid)
        assert begun.wait(30) == -signal.SIGKILL
        begun.communicate()
        project.sweep()
        project.configure('[agents.proposer]\nkind = "human"\n[propose]\nmax_rounds = 1\n')
        called = project.call("resume", "last")
        api.idle()
    assert called.code == 0, called
    assert {request.body["model"] for request in api.requests} == {"gpt-5.5"}
    assert (len(api.requests), result(project)["usage"]["calls"]) == (6, 6)


def test_a_recorded_case_is_played_again_without_asking_anybody(project: Project) -> None:
    """Issue 5: a cassette holds any case; what it comes to is the same."""
    seats(project)
    assert project.call("propose", NEED, *NAMED, "--record", str(project.bin / "tape")).code == 0
    first, calls = result(project), len(asked(project))
    assert project.call("propose", NEED, *NAMED, "--replay", str(project.bin / "tape")).code == 0
    again = result(project)
    assert len(asked(project)) == calls
    assert again["run_id"] != first["run_id"]
    assert {key: again[key] for key in ("issues", "proposal", "decision")} == {
        key: first[key] for key in ("issues", "proposal", "decision")
    }


def test_ctrl_c_leaves_a_partial_report_and_goes_on(project: Project) -> None:
    """A-29: exit 130, the call is named as interrupted with its usage unknown; the case can be resumed."""
    seats(project, ben=once_in_a_review(project, "signal.pause()"))
    with project.sit("propose", NEED, *NAMED, "--out", "plan") as terminal:
        terminal.wait_for("version 1, of ana, is on the table")
        terminal.wait_for("ben: asked")
        terminal.type(CTRL_C)
        code, shown = terminal.end()
    assert code == 130, shown
    found = json.loads((project.top / "plan" / "result.json").read_text("utf-8"))
    assert (found["status"], found["stop_reason"], found["finished_at"]) == ("partial", "cancelled", None)
    assert found["proposal"]["version"] == 1
    assert [call["status"] for call in found["calls"]] == ["completed", "completed", "interrupted"]
    (project.bin / "done").touch()
    assert project.call("resume", "last").code == 0


def test_a_person_at_the_terminal_criticises_what_a_program_proposes(project: Project) -> None:
    """Issue 6: mixed with a person; who asks somebody else first ends it with the question."""
    seats(project)
    with project.sit("propose", NEED, "--proposer", "ana", "--critic", "human") as terminal:
        for question, keys in (
            ("needs_clarification (y/n): ", "y\n"),
            ("clarification_questions: 0 so far. Add one? [y/N] ", "y\n"),
            ("clarification_questions 1: ", "Which formats?\n"),
            ("clarification_questions: 1 so far. Add one? [y/N] ", "\n"),
            ("success_criteria: 0 so far. Add one? [y/N] ", "\n"),
            ("risk_areas: 0 so far. Add one? [y/N] ", "\n"),
            ("public_summary: ", "I have to know.\n"),
            ("Send this? [Y/n] ", "\n"),
        ):
            terminal.wait_for(question)
            terminal.type(keys)
        code, shown = terminal.end()
    assert code == 2, shown
    assert result(project)["clarification_questions"] == ["Which formats?"]


def test_a_person_at_the_terminal_accepts_what_a_program_proposes(project: Project) -> None:
    """Issue 6: to its end, through both stages of a critic; Enter is enough for what is empty."""
    seats(project)
    empty, send = ("0 so far. Add one? [y/N] ", "\n"), ("Send this? [Y/n] ", "\n")
    steps = (
        ("needs_clarification (y/n): ", "n\n"),
        *[empty] * 3,
        ("public_summary: ", "I see none.\n"),
        send,
        ("q skips -- ", "q\n"),
        *[empty] * 4,
        ("public_summary: ", "It can be built.\n"),
        ("assessment", "accept\n"),
        send,
    )
    with project.sit("propose", NEED, "--proposer", "ana", "--critic", "human", "--max-rounds", "1") as terminal:
        for question, keys in steps:
            terminal.wait_for(question)
            terminal.type(keys)
        code, shown = terminal.end()
    assert code == 0, shown
    found = result(project)
    assert (found["stop_reason"], found["decision"]) == ("converged", "ready_to_validate")
    assert found["last_review"]["public_summary"] == "It can be built."


# --- what ends it at once


@pytest.mark.parametrize(
    ("question", "code", "stop"), [(" ", 2, "needs_clarification"), ("x" * 64_001, 3, "input_limit")]
)
def test_what_ends_it_at_once_needs_no_agent_and_no_consent(
    project: Project, question: str, code: int, stop: str
) -> None:
    """A-22: zero calls, a record and a report; nothing is set up here."""
    (project.top / "need.md").write_text(question)
    called = project.call("propose", "--question-file", "need.md")
    assert called.code == code, called
    found = result(project)
    assert (found["stop_reason"], found["usage"]["calls"]) == (stop, 0)
    assert project.call("verify", "last").code == 0


# --- where the reports go


def test_reports_go_to_a_folder_that_nobody_else_reads_and_replace_nothing(project: Project) -> None:
    """A-45: 0700 and 0600; what lies there, a link too, is replaced only with --overwrite, and not followed."""
    out = project.top / "plan"
    assert project.call("propose", "--demo", "--out", "plan").code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    names = ["report.html", "report.md", "result.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o600}
    cases = len(project.cases)
    assert "a folder without reports" in project.call("propose", "--demo", "--out", "plan").err
    assert len(project.cases) == cases
    kept = project.top / "kept.md"
    kept.write_text("mine")
    (out / "report.md").unlink()
    (out / "report.md").symlink_to(kept)
    assert project.call("propose", "--demo", "--out", "plan").code == 1
    assert project.call("propose", "--demo", "--out", "plan", "--overwrite").code == 0
    assert kept.read_text() == "mine"
    assert not (out / "report.md").is_symlink()


def test_a_folder_that_cannot_be_written_is_refused_before_anybody_is_asked(project: Project) -> None:
    """A-45."""
    seats(project)
    (project.top / "file").write_text("")
    called = project.call("propose", NEED, *NAMED, "--out", "file/plan")
    assert called.code == 1
    assert "--out: expected a folder that can be written" in called.err
    assert not (project.bin / "asked").exists()


def test_quiet_tells_nothing_while_it_goes_on(project: Project) -> None:
    """A-43: the result is printed all the same."""
    called = project.call("propose", "--demo", "--quiet")
    assert (called.code, called.err) == (0, "")
    assert called.out.startswith("Ready to validate")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "neither was given"),
        ((NEED, "--question-file", "q"), "both were given"),
        ((NEED, "--overwrite"), "--overwrite is about the folder of --out"),
        ((NEED, "--max-duration", "7201"), "--max-duration is 7201 s; 7200 s are possible"),
        ((NEED, "--max-rounds", "13"), "13 is not in the range"),
        ((NEED, "--bogus"), "No such option"),
    ],
)
def test_a_wrong_command_line_is_an_input_error(project: Project, args: tuple[str, ...], said: str) -> None:
    """A-02, A-44: code 1, since 2 means that a person has to answer."""
    called = project.call("propose", *args)
    assert called.code == 1
    assert said in called.err


def test_one_round_at_most_is_one_at_least_unless_somebody_says_otherwise(project: Project) -> None:
    """A-02: the default of two gives way; what was set does not."""
    seats(project)
    called = project.call("propose", NEED, *NAMED, "--max-rounds", "1")
    assert (called.code, result(project)["config"]["min_rounds"]) == (3, 1)
    refused = project.call("propose", NEED, *NAMED, "--max-rounds", "1", "--min-rounds", "2")
    assert refused.code == 1
    assert "min_rounds is 2, and max_rounds is 1 [LIMIT-1]" in refused.err


def test_context_comes_from_files(project: Project) -> None:
    """A-43, ours: each under the name that a seat can cite; where it lies on this machine is sent to nobody."""
    seats(project)
    (project.top / "a.md").write_text("forty thousand\n")
    (project.top / "deep").mkdir()
    (project.top / "deep" / "a.md").write_text("one gigabyte\n")
    project.call("propose", NEED, *NAMED, "--context-file", "a.md")
    assert result(project)["context"] == "a.md:\n\nforty thousand"
    project.call("propose", NEED, *NAMED, "--context-file", "deep/a.md", "--context-file", project.top / "a.md")
    assert result(project)["context"] == "deep/a.md:\n\none gigabyte\n\na.md:\n\nforty thousand"


@pytest.mark.parametrize(
    ("targets", "scope"),
    [
        (("implementation_steps", "implementation_steps"), "not_checked"),
        (("price.py:1", "implementation_steps"), "partially_checked"),
        (("price.py:1", "price.py:9"), "checked_in_scope"),
    ],
)
def test_seats_read_the_files_of_head_and_code_looks_up_what_issues_name(
    project: Project, targets: tuple[str, str], scope: str
) -> None:
    """Issue 6: `evidence_status` is what code looked at; `verification_status` stays not_checked (A-36, A-55)."""
    critics = dict(zip(("ben", "cy"), targets, strict=True))
    project.configure(
        "".join((program_of(project.bin, "ana"), *(program_of(project.bin, n, target=t) for n, t in critics.items())))
    )
    project.begin()
    called = project.call("propose", NEED, *NAMED, "--critic", "cy", "--tree")
    assert called.code == 0, called
    found = result(project)
    assert found["files"] == project.git.id("rev-parse", "HEAD")
    assert (found["verification_status"], found["evidence_status"]) == ("not_checked", scope)
