"""`counterpoint doctor` says before a review what the review would stop at (issue 5, point 5; SPEC A-53)."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from counterpoint.agents.probes import PROBES
from tests.coding_programs import write_client
from tests.reviewing import CHECKED, Project, everything_in

CODEX = '[agents.codex]\nkind = "codex"\nhome = "user"\n'
GPT = '[agents.gpt]\nkind = "openai"\nmodel = "gpt-5.5"\n'


@pytest.fixture
def home(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lend a home where nobody is signed in and git knows Ana, beside a project with one change."""
    found = tmp_path / "home"
    found.mkdir()
    (found / ".gitconfig").write_text("[user]\nname = Ana\nemail = ana@example.org\n")
    monkeypatch.setenv("HOME", str(found))
    monkeypatch.setenv("PATH", f"{project.bin}:/usr/bin:/bin")
    for variable in ("CODEX_HOME", *PROBES["codex"].key_variables, "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    project.begin()
    return found


def unmet(project: Project, *args: str) -> list[tuple[str, str, str]]:
    """Return what the doctor finds missing, and hold its exit code to it."""
    called = project.call("doctor", *args, "--json")
    missing = [(each["name"], each["says"], each["hint"]) for each in called.json["checks"] if not each["ok"]]
    assert called.code == (1 if missing else 0), called
    assert called.json["ready"] is not missing
    assert all(hint for _, _, hint in missing), missing
    return missing


def test_a_review_that_needs_nothing_more_is_ready_and_nothing_was_done(project: Project, home: Path) -> None:
    """Exit 0; no case, no command of the project, no file of the repository or of the person."""
    del home
    project.git.commit({"test.sh": "touch ran\n"})
    before = everything_in(project.top)
    called = project.call("doctor", "--trust-commands")
    assert called.code == 0, called
    assert called.out.splitlines()[-1] == "ready"
    assert everything_in(project.top) == before
    assert not (project.top / ".counterpoint").exists()
    assert not project.state.exists()
    assert project.review("--trust-commands").code == 0


def test_everything_that_is_missing_is_told_at_once(project: Project, home: Path) -> None:
    """A review stops at the first thing; the doctor goes on, and says of each what to do."""
    (home / ".gitconfig").unlink()
    write_client(project.bin, "codex", status=1, without="--ignore-rules")
    project.configure(CODEX + GPT)
    project.git.write("left.txt", "not committed\n")
    found = unmet(project, "--author", "codex", "--reviewer", "gpt", "--reviewer", "zz")
    assert [name for name, _, _ in found] == [
        "work tree",
        "identity",
        "agent codex",
        "agent codex",
        "agent gpt",
        "agent zz",
        "consent",
    ]
    said = dict(zip(("tree", "identity", "drift", "login", "key", "unknown", "consent"), found, strict=True))
    assert "left.txt" in said["tree"][1]
    assert said["drift"][1:] == (
        "the line `arguments` of its profile no longer holds: the help of 7.8.9 does not name --ignore-rules",
        f"use version {PROBES['codex'].tried}, which the profile was tried with",
    )
    assert said["login"][1:] == ("it is not signed in", "run `codex login`")
    assert said["key"][1:] == ("OPENAI_API_KEY is not set", "run `export OPENAI_API_KEY=…`")
    assert said["unknown"][1] == "there is no such agent"
    assert "`counterpoint agents add zz --kind KIND`" in said["unknown"][2]
    assert said["consent"][1] == "nobody allowed to send the whole tree to openai, for codex and gpt"


@pytest.mark.parametrize(
    ("args", "name", "says"),
    [
        (("--max-calls", "1", "--reviewer", "checks", "--reviewer", "human"), "change", "limits.max_calls"),
        (("--quorum", "2"), "change", "review.quorum"),
        (("--base", "nowhere"), "change", "nowhere"),
        (("--base", "HEAD"), "change", "there is nothing to review"),
        (("--require-check", "make test | cat"), "change", "a command that needs no shell"),
        (("--reviewer", "gpt", "--consent", "openai"), "agent gpt", "effort 'turbo' is asked for"),
        (("--author", "checks"), "change", "an agent that can answer a finding"),
    ],
)
def test_what_stops_a_review_stops_the_doctor(
    project: Project, home: Path, args: Sequence[str], name: str, says: str
) -> None:
    """Both end with exit 1, with the same sentence."""
    del home
    project.configure(GPT + 'effort = "turbo"\n')
    found = unmet(project, "--trust-commands", *args)
    assert [each for each, _, _ in found] == [name]
    assert says in found[0][1]
    called = project.review("--trust-commands", *args)
    assert called.code == 1
    assert found[0][1] in called.err


def test_settings_that_do_not_hold_are_told(project: Project, home: Path) -> None:
    """Told once, though the plan of the review meets them again."""
    del home
    project.configure("[limits]\nmax_calls = 'many'\n")
    assert [name for name, _, _ in unmet(project)] == ["settings"]


def test_outside_a_repository_there_is_nothing_to_look_at(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, exit 1."""
    monkeypatch.chdir(home)
    assert [name for name, _, _ in unmet(project)] == ["repository"]


def test_leave_is_named_with_the_command_that_gives_it(project: Project, home: Path) -> None:
    """DESIGN "Trust" and "Consent": each is told apart, and is met once that command was run, or by its flag."""
    del home
    project.configure(project.critic(destination="elsewhere"))
    args = ("--reviewer", "critic", "--reviewer", "checks")
    found = unmet(project, *args)
    assert found == [
        (
            "consent",
            "nobody allowed to send the change under review to elsewhere, for critic",
            "run `counterpoint consent grant elsewhere`, or pass --consent elsewhere",
        ),
        (
            "trust",
            "nobody allowed 1 command to run unboxed",
            "run `counterpoint trust grant`, or pass --trust-commands",
        ),
    ]
    assert unmet(project, *args, "--trust-commands", "--consent", "elsewhere") == []
    assert project.call("consent", "grant", "elsewhere").code == 0
    assert project.call("trust", "grant").code == 0
    assert unmet(project, *args) == []
    assert project.review(*args).code == 0


def test_files_that_no_commit_holds_are_looked_at_with_worktree(project: Project, home: Path) -> None:
    """What the look wrote is gone afterwards (the fixture looks into the temporary folder)."""
    del home
    project.git.write("price.py", "x = 3\n")
    assert [name for name, _, _ in unmet(project, "--trust-commands")] == ["work tree"]
    assert unmet(project, "--trust-commands", "--worktree") == []


def test_a_script_of_the_repository_is_looked_for_at_the_merge_base(project: Project, home: Path) -> None:
    """As a review does: no change brings the answers of its own reviewer."""
    del home
    project.git.git("checkout", "-q", "main")
    project.git.commit({"counterpoint.toml": CHECKED + '[agents.robot]\nkind = "scripted"\nfile = "robot.toml"\n'})
    project.git.git("checkout", "-q", "-B", "change")
    project.git.commit({"robot.toml": "reply = []\n", "price.py": "x = 4\n"})
    found = unmet(project, "--reviewer", "robot")
    assert [(name, "a file of the merge base" in says) for name, says, _ in found] == [("agent robot", True)]


def test_a_pull_request_is_not_fetched(project: Project, home: Path) -> None:
    """SPEC A-53: no network. Exit 2 says what to do."""
    del home
    called = project.call("doctor", "12")
    assert called.code == 2
    assert "check out 12 first" in called.err
