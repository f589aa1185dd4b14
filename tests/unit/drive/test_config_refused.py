import time

import pytest

from counterpoint.drive.config import MAX_BYTES
from tests.settings_files import SOURCE, loaded, refused

# Put together here, so that no file holds anything of the shape of a key.
FAKE = "sk-" + "a1" * 12


@pytest.mark.parametrize(
    ("content", "path", "expected", "hint"),
    [
        (
            "[limit]",
            "limit",
            "one of agents, answer, ballot, checks, limits, propose, review",
            "did you mean 'limits'?",
        ),
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
        ('[review]\nreviewers = ["Checks"]', "review.reviewers[0]", "a name of lower-case letters", ""),
        (
            '[review]\nreviewers = ["check"]',
            "review.reviewers[0]",
            "one of the agents checks",
            "did you mean 'checks'",
        ),
        (
            '[review]\nreviewers = ["zz"]',
            "review.reviewers[0]",
            "one of the agents",
            "counterpoint agents add zz --kind KIND`",
        ),
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
    assert error.source == SOURCE
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


@pytest.mark.parametrize(
    ("content", "path"),
    [(b"x" * (MAX_BYTES + 1), "size"), (b"a = 1\nb = '\xff'", "line 2"), (b"a = " + b"[" * 20_000, "document")],
    ids=["size", "encoding", "depth"],
)
def test_bytes_that_are_no_settings_are_refused(content: bytes, path: str) -> None:
    """Ours: size, encoding and depth are bounded before anything is read out of a file."""
    assert refused(content).path == path


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
