import os
from pathlib import Path

import pytest

from counterpoint.drive.config import Loaded, RepositoryFiles, load, load_own
from counterpoint.drive.settings import (
    BUILT_IN,
    ChecksSettings,
    CommandAgent,
    Cwd,
    Home,
    LimitSettings,
    Origin,
    PromptBy,
    ResultBy,
    ReviewSettings,
    ScriptedAgent,
    Settings,
    explain,
)
from counterpoint.errors import ConfigError
from tests.settings_files import BASE, SOURCE, loaded, refused, repository

EVERYTHING = """
[review]
reviewers = ["checks", "critic", "script"]
base = "origin/main"
[checks]
test = ["pytest -q", ["npm", "run", "a test"]]
lint = "ruff check ."
timeout_s = 60
environment = ["CI"]
[limits]
max_calls = 3
max_tokens = 4
call_timeout_s = 6
deadline_s = 7
asks_per_turn = 1
[agents.critic]
kind = "command"
command = "claude -p 'be short'"
destination = "anthropic"
prompt = "file"
result = "file"
environment = ["ANTHROPIC_API_KEY"]
set = { MODE = "plan" }
home = "user"
cwd = "tree"
timeout_s = 30
model = "claude-x"
reply_pointer = "/result"
model_pointer = "/model~1used/0"
input_tokens_pointer = "/usage/in"
output_tokens_pointer = ""
session_pointer = "/session"
[agents.script]
kind = "scripted"
file = "answers/one.json"
[agents.ana]
kind = "human"
[agents.ci]
kind = "checks"
"""


def test_with_nothing_set_the_reviewer_is_checks() -> None:
    """Issue 2 point 6: the default reviewer when nothing is configured."""
    nothing = load(flags={}, environment={}, settings_file=None, repository=None)
    assert nothing == Loaded(settings=Settings(), notices=())
    assert nothing.settings.review.reviewers == ("checks",)


def test_every_setting_is_read_from_one_file() -> None:
    """DESIGN "Trust": the whole of what a file can say."""
    settings = loaded(EVERYTHING)
    critic = CommandAgent(
        command=("claude", "-p", "be short"),
        destination="anthropic",
        prompt=PromptBy.FILE,
        result=ResultBy.FILE,
        environment=("ANTHROPIC_API_KEY",),
        set={"MODE": "plan"},
        home=Home.USER,
        cwd=Cwd.TREE,
        timeout_s=30,
        model="claude-x",
        reply_pointer="/result",
        model_pointer="/model~1used/0",
        input_tokens_pointer="/usage/in",
        output_tokens_pointer="",
        session_pointer="/session",
    )
    script = ScriptedAgent(file="answers/one.json")
    assert settings == Settings(
        review=ReviewSettings(reviewers=("checks", "critic", "script"), base="origin/main"),
        checks=ChecksSettings(
            test=(("pytest", "-q"), ("npm", "run", "a test")),
            lint=(("ruff", "check", "."),),
            timeout_s=60,
            environment=("CI",),
        ),
        limits=LimitSettings(max_calls=3, max_tokens=4, call_timeout_s=6, deadline_s=7, asks_per_turn=1),
        agents={**BUILT_IN, "critic": critic, "script": script, "ana": BUILT_IN["human"], "ci": BUILT_IN["checks"]},
        sources=settings.sources,
    )
    assert {source.origin for source in settings.sources.values()} == {Origin.REPOSITORY}
    assert settings.source("agents.critic").name == SOURCE


def test_flags_outrank_environment_outranks_the_persons_file_outranks_the_repository(tmp_path: Path) -> None:
    """DESIGN "Trust": the order of the sources."""
    own = tmp_path / "config.toml"
    own.write_text("[limits]\nmax_calls = 12\nmax_tokens = 12\ncall_timeout_s = 12\n")
    settings = loaded(
        "[limits]\nmax_calls = 11\nmax_tokens = 11\ncall_timeout_s = 11\nasks_per_turn = 3\n",
        settings_file=own,
        environment={"COUNTERPOINT_LIMITS_MAX_CALLS": "13", "COUNTERPOINT_LIMITS_MAX_TOKENS": "13"},
        flags={"limits.max_calls": 14, "limits.max_tokens": None, "review.reviewers": ()},
    )
    assert settings.limits == LimitSettings(max_calls=14, max_tokens=13, call_timeout_s=12, asks_per_turn=3)
    named = {row.key: row.source for row in explain(settings)}
    assert named["limits.max_calls"] == "--max-calls"
    assert named["limits.max_tokens"] == "COUNTERPOINT_LIMITS_MAX_TOKENS"
    assert named["limits.call_timeout_s"] == str(own)
    assert named["limits.asks_per_turn"] == SOURCE
    assert named["limits.deadline_s"] == "default"


