"""Agents that are here and that nobody has set up, offered on the one screen (issue 5, point 5)."""

import json
import os
import re
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterpoint.drive.cassettes import Taping
from counterpoint.drive.paths import find_folders
from counterpoint.drive.permission import Wanted
from counterpoint.drive.proposing import propose_agents
from counterpoint.drive.questions import needs_person
from counterpoint.drive.session import Session
from counterpoint.drive.settings import Origin
from tests.agents import client_peer
from tests.coding_programs import write_client
from tests.reviewing import APPROVAL, Project
from tests.settings_files import loaded

USE, SEND = "Use them? [y/N/q] ", "Send it? [y/N/q] "


def install(project: Project, kind: str, *, status: int = 1, first: str = "") -> None:
    """Put a coding agent on PATH that approves of everything."""
    told = project.bin / f"{kind}.events"
    events = {"codex": client_peer.codex, "claude": client_peer.claude}[kind](APPROVAL)
    told.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    is_asked = "exec*--json*read-only*|-p*stream-json*dontAsk*"
    answer = f'case "$*" in {is_asked}) cat > /dev/null; cat {told}; exit 0 ;; esac'
    write_client(project.bin, kind, status=status, first=f"{first}\n{answer}")


def sign_in_to_claude(home: Path) -> None:
    login = home / ".claude" / ".credentials.json"
    login.parent.mkdir()
    login.write_text('{"claudeAiOauth": {"accessToken": "secret-of-the-person"}}')


def own_agents(project: Project) -> dict[str, Any]:
    """Return the agents in the person's own settings."""
    path = project.config / "config.toml"
    found: dict[str, Any] = tomllib.loads(path.read_text())["agents"] if path.exists() else {}
    return found


def session_of(project: Project) -> Session:
    folders = find_folders(os.environ)
    return Session.of(repo=project.top, cases=project.top / "cases", folders=folders, environment=os.environ)


def test_a_named_agent_that_is_here_is_offered_and_asked_about_once(project: Project, home: Path) -> None:
    """Issue 5: one screen for the agent and the consent; a yes stays, and the next review asks nothing."""
    del home
    install(project, "codex", status=0)
    with project.sit("review", "--reviewer", "codex") as terminal:
        screen = terminal.wait_for(USE)
        assert "  codex (codex): sends to openai\n" in screen
        assert "  codex: version 7.8.9 is here, signed in by `codex login status`; vendor openai\n" in screen
        assert "Consent. This would leave this machine:" in screen
        assert own_agents(project) == {}
        terminal.type("y\n")
        terminal.wait_for(SEND)
        terminal.type("y\n")
        code, shown = terminal.end()
    assert code == 0, shown
    assert own_agents(project) == {"codex": {"kind": "codex", "home": "user"}}
    again = project.review("--reviewer", "codex")
    assert again.code == 0, again
    asked = project.type("", "review", "--reviewer", "codex")
    assert asked.code == 0, asked
    assert USE not in asked.err


@pytest.mark.parametrize("typed", ["n\n", "\n", "q\n", "\x04"], ids=["no", "Enter", "quit", "end of input"])
def test_whatever_is_no_yes_adds_no_agent(project: Project, home: Path, typed: str) -> None:
    """Exit 4; nothing was written, sent or begun. Author and reviewer are on the same screen."""
    install(project, "codex", status=0)
    install(project, "claude")
    sign_in_to_claude(home)
    called = project.type(typed, "review", "--author", "claude", "--no-commit", "--reviewer", "codex")
    assert called.code == 4, called
    assert "vendor anthropic" in called.err
    assert "; another vendor, openai" in called.err
    assert "error: leave to take these agents was not given; nothing was sent and nothing was run\n" in called.err
    assert SEND not in called.err
    assert (own_agents(project), project.cases) == ({}, [])
    assert "secret-of-the-person" not in called.err


def test_without_a_terminal_the_error_stays_and_nothing_is_looked_for(project: Project, home: Path) -> None:
    """Exit 1 and the line that adds it; no program is started for a question that nobody could answer."""
    del home
    install(project, "codex", first=f"touch {project.bin}/started")
    called = project.review("--reviewer", "codex")
    assert called.code == 1, called
    assert "`counterpoint agents add codex`" in called.err
    assert not (project.bin / "started").exists()


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("--reviewer claude", id="not here"),
        pytest.param("--reviewer codex", id="signed out"),
        pytest.param("--reviewer openai", id="no key"),
        pytest.param("--reviewer opencode", id="which model, only a person can say"),
        pytest.param("--reviewer anthropic --reviewer zz", id="another name is unknown"),
        pytest.param("--reviewer anthropic --reviewer claude", id="one of the two is not here"),
    ],
)
def test_what_cannot_be_offered_is_the_error_that_it_was(
    project: Project, home: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal, too: an offer that would fail is none."""
    del home
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-0123456789abcdef")
    install(project, "codex", status=1)
    write_client(project.bin, "opencode")
    called = project.type("y\n", "review", *words.split())
    assert called.code == 1, called
    assert USE not in called.err
    assert "expected one of the agents checks, human, local; got " in called.err
    assert own_agents(project) == {}


def test_an_agent_that_the_repository_sets_up_is_not_offered_anew(project: Project, home: Path) -> None:
    """Ours: the name means what the merge base says, and its command needs trust as ever."""
    del home
    install(project, "codex", status=0)
    project.git.git("checkout", "-q", "main")
    theirs = '[agents.codex]\nkind = "command"\ncommand = ["sh", "theirs.sh"]\ndestination = "local"\n'
    project.git.commit({"counterpoint.toml": theirs})
    project.git.git("checkout", "-q", "-B", "change")
    project.git.commit({"price.py": "x = 3\n"})
    called = project.type("n\n", "review", "--reviewer", "codex")
    assert called.code == 4, called
    assert USE not in called.err
    assert "sh theirs.sh" in called.err


def test_the_lines_that_the_error_names_set_up_the_pair_that_was_proposed(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: without a terminal the exact lines; once they were run, the same pair sits and nobody is asked."""
    del home
    install(project, "codex", status=0)
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-0123456789abcdef")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-0123456789abcdef")
    session = session_of(project)
    first = propose_agents(session, loaded(), 2)
    assert first.seats == ("codex", "anthropic")
    assert first.settings.source("agents.codex").origin is Origin.PERSON
    assert first.settings.agents["anthropic"].destination == "anthropic"
    assert own_agents(project) == {}
    hint = needs_person(Wanted(agents=(), sending=(), running=(), proposed=first.asked)).hint
    lines = [part for part in hint.split("`") if part.startswith("counterpoint ")]
    assert len(lines) == 2
    for line in lines:
        called = project.call(*shlex.split(line)[1:])
        assert called.code == 0, called
    assert own_agents(project) == first.tables
    set_up = loaded(settings_file=session.folders.settings_file)
    again = propose_agents(session, set_up, 2)
    assert (again.seats, again.asked, again.remarks) == (first.seats, (), ())
    assert again.settings == set_up


