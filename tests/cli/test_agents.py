"""`counterpoint agents`: what is here, what drifted, and adding one (issue 5, point 5; SPEC A-53)."""

import json
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from counterpoint.agents.probes import PROBES
from counterpoint.agents.profiles import CLIENTS
from counterpoint.drive import probing
from tests.coding_programs import everything_named, write_client
from tests.need import ROOT
from tests.reviewing import BOUND_S, Project

KEY = "planted-key-0123456789abcdef"


def listed(project: Project) -> Mapping[str, Mapping[str, Any]]:
    called = project.call("agents", "--json")
    assert called.code == 0, called
    return {each["name"]: each for each in called.json["agents"]}


def test_what_is_installed_is_told_with_version_login_and_the_lines_that_are_missing(
    project: Project, home: Path
) -> None:
    """Issue 5: a login is seen in a file or told by a command that makes no request; what is not here is said."""
    write_client(project.bin, "codex", status=0)
    write_client(project.bin, "claude")
    login = home / ".claude" / ".credentials.json"
    login.parent.mkdir()
    login.write_text('{"claudeAiOauth": {"accessToken": "secret-of-the-person"}}')
    found = listed(project)
    assert found["codex"] == {
        "name": "codex",
        "kind": "codex",
        "set_up": False,
        "ready": False,
        "program": str(project.bin / "codex"),
        "version": "7.8.9",
        "tried_version": PROBES["codex"].tried,
        "model": "",
        "signed_in": "yes",
        "signed_in_by": "`codex login status`",
        "destination": "openai",
        "may": ["review", "edit"],
        "drift": [],
        "faults": [],
        "remark": "",
        "missing": ["counterpoint agents add codex"],
    }
    assert (found["claude"]["signed_in"], found["claude"]["signed_in_by"]) == ("yes", str(login))
    assert found["opencode"]["missing"][0] == "npm install --global opencode-ai"
    assert found["openai"]["missing"] == [
        "export OPENAI_API_KEY=…",
        "counterpoint agents add openai --model gpt-5.6",
    ]
    shown = project.call("agents").out
    assert "(codex)       codex       7.8.9" in shown
    assert "(opencode)    opencode    not here" in shown
    assert "secret-of-the-person" not in shown


def test_who_is_signed_out_is_told_how_to_sign_in(project: Project, home: Path) -> None:
    """An empty login file is no login, and where a keyring may hold one, nothing is claimed."""
    write_client(project.bin, "codex", status=1)
    write_client(project.bin, "copilot")
    (home / ".codex").mkdir()
    (home / ".codex" / "auth.json").write_text('{"OPENAI_API_KEY": null}')
    found = listed(project)
    assert found["codex"]["signed_in"] == "no"
    assert found["codex"]["missing"] == ["codex login", "counterpoint agents add codex"]
    assert found["copilot"]["signed_in"] == "unknown"


@pytest.mark.parametrize(
    ("kind", "word", "lines"),
    [
        ("codex", "read-only", ["reads"]),
        ("codex", "--ignore-rules", ["arguments"]),
        ("codex", "fork", ["resumes"]),
        ("claude", "--tools", ["reads", "edits"]),
        ("claude", "acceptEdits", ["edits"]),
        ("claude", "xhigh", ["efforts"]),
        ("gemini-cli", "plan", ["reads"]),
        ("copilot", "--deny-tool", ["reads", "edits"]),
        ("copilot", "--resume", ["resumes"]),
        ("opencode", "--pure", ["arguments"]),
    ],
)
def test_a_profile_line_that_the_help_does_not_name_any_more_is_told(
    project: Project, home: Path, kind: str, word: str, lines: list[str]
) -> None:
    """Issue 5, drift: an option or a mode that is gone is told with every line of the profile that holds it."""
    del home
    write_client(project.bin, kind, without=word)
    assert listed(project)[kind]["drift"] == [{"line": line, "word": word} for line in lines]