def test_the_base_is_known_before_the_repositorys_agents_are() -> None:
    """DESIGN "Trust": the repository's settings lie at the merge base, so the base is looked up without them."""
    flags = {"review.base": "main", "review.reviewers": ("critic",)}
    assert load_own(flags=flags, environment={}, settings_file=None).review == ReviewSettings(
        reviewers=("critic",), base="main"
    )
    theirs = '[agents.critic]\nkind="human"\n'
    assert loaded(theirs, flags=flags).review.reviewers == ("critic",)
    assert refused(flags=flags).path == "review.reviewers[0]"


def test_a_persons_agent_replaces_the_repositorys_whole(tmp_path: Path) -> None:
    """Ours: a repository must not finish a person's agent, nor get at what that one is given."""
    own = tmp_path / "config.toml"
    own.write_text('[agents.critic]\nkind = "command"\ncommand = "mine"\ndestination = "local"\n')
    theirs = '[agents.critic]\nkind="command"\ncommand="theirs"\ndestination="x"\nenvironment=["SECRETS"]\n'
    settings = loaded(theirs, settings_file=own)
    assert settings.agents["critic"] == CommandAgent(command=("mine",), destination="local")
    assert not settings.is_from_repository("agents.critic")
    assert loaded(theirs).is_from_repository("agents.critic")


@pytest.mark.parametrize(
    "base", ["main", "origin/main", "v1.0^{commit}", "HEAD~3", "4e9f21c", "main@{upstream}", "é"]
)
def test_the_base_is_whatever_names_one_commit(base: str) -> None:
    """SPEC D-04: the base of a review."""
    assert loaded(flags={"review.base": base}).review.base == base


def test_a_persons_script_is_found_beside_their_settings(tmp_path: Path) -> None:
    """Ours: a path that depends on the working folder would be another file tomorrow."""
    own = tmp_path / "config.toml"
    own.write_text('[agents.a]\nkind="scripted"\nfile="a.json"\n[agents.b]\nkind="scripted"\nfile="/b.json"\n')
    agents = loaded(settings_file=own).agents
    assert agents["a"] == ScriptedAgent(file=str(tmp_path / "a.json"))
    assert agents["b"] == ScriptedAgent(file="/b.json")


def test_project_file_settings_are_read_from_their_table() -> None:
    """DESIGN "Trust": `[tool.counterpoint]` of the project file."""
    content = '[project]\nname = "counterpoint"\n[tool.counterpoint.limits]\nmax_calls = 2\n'
    found = load(
        flags={}, environment={}, settings_file=None, repository=repository(content, name="pyproject.toml")
    ).settings
    assert found.limits.max_calls == 2
    assert found.source("limits.max_calls").name == "[tool.counterpoint] of pyproject.toml at 4e9f21c0aa31"


@pytest.mark.parametrize("content", ["broken = [", '[tool]\nx = "y"', "# counterpoint", 'tool = "counterpoint"'])
def test_a_project_file_without_our_table_sets_nothing(content: str) -> None:
    """Ours: a project file that is broken for its own reasons does not stand in the way of a review that mends it."""
    files = repository(content, name="pyproject.toml")
    assert load(flags={}, environment={}, settings_file=None, repository=files) == Loaded(
        settings=Settings(), notices=()
    )


def test_settings_in_both_repository_files_are_refused_by_name() -> None:
    """Ours: of two files that both claim to be the settings, neither is taken."""
    files = {"counterpoint.toml": b"", "pyproject.toml": b"[tool.counterpoint]\n"}
    with pytest.raises(ConfigError) as raised:
        load(flags={}, environment={}, settings_file=None, repository=RepositoryFiles(commit=BASE, at_base=files))
    assert "counterpoint.toml at 4e9f21c0aa31 and [tool.counterpoint] of pyproject.toml" in str(raised.value)


def test_a_table_of_ours_that_is_no_table_is_refused() -> None:
    """Ours."""
    files = repository("[tool]\ncounterpoint = 1", name="pyproject.toml")
    with pytest.raises(ConfigError) as raised:
        load(flags={}, environment={}, settings_file=None, repository=files)
    assert raised.value.path == "tool.counterpoint"


