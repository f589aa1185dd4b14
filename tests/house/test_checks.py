"""Each check of the house shown red: what it must complain of, and what it must let pass."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests import need
from tests.house import checks, committed, rule_ids, words
from tests.house.source import Source
from tests.rules.rule import Rule

Check = Callable[[Source], Iterator[str]]

LONG_FUNCTION: Final = "def long() -> None:\n" + "    pass\n" * checks.MAX_FUNCTION_LINES
LONG_MODULE: Final = "x = 1\n" * (checks.MAX_MODULE_LINES + 1)

COMPLAINTS: Final[list[tuple[Check, str, str]]] = [
    (checks.oversizes, LONG_FUNCTION, "61 lines"),
    (checks.oversizes, LONG_MODULE, "401 lines"),
    (checks.impurities, "import os", "imports os"),
    (checks.impurities, "from time import monotonic", "imports time.monotonic"),
    (checks.impurities, "import os.path", "imports os.path"),
    (checks.impurities, "x = open('f')", "calls open"),
    (checks.impurities, "print(1)", "calls print"),
    (checks.impurities, "x = datetime.now(UTC)", "calls datetime.now"),
    (checks.impurities, "x = datetime.datetime.utcnow()", "calls datetime.datetime.utcnow"),
    (checks.impurities, "async def f(): pass", "coroutine"),
    (checks.impurities, "def f():\n    global x", "variable from outside"),
    (checks.impurities, "x = hash('text')", "calls hash"),
    (checks.unexplained_suppressions, "x = 1  # noqa", "suppresses everything"),
    (checks.unexplained_suppressions, "x = 1  # noqa: E501", "gives no reason"),
    (checks.unexplained_suppressions, "x = 1  # type: ignore[arg-type]", "gives no reason"),
    (checks.unexplained_suppressions, "x = 1  # type: ignore", "suppresses everything"),
    (checks.unexplained_suppressions, "x = 1  # pragma: no cover", "gives no reason"),
    (checks.manners, "import time\ntime.sleep(1)", "calls time.sleep"),
    (checks.manners, "import asyncio\nasync def f(): await asyncio.sleep(0.1)", "calls asyncio.sleep"),
    (checks.manners, "from time import sleep", "imports time.sleep"),
    (checks.manners, "from unittest import mock", "imports unittest.mock"),
    (checks.manners, "from unittest.mock import patch", "imports unittest.mock.patch"),
    (checks.manners, "@pytest.mark.xfail\ndef test_it(): pass", "expects a failure"),
    (checks.manners, "pytest.skip('no reason')", "uses pytest.skip"),
    (checks.manners, "@pytest.mark.skipif(True, reason='x')\ndef test_it(): pass", "uses pytest.mark.skipif"),
]

CLEAN: Final[list[tuple[Check, str]]] = [
    (checks.oversizes, "def short() -> None:\n" + "    pass\n" * (checks.MAX_FUNCTION_LINES - 1)),
    (checks.impurities, "import json\nfrom datetime import datetime\nx = datetime.fromisoformat('2026-01-01')"),
    (checks.unexplained_suppressions, "# The wire format has no shorter form.\nx = 1  # noqa: E501"),
    (checks.unexplained_suppressions, "x = 1  # noqa: PLC0415 - importing the package must cost nothing"),
    (checks.unexplained_suppressions, "x = '# noqa'"),
    (checks.manners, "import asyncio\nasync def f(): await asyncio.sleep(0)"),
    (checks.manners, "import time\nx = time.monotonic()"),
]


@pytest.mark.parametrize(("check", "text", "expected"), COMPLAINTS)
def test_check_complains(check: Check, text: str, expected: str) -> None:
    """A gate that was never red proves nothing: each of these must be refused."""
    found = list(check(Source(path="src/x.py", text=text)))
    assert any(expected in complaint for complaint in found), found


@pytest.mark.parametrize(("check", "text"), CLEAN)
def test_check_lets_pass(check: Check, text: str) -> None:
    """What the rule allows is not complained of."""
    assert list(check(Source(path="src/x.py", text=text))) == []


@pytest.mark.parametrize(
    "path", ["src/counterpoint/utils.py", "tests/helpers/x.py", "src/counterpoint/core/common.py"]
)
def test_module_that_names_nothing_is_refused(path: str) -> None:
    """No module or folder is called utils, helpers or common (DESIGN section 3)."""
    assert len(list(checks.nameless_folders(Source(path=path, text="")))) == 1


GLOSSARY: Final = words.read_glossary(
    "| Word | Meaning | Not |\n"
    "| --- | --- | --- |\n"
    "| **finding** | A tracked statement. | issue, objection |\n"
    "| **stop reason** | Why a case ended. | close reason, objection (here) |\n"
    "| **issue tracker** | Not ours. | |\n"
)


@pytest.mark.parametrize("name", ["IssueRaised", "Objection", "HTTPIssue", "_IssueLedger", "CloseReason"])
def test_class_named_by_a_replaced_word_is_refused(name: str) -> None:
    """The last column of the glossary binds class names, whole words only."""
    assert len(list(words.foreign_words(Source(path="x.py", text=f"class {name}: pass"), GLOSSARY))) == 1


@pytest.mark.parametrize("name", ["FindingRaised", "Reissued", "StopReason", "Closed"])
def test_class_named_by_the_glossary_passes(name: str) -> None:
    """A word inside another word is no match."""
    assert list(words.foreign_words(Source(path="x.py", text=f"class {name}: pass"), GLOSSARY)) == []


RULE: Final = Rule(id="TURN-1", source="DESIGN 4", accepted="t.py::test_yes", refused="t.py::test_no")
AGREEING: Final[dict[str, Any]] = {
    "rules": [RULE],
    "ids": {"TURN-1": "core/x.py:1"},
    "tests": {"t.py::test_yes", "t.py::test_no"},
    "documented": {"TURN-1": "review.md"},
}


def test_agreeing_rules_bring_no_complaint() -> None:
    """Source, manifest, tests and docs that name the same rule agree."""
    assert list(rule_ids.disagreements(**AGREEING)) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"rules": []}, "TURN-1 (core/x.py:1) is not in"),
        ({"ids": {}}, "no code refuses by it"),
        ({"documented": {}}, "has no heading"),
        ({"documented": {"TURN-1": "a.md", "TURN-9": "a.md"}}, "TURN-9 is a heading in a.md"),
        ({"tests": {"t.py::test_yes"}}, "'t.py::test_no' for the refused"),
        ({"tests": {"t.py::test_no"}}, "'t.py::test_yes' for the accepted"),
        ({"rules": [RULE, RULE]}, "twice"),
    ],
)
def test_disagreeing_rules_are_named(change: dict[str, object], expected: str) -> None:
    """Each way in which the four may differ is found (STYLE section 7, both directions)."""
    found = list(rule_ids.disagreements(**(AGREEING | change)))
    assert any(expected in complaint for complaint in found), found


def test_rule_ids_are_read_from_guards_and_refusals() -> None:
    """In the pure layers every id counts, elsewhere only what `Refused` is given; prose counts nowhere."""
    pure = Source(path="src/counterpoint/core/x.py", text='"""Not RULE-1."""\nG = {"VERDICT-2": f}\nx = "SHA-256"')
    outer = Source(path="src/counterpoint/drive/x.py", text='raise Refused("NOTE-1", "why")\nname = "MSG-1"')
    assert rule_ids.rule_ids([pure, outer]) == {
        "VERDICT-2": "src/counterpoint/core/x.py:2",
        "NOTE-1": "src/counterpoint/drive/x.py:1",
    }


def test_rule_heading_in_a_fence_is_no_heading() -> None:
    """A document may show what a heading looks like without making a rule of it."""
    text = "# TURN-1: one\n\n~~~\n## TURN-2: shown\n~~~\n\n## TURN-3 and TURN-4\n"
    assert rule_ids.headings({"a.md": text}) == dict.fromkeys(["TURN-1", "TURN-3", "TURN-4"], "a.md")


@pytest.mark.parametrize(
    "line",
    [
        "https://py" + "pi.org/simple",
        "deb." + "debian.org",
        "registry.npm" + "js.org",
        "--index" + "-url https://mirror.example",
        "--find" + "-links=/opt/wheels",
        "/wo" + "rk/main/src",
        "/tmp/" + "cp/x",
        "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
        "gh" + "p_" + "a" * 36,
    ],
)
def test_leak_is_named_with_its_line(line: str) -> None:
    """A registry, a path of one machine, a key or a token in any file is found."""
    assert [found.partition(": ")[0] for found in committed.leaks([("f", f"one\n{line}\n".encode())])] == ["f:2"]


def test_files_that_git_would_add_are_looked_at_too(tmp_path: Path) -> None:
    """A leak is found before it is committed; ignored files are nobody's business."""
    need.tool("git")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in {".gitignore": "ignored\n", "ignored": "", "new file": ""}.items():
        (tmp_path / name).write_text(text)
    assert committed.committed_files(tmp_path) == [tmp_path / ".gitignore", tmp_path / "new file"]
