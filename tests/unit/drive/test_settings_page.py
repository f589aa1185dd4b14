"""`docs/settings.md` and the page on consent and trust are held to what the program says."""

import inspect
import json
import re
from dataclasses import MISSING, fields

import pytest

from counterpoint.drive.config import MAX_BYTES, RepositoryFiles, load
from counterpoint.drive.consent import Scope
from counterpoint.drive.keys import AGENT_KEYS, KEYS
from counterpoint.drive.permission import AgentLine, Running, Sending, Wanted
from counterpoint.drive.questions import compose, needs_person
from counterpoint.drive.settings import AgentKind, CommandAgent, Settings, explain
from counterpoint.errors import ConfigError
from tests.need import ROOT

PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
CONSENT_PAGE = (ROOT / "docs" / "howto" / "consent-and-trust.md").read_text(encoding="utf-8")
ROWS = {cells[0].strip("` "): cells for cells in re.findall(r"^\| (`[^|]*`) \|(.*)\|$", PAGE, re.MULTILINE)}
CELLS = {key: [cell.strip() for cell in cells[1].split("|")] for key, cells in ROWS.items()}


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


def test_every_key_of_a_command_agent_stands_on_the_page_with_its_default() -> None:
    """Issue 2 points 4 and 5."""
    defaults = {each.name: each for each in fields(CommandAgent)}
    for key in AGENT_KEYS[AgentKind.COMMAND]:
        kind, default = CELLS[key]
        value = defaults[key].default
        if key in {"command", "destination"}:
            assert (value, default) == (MISSING, "")
            assert kind.endswith("needed")
        elif value is None:
            assert "`" not in default
        elif value is MISSING:
            assert default == "`{}`"
        else:
            assert default.partition(":")[0] == f"`{json.dumps(value)}`"


def test_the_page_has_no_key_that_does_not_exist() -> None:
    """Ours: a page that promises more than the program is worse than none."""
    known = {key.path for key in KEYS} | set(AGENT_KEYS[AgentKind.COMMAND])
    known |= {f'"{kind}"' for kind in AgentKind} | {
        "agents.<name>",
        "COUNTERPOINT_CONFIG",
        "COUNTERPOINT_STATE",
        "kind",
    }
    assert CELLS.keys() == known
    assert f"{MAX_BYTES >> 10} KiB" in PAGE


def test_every_example_on_the_page_is_settings() -> None:
    """STYLE section 7: every code block of the documents runs."""
    examples = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        files = RepositoryFiles(commit="0" * 40, at_base={"counterpoint.toml": example.encode()})
        found = load(flags={}, environment={}, settings_file=None, repository=files).settings
        assert isinstance(found.agents["critic"], CommandAgent)


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
