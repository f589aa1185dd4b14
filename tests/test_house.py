"""The house rules, held on every file. The checks are in `tests/house`, and its own tests show each one red."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import counterpoint
from tests import need
from tests.house import checks, committed, rule_ids, words
from tests.house.source import Source, sources
from tests.rules.manifest import RULES

ROOT: Final = need.ROOT

PUBLIC_NAMES: Final = (
    "Agent",
    "Brief",
    "CaseResult",
    "CounterpointError",
    "Docket",
    "Limits",
    "Outcome",
    "Reply",
    "Workspace",
    "drive_case",
    "run",
)
"""Everything that an application may import from `counterpoint`. A new name is a promise: add it here by hand."""

MAX_SUPPRESSIONS: Final = {"noqa": 61, "type: ignore": 0, "pragma": 0}
"""A number may fall. It rises with a note in the commit that says why."""

MAX_IMPORT_CPU_MS: Final = 30
HEAVY: Final = ("asyncio", "click", "cryptography", "jsonschema")

Check = Callable[[Source], Iterator[str]]


def _hold(check: Check, *folders: str) -> None:
    _none(complaint for source in sources(ROOT, *folders) for complaint in check(source))


def _none(complaints: Iterable[str]) -> None:
    found = list(complaints)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("check", [checks.oversizes, checks.nameless_folders, checks.unexplained_suppressions])
def test_every_file_keeps_the_measure_of_the_house(check: Check) -> None:
    """Modules, functions, names and suppressions are within STYLE section 2 and 6."""
    _hold(check, "src", "tests", "benchmarks")


def test_complexity_is_held_to_ten_by_the_linter() -> None:
    """Ruff counts complexity and branches; nobody has switched that off (STYLE section 2)."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert settings["select"] == ["ALL"]
    assert settings["mccabe"]["max-complexity"] == settings["pylint"]["max-branches"] == 10
    ignored = [*settings["ignore"], *(code for codes in settings["per-file-ignores"].values() for code in codes)]
    assert not {"C", "C9", "C90", "C901", "PL", "PLR", "PLR0912"}.intersection(ignored)


def test_core_and_protocols_are_functions_of_their_arguments() -> None:
    """No I/O, clock, randomness, environment or coroutine in the pure layers (DESIGN section 3)."""
    _hold(checks.impurities, "src/counterpoint/core", "src/counterpoint/protocols")


def test_core_and_protocols_speak_the_glossary() -> None:
    """No class there carries a word that `docs/glossary.md` replaces (STYLE section 3)."""
    glossary = words.read_glossary((ROOT / "docs/glossary.md").read_text("utf-8"))
    assert len(glossary.ours) > 50
    pure = sources(ROOT, "src/counterpoint/core", "src/counterpoint/protocols")
    _none(complaint for source in pure for complaint in words.foreign_words(source, glossary))


def test_tests_wait_for_events_and_skip_by_need_alone() -> None:
    """No sleep, no mock, no expected failure, no skip without a stated reason (STYLE section 7)."""
    _hold(checks.manners, "tests")


def test_suppressions_do_not_multiply() -> None:
    """The number of `noqa`, `type: ignore` and `pragma` in `src` does not rise without a note (STYLE section 6)."""
    found = dict.fromkeys(MAX_SUPPRESSIONS, 0)
    for source in sources(ROOT, "src"):
        for _, comment in source.comments():
            if match := checks.SUPPRESSION.match(comment):
                found[re.sub(r":\s*ignore", ": ignore", match["kind"])] += 1
    assert all(found[kind] <= most for kind, most in MAX_SUPPRESSIONS.items()), found


def test_rules_stand_alike_in_source_manifest_tests_and_docs() -> None:
    """Every id that can refuse has its heading and its two examples, and nothing else claims to be a rule."""
    documents = {path.name: path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")}
    found = rule_ids.disagreements(
        RULES,
        ids=rule_ids.rule_ids(sources(ROOT, "src")),
        tests=rule_ids.names_of_tests(sources(ROOT, "tests")),
        documented=rule_ids.headings(documents),
    )
    _none(found)


def test_nothing_committed_names_a_registry_a_machine_or_a_key() -> None:
    """What git tracks, and what it would add, says nothing of where it was written (house rule)."""
    files = committed.committed_files(need.checkout())
    assert len(files) > 20
    _none(committed.leaks((str(path.relative_to(ROOT)), path.read_bytes()) for path in files))


def test_public_names_are_exactly_those_promised() -> None:
    """`__all__` is the literal list above, and each name can be had (DESIGN section 3)."""
    assert tuple(counterpoint.__all__) == PUBLIC_NAMES
    assert all(hasattr(counterpoint, name) for name in PUBLIC_NAMES)


_IMPORTING: Final = """
import json, sys, threading
before = set(sys.modules)
import counterpoint
print(json.dumps({"modules": sorted(set(sys.modules) - before), "threads": threading.active_count()}))
"""


def _bare(program: str, folder: Path) -> Any:
    """Run a program in an empty home and folder, with nothing in its environment."""
    environment = {"HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_importing_the_package_does_nothing(tmp_path: Path) -> None:
    """No file, no output, no thread, no heavy library (STYLE section 2)."""
    found = _bare(_IMPORTING, tmp_path)
    assert found["threads"] == 1
    assert list(tmp_path.iterdir()) == []
    assert not set(HEAVY).intersection(name.partition(".")[0] for name in found["modules"])


@pytest.mark.parametrize("layer", ["core", "protocols", "record"])
def test_lower_layers_import_no_heavy_library(layer: str, tmp_path: Path) -> None:
    """Nothing in the layer loads asyncio, click, cryptography or jsonschema when it is imported."""
    paths = [Path(source.path).with_suffix("") for source in sources(ROOT, f"src/counterpoint/{layer}")]
    names = [".".join(path.parts[1:]).removesuffix(".__init__") for path in paths]
    program = f"import json, sys, {', '.join(names)}\n"
    found = _bare(program + f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))", tmp_path)
    assert found == []


_CPU: Final = """
import json, os, sys
spent = []
for _ in range(9):
    _, status, used = os.wait4(os.posix_spawn(sys.executable, [sys.executable, "-c", {program!r}], os.environ), 0)
    assert status == 0
    spent.append(used.ru_utime + used.ru_stime)
print(json.dumps(dict(ms=min(spent) * 1000)))
"""


def test_importing_the_package_costs_thirty_milliseconds_at_most(tmp_path: Path) -> None:
    """CPU time of `import counterpoint` above bare Python; the least of nine runs each, as cores here are noisy."""
    bare = _bare(_CPU.format(program="pass"), tmp_path)["ms"]
    importing = _bare(_CPU.format(program="import counterpoint"), tmp_path)["ms"]
    assert importing - bare <= MAX_IMPORT_CPU_MS


def test_no_suite_is_empty_by_accident() -> None:
    """The checks above look at files: the folders they name exist and hold some."""
    assert len(sources(ROOT, "src")) > 20
    assert all(ast.get_docstring(source.tree) for source in sources(ROOT, "src") if source.text)
