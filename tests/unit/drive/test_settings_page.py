"""`docs/settings.md` and the page on consent and trust are held to what the program says."""

import inspect
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

import pytest

from counterpoint.drive.config import MAX_BYTES, RepositoryFiles, load
from counterpoint.drive.consent import Scope
from counterpoint.drive.keys import AGENT_KEYS, KEYS
from counterpoint.drive.permission import AgentLine, Running, Sending, Wanted
from counterpoint.drive.questions import compose, needs_person
from counterpoint.drive.settings import (
    AgentKind,
    CodingAgent,
    CommandAgent,
    LocalAgent,
    ModelAgent,
    Settings,
    explain,
)
from counterpoint.errors import ConfigError
from tests.need import ROOT

PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
CONSENT_PAGE = (ROOT / "docs" / "howto" / "consent-and-trust.md").read_text(encoding="utf-8")

Cells = Mapping[str, Sequence[str]]


def read_tables(page: str) -> Mapping[str, Cells]:
    """Return the rows of each table, by the first cell of its head; rows by their first cell."""
    tables = {}
    for table in re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE):
        head, _, *rows = [[cell.strip("` ") for cell in line[1:-1].split("|")] for line in table.splitlines()]
        raw = [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()[2:]]
        tables[head[0]] = {row[0]: cells[1:] for row, cells in zip(rows, raw, strict=True)}
    return tables


TABLES = read_tables(PAGE)
CELLS = TABLES["key"]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_every_key_stands_on_the_page_with_its_default_variable_and_flag(key: object) -> None:
    """Issue 2 point 4."""
    assert key in KEYS
    setting = KEYS[KEYS.index(key)]
    kind, default, variable, flag = CELLS[setting.path]
    value = next(row.value for row in explain(Settings()) if row.key == setting.path)
    assert default.partition(":")[0] == f"`{value}`"
    assert (variable.strip("`"), flag.strip("`")) == (setting.variable, setting.flag)
    bounds = inspect.getclosurevars(setting.read).nonlocals
    if "lowest" in bounds:
        assert kind.startswith(f"{bounds['lowest']} to {bounds['highest']}")
    if "words" in bounds:
        assert re.findall('`"([a-z]+)"`', kind) == [str(word) for word in bounds["words"]]


OF_AGENTS: Sequence[tuple[str, AgentKind, Any, Collection[str]]] = (
    ("key of a command", AgentKind.COMMAND, CommandAgent, {"command", "destination"}),
    ("key of a model", AgentKind.OPENAI, ModelAgent, {"model"}),
    ("key of a local model", AgentKind.LOCAL, LocalAgent, set()),
    ("key of a coding agent", AgentKind.CODEX, CodingAgent, set()),
)
"""The head of each table, the kind it is about, its class, and the keys that are needed."""


@pytest.mark.parametrize(
    ("head", "kind", "settings", "needed"), OF_AGENTS, ids=["command", "model", "local", "coding agent"]
)
def test_every_key_of_an_agent_stands_on_the_page_with_its_default(
    head: str, kind: AgentKind, settings: Any, needed: Collection[str]
) -> None:
    """Issue 2 points 4 and 5; issue 5 point 1."""
    defaults = {each.name: each.default for each in fields(settings)}
    for key in AGENT_KEYS[kind]:
        words, default = TABLES[head][key]
        value = defaults[key]
        if key in needed:
            assert (value, default) == (MISSING, "")
            assert words.endswith("needed")
        elif value is None:
            assert not default.startswith("`") or default.startswith("`null`")
        elif value is MISSING:
            assert default == "`{}`" or key == "destination"
        else:
            assert default.partition(":")[0] == f"`{json.dumps(value)}`"


def test_the_page_has_no_key_that_does_not_exist() -> None:
    """Ours: a page that promises more than the program is worse than none."""
    assert CELLS.keys() == {key.path for key in KEYS} | {"agents.<name>"}
    assert TABLES["variable"].keys() == {"COUNTERPOINT_CONFIG", "COUNTERPOINT_STATE"}
    assert TABLES["kind"].keys() == {f'"{kind}"' for kind in AgentKind}
    for head, kind, _, _ in OF_AGENTS:
        assert TABLES[head].keys() == AGENT_KEYS[kind].keys()
    assert f"{MAX_BYTES >> 10} KiB" in PAGE


def test_every_example_on_the_page_is_settings() -> None:
    """STYLE section 7: every code block of the documents runs."""
    examples = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        files = RepositoryFiles(commit="0" * 40, at_base={"counterpoint.toml": example.encode()})
        found = load(flags={}, environment={}, settings_file=None, repository=files).settings
        assert isinstance(found.agents["critic"], CommandAgent | ModelAgent | CodingAgent)


def test_the_error_on_the_page_is_the_one_that_is_raised() -> None:
    """STYLE section 7: documents are run."""
    files = RepositoryFiles(commit="4e9f21c0aa31" + "0" * 28, at_base={"counterpoint.toml": b"limits.max_call = 3"})
    with pytest.raises(ConfigError) as raised:
        load(flags={}, environment={}, settings_file=None, repository=files)
    assert f"error: {raised.value}\nhint: {raised.value.hint}\n" in PAGE


def test_the_screen_on_the_page_is_the_one_that_is_shown() -> None:
    """STYLE section 7: documents are run."""
    asked = Wanted(
        agents=(
            AgentLine(name="checks", kind="checks", destination="local", model=""),
            AgentLine(name="critic", kind="command", destination="acme", model="acme-large-2"),
        ),
        sending=(Sending(destination="acme", scope=Scope.CHANGE, agents=("critic",)),),
        running=(Running(argv=("pytest", "-q"), why="test, set by counterpoint.toml at 4e9f21c0aa31", given=()),),
    )
    screen = compose(asked, repository="/home/ana/shop", until="2026-08-05T14:07:48+00:00", own_branch=True)
    prompts = "".join(f"{question.prompt.rstrip()}\n" for question in screen.questions)
    assert f"```\n{screen.text}\n{prompts}```\n" in CONSENT_PAGE
    assert needs_person(asked).hint.startswith("pass `--consent acme --trust-commands` for this run")
    assert "counterpoint review --consent acme --trust-commands\n" in CONSENT_PAGE
