"""Which project commands are found, and why."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from counterpoint.agents.base import Workspace
from counterpoint.agents.checks import MAX_TEST_FILES, ChecksAgent, find_commands
from counterpoint.core.briefs import Brief
from counterpoint.core.checks import Purpose
from counterpoint.core.docket import ProjectCommand
from counterpoint.core.values import Turn
from tests.processes import finish

PYTEST = "python -m pytest"
DISCOVER = "python -m unittest discover"
COMPILE = "python -m compileall -q ."


def found(files: Mapping[str, str]) -> tuple[ProjectCommand, ...]:
    return find_commands(files, lambda name: files[name].encode())


def commands_for(files: Mapping[str, str]) -> list[str]:
    return [" ".join(command.argv) for command in found(files) if command.purpose is Purpose.TEST]


def why(files: Mapping[str, str]) -> str:
    return found(files)[0].why


UNIT = "import unittest\n"
PLAIN = "def test_a():\n    assert True\n"

PYTHON = {
    "pytest.ini": ({"pytest.ini": "[pytest]"}, [PYTEST], "there is a pytest.ini"),
    "conftest": ({"tests/conftest.py": ""}, [PYTEST], "there is a tests/conftest.py"),
    "pyproject": ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, [PYTEST], "pyproject.toml sets pytest up"),
    "pyproject since 9": ({"pyproject.toml": "[tool.pytest]\n"}, [PYTEST], "pyproject.toml sets pytest up"),
    "tox": ({"tox.ini": "[tox]\n\n [pytest] \n"}, [PYTEST], "tox.ini has a section [pytest]"),
    "setup.cfg": ({"setup.cfg": "[tool:pytest]\n"}, [PYTEST], "setup.cfg has a section [tool:pytest]"),
    "import": (
        {"test_six.py": "import sys\n  from pytest import x\n", "six.py": ""},
        [PYTEST],
        "test_six.py imports pytest",
    ),
    "both": ({"a_test.py": UNIT, "b/test_b.py": "import pytest\n"}, [PYTEST], "b/test_b.py imports pytest"),
    "functions": ({"tests/test_a.py": PLAIN}, [PYTEST], "tests/test_a.py has test functions"),
    "unittest at the top": (
        {"test_a.py": UNIT},
        [DISCOVER],
        "test_a.py imports unittest, and no test imports pytest",
    ),
    "unittest in a folder": (
        {"tests/test_a.py": UNIT},
        [DISCOVER + " -s tests"],
        "tests/test_a.py imports unittest, and no test imports pytest",
    ),
    "unittest in a package": (
        {"tests/test_a.py": UNIT, "tests/__init__.py": ""},
        [DISCOVER],
        "tests/test_a.py imports unittest, and no test imports pytest",
    ),
    "unittest in two folders": (
        {"a/test_a.py": UNIT, "b/test_b.py": UNIT},
        [DISCOVER],
        "a/test_a.py imports unittest, and no test imports pytest",
    ),
    "unittest in an odd folder": (
        {"-x/test_a.py": UNIT},
        [DISCOVER],
        "-x/test_a.py imports unittest, and no test imports pytest",
    ),
}


@pytest.mark.parametrize(("files", "commands", "reason"), PYTHON.values(), ids=PYTHON)
def test_the_tests_of_a_python_project_are_found(files: Mapping[str, str], commands: list[str], reason: str) -> None:
    """Issue 2 point 5: pytest where something says so, else unittest where the tests are of that kind."""
    assert (commands_for(files), why(files)) == (commands, reason)


OTHERS = {
    "npm": ({"package.json": '{"scripts": {"test": "jest"}}'}, ["npm test"], "package.json has a test script"),
    "cargo": ({"Cargo.toml": "[package]\n"}, ["cargo test"], "there is a Cargo.toml"),
    "cargo workspace": ({"Cargo.toml": "[workspace]\n"}, ["cargo test"], "there is a Cargo.toml"),
    "go": ({"go.mod": "", "a/a_test.go": ""}, ["go test ./..."], "go.mod and a/a_test.go"),
    "make": (
        {"Makefile": "all: x\n\ntest: all\n\tx\ncheck:\n"},
        ["make test"],
        "Makefile has a target 'test', and no other test command was found",
    ),
    "make check": (
        {"makefile": "lint check : x\n", "Makefile": "test:\n"},
        ["make check"],
        "makefile has a target 'check', and no other test command was found",
    ),
    "make double": (
        {"GNUmakefile": "test:: x\n"},
        ["make test"],
        "GNUmakefile has a target 'test', and no other test command was found",
    ),
}


@pytest.mark.parametrize(("files", "commands", "reason"), OTHERS.values(), ids=OTHERS)
def test_the_tests_of_other_projects_are_found(files: Mapping[str, str], commands: list[str], reason: str) -> None:
    """Issue 2 point 5: npm, cargo, go, make."""
    assert (commands_for(files), why(files)) == (commands, reason)


NONE = {
    "nothing": {},
    "python without tests": {"a.py": "", "tests/data.py": "import pytest\n"},
    "a test of another kind": {"test_a.py": "from django.test import TestCase\n"},
    "a comment": {"test_a.py": "# import pytest, import unittest\n"},
    "broken pyproject": {"pyproject.toml": "[tool.pytest\n"},
    "odd pyproject": {"pyproject.toml": 'tool = "x"\n'},
    "other section": {"setup.cfg": "[metadata]\nname = [tool:pytest] or so\n"},
    "npm's own placeholder": {
        "package.json": json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})
    },
    "npm without scripts": {"package.json": '{"scripts": []}'},
    "broken package.json": {"package.json": "{"},
    "nested package.json": {"web/package.json": '{"scripts": {"test": "jest"}}'},
    "cargo without a package": {"Cargo.toml": "[profile.release]\n"},
    "go without tests": {"go.mod": ""},
    "make without a target": {
        "Makefile": ".PHONY: test\ntest := x\ntest = y\ntest ::= z\nx:\n\ttest: y\n# test: a\nV=a test: b\n"
    },
}


@pytest.mark.parametrize("files", NONE.values(), ids=NONE)
def test_no_test_command_is_made_up(files: Mapping[str, str]) -> None:
    """Issue 2 point 5: conservative; a command that nobody asked for would fail for no reason."""
    assert commands_for(files) == []


def test_a_makefile_counts_only_where_nothing_else_was_found() -> None:
    """Ours: such a target often installs things first."""
    assert commands_for({"Makefile": "test:\n", "pytest.ini": ""}) == [PYTEST]


def test_linters_are_found_by_their_settings() -> None:
    """Issue 2 point 5: ruff where it is set up, compileall where there is Python."""
    lint = [" ".join(c.argv) for c in found({"ruff.toml": "", "a.py": "", "pyproject.toml": "[tool.ruff]\n"})]
    assert lint == ["ruff check .", COMPILE]
    assert [c.why for c in found({"pyproject.toml": "[tool.ruff]\nline-length = 9\n"})] == [
        "pyproject.toml sets ruff up"
    ]
    assert all(command.purpose is Purpose.LINT for command in found({".ruff.toml": "", "b.py": "", "a.py": ""}))
    assert [c.why for c in found({"b.py": "", "a.py": ""})] == ["there is Python code: a.py"]


def test_the_order_of_the_listing_does_not_matter() -> None:
    """Ours: the docket's bytes are the same for the same tree."""
    files = {"b_test.py": UNIT, "a_test.py": UNIT, "package.json": '{"scripts": {"test": "x"}}', "ruff.toml": ""}
    assert find_commands(sorted(files), lambda name: files[name].encode()) == find_commands(
        sorted(files, reverse=True), lambda name: files[name].encode()
    )


