"""`counterpoint doctor answer|propose|ballot` says before a case what it would stop at (issue 5, point 5)."""

import shlex
from pathlib import Path
from typing import Final

import pytest

from tests.proposing_seats import NEED, program_of
from tests.reviewing import Project, everything_in

GPT: Final = '[agents.gpt]\nkind = "openai"\nmodel = "gpt-5.5"\n'
ASK: Final = ("answer", "--peers", "ana,ben", "--", "Which city?")
PROPOSE: Final = ("propose", NEED, "--proposer", "ana", "--critic", "ben")
VOTE: Final = ("ballot", "DOC.md", "--orchestrator", "ana", "--voters", "ben,cy")


@pytest.fixture
def desk(project: Project, home: Path) -> Project:
    """Lend a project with three programs that can take a seat, and a document."""
    del home
    project.configure("".join(program_of(project.bin, name) + "\n" for name in ("ana", "ben", "cy")) + GPT)
    (project.top / "DOC.md").write_text("# Plan\n\nWe ship on Friday.\n")
    return project


def unmet(project: Project, *args: str) -> list[tuple[str, str, str]]:
    """Return what the doctor finds missing, and hold its exit code to it."""
    called = project.call("doctor", *args[:1], "--json", *args[1:])
    missing = [(each["name"], each["says"], each["hint"]) for each in called.json["checks"] if not each["ok"]]
    assert called.code == (1 if missing else 0), called
    return missing


@pytest.mark.parametrize("words", [ASK, PROPOSE, VOTE], ids=lambda words: words[0])
def test_a_case_that_needs_nothing_more_is_ready_and_nothing_was_done(desk: Project, words: tuple[str, ...]) -> None:
    """Exit 0; no case, no question, no file of the repository or of the person."""
    before = everything_in(desk.top)
    called = desk.call("doctor", *words)
    assert called.code == 0, called
    told = [line.split()[1] for line in called.out.splitlines()[:-1]]
    seats = 3 if words is VOTE else 2
    assert told == ["repository", "settings", *["agent"] * seats, "case", "limits"]
    assert called.out.splitlines()[-1] == "ready"
    assert everything_in(desk.top) == before
    assert (desk.cases, desk.state.exists(), (desk.bin / "asked").exists()) == ([], False, False)


TWICE: Final = ("answer", "--peers", "ana,ben", "--vote", "--option", "A", "--option", "a", "--", "Which?")


def test_what_the_rules_would_not_open_is_said_with_the_next_step(desk: Project) -> None:
    """POSITION-2, DOCUMENT-2: by the doctor and by the command alike, before anybody is asked for leave."""
    said = "the option 'A' is named twice [POSITION-2]"
    hint = "name each --option once, in words that differ, and two of them at least"
    assert unmet(desk, *TWICE) == [("case", said, hint)]
    called = desk.call(*TWICE[:1], "--peers", "ana,gpt", *TWICE[3:])
    assert (called.code, f"error: {said}\nhint: {hint}\n" in called.err) == (1, True), called
    (desk.top / "DOC.md").write_text("# Plan\n\n<div>\n")
    ((name, fault, step),) = unmet(desk, *VOTE)
    assert (name, fault.endswith("[DOCUMENT-2]"), step) == ("case", True, "close it in the text, or leave it out")


def test_what_the_doctor_finds_ready_starts(desk: Project) -> None:
    """And comes to its end."""
    assert unmet(desk, *PROPOSE) == []
    assert desk.call(*PROPOSE).code == 0


def test_everything_that_is_missing_is_told_at_once(desk: Project) -> None:
    """Two agents and a consent; each with what to do, and the consent is for words alone."""
    found = unmet(desk, "answer", "--peers", "gpt,zz,ana", "--", "Which city?")
    assert found == [
        ("agent gpt", "OPENAI_API_KEY is not set", "run `export OPENAI_API_KEY=…`"),
        (
            "agent zz",
            "there is no such agent",
            "`counterpoint agents` lists who is here; set zz up with `counterpoint agents add zz --kind KIND`",
        ),
        (
            "consent",
            "nobody allowed to send the question and texts to openai, for gpt",
            "run `counterpoint consent grant openai --scope text`, or pass --consent openai",
        ),
    ]


