"""A person as a reviewer, at a real terminal and without one (SPEC D-11; DESIGN 8: exit 4, and the case waits)."""

import re

from tests.processes import is_gone
from tests.reviewing import FINDING, Project, answer
from tests.terminals import CTRL_C, Terminal

ANSWERS = (("q skips -- ", "q\n"), ("summary: ", "Reads well.\n"))
REST = (
    ("findings: 0 so far. Add one? [y/N] ", "\n"),
    ("claims: 0 so far. Add one? [y/N] ", "\n"),
    ("y/n): ", "y\n"),
    ("Send this? [Y/n] ", "\n"),
)


def fill(terminal: Terminal, *steps: tuple[str, str]) -> str:
    return "".join(terminal.wait_for(question) + _typed(terminal, keys) for question, keys in steps)


def _typed(terminal: Terminal, keys: str) -> str:
    terminal.type(keys)
    return ""


def test_a_person_answers_question_by_question(project: Project) -> None:
    """Their words become a verdict like any other; what others do meanwhile is told when they have answered."""
    project.begin()
    gate = project.gate()
    project.configure(project.critic(f"{gate.wait}; cat $out", says=answer(FINDING)))
    with project.sit("review", "--reviewer", "human", "--reviewer", "critic") as terminal:
        asked = fill(terminal, *ANSWERS)
        assert "human: a person is asked" in asked
        assert "=== human: reviewing, round 1 ===" in asked
        gate.arrived()
        gate.open()
        asked += fill(terminal, *REST)
        assert "critic" not in asked.partition("=== human")[2]
        code, shown = terminal.end()
    assert code == 3
    told = [line.partition(" s] ")[2] for line in shown.splitlines() if " s] " in line]
    # Whoever was first waits for the other.
    assert sorted(re.sub("; (critic|human) is awaited$", "", line) for line in told) == [
        "critic: answered; sealed until all have",
        "critic: asked",
        "human: answered; sealed until all have",
    ]
    seats = project.call("resume", "last", "--json").json["seats"]
    assert [(seat["name"], seat["approved"]) for seat in seats] == [("human", True), ("critic", False)]


def test_without_a_terminal_the_case_waits_for_the_person(project: Project) -> None:
    """Exit 4 with the command that goes on; what the others said is kept, and nobody is asked twice."""
    project.begin()
    project.configure(project.critic(f"echo >> {project.bin}/calls; cat $out"))
    called = project.review("--reviewer", "human", "--reviewer", "critic")
    assert called.code == 4
    (case,) = project.cases
    assert called.err.splitlines()[-3:] == [
        "error: seat 'human' is a person's, and there is no terminal to ask at",
        f"hint: run `counterpoint resume {case.name}` at a terminal",
        f"everything so far is kept; go on with: counterpoint resume {case.name}",
    ]
    as_json = project.call("resume", "last", "--json")
    assert (as_json.code, as_json.json["error"]["resume"]) == (4, f"counterpoint resume {case.name}")
    with project.sit("resume", "last") as terminal:
        fill(terminal, *ANSWERS, *REST)
        assert terminal.end()[0] == 0
    assert (project.bin / "calls").read_text() == "\n"


def test_ctrl_c_keeps_what_a_person_has_typed(project: Project) -> None:
    """Exit 130; the same question goes on from there, and the interruption has cost nothing."""
    project.begin()
    with project.sit("review", "--reviewer", "human") as terminal:
        fill(terminal, *ANSWERS)
        terminal.wait_for("Add one? [y/N] ")
        terminal.type(CTRL_C)
        code, shown = terminal.end()
        assert is_gone(terminal.pid)
    assert code == 130
    assert "Traceback" not in shown
    assert "go on with: counterpoint resume " in shown
    with project.sit("resume", "last") as terminal:
        fill(terminal, ANSWERS[0], ("Go on from there? [Y/n, or how many to keep] ", "\n"), *REST)
        code, shown = terminal.end()
    assert code == 0
    found = project.call("resume", "last", "--json").json
    assert (found["usage"]["calls"], found["failed_attempts"]) == (1, [])


def test_two_people_are_asked_one_after_the_other(project: Project) -> None:
    """One terminal, one question at a time."""
    project.begin()
    with project.sit("review", "--reviewer", "human", "--reviewer", "human") as terminal:
        assert "=== human: " in fill(terminal, *ANSWERS, *REST)
        assert "=== human-2: " in fill(terminal, *ANSWERS, *REST)
        assert terminal.end()[0] == 0
