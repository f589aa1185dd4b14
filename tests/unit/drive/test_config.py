import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from counterpoint.drive.config import MAX_BYTES, Loaded, RepositoryFiles, load, load_own
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

BASE = "4e9f21c0aa31" + "0" * 28


def repository(content: str, *, name: str = "counterpoint.toml", here: str | None = None) -> RepositoryFiles:
    working = {name: (content if here is None else here).encode()}
    return RepositoryFiles(commit=BASE, at_base={name: content.encode()}, in_working_copy=working)


def loaded(
    content: str = "",
    *,
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    settings_file: Path | None = None,
) -> Settings:
    return load(
        flags=flags or {}, environment=environment or {}, settings_file=settings_file, repository=repository(content)
    ).settings


def refused(
    content: str = "", *, flags: Mapping[str, object] | None = None, environment: Mapping[str, str] | None = None
) -> ConfigError:
    with pytest.raises(ConfigError) as raised:
        loaded(content, flags=flags, environment=environment)
    return raised.value


def test_with_nothing_set_the_reviewer_is_checks() -> None:
    """Issue 2 point 6: the default reviewer when nothing is configured."""
    nothing = load(flags={}, environment={}, settings_file=None, repository=None)
    assert nothing == Loaded(settings=Settings(), notices=())
    assert nothing.settings.review.reviewers == ("checks",)