@pytest.mark.parametrize(
    ("words", "name", "says"),
    [
        (("answer", "--peers", "ana,checks", "--", "Why?"), "case", "agents that can answer in words"),
        ((*ASK[:-2], "--vote", "--option", "a", "--option", "A", *ASK[-2:]), "case", "named twice [POSITION-2]"),
        ((*ASK[:-2], "--base", "nowhere", *ASK[-2:]), "case", "nowhere"),
        ((*PROPOSE, "--max-rounds", "1", "--min-rounds", "2"), "case", "[LIMIT-1]"),
        ((*PROPOSE, "--max-calls", "1"), "case", "limits.max_calls"),
        ((*VOTE, "--sources", "none"), "case", "none"),
        ((*VOTE[:-1], "ana,checks"), "case", "ballot.voters"),
        (("propose", "--proposer", "checks", "--critic", "ana", NEED), "case", "propose.proposer: expected agents"),
    ],
)
def test_what_stops_a_case_stops_the_doctor(desk: Project, words: tuple[str, ...], name: str, says: str) -> None:
    """Both end with exit 1, with the same sentence."""
    found = unmet(desk, *words)
    assert [each for each, _, _ in found] == [name], found
    assert says in found[0][1]
    called = desk.call(*words)
    assert called.code == 1, called
    assert found[0][1] in called.err
    assert "\nhint: " in called.err
    assert not desk.cases


def test_one_peer_in_the_settings_is_one_too_few(desk: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the command line it is a usage error; here the rules say so, and the hint names the option."""
    monkeypatch.setenv("COUNTERPOINT_ANSWER_PEERS", "ana")
    called = desk.call("answer", "--", "Why?")
    assert called.code == 1
    assert called.err == (
        "error: 1 peers; 2 to 99 can answer each other [PEER-1]\n"
        "hint: name 2 to 99 peers, such as `--peers claude,codex`\n"
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("answer",), 2),
        (("propose",), 2),
        (("propose", "--model", "gpt-5.5", NEED), 1),
        (("ballot", "none.md"), 1),
    ],
)
def test_what_cannot_be_asked_for_is_said_as_by_its_command(desk: Project, words: tuple[str, ...], code: int) -> None:
    """Options that contradict each other are no case to look at."""
    called, real = desk.call("doctor", *words), desk.call(*words)
    assert called.code == code, called
    sentence = next(line for line in called.err.splitlines() if line.lower().startswith("error: "))
    assert sentence in real.err


def test_whoever_would_take_a_seat_is_named_with_the_line_that_sets_it_up(
    desk: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the lines of the hints were run, there is nothing more to do."""
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "planted-key-0123456789abcdef")
    desk.configure("")
    ask = ("answer", "--", "Which city?")
    found = unmet(desk, *ask)
    assert [name for name, _, _ in found] == ["agent openai", "agent anthropic", "consent", "consent"]
    assert "another vendor, anthropic" in found[1][1]
    for _, _, hint in found:
        assert desk.call(*shlex.split(hint.split("`")[1])[1:]).code == 0
    assert unmet(desk, *ask) == []


def test_a_pair_is_looked_at_as_both_seats(desk: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC A-43: its flags are those of `propose`; without its key it could not start."""
    pair = ("--provider", "openai", "--model", "gpt-5.5", "--reasoning-effort", "high")
    ask = ("propose", NEED, *pair, "--consent", "openai")
    assert [name for name, _, _ in unmet(desk, *ask)] == ["agent proposer", "agent critic"]
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-0123456789abcdef")
    assert unmet(desk, *ask) == []


def test_it_looks_in_any_folder(desk: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a repository a case stands on the person's own settings."""
    place = tmp_path / "plain"
    place.mkdir()
    monkeypatch.chdir(place)
    called = desk.call("doctor", *ASK)
    assert called.code == 0, called
    assert "none around; nothing but words is read" in called.out
    assert "valid, your own alone" in called.out
    assert list(place.iterdir()) == []


def test_settings_that_do_not_hold_are_told_once(desk: Project) -> None:
    """There is nothing to look at without them."""
    desk.configure("[limits]\nmax_calls = 'many'\n")
    assert [name for name, _, _ in unmet(desk, *ASK)] == ["settings"]


def test_an_agent_of_the_repository_needs_the_answer_to_the_trust_question(desk: Project) -> None:
    """DESIGN "Trust": its command is the repository's."""
    desk.git.git("checkout", "-q", "main")
    theirs = '[agents.theirs]\nkind = "command"\ncommand = ["sh", "theirs.sh"]\ndestination = "local"\n'
    desk.git.commit({"counterpoint.toml": theirs})
    ask = ("answer", "--peers", "ana,theirs", "--", "Which city?")
    assert [name for name, _, _ in unmet(desk, *ask)] == ["trust"]
    assert unmet(desk, ask[0], "--trust-commands", *ask[1:]) == []