def test_odd_names_and_missing_contents_do_no_harm() -> None:
    """SECURITY R19: a name goes into the record with nothing hidden; a file that was withheld reads as empty."""
    assert found({"a\u202e\udce9.py": ""})[0].why == "there is Python code: a\\u{202e}\\u{dce9}.py"
    assert commands_for({"test_\udce9.py": "import pytest\n"}) == [PYTEST]
    assert [" ".join(c.argv) for c in find_commands({"pyproject.toml", "test_a.py"}, lambda _name: None)] == [COMPILE]


def test_only_so_many_test_files_are_read() -> None:
    """Ours: a large tree costs no more."""
    files = {f"test_{number:04}.py": UNIT for number in range(MAX_TEST_FILES)} | {"test_9999.py": "import pytest\n"}
    assert commands_for(files) == [DISCOVER]


def test_the_agent_names_every_command_of_its_brief(tmp_path: Path) -> None:
    """DESIGN 4: the agent names commands, the driver runs them."""
    commands = [{"argv": ["make", "test"], "purpose": "test"}, {"argv": ["ruff", "check", "."], "purpose": "lint"}]
    lines: list[str] = []
    turn = Turn(phase="reviewing", round=1, seat="checks", ask=1)
    reply = finish(
        ChecksAgent().ask(
            Brief(instructions="", payload={"commands": commands}, schema={}, shown_paths=()),
            workspace=Workspace(tree=tmp_path, scratch=tmp_path, turn=turn),
            deadline=datetime(2026, 7, 6, tzinfo=UTC),
            on_progress=lines.append,
        )
    )
    assert json.loads(reply.content) == {"commands": [["make", "test"], ["ruff", "check", "."]]}
    assert lines == ["2 project commands to run"]
