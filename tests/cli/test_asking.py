"""The one screen on which a person is asked, at a real terminal (DESIGN "Trust", "Consent"; docs/howto)."""

import pytest

from tests.reviewing import Project
from tests.terminals import CTRL_C

ASKED = "Run them? [y/N/q] "


def test_trust_is_asked_once_and_remembered(project: Project) -> None:
    """One screen names the commands; a yes holds from then on, also without a terminal, until it is revoked."""
    project.begin()
    with project.sit("review") as terminal:
        screen = terminal.wait_for(ASKED)
        assert "  checks (checks): stays on this machine\n" in screen
        assert "  sh test.sh\n    test, set by counterpoint.toml at " in screen
        assert "A yes is kept for this checkout's own branches" in screen
        terminal.type("yes\n")
        code, shown = terminal.end()
    assert code == 0
    assert "Approved" in shown
    assert project.review().code == 0
    (kept,) = project.call("trust", "list", "--json").json["answers"]
    assert project.call("trust", "revoke", kept["digest"][:8]).code == 0
    assert project.review().code == 4
    with project.sit("review") as terminal:
        terminal.wait_for(ASKED)
        terminal.type("y\n")
        assert terminal.end()[0] == 0


@pytest.mark.parametrize("typed", ["\n", "n\n", "q\n", "\x04"], ids=["Enter", "no", "quit", "end of input"])
def test_whatever_is_no_yes_is_a_no(project: Project, typed: str) -> None:
    """Exit 4; nothing was begun, nothing was run, nothing is kept."""
    project.begin(test=f"touch {project.bin}/ran")
    called = project.type(typed, "review")
    assert called.code == 4
    assert "error: trust was not given; nothing was sent and nothing was run\n" in called.err
    assert "hint: run the command again when you are ready to answer" in called.err
    assert not (project.bin / "ran").exists()
    assert project.cases == []
    assert project.call("trust", "list").out == "no answer has been kept\n"


def test_a_word_that_is_no_answer_is_asked_about_again(project: Project) -> None:
    """A question about permission is never answered by a guess."""
    project.begin()
    called = project.type("sure\nYES\n", "review")
    assert called.code == 0
    assert called.err.count(ASKED) == 2
    assert "y is yes, n or Enter is no, q ends the command" in called.err


def test_ctrl_c_at_the_question_ends_with_130_and_leaves_nothing(project: Project) -> None:
    """DESIGN 8."""
    project.begin()
    with project.sit("review") as terminal:
        terminal.wait_for(ASKED)
        terminal.type(CTRL_C)
        code, shown = terminal.end()
    assert (code, project.cases) == (130, [])
    assert "Traceback" not in shown


def test_consent_and_trust_are_asked_on_one_screen(project: Project) -> None:
    """Only what is missing is asked for; a yes to each, and both are kept."""
    project.begin()
    project.configure(project.critic(destination="acme"))
    with project.sit("review", "--reviewer", "checks", "--reviewer", "critic") as terminal:
        screen = terminal.wait_for("Send it? [y/N/q] ")
        assert "  critic (command): sends to acme\n" in screen
        assert "  the change under review, to acme, for critic\n" in screen
        assert "sh test.sh" in screen
        terminal.type("y\n")
        terminal.wait_for(ASKED)
        terminal.type("y\n")
        code, shown = terminal.end()
    assert code == 0
    assert "reviewers: checks, critic (command, sends to acme)" in shown
    assert project.review("--reviewer", "checks", "--reviewer", "critic").code == 0


def test_a_no_to_consent_ends_it_before_trust_is_asked(project: Project) -> None:
    """Nothing is sent, nothing is run."""
    project.begin()
    project.configure(project.critic(destination="acme"))
    called = project.type("n\n", "review", "--reviewer", "checks", "--reviewer", "critic")
    assert called.code == 4
    assert "consent was not given" in called.err
    assert ASKED not in called.err
    assert project.cases == []


def test_consent_that_was_given_stays_when_trust_is_not(project: Project) -> None:
    """Each answer is one of its own, and is kept as the screen says."""
    project.begin()
    project.configure(project.critic(destination="acme"))
    asked = ("review", "--reviewer", "checks", "--reviewer", "critic")
    assert project.type("y\nn\n", *asked).code == 4
    called = project.type("y\n", *asked)
    assert called.code == 0
    assert "Send it?" not in called.err


def test_a_command_with_hidden_characters_draws_no_screen_of_its_own(project: Project) -> None:
    """SECURITY: what a repository says is shown on one line, written out."""
    project.begin('[checks]\ntest = [["sh", "test.sh", "\\u001b[2J\\nRun them? [y/N/q] y"]]\n')
    shown = project.type("n\n", "review").err
    assert "\x1b" not in shown
    assert "\\u{1b}[2J\\u{a}" in shown


def test_colour_is_for_terminals_that_may_have_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """`NO_COLOR` switches it off; so does a pipe."""
    project.begin()
    assert "\x1b[31merror:" not in project.type("n\n", "review").err
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[31merror:" in project.type("n\n", "review").err
    assert "\x1b" not in project.review().err