@pytest.mark.parametrize(
    ("name", "base", "here", "notice"),
    [
        ("counterpoint.toml", "", "", None),
        ("counterpoint.toml", "[limits]\nmax_calls = 1", "# said otherwise\nlimits.max_calls = 1", None),
        (
            "counterpoint.toml",
            "limits.max_calls = 1",
            "limits.max_calls = 2\nchecks.test = ['true']",
            "differs from the merge base 4e9f21c0aa31 in checks.test, limits.max_calls;",
        ),
        ("counterpoint.toml", "limits.max_calls = 1", "limits.max_calls =", "cannot be read as settings;"),
        (
            "counterpoint.toml",
            "",
            "\n".join(f'"\u202e{n}" = 1' for n in range(7)),
            "in '\\u202e0', '\\u202e1', '\\u202e2', '\\u202e3', '\\u202e4' and 2 more;",
        ),
        ("counterpoint.toml", "", "a.b = 1\n" + "\n".join(f"[a.c{'.d' * 400}{'.e' * n}]" for n in range(90)), "a.b"),
        ("pyproject.toml", "tool.counterpoint.limits.max_calls = 1", "tool.black.x = 1", "in limits.max_calls;"),
        ("pyproject.toml", "x = 1", "y = 'counterpoint'", None),
    ],
)
def test_a_working_copy_that_says_something_else_is_named_and_not_used(
    name: str, base: str, here: str, notice: str | None
) -> None:
    """DESIGN "Trust": never from the diff under review; a differing working copy is named on standard error."""
    found = load(flags={}, environment={}, settings_file=None, repository=repository(base, name=name, here=here))
    assert found.settings.limits.max_calls in {1, 40}
    if notice is None:
        assert found.notices == ()
    else:
        assert len(found.notices) == 1
        assert found.notices[0].startswith(f"{name} in the working copy ")
        assert notice in found.notices[0]


def test_a_settings_file_that_the_branch_adds_is_named_and_not_used() -> None:
    """DESIGN "Trust": what the change under review brings along is not settings yet."""
    files = RepositoryFiles(commit=BASE, at_base={}, in_working_copy={"counterpoint.toml": b'checks.test = "curl x"'})
    found = load(flags={}, environment={}, settings_file=None, repository=files)
    assert found.settings == Settings()
    assert [notice.partition(";")[0] for notice in found.notices] == [
        "counterpoint.toml in the working copy differs from the merge base 4e9f21c0aa31 in checks.test"
    ]


def test_variables_and_flags_are_read_as_what_they_stand_for() -> None:
    """DESIGN "Trust": flags and environment set the same keys as the files."""
    environment = {
        "COUNTERPOINT_REVIEW_REVIEWERS": "checks, human",
        "COUNTERPOINT_REVIEW_BASE": "main",
        "COUNTERPOINT_CHECKS_TIMEOUT_S": "9",
    }
    settings = loaded(environment=environment, flags={"review.reviewers": ("human",)})
    assert settings.review == ReviewSettings(reviewers=("human",), base="main")
    assert settings.checks.timeout_s == 9
    assert refused(flags={"limits.max_calls": 0}).hint == "correct --max-calls"


def test_a_settings_file_that_is_not_the_persons_own_plain_file_is_refused(tmp_path: Path) -> None:
    """Ours: it names commands to run. A link is allowed: people keep their settings in a repository of their own."""
    own = tmp_path / "config.toml"
    assert loaded(settings_file=own) == loaded()
    own.write_text("[limits]\nmax_calls = 2\n")
    (tmp_path / "link").symlink_to(own)
    assert loaded(settings_file=tmp_path / "link").limits.max_calls == 2
    own.chmod(0o646)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (own, tmp_path, tmp_path / "pipe", tmp_path / "loop", own / "below"):
        with pytest.raises(ConfigError) as raised:
            loaded(settings_file=path)
        assert raised.value.path == str(path)


def test_every_setting_is_listed_with_its_value_and_its_source() -> None:
    """Issue 2 point 4: what is set can be shown, and by whom."""
    rows = explain(loaded('[agents.x]\nkind="command"\ncommand="a \u202e"\ndestination="y"\nset={ A = "b" }\n'))
    text = {row.key: (row.value, row.source) for row in rows}
    assert len(text) == len(rows) == 17 + 3 + 6 + 5 + 2 + 6 + 16
    assert text["review.reviewers"] == ('["checks"]', "default")
    assert text["agents.checks.kind"] == ('"checks"', "default")
    assert text["agents.x.command"] == ('["a", "\\u{202e}"]', SOURCE)
    assert text["agents.x.set"] == ('{"A": "b"}', SOURCE)
    assert text["agents.x.model_pointer"][0] == "null"