def test_two_of_one_vendor_that_are_set_up_sit_and_it_is_said(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: nobody is asked about what is set up, and the same vendor is told all the same."""
    del home
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-0123456789abcdef")
    table = 'kind = "openai"\nmodel = "gpt-5.5"\n'
    project.configure(f"[agents.b]\n{table}[agents.a]\n{table}")
    settings = loaded(settings_file=project.config / "config.toml")
    found = propose_agents(session_of(project), settings, 2)
    assert (found.seats, found.asked) == (("a", "b"), ())
    assert found.remarks == ("2 seats are a and b's, same vendor: not independent",)
    beside = propose_agents(session_of(project), settings, 1, beside=("b",))
    assert (beside.seats, beside.remarks) == (("a",), ("2 seats are b and a's, same vendor: not independent",))


def test_a_replay_takes_whoever_its_cassette_seats_and_looks_at_nobody(project: Project, home: Path) -> None:
    """Issue 5, point 6: neither the program nor the key of a recorded agent is here any more."""
    install(project, "codex", first=f"touch {home}/started")
    recorded = "".join(
        f'[agents.{kind}]\nkind = "{kind}"\nenvironment = ["RECORDED"]\n' for kind in ("claude", "codex")
    )
    folder = home / "tape"
    folder.mkdir()
    (folder / "config.toml").write_text(recorded)
    session = replace(session_of(project), taping=Taping(folder=folder, is_replay=True))
    theirs = '[agents.aaa]\nkind = "codex"\nenvironment = ["RECORDED"]\n'
    found = propose_agents(session, loaded(theirs, settings_file=folder / "config.toml"), 2)
    assert (found.seats, found.asked) == (("codex", "claude"), ())
    assert not (home / "started").exists()


# --- cases about words: a question, a requirement, a document


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the keys of two vendors."""
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "planted-key-0123456789abcdef")


WORDS = [
    (("answer", "--", "Which city?"), ["openai", "anthropic"]),
    (("propose", "Let users export their data."), ["openai", "anthropic"]),
    (("propose", "--proposer", "anthropic", "Let users export."), ["anthropic", "openai"]),
    (("propose", "--critic", "openai", "Let users export."), ["openai", "anthropic"]),
    (("ballot", "price.py", "--orchestrator", "human", "--voters", "anthropic,openai"), ["anthropic", "openai"]),
    (("answer", "--peers", "anthropic,openai", "--", "Which city?"), ["anthropic", "openai"]),
]


@pytest.mark.parametrize(("words", "names"), WORDS, ids=[" ".join(words) for words, _ in WORDS])
def test_a_case_about_words_offers_the_best_pair_on_the_one_screen(
    project: Project, home: Path, models: None, words: tuple[str, ...], names: list[str]
) -> None:
    """Issue 5, point 5: with nobody set up, two vendors, whoever is named first; a no leaves nothing behind."""
    del home, models
    called = project.type("n\n", *words)
    assert called.code == 4, called
    offered = called.err.partition("These were found on this machine:\n")[2].partition("A yes adds")[0]
    assert re.findall(r"^  ([\w-]+): ", offered, re.MULTILINE) == names, called.err
    assert len(re.findall(r"another vendor", offered)) == 1
    assert called.err.count(USE) == 1
    assert "Consent. This would leave this machine:" in called.err
    assert (own_agents(project), project.cases) == ({}, [])


def test_who_is_missing_is_found_beside_who_is_named(project: Project, home: Path, models: None) -> None:
    """Issue 5, point 5: another vendor than the named seat's, though its own would come first."""
    del home, models
    settings = '[agents.a]\nkind = "openai"\nmodel = "gpt-5.5"\n[agents.b]\nkind = "openai"\nmodel = "gpt-5.5"\n'
    project.configure(settings + '[agents.c]\nkind = "anthropic"\nmodel = "claude-opus-5"\n')
    called = project.call("propose", "--proposer", "a", "Let users export.")
    assert called.code == 4, called
    assert "consent to send the question and texts to 'openai', and consent" in called.err
    assert "to 'anthropic'" in called.err