def test_a_longer_option_does_not_stand_for_a_shorter_one(project: Project, home: Path) -> None:
    """`--output-format-next` is not `--output-format`."""
    del home
    write_client(project.bin, "claude", without="--output-format", more="--output-format-next")
    assert listed(project)["claude"]["drift"] == [{"line": "arguments", "word": "--output-format"}]
    page = (ROOT / "docs" / "howto" / "pick-your-agents.md").read_text("utf-8")
    said = next(line for line in page.splitlines() if line.startswith("the line `arguments` of its profile"))
    assert said in project.call("agents").out


def test_a_program_is_asked_about_itself_with_no_key_and_no_home_of_the_person(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC A-53 and SECURITY: what prints a version needs none; standard input is empty."""
    note = project.bin / "seen"
    write_client(project.bin, "claude", first=f"cat > /dev/null; env >> {note}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert listed(project)["claude"]["version"] == "7.8.9"
    seen = note.read_text()
    assert KEY not in seen
    assert f"HOME={home}" not in seen.splitlines()
    assert "DISABLE_AUTOUPDATER=1" in seen.splitlines()


def test_a_program_that_hangs_or_fails_is_told_and_ended(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FIELD-FAULTS F27: every start is bounded, and nothing is left running (the fixture looks)."""
    del home
    monkeypatch.setattr(probing, "TIMEOUT_S", 0.5)
    write_client(project.bin, "codex", first="sleep 60")
    write_client(project.bin, "claude", first="exit 3")
    write_client(project.bin, "copilot", version="no number")
    found = listed(project)
    assert found["codex"]["faults"] == [
        "`codex --version` did not end within 0.5 s",
        "`codex exec --help` did not end within 0.5 s",
    ]
    assert found["claude"]["faults"] == ["`claude --version` ended with exit 3", "`claude --help` ended with exit 3"]
    assert found["copilot"]["faults"] == [f"what {project.bin / 'copilot'} prints for `--version` holds no version"]


def test_an_agent_that_is_set_up_is_told_by_its_name_and_its_key(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seat with a key of its own is ready once that variable is set; the value is not shown."""
    del home
    project.configure('[agents.gpt]\nkind = "openai"\nmodel = "gpt-5.5"\n')
    before = listed(project)
    assert "openai" not in before
    assert (before["gpt"]["ready"], before["gpt"]["missing"]) == (False, ["export OPENAI_API_KEY=…"])
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    after = listed(project)["gpt"]
    assert (after["ready"], after["signed_in"], after["signed_in_by"]) == (True, "yes", "OPENAI_API_KEY")
    assert KEY not in json.dumps(after)


def test_a_program_that_the_repository_names_is_not_started(project: Project, home: Path) -> None:
    """DESIGN "Trust": it is that repository's command, and nobody has said that it may run."""
    note = home / "ran"
    program = write_client(project.bin, "codex", first=f"touch {note}")
    project.git.git("checkout", "-q", "main")
    settings = f'[agents.theirs]\nkind = "codex"\nhome = "user"\nprogram = "{program}"\n'
    project.git.commit({"counterpoint.toml": settings})
    project.git.git("checkout", "-q", "-B", "change")
    project.git.commit({"price.py": "x = 5\n"})
    called = project.call("agents", "--json", "--repo", project.top)
    theirs = next(each for each in called.json["agents"] if each["name"] == "theirs")
    assert (theirs["program"], theirs["version"]) == (str(program), "")
    assert theirs["remark"].startswith("not started")
    assert project.call("doctor", "--reviewer", "theirs").code == 1
    assert not note.exists()


def test_agents_that_are_set_up_in_other_ways_are_told_too(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command whose variable is not set, one that is not there, a script, a client with a key and one without."""
    del home
    program = write_client(project.bin, "claude")
    project.configure(
        f"""
[agents.keyed]
kind = "command"
command = ["{project.bin / "claude"}"]
destination = "elsewhere"
environment = ["THEIR_KEY"]

[agents.gone]
kind = "command"
command = ["no-such-program"]
destination = "local"

[agents.robot]
kind = "scripted"
file = "robot.toml"

[agents.with-key]
kind = "claude"
program = "{program}"
environment = ["CLAUDE_KEY"]

[agents.near]
kind = "claude"
program = "{program}"
base_url = "http://127.0.0.1:9"
"""
    )
    monkeypatch.setenv("CLAUDE_KEY", KEY)
    monkeypatch.delenv("THEIR_KEY", raising=False)
    found = listed(project)
    told = {name: (found[name]["signed_in"], found[name]["ready"], found[name]["missing"]) for name in found}
    assert told["keyed"] == ("unknown", True, [])
    assert found["keyed"]["remark"] == "THEIR_KEY is not set"
    assert told["gone"] == ("unknown", False, [])
    assert told["robot"] == ("not needed", True, [])
    assert told["with-key"] == ("yes", True, [])
    assert told["near"] == ("not needed", True, [])
    assert found["gone"]["faults"] == ["no program 'no-such-program' on PATH"]
    assert found["near"]["destination"] == "local"
    assert "claude" not in found
    monkeypatch.delenv("CLAUDE_KEY")
    assert listed(project)["with-key"]["missing"] == ["export CLAUDE_KEY=…"]


def test_every_line_that_is_offered_can_be_run_as_it_stands(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: advice that fails is worse than none. Only opencode's model is the person's to fill in."""
    del home
    for kind in CLIENTS:
        write_client(project.bin, kind, status=0)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    lines = [line for each in listed(project).values() for line in each["missing"] if "agents add" in line]
    assert len(lines) == len(CLIENTS) + 3
    for line in lines:
        words = shlex.split(line.replace("PROVIDER/MODEL", "anthropic/claude-opus-5"))[1:]
        called = project.call(*words)
        assert called.code == 0, called
    written = tomllib.loads((project.config / "config.toml").read_text())["agents"]
    assert sorted(written) == sorted({*CLIENTS, "openai", "anthropic", "gemini"})
    assert written["claude"] == {"kind": "claude", "environment": ["ANTHROPIC_API_KEY"]}
    assert written["codex"] == {"kind": "codex", "home": "user"}
    assert KEY not in (project.config / "config.toml").read_text()


def test_adding_keeps_every_byte_that_stands_there(project: Project, home: Path) -> None:
    """Comments, order, line ends, the mode, and a link to a file elsewhere."""
    real = home / "dotfiles.toml"
    before = b"# mine\r\n[limits]\r\nmax_calls = 7 # enough\r\n\r\n[agents.z]\r\nkind = 'human'"
    real.write_bytes(before)
    real.chmod(0o640)
    path = project.config / "config.toml"
    path.symlink_to(real)
    called = project.call(
        *("agents", "add", "gpt", "--kind", "openai", "--model", "gpt-5.5", "--effort", "xhigh"),
        *("--destination", "my-gateway", "--max-output-tokens", "900"),
    )
    assert called.code == 0, called
    assert path.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    table = (
        b'\r\n\r\n[agents.gpt]\r\nkind = "openai"\r\nmodel = "gpt-5.5"\r\neffort = "xhigh"\r\n'
        b'destination = "my-gateway"\r\nmax_output_tokens = 900\r\n'
    )
    assert real.read_bytes() == before + table
    assert sorted(each.name for each in (*home.iterdir(), *project.config.iterdir())) == [
        "config.toml",
        "dotfiles.toml",
    ]


def test_two_that_are_added_at_once_are_both_there(project: Project, home: Path) -> None:
    """Ours: the second waits for the first, and begins with what that one wrote."""
    del home
    model = ("--kind", "openai", "--model", "gpt-5.5")
    started = [project.start("agents", "add", f"gpt-{number}", *model) for number in range(4)]
    for program in started:
        _, said = program.communicate(timeout=BOUND_S)
        assert program.returncode == 0, said
    written = tomllib.loads((project.config / "config.toml").read_text())["agents"]
    assert sorted(written) == ["gpt-0", "gpt-1", "gpt-2", "gpt-3"]


@pytest.mark.parametrize(
    ("before", "words", "said"),
    [
        ('[agents.gpt]\nkind = "human"\n', "gpt --kind openai --model gpt-5.5", "a name that no agent has yet"),
        ('[agents."gpt"]\nkind = "human"\n', "gpt --kind openai --model gpt-5.5", "a name that no agent has yet"),
        ("", "checks", "this agent is built in"),
        ("", "gpt --kind openai", "the name of one model"),
        ("", "gpt --kind openai --model gpt-99", "a model whose controls are known"),
        ("", "gpt --kind openai --model gpt-5.5 --effort turbo", "effort 'turbo' is asked for"),
        ("", "gpt --kind openai --model gpt-5.5 --home user", "agents.gpt.home"),
        ("", "codex", "a program that can be started"),
        (
            "",
            "gpt --kind command --destination local --command 'x --api-key sk-abcdefghijklmnop1234'",
            "no credential",
        ),
        ("agents = {}\n", "gpt --kind openai --model gpt-5.5", "line 3"),
        ("[limits]\nmax_calls = 'many'\n", "gpt --kind openai --model gpt-5.5", "limits.max_calls"),
        ("[limits\n", "gpt --kind openai --model gpt-5.5", "TOML"),
    ],
)
def test_what_cannot_be_added_leaves_the_file_as_it_is(
    project: Project, home: Path, before: str, words: str, said: str
) -> None:
    """An agent is never written over; what would be no settings, or no agent, is never put in place."""
    del home
    project.configure(before)
    called = project.call("agents", "add", *shlex.split(words))
    assert called.code == 1, called
    assert said in called.err
    assert "hint: " in called.err
    assert (project.config / "config.toml").read_text() == before
    assert [each.name for each in project.config.iterdir()] == ["config.toml"]


def test_a_folder_that_cannot_be_written_is_told(project: Project, home: Path) -> None:
    """A link to a folder that is gone: one sentence, and the link stays."""
    path = project.config / "config.toml"
    path.symlink_to(home / "gone" / "config.toml")
    called = project.call("agents", "add", "gpt", "--kind", "openai", "--model", "gpt-5.5")
    assert called.code == 1
    assert "a file that can be written" in called.err
    assert path.is_symlink()


def test_a_script_is_found_from_any_folder_later(project: Project, home: Path) -> None:
    """What is given relative to the current folder is written whole, and as `--json` says it."""
    del home
    project.git.write("robot.toml", '[[reply]]\nanswer = {summary = "Fine."}\n')
    called = project.call("agents", "add", "robot", "--kind", "scripted", "--file", "robot.toml", "--json")
    assert called.json == {
        "agent": "robot",
        "settings": {"kind": "scripted", "file": str(project.top / "robot.toml")},
        "file": str(project.config / "config.toml"),
    }


def test_a_name_that_is_no_kind_asks_for_one(project: Project, home: Path) -> None:
    """Exit 2: the command line says too little."""
    del home
    called = project.call("agents", "add", "critic")
    assert called.code == 2
    assert "say which it is with --kind" in called.err


def test_an_unknown_agent_is_answered_with_how_to_set_it_up(project: Project, home: Path) -> None:
    """Issue 5: the hint of `review` names both commands, for a reviewer and for an author."""
    del home
    for words in (("--reviewer", "zz"), ("--author", "zz")):
        called = project.review(*words)
        assert called.code == 1
        assert "`counterpoint agents` lists who is here" in called.err
        assert "`counterpoint agents add zz --kind KIND`" in called.err


@pytest.mark.parametrize("kind", sorted(CLIENTS))
def test_a_profile_is_of_the_version_that_is_pinned(kind: str) -> None:
    """`requirements/agents` pins what `make test-agents` tries."""
    pinned = json.loads((ROOT / "requirements" / "agents" / kind / "package.json").read_text())["dependencies"]
    assert [PROBES[kind].tried] == list(pinned.values())


def test_every_word_of_a_profile_is_looked_for() -> None:
    """Ours: an empty help names nothing, so each client's modes and options are all missing from it."""
    for kind, client in CLIENTS.items():
        words = everything_named(kind)
        assert {text for text in (*client.reads, *client.edits) if text.startswith("--") and "=" not in text} <= words
