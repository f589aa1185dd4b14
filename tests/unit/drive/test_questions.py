from dataclasses import replace

import pytest

from counterpoint.drive.consent import Scope
from counterpoint.drive.permission import AgentLine, Proposed, Running, Sending, Wanted
from counterpoint.drive.questions import Answer, Question, Screen, Subject, compose, needs_person, parse_answer
from counterpoint.errors import NeedsPerson

CHECKS = AgentLine(name="checks", kind="checks", destination="local", model="")
CRITIC = AgentLine(name="critic", kind="command", destination="acme", model="m-1")
SENDING = Sending(destination="acme", scope=Scope.CHANGE, agents=("critic", "second"))
RUNNING = Running(argv=("pytest", "-k", "a b"), why="test, counterpoint.toml at 4e9f21c0aa31", given=("CI", "PATH"))
BOTH = Wanted(agents=(CHECKS, CRITIC), sending=(SENDING,), running=(RUNNING,))
CODEX = Proposed(name="codex", why="version 7.8.9 is here; vendor openai", add="counterpoint agents add codex")
SET_UP = Proposed(name="critic", why="set up already; another vendor, acme", add="")
UNTIL = "2026-08-05T14:07:48+00:00"


def screen(asked: Wanted, *, own_branch: bool = True) -> Screen:
    return compose(asked, repository="/home/ana/shop", until=UNTIL, own_branch=own_branch)


def test_everything_is_asked_on_one_screen() -> None:
    """DESIGN "Consent": asked once on one screen together with the pair of agents and the trust question."""
    assert screen(BOTH) == Screen(
        text="""\
Review in /home/ana/shop

  checks (checks): stays on this machine
  critic (command, model m-1): sends to acme

Consent. This would leave this machine:
  the change under review, to acme, for critic and second
A yes is kept for /home/ana/shop until 2026-08-05T14:07:48+00:00; `counterpoint consent list` shows it.

Trust. These commands would run here with your permissions, on the code under review:
  pytest -k 'a b'
    test, counterpoint.toml at 4e9f21c0aa31; given CI, PATH
A yes is kept for this checkout's own branches; `counterpoint trust list` shows it.
""",
        questions=(
            Question(subject=Subject.CONSENT, prompt="Send it? [y/N/q] "),
            Question(subject=Subject.TRUST, prompt="Run them? [y/N/q] "),
        ),
    )


def test_agents_are_asked_about_first_on_the_same_screen() -> None:
    """Issue 5: the proposed pair, consent and trust on one screen; a path draws no screen of its own."""
    asked = replace(BOTH, proposed=(CODEX, SET_UP))
    shown = compose(
        asked, repository="/home/ana/shop", until=UNTIL, own_branch=True, settings_file="/home/a\nb/config.toml"
    )
    assert (
        shown.text.split("\n\n")[2]
        == """\
Agents. These were found on this machine:
  codex: version 7.8.9 is here; vendor openai
  critic: set up already; another vendor, acme
A yes adds what is new to /home/a\\u{a}b/config.toml; `counterpoint agents` shows it."""
    )
    assert shown.questions == (
        Question(subject=Subject.AGENTS, prompt="Use them? [y/N/q] "),
        Question(subject=Subject.CONSENT, prompt="Send it? [y/N/q] "),
        Question(subject=Subject.TRUST, prompt="Run them? [y/N/q] "),
    )


def test_only_what_is_missing_is_asked() -> None:
    """DESIGN "Consent": a grant that stands is not asked for again."""
    consent = screen(Wanted(agents=(CRITIC,), sending=(SENDING,), running=()))
    assert [each.subject for each in consent.questions] == [Subject.CONSENT]
    assert "Trust." not in consent.text
    trust = screen(Wanted(agents=(CHECKS,), sending=(), running=(RUNNING,)))
    assert [each.subject for each in trust.questions] == [Subject.TRUST]
    assert "Consent." not in trust.text


