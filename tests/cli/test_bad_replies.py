"""Reviewers that misbehave, through the whole command line: never a pass, a stated reason, a stated exit code.

Sources: issue 2, "bad input"; DESIGN 7.7; FIELD-FAULTS F1, F27 to F30, F33.
"""

import json
import time
from typing import Any

import pytest

from tests.processes import is_gone, pids
from tests.reviewing import APPROVAL, FINDING, Project, answer

ALONE = "[limits]\nasks_per_turn = 1\n[review]\nreviewers = ['critic']\n"
"""Settings by which `critic` is the only reviewer and is asked once."""


def failed_attempt(project: Project, settings: str) -> tuple[str, str]:
    """Review by `critic` alone, hold the case to have failed, and return why the one attempt did."""
    project.begin()
    project.configure(ALONE + settings)
    found = project.judge()
    assert (found["decision"], found["stop_reason"], found["exit_code"]) == ("undetermined", "failed", 1)
    (attempt,) = found["failed_attempts"]
    return attempt["reason"], attempt["detail"]


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        pytest.param("Looks good to me!", "the reply begins with 'Looks good to me!'", id="prose"),
        pytest.param(APPROVAL + APPROVAL, "the reply goes on after its JSON object", id="two objects"),
        pytest.param(f"```json\n{APPROVAL}\n```", "the reply stands in a code fence", id="code fence"),
        pytest.param('{"approved": false, ' + APPROVAL[1:], "'approved' stands twice", id="duplicate key"),
        pytest.param(answer(FINDING, approved=True), "approved is true, but F1 is open [VERDICT-1]", id="both"),
        pytest.param(answer(approved=False), "approved is false, but no finding is open", id="neither"),
        pytest.param(answer(candidate="0" * 40), "[BINDING-1]", id="another candidate"),
        pytest.param(json.dumps({**json.loads(APPROVAL), "x": 1}), "x: unknown key", id="unknown key"),
        pytest.param("", "printed no answer", id="nothing"),
        pytest.param("[]", "the reply is an array of 0", id="array"),
        pytest.param("null", "the reply is null", id="null"),
    ],
)
def test_an_answer_that_is_not_one_valid_object_is_no_answer(project: Project, printed: str, said: str) -> None:
    """SPEC D-10, D-12, D-18, F33: accepted whole or not at all, never repaired, never guessed."""
    reason, detail = failed_attempt(project, project.critic(says=printed))
    assert reason in {"bad_reply", "refused"}
    assert said in detail


@pytest.mark.parametrize(
    ("script", "reason", "said"),
    [
        pytest.param("cat $out; echo no quota >&2; exit 1", "unreachable", "exit 1: no quota", id="exit 1"),
        pytest.param("cat $out; kill -SEGV $$", "unreachable", "killed by SIGSEGV", id="signal"),
        pytest.param("head -c 100000000 /dev/zero", "bad_reply", "printed 100000000 bytes", id="100 MB"),
        pytest.param("exec /nowhere/agent", "unreachable", "ended with exit 127", id="not installed"),
    ],
)
def test_a_program_that_fails_has_not_answered(project: Project, script: str, reason: str, said: str) -> None:
    """F1, F28: whatever it printed before it failed. The end of its standard error is in the reason."""
    found, detail = failed_attempt(project, project.critic(script))
    assert found == reason
    assert said in detail


def test_a_program_that_hangs_is_ended_with_all_it_started(project: Project) -> None:
    """F29: at the timeout of one call; nothing of it is left running."""
    pid_file = project.bin / "pids"
    script = f"sleep 1000 & echo $! $$ > {pid_file}; wait"
    reason, detail = failed_attempt(project, project.critic(script, more="timeout_s = 1"))
    assert reason == "timeout"
    assert "did not answer within 1 s" in detail
    assert all(is_gone(pid) for pid in pids(project.bin))


def test_a_program_that_hangs_is_ended_at_the_deadline_of_the_case(project: Project) -> None:
    """DESIGN 4, limits: the case ends when it said it would, undetermined, exit 3."""
    project.begin()
    project.configure(project.critic(f"echo $$ > {project.bin}/pids; exec sleep 1000"))
    found = project.judge("--reviewer", "critic", "--deadline", "1s")
    assert (found["decision"], found["stop_reason"], found["exit_code"]) == ("undetermined", "deadline_passed", 3)
    assert [attempt["reason"] for attempt in found["failed_attempts"]] == ["timeout"]
    assert all(is_gone(pid) for pid in pids(project.bin))


def test_a_child_that_keeps_standard_output_open_holds_nobody_up(project: Project) -> None:
    """F29: what the program itself printed is its answer, and the child is ended."""
    project.begin()
    script = f"sleep 1000 & echo $! > {project.bin}/pids; cat $out"
    project.configure(ALONE + project.critic(script, says=answer(FINDING)))
    began = time.monotonic()
    found = project.judge()
    assert found["exit_code"] == 3
    assert time.monotonic() - began < 20
    assert all(is_gone(pid) for pid in pids(project.bin))


def test_a_program_that_changes_what_it_was_to_read_has_not_answered(project: Project) -> None:
    """F30: it works in an export of its own, which is compared; the repository itself is out of its reach."""
    script = "chmod u+w . price.py; echo x > price.py; echo y > stray; cat $out"
    reason, detail = failed_attempt(project, project.critic(script, more='cwd = "tree"'))
    assert reason == "tree_touched"
    assert "price.py" in detail
    assert "stray" in detail
    assert project.git.git("status", "--porcelain") == b""


def test_another_model_than_the_one_asked_for_has_not_answered(project: Project) -> None:
    """DESIGN 7.7: the wrong model is never a pass."""
    envelope = json.dumps({"model": "small-1", "result": APPROVAL})
    more = 'model = "large-2"\nreply_pointer = "/result"\nmodel_pointer = "/model"'
    assert failed_attempt(project, project.critic(says=envelope, more=more)) == (
        "wrong_identity",
        "asked for model 'large-2'; 'small-1' answered",
    )


def test_a_bad_answer_is_asked_for_once_more_with_the_reason(project: Project) -> None:
    """SPEC D-10, D-18: the second brief says what was wrong with the first answer."""
    project.begin()
    again = "grep -q your_last_answer_was_not_accepted && exec cat $out; echo LGTM"
    project.configure("[review]\nreviewers = ['critic']\n" + project.critic(again))
    found = project.judge()
    assert (found["decision"], found["usage"]["calls"]) == ("approved", 2)
    assert [attempt["reason"] for attempt in found["failed_attempts"]] == ["bad_reply"]


def test_one_reviewer_without_an_answer_fails_the_case_of_all(project: Project) -> None:
    """DESIGN 4: silence is never a pass, whatever the others said; what they said is revealed all the same."""
    project.begin()
    project.configure(project.critic(says="LGTM"))
    found = project.judge("--reviewer", "checks", "--reviewer", "critic")
    assert (found["decision"], found["exit_code"], found["evidence"]) == ("undetermined", 1, "verified")
    ends: dict[str, Any] = {seat["name"]: seat["end"] for seat in found["seats"]}
    assert ends == {"checks": "answered", "critic": "failed"}
