"""What holds for every Python file of the house. Each check yields one complaint for each place that breaks it."""

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from tests.house.source import Source, called, imported

__all__ = [
    "MAX_FUNCTION_LINES",
    "MAX_MODULE_LINES",
    "SUPPRESSION",
    "impurities",
    "manners",
    "nameless_folders",
    "oversizes",
    "unexplained_suppressions",
]

MAX_MODULE_LINES: Final = 400
MAX_FUNCTION_LINES: Final = 60

CATCH_ALLS: Final = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})

AMBIENT_MODULES: Final = frozenset(
    {"asyncio", "io", "os", "pathlib", "random", "secrets", "shutil", "socket", "subprocess", "sys", "tempfile"}
    | {"threading", "time", "uuid"}
)
AMBIENT_CALLS: Final = frozenset({"open", "print", "input", "hash", "id", "breakpoint", "exec", "eval"})
CLOCK_READS: Final = re.compile(r"(.*\.)?(datetime\.(now|utcnow|today)|date\.today)")

SUPPRESSION: Final = re.compile(
    r"#\s*(?P<kind>noqa|type:\s*ignore|pragma)"
    r"(?P<code>:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*|\[[a-z-]+(,\s*[a-z-]+)*\]|: no \w+)?"
    r"(?P<rest>.*)"
)
MIN_REASON: Final = 8


def oversizes(source: Source) -> Iterator[str]:
    """Hold a module to 400 lines and a function, its docstring counted, to 60. Ruff holds complexity to 10."""
    if len(source.lines) > MAX_MODULE_LINES:
        yield source.at(1, f"{len(source.lines)} lines; at most {MAX_MODULE_LINES}")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield source.at(node.lineno, f"{node.name} has {length} lines; at most {MAX_FUNCTION_LINES}")


def nameless_folders(source: Source) -> Iterator[str]:
    """Refuse a module or folder whose name says nothing."""
    for part in PurePath(source.path).with_suffix("").parts:
        if part in CATCH_ALLS:
            yield source.at(1, f"{part!r} names nothing; name what is in it")


def impurities(source: Source) -> Iterator[str]:
    """Keep `core` and `protocols` free of I/O, clock, randomness, environment and coroutines."""
    for line, name in imported(source):
        if name.partition(".")[0] in AMBIENT_MODULES:
            yield source.at(line, f"imports {name}; time, ids, randomness and I/O are the driver's")
    for node in ast.walk(source.tree):
        match node:
            case ast.AsyncFunctionDef() | ast.Await():
                yield source.at(node.lineno, "is a coroutine; the driver alone waits")
            case ast.Global() | ast.Nonlocal():
                yield source.at(node.lineno, "changes a variable from outside; state is an argument")
            case ast.Call() if called(node) in AMBIENT_CALLS or CLOCK_READS.fullmatch(called(node)):
                yield source.at(node.lineno, f"calls {called(node)}, which is not a function of its arguments")


def unexplained_suppressions(source: Source) -> Iterator[str]:
    """Ask a code and a reason of every suppression: behind it, or as a comment on the line above."""
    for line, comment in source.comments():
        found = SUPPRESSION.match(comment)
        if not found:
            continue
        if not found["code"]:
            yield source.at(line, f"{comment!r} suppresses everything; name the code")
        above = source.lines[line - 2].strip() if line > 1 else ""
        if len(found["rest"].strip(" -#")) < MIN_REASON and not above.startswith("#"):
            yield source.at(line, f"{comment!r} gives no reason, neither behind it nor on the line above")


def manners(source: Source) -> Iterator[str]:
    """Keep tests from sleeping, mocking, expecting failure, and skipping by any way but `tests.need`."""
    for line, name in imported(source):
        if name.startswith(("unittest.mock", "mock", "pytest_mock")) or name == "unittest.mock":
            yield source.at(line, f"imports {name}; fakes ship in the package")
        if name in {"time.sleep", "asyncio.sleep"}:
            yield source.at(line, f"imports {name}; wait for an event")
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(args=[ast.Constant(value=0)]) if called(node) == "asyncio.sleep":
                continue
            case ast.Call() if called(node) in {"time.sleep", "asyncio.sleep"}:
                yield source.at(node.lineno, f"calls {called(node)}; wait for an event or use the manual clock")
            case ast.Attribute() if called(node) in {"pytest.xfail", "pytest.mark.xfail"}:
                yield source.at(node.lineno, "expects a failure; mend it, or record the gap as data")
            case ast.Attribute() if re.fullmatch(r"pytest\.(mark\.)?(skip|skipif|importorskip)", called(node)):
                if source.path != "tests/need.py":
                    yield source.at(node.lineno, f"uses {called(node)}; say the need through tests.need")