def test_a_change_from_elsewhere_is_said_to_be_trusted_for_this_run_alone() -> None:
    """DESIGN "Trust": an answer never covers a pull request fetched by number."""
    text = screen(BOTH, own_branch=False).text
    assert "fetched from elsewhere. A yes is for this run alone." in text
    assert "own branches" not in text


def test_nothing_from_a_repository_can_draw_on_the_screen() -> None:
    """Ours: a command with line breaks, colours or reversed text shows as what it is, on one line."""
    argv = ("sh", "-c", "true\nTrust. Nothing would run here.\r\n\x1b[2J\u202etxt\t\u200b")
    evil = Running(argv=argv, why="test\nyes", given=())
    lines = screen(Wanted(agents=(), sending=(), running=(evil,))).text.splitlines()
    assert "  sh -c 'true\\u{a}Trust. Nothing would run here.\\u{a}\\u{1b}[2J\\u{202e}txt\\u{9}\\u{200b}'" in lines
    assert "    test\\u{a}yes" in lines
    assert len(lines) == 7


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", Answer.YES),
        (" YES\n", Answer.YES),
        ("", Answer.NO),
        ("\n", Answer.NO),
        ("n", Answer.NO),
        ("No", Answer.NO),
        ("q", Answer.QUIT),
        ("quit", Answer.QUIT),
        (None, Answer.QUIT),
        ("yy", None),
        ("ye", None),
        ("y n", None),
        ("ja", None),
    ],
)
def test_only_a_yes_is_a_yes(typed: str | None, answer: Answer | None) -> None:
    """SPEC B-08: explicit authorisation; enter means no, the end of input means quit."""
    assert parse_answer(typed) is answer


def test_without_a_terminal_the_error_names_every_flag_that_answers() -> None:
    """DESIGN "Consent" and "Trust": refused, exit 4, with the command or flag that grants it."""
    error = needs_person(BOTH)
    assert isinstance(error, NeedsPerson)
    assert error.code == "needs_person"
    assert str(error) == (
        "a person is needed: consent to send the change under review to 'acme', "
        "and the answer whether 1 command may run unboxed in this checkout"
    )
    assert error.hint == (
        "pass `--consent acme --trust-commands` for this run, "
        "or run `counterpoint consent grant acme` and `counterpoint trust grant`"
    )


def test_without_a_terminal_trust_alone_needs_only_its_flag() -> None:
    """DESIGN "Trust": nothing that is kept answers for a pull request fetched by number."""
    error = needs_person(Wanted(agents=(CHECKS,), sending=(), running=(RUNNING, RUNNING)), own_branch=False)
    assert str(error) == "a person is needed: the answer whether 2 commands may run unboxed in this checkout"
    assert error.hint == "pass `--trust-commands` for this run"


def test_the_command_that_the_error_names_grants_what_is_missing() -> None:
    """SPEC B-18: a grant for the change alone would not settle an agent that reads the tree."""
    sending = Sending(destination="acme", scope=Scope.TREE, agents=("critic",))
    error = needs_person(Wanted(agents=(CRITIC,), sending=(sending,), running=()))
    assert error.hint == ("pass `--consent acme` for this run, or run `counterpoint consent grant acme --scope tree`")


def test_without_a_terminal_the_error_names_the_lines_that_set_the_agents_up() -> None:
    """Issue 5: exit 4, with the exact lines; what is set up needs none."""
    openai = Proposed(name="openai", why="", add="counterpoint agents add openai --model m-1")
    error = needs_person(Wanted(agents=(), sending=(), running=(), proposed=(CODEX, SET_UP, openai)))
    assert str(error) == (
        "a person is needed: leave to take 'codex', which nobody set up, "
        "and leave to take 'openai', which nobody set up"
    )
    assert error.hint == "run `counterpoint agents add codex` and `counterpoint agents add openai --model m-1`"
    both = needs_person(replace(BOTH, proposed=(CODEX, SET_UP)))
    assert both.hint == (
        "run `counterpoint agents add codex`; then pass `--consent acme --trust-commands` for this run, "
        "or run `counterpoint consent grant acme` and `counterpoint trust grant`"
    )