def test_every_setting_is_read_from_one_file() -> None:
    """DESIGN "Trust": the whole of what a file can say."""
    settings = loaded(
        """
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
        max_output_tokens = 5
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
    )
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
        limits=LimitSettings(
            max_calls=3, max_tokens=4, max_output_tokens=5, call_timeout_s=6, deadline_s=7, asks_per_turn=1
        ),
        agents={**BUILT_IN, "critic": critic, "script": script, "ana": BUILT_IN["human"], "ci": BUILT_IN["checks"]},
        sources=settings.sources,
    )
    assert {source.origin for source in settings.sources.values()} == {Origin.REPOSITORY}
    assert settings.source("agents.critic").name == "counterpoint.toml at 4e9f21c0aa31"


def test_flags_outrank_environment_outranks_the_persons_file_outranks_the_repository(tmp_path: Path) -> None:
    """DESIGN "Trust": the order of the sources."""
    own = tmp_path / "config.toml"
    own.write_text("[limits]\nmax_calls = 12\nmax_tokens = 12\nmax_output_tokens = 12\n")
    settings = loaded(
        "[limits]\nmax_calls = 11\nmax_tokens = 11\nmax_output_tokens = 11\nasks_per_turn = 3\n",
        settings_file=own,
        environment={"COUNTERPOINT_LIMITS_MAX_CALLS": "13", "COUNTERPOINT_LIMITS_MAX_TOKENS": "13"},
        flags={"limits.max_calls": 14, "limits.max_tokens": None, "review.reviewers": ()},
    )
    assert settings.limits == LimitSettings(max_calls=14, max_tokens=13, max_output_tokens=12, asks_per_turn=3)
    named = {row.key: row.source for row in explain(settings)}
    assert named["limits.max_calls"] == "--max-calls"
    assert named["limits.max_tokens"] == "COUNTERPOINT_LIMITS_MAX_TOKENS"
    assert named["limits.max_output_tokens"] == str(own)
    assert named["limits.asks_per_turn"] == "counterpoint.toml at 4e9f21c0aa31"
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


@pytest.mark.parametrize(
    ("content", "path", "expected", "hint"),
    [
        ("[limit]", "limit", "one of agents, checks, limits, review", "did you mean 'limits'?"),
        (
            "[limits]\nmax_call = 3",
            "limits.max_call",
            "one of asks_per_turn, call_timeout_s",
            "did you mean 'max_calls'?",
        ),
        ("zzz = 1", "zzz", "one of agents", "remove zzz"),
        ('"a b\\n" = 1', "'a b\\n'", "one of agents", ""),
        ("limits = 3", "limits", "a table; got 3", "write it as a section: [limits]"),
        ('[limits]\nmax_calls = "3"', "limits.max_calls", "a whole number from 1 to 10000; got '3'", ""),
        ("[limits]\nmax_calls = true", "limits.max_calls", "a whole number", ""),
        ("[limits]\nmax_calls = 3.0", "limits.max_calls", "a whole number", ""),
        ("[limits]\nmax_calls = 0", "limits.max_calls", "from 1 to 10000; got 0", ""),
        ("[limits]\nmax_tokens = -1", "limits.max_tokens", "from 0 to", ""),
        ("[checks]\ntest = []", "checks.test", "a list of commands; got an empty list", ""),
        ("[checks]\ntest = [3]", "checks.test[0]", "a command: a text or a list of words; got 3", ""),
        ("[checks]\ntest = [[]]", "checks.test[0]", "a command: a text or a list of words; got an empty list", ""),
        ("[checks]\ntest = 'echo \"a'", "checks.test", "quotes closed (No closing quotation); got 'echo'", ""),
        ('[checks]\ntest = ["pytest", "-q"]', "checks.test[1]", "begins with a program; got '-q'", ""),
        (
            '[checks]\ntest = ["npm", "test"]',
            "checks.test",
            "the words of one",
            'write ["npm test"] for one command, [["npm"], ["test"]] for 2',
        ),
        ('[checks]\ntest = ["a b", "a b"]', "checks.test[1]", "each one once; got 'a b'", ""),
        ('[checks]\ntest = [["a", "b\\u0000"]]', "checks.test[0]", "without NUL", ""),
        ("[checks]\ntest = ['x \"\"']\nlint = ['\"\"']", "checks.lint[0]", "begins with a program", ""),
        (f"[checks]\ntest = {[['a'] * 257]}", "checks.test[0]", "at most 256 words", ""),
        (f"[checks]\nenvironment = {['A' + str(n) for n in range(257)]}", "checks.environment", "at most 256", ""),
        ('[checks]\nenvironment = ["A-B"]', "checks.environment[0]", "the name of an environment variable", ""),
        ('[checks]\nenvironment = ["HOME"]', "checks.environment[0]", "does not set itself; got 'HOME'", ""),
        ('[checks]\nenvironment = ["GIT_DIR"]', "checks.environment[0]", "does not set itself", ""),
        ("[review]\nreviewers = []", "review.reviewers", "a list of names of agents; got an empty list", ""),
        ('[review]\nreviewers = ["checks", "checks"]', "review.reviewers[1]", "each one once", ""),
        ('[review]\nreviewers = ["Checks"]', "review.reviewers[0]", "a name of lower-case letters", ""),
        (
            '[review]\nreviewers = ["check"]',
            "review.reviewers[0]",
            "one of the agents checks",
            "did you mean 'checks'",
        ),
        ('[review]\nreviewers = ["zz"]', "review.reviewers[0]", "one of the agents", "set up [agents.zz]"),
        ('[review]\nbase = "--upload-pack=x"', "review.base", "the name of a branch, tag or commit", ""),
        ('[review]\nbase = " "', "review.base", "a text of 1 to 4096 characters", ""),
        ('[review]\nbase = "a..b"', "review.base", "the name of a branch", ""),
        ("agents = 3", "agents", "a table", ""),
        ("[agents]\nx = 3", "agents.x", "a table", ""),
        ("[agents.X]\nkind = 'human'", "agents.X", "a name of lower-case letters", ""),
        ("[agents.x]", "agents.x.kind", "'command' or 'scripted' or 'human' or 'checks'", ""),
        ('[agents.x]\nkind = "comand"', "agents.x.kind", "got 'comand'", "did you mean 'command'?"),
        ("[agents.x]\nkind = 3", "agents.x.kind", "got 3", ""),
        ('[agents.x]\nkind = "human"\nfile = "a"', "agents.x.file", "one of kind; got 'file'", ""),
        ('[agents.x]\nkind = "command"\ncomand = "a"', "agents.x.comand", "one of", "did you mean 'command'?"),
        ('[agents.x]\nkind = "command"\ndestination = "local"', "agents.x.command", "a command; got nothing", ""),
        ('[agents.x]\nkind = "command"\ncommand = "a"', "agents.x.destination", "'local', or the name", "add `dest"),
        ('[agents.x]\nkind = "scripted"', "agents.x.file", "the path of a file", ""),
        ('[agents.x]\nkind = "scripted"\nfile = "/etc/x"', "agents.x.file", "below the top of the repository", ""),
        ('[agents.x]\nkind = "scripted"\nfile = "a/../../x"', "agents.x.file", "below the top", ""),
        ('[agents.x]\nkind = "scripted"\nfile = ".GIT/x"', "agents.x.file", "below the top", ""),
        ('[agents.checks]\nkind = "human"', "agents.checks.kind", "'checks'; got 'human'", "another name"),
        (
            "".join(f"[agents.a{n}]\nkind='human'\n" for n in range(65)),
            "agents",
            "at most 64 agents; got 65",
            "",
        ),
    ],
)
def test_a_setting_that_is_not_one_is_refused_with_its_key_and_what_was_expected(
    content: str, path: str, expected: str, hint: str
) -> None:
    """Issue 2 point 4: every error names the key path and what was expected; bad input: settings with a typo."""
    error = refused(content)
    assert (error.code, error.path) == ("config", path)
    assert expected in str(error)
    assert error.source == "counterpoint.toml at 4e9f21c0aa31"
    assert "(in counterpoint.toml at 4e9f21c0aa31)" in str(error)
    assert hint in error.hint
    assert error.hint


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('destination = "Local"', "destination"),
        ('destination = ""', "destination"),
        ('prompt = "argument"', "prompt"),
        ('home = "mine"', "home"),
        ('model = "auto"', "model"),
        ('model = "a b"', "model"),
        ('reply_pointer = "result"', "reply_pointer"),
        ('reply_pointer = "/a~2"', "reply_pointer"),
        ("timeout_s = 0", "timeout_s"),
        ("set = {}", "set"),
        ('set = { "A-B" = "x" }', "set.A-B"),
        ("set = { A = 1 }", "set.A"),
        ('set = { HOME = "/x" }', "set.HOME"),
        ('environment = ["A"]\nset = { A = "x" }', "set"),
    ],
)
def test_a_command_agents_settings_are_held_to_their_shapes(line: str, key: str) -> None:
    """Issue 2 point 5, SPEC A-03 (model names that pin nothing) and C-082 (reserved variables)."""
    given = {"destination": 'destination = "local"', line.partition(" ")[0]: line}
    content = "[agents.x]\nkind = 'command'\ncommand = 'a'\n" + "\n".join(given.values())
    assert refused(content).path == f"agents.x.{key}"


# Put together here, so that no file holds anything of the shape of a key.
FAKE = "sk-" + "a1" * 12


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (f'[review]\nbase = "{FAKE}"', "review.base"),
        (f'[checks]\ntest = "run {FAKE}"', "checks.test"),
        ('[checks]\ntest = "run --api-key hunter2"', "checks.test"),
        ('[checks]\ntest = "--token hunter2"', "checks.test"),
        ("[checks]\ntest = 'hunter2\"'", "checks.test"),
        ('[agents.x]\nkind = "command"\napi_key = "hunter2"', "agents.x.api_key"),
        (
            '[agents.x]\nkind="command"\ncommand="a"\ndestination="x"\nset={ API_TOKEN = "hunter2" }',
            "agents.x.set.API_TOKEN",
        ),
        (f'[agents.x]\nkind="command"\ncommand="a"\ndestination="x"\nset={{ A = "{FAKE}" }}', "agents.x.set.A"),
        (f'[agents.x]\nkind="command"\ncommand="a"\ndestination="{FAKE}_"', "agents.x.destination"),
        ('api_key = "hunter2"', "api_key"),
    ],
)
def test_a_credential_in_settings_is_refused_and_not_shown(content: str, path: str) -> None:
    """Ours: settings are committed, copied and printed."""
    error = refused(content)
    assert error.path == path
    shown = str(error) + error.hint
    assert FAKE not in shown
    assert "hunter2 " not in shown
    assert "hunter2'" not in shown


@pytest.mark.parametrize(
    ("content", "line", "why"),
    [
        ("[limits]\nmax_calls = \n", 2, "Invalid value"),
        ("[limits]\nmax_calls = 3\nmax_calls = 4\n", 3, "Cannot overwrite a value"),
        ("a = 1\nb = '''x\n", 3, "Expected"),
        ("a = [" + "1," * 9, 1, "Invalid value"),
        ("\na = " + "9" * 5000, 2, "integer"),
        ("a = 1\nb" + ".c" * 600 + " = 1", 2, "more than 500 dots"),
    ],
)
def test_text_that_is_not_toml_is_refused_with_its_line(content: str, line: int, why: str) -> None:
    """Issue 2: bad input, settings with a typo; a key set twice (a duplicate agent too) is one."""
    error = refused(content)
    assert error.path == f"line {line}"
    assert why in str(error)
    assert error.hint == f"mend line {line} of counterpoint.toml at 4e9f21c0aa31"


def test_an_agent_that_is_set_up_twice_in_one_file_is_refused() -> None:
    """Ours: TOML itself forbids it, and we say where."""
    assert refused("[agents.a]\nkind='human'\n[agents.a]\nkind='checks'\n").path == "line 3"


def test_bytes_that_are_no_settings_are_refused() -> None:
    """Ours: size, encoding and depth are bounded before anything is read out of a file."""
    for content, path in (
        (b"x" * (MAX_BYTES + 1), "size"),
        (b"a = 1\nb = '\xff'", "line 2"),
        (b"a = " + b"[" * 20_000, "document"),
    ):
        files = RepositoryFiles(commit=BASE, at_base={"counterpoint.toml": content})
        with pytest.raises(ConfigError) as raised:
            load(flags={}, environment={}, settings_file=None, repository=files)
        assert raised.value.path == path


def test_a_hostile_document_of_the_largest_size_costs_seconds_at_most() -> None:
    """Ours: `tomllib` needs 20 s for one key of 32,000 parts; a line may hold 500 dots."""
    line = "a" + ".a" * 499
    content = "\n".join(f"{line}.b{n} = 1" for n in range(MAX_BYTES // (len(line) + 12)))
    began = time.process_time()
    refused(content)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("variable", "value", "path"),
    [
        ("COUNTERPOINT_LIMITS_MAX_CALLS", "many", "limits.max_calls"),
        ("COUNTERPOINT_LIMITS_MAX_CALLS", "", "limits.max_calls"),
        ("COUNTERPOINT_LIMITS_MAX_CALLS", "٣", "limits.max_calls"),
        ("COUNTERPOINT_REVIEW_REVIEWERS", "checks,,human", "review.reviewers[1]"),
        ("COUNTERPOINT_REVIEW_BASE", "a\udcffb", "review.base"),
    ],
)
def test_a_variable_with_a_value_of_another_kind_is_refused(variable: str, value: str, path: str) -> None:
    """Issue 2 point 4: the error names the key and the variable."""
    error = refused(environment={variable: value})
    assert (error.path, error.source, error.hint) == (path, variable, f"correct or unset {variable}")


def test_a_mistyped_variable_of_ours_is_refused() -> None:
    """Ours: a limit that silently does not apply is worse than an error."""
    error = refused(environment={"COUNTERPOINT_LIMITS_MAX_CALL": "3"})
    assert (error.path, error.hint) == (
        "COUNTERPOINT_LIMITS_MAX_CALL",
        "did you mean COUNTERPOINT_LIMITS_MAX_CALLS?",
    )
    assert refused(environment={"COUNTERPOINT_AGENTS_X": ""}).hint == "unset COUNTERPOINT_AGENTS_X"
    assert loaded(environment={"COUNTERPOINT_STATE": "/s", "COUNTERPOINTS": "x"}) == loaded()


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
    assert len(text) == len(rows) == 12 + 2 + 16
    assert text["review.reviewers"] == ('["checks"]', "default")
    assert text["agents.checks.kind"] == ('"checks"', "default")
    assert text["agents.x.command"] == ('["a", "\\u{202e}"]', "counterpoint.toml at 4e9f21c0aa31")
    assert text["agents.x.set"] == ('{"A": "b"}', "counterpoint.toml at 4e9f21c0aa31")
    assert text["agents.x.model_pointer"][0] == "null"
