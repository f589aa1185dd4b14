"""The reviewer that is code: it names the project's own commands, and the driver runs them.

`find_commands` looks for them in a tree where the settings name none. It is conservative: a command is found by a
file that says so, only in the top folder's manifests, and `why` names that file. A Makefile counts for tests only
where nothing more specific was found, because such a target often sets up or installs things first.

`python` in a command means whichever of `python` and `python3` the machine has when the command runs.

Sources: DESIGN section 4 ("checks as a reviewer"), section 7.5.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from counterpoint.agents.base import NOT_REPORTED, Agent, Progress, Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.canonical import canonical_json, visible
from counterpoint.core.checks import Purpose
from counterpoint.core.docket import ProjectCommand

__all__ = ["ChecksAgent", "find_commands"]

Read = Callable[[str], bytes | None]

MAX_TEST_FILES: Final = 200
"""How many test files are looked into for what they import."""


class ChecksAgent(Agent):
    """Names every command that its brief lists."""

    kind = "checks"

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        del workspace, deadline
        commands = [list(command["argv"]) for command in brief.payload["commands"]]
        on_progress(f"{len(commands)} project command{'' if len(commands) == 1 else 's'} to run")
        content = canonical_json({"commands": commands}).encode()
        return Reply(content=content, model_requested="", model_reported=NOT_REPORTED)


def find_commands(names: Collection[str], read: Read) -> tuple[ProjectCommand, ...]:
    """Return the commands that a tree's own files name, in a fixed order.

    Args:
        names: the paths of the tree's files, with slashes.
        read: returns a file's bytes, or None where it has none to give.
    """
    tree = _Tree(names, read)
    found = [*_python_tests(tree), *_node_tests(tree), *_cargo_tests(tree), *_go_tests(tree)]
    if not found:
        found.extend(_make_tests(tree))
    return (*found, *_ruff(tree), *_compileall(tree))


class _Tree:
    """The files of one tree, read where that is needed."""

    def __init__(self, names: Collection[str], read: Read) -> None:
        self.names = sorted(names)
        self._known = frozenset(names)
        self._read = read

    def text(self, name: str) -> str:
        """Return a file's text, "" for one that is not there."""
        content = self._read(name) if name in self._known else None
        return (content or b"").decode("utf-8", "replace")

    def has(self, name: str) -> bool:
        return name in self._known

    def toml(self, name: str) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text(name))
        except tomllib.TOMLDecodeError:
            return {}

    def ending(self, *endings: str) -> list[str]:
        return [name for name in self.names if name.endswith(endings)]

    def tool(self, name: str) -> Any:
        """Return the `[tool.name]` table of `pyproject.toml`, None where there is none."""
        tools = self.toml("pyproject.toml").get("tool")
        return tools.get(name) if isinstance(tools, dict) else None


def _test(*argv: str, why: str) -> ProjectCommand:
    return ProjectCommand(argv=argv, purpose=Purpose.TEST, why=visible(why))


def _lint(*argv: str, why: str) -> ProjectCommand:
    return ProjectCommand(argv=argv, purpose=Purpose.LINT, why=visible(why))


_TEST_FILE: Final = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_IMPORTS: Final = r"^[ \t]*(?:import|from)[ \t]+{}\b"
_IMPORTS_PYTEST: Final = re.compile(_IMPORTS.format("pytest"), re.MULTILINE)
_IMPORTS_UNITTEST: Final = re.compile(_IMPORTS.format("unittest"), re.MULTILINE)
_TEST_FUNCTION: Final = re.compile(r"^(?:async )?def test", re.MULTILINE)


def _python_tests(tree: _Tree) -> Iterator[ProjectCommand]:
    pytest = ("python", "-m", "pytest")
    if why := _pytest_settings(tree):
        yield _test(*pytest, why=why)
        return
    files = [name for name in tree.names if _TEST_FILE.fullmatch(name)][:MAX_TEST_FILES]
    texts = {name: tree.text(name) for name in files}
    for name, text in texts.items():
        if _IMPORTS_PYTEST.search(text):
            yield _test(*pytest, why=f"{name} imports pytest")
            return
    for name, text in texts.items():
        if _IMPORTS_UNITTEST.search(text):
            yield _test(*_unittest(tree, files), why=f"{name} imports unittest, and no test imports pytest")
            return
    for name, text in texts.items():
        if _TEST_FUNCTION.search(text):
            yield _test(*pytest, why=f"{name} has test functions")
            return


def _pytest_settings(tree: _Tree) -> str:
    """Say which file sets pytest up; "" for none."""
    for name in ("pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py"):
        if tree.has(name):
            return f"there is a {name}"
    if tree.tool("pytest") is not None:
        return "pyproject.toml sets pytest up"
    for name, section in (("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")):
        if section in (line.strip() for line in tree.text(name).splitlines()):
            return f"{name} has a section {section}"
    return ""


def _unittest(tree: _Tree, files: list[str]) -> tuple[str, ...]:
    tops = {PurePosixPath(name).parts[0] if "/" in name else "" for name in files}
    folder = tops.pop() if len(tops) == 1 else ""
    # From the top folder discovery enters packages only; a folder that is none is named as the start.
    is_start = folder.isascii() and folder.isidentifier() and not tree.has(f"{folder}/__init__.py")
    start = ("-s", folder) if is_start else ()
    return ("python", "-m", "unittest", "discover", *start)


def _node_tests(tree: _Tree) -> Iterator[ProjectCommand]:
    try:
        manifest = json.loads(tree.text("package.json"))
    except (ValueError, RecursionError):
        return
    match manifest:
        case {"scripts": {"test": str() as script}} if script.strip() and "no test specified" not in script:
            yield _test("npm", "test", why="package.json has a test script")
        case _:
            return


def _cargo_tests(tree: _Tree) -> Iterator[ProjectCommand]:
    manifest = tree.toml("Cargo.toml")
    if "package" in manifest or "workspace" in manifest:
        yield _test("cargo", "test", why="there is a Cargo.toml")


def _go_tests(tree: _Tree) -> Iterator[ProjectCommand]:
    if tree.has("go.mod") and (files := tree.ending("_test.go")):
        yield _test("go", "test", "./...", why=f"go.mod and {files[0]}")


def _make_tests(tree: _Tree) -> Iterator[ProjectCommand]:
    # In the order in which make looks.
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if tree.has(name):
            targets = set(_targets(tree.text(name)))
            for target in ("test", "check"):
                if target in targets:
                    yield _test(
                        "make", target, why=f"{name} has a target {target!r}, and no other test command was found"
                    )
                    return
            return


def _targets(makefile: str) -> Iterator[str]:
    for line in makefile.splitlines():
        head, colon, rest = line.partition(":")
        if (
            colon
            and head[:1] not in {"\t", "#", " ", "."}
            and "=" not in head
            and not rest.lstrip(":").startswith("=")
        ):
            yield from head.split()


def _ruff(tree: _Tree) -> Iterator[ProjectCommand]:
    for name in ("ruff.toml", ".ruff.toml"):
        if tree.has(name):
            yield _lint("ruff", "check", ".", why=f"there is a {name}")
            return
    if tree.tool("ruff") is not None:
        yield _lint("ruff", "check", ".", why="pyproject.toml sets ruff up")


def _compileall(tree: _Tree) -> Iterator[ProjectCommand]:
    if files := tree.ending(".py"):
        yield _lint("python", "-m", "compileall", "-q", ".", why=f"there is Python code: {files[0]}")
