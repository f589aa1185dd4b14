"""Agents behind an API, from settings to agents: what is read, what is refused, and what is not even imported."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from counterpoint.agents.capabilities import Capability, Control
from counterpoint.agents.models import ModelAgent, ModelProfile
from counterpoint.drive.permission import Sending, wanted
from counterpoint.drive.registry import Registry
from counterpoint.drive.settings import Settings
from counterpoint.errors import ConfigError
from tests.need import ROOT
from tests.settings_files import loaded, refused

PLAIN = '[agents.critic]\nkind = "{kind}"\nmodel = "{model}"\n'
WHOLE = """
[agents.critic]
kind = "chat"
model = "large-2"
effort = "deep"
base_url = "https://models.example.com/v1/"
key_variable = "EXAMPLE_KEY"
destination = "example"
max_output_tokens = 9000
temperature = 0.5
timeout_s = 7
controls = ["schema", "temperature", "max_tokens"]
efforts = ["deep", "flat"]
"""


def own(tmp_path: Path, content: str) -> Settings:
    """Return the settings of a person's own file."""
    path = tmp_path / "config.toml"
    path.write_text(content)
    return loaded("", settings_file=path)


def built(settings: Settings, name: str = "critic") -> ModelAgent:
    registry = Registry(
        settings,
        read_at_base=lambda _path: None,
        environment={},
        resume="counterpoint resume review-1",
        drafts=Path("/nowhere"),
    )
    agent = registry.agent(name)
    assert isinstance(agent, ModelAgent)
    return agent


def test_every_setting_of_a_model_reaches_its_agent(tmp_path: Path) -> None:
    """Each key has another value than its default, so that none can be forgotten."""
    agent = built(own(tmp_path, WHOLE))
    assert (agent.kind, agent.destination) == ("chat", "example")
    assert agent._profile == ModelProfile(
        name="critic",
        model="large-2",
        destination="example",
        timeout_s=7,
        effort="deep",
        base_url="https://models.example.com/v1",
        key_variable="EXAMPLE_KEY",
        max_output_tokens=9000,
        temperature=0.5,
        declared=Capability(
            efforts=("deep", "flat"),
            controls=frozenset({Control.SCHEMA, Control.TEMPERATURE, Control.MAX_TOKENS}),
            source=str(tmp_path / "config.toml"),
        ),
    )


@pytest.mark.parametrize(
    ("kind", "model", "destination"),
    [
        ("openai", "gpt-5.5", "openai"),
        ("anthropic", "claude-opus-4-8", "anthropic"),
        ("gemini", "gemini-3.5-flash", "google"),
    ],
)
def test_a_known_model_needs_its_name_alone(kind: str, model: str, destination: str) -> None:
    """Issue 5: kind and model; a repository's settings may name both. Its bytes need consent like a command's."""
    settings = loaded(PLAIN.format(kind=kind, model=model))
    agent = built(settings)
    assert (agent.kind, agent.destination) == (kind, destination)
    assert agent._profile.timeout_s == settings.limits.call_timeout_s
    asked = wanted(settings, ["critic"], ())
    assert [(each.destination, str(each.scope), each.agents) for each in asked.sending] == [
        (destination, "change under review", ("critic",))
    ]
    assert asked.agents[0].model == model
    assert isinstance(asked.sending[0], Sending)


@pytest.mark.parametrize(
    ("address", "destination"),
    [
        ("http://127.0.0.1:8080/v1", "local"),
        ("http://[::1]:8080/v1", "local"),
        ("http://localhost:8080", "local"),
        ("https://Models.Example.com:8443/v1", "models.example.com"),
    ],
)
def test_an_address_of_ones_own_says_where_the_bytes_go(tmp_path: Path, address: str, destination: str) -> None:
    """Issue 5: `local` on this machine; else the host, so that consent names the receiver."""
    line = f'base_url = "{address}"\ncontrols = []\neffort = "provider_default"\n'
    settings = own(tmp_path, PLAIN.format(kind="chat", model="m") + line)
    agent = built(settings)
    assert agent.destination == destination
    assert agent._key().value == ""
    assert bool(wanted(settings, ["critic"], ()).sending) is (destination != "local")


@pytest.mark.parametrize(
    "line",
    [
        'base_url = "https://models.example.com"',
        'base_url = "http://127.0.0.1:8080"',
        'key_variable = "OTHER_TOKEN"',
        'destination = "local"',
    ],
)
def test_no_repository_says_where_keys_and_bytes_go(line: str) -> None:
    """SECURITY: a person consents to a name; a repository must not choose the receiver or the key behind it."""
    error = refused(PLAIN.format(kind="openai", model="gpt-5.5") + line)
    assert error.path == f"agents.critic.{line.partition(' ')[0]}"
    assert "nothing in a repository's settings" in str(error)
    assert "your own settings" in error.hint


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ('base_url = "http://models.example.com"', "base_url", "neither https nor http to this machine"),
        (
            'base_url = "https://ana:secret@models.example.com"',
            "base_url",
            "expected no credential; got what looks like one",
        ),
        ('base_url = "https://models.example.com?key=1"', "base_url", "got a query or a fragment"),
        ('base_url = "https://models.example.com:99999"', "base_url", "got no port from 1 to 65535"),
        ('base_url = "https:///v1"', "base_url", "got no host"),
        ('base_url = "https://models.example.com/a b"', "base_url", "got white space"),
        ('effort = "very high"', "effort", "one word of lower-case letters"),
        ("temperature = 2.5", "temperature", "a number from 0 to 2"),
        ("temperature = true", "temperature", "a number from 0 to 2"),
        ('controls = ["schemas"]', "controls[0]", "'schema'"),
        ('efforts = ["low"]', "controls", "what the model takes"),
        ("max_output_tokens = 0", "max_output_tokens", "a whole number from 1"),
        ('model = "auto"', "model", "the name of one model"),
    ],
)
def test_a_setting_of_a_model_that_cannot_be_used_is_refused(
    tmp_path: Path, line: str, path: str, expected: str
) -> None:
    """SPEC A-03, A-49: the error names the key and what belongs there."""
    table = {"kind": '"chat"', "model": '"m"', "base_url": '"https://models.example.com"'}
    key, _, value = line.partition(" = ")
    table[key] = value
    content = "[agents.critic]\n" + "".join(f"{key} = {value}\n" for key, value in table.items())
    with pytest.raises(ConfigError) as raised:
        own(tmp_path, content)
    assert raised.value.path == f"agents.critic.{path}"
    assert expected in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ('[agents.critic]\nkind = "openai"\n', "agents.critic.model"),
        (PLAIN.format(kind="chat", model="m"), "agents.critic.base_url"),
    ],
)
def test_what_a_model_cannot_do_without_is_asked_for(content: str, path: str) -> None:
    """Issue 2 point 4."""
    assert refused(content).path == path


def test_the_effort_of_the_cases_is_held_against_the_model_before_one_opens() -> None:
    """A-27: `review.effort` is `high` unless set; the model takes none, and the error says how to say so."""
    with pytest.raises(ConfigError, match="model 'gpt-4o' takes no effort") as raised:
        built(loaded(PLAIN.format(kind="openai", model="gpt-4o")))
    assert "provider_default" in raised.value.hint
    agent = built(loaded(PLAIN.format(kind="openai", model="gpt-4o") + 'effort = "provider_default"\n'))
    assert agent._profile.effort == "provider_default"


def test_the_error_on_the_page_is_the_one_that_is_raised() -> None:
    """STYLE section 7: docs/howto/api-models.md is run."""
    page = (ROOT / "docs" / "howto" / "api-models.md").read_text("utf-8")
    settings = loaded(PLAIN.format(kind="openai", model="gpt-5.5").replace("critic", "gpt") + 'effort = "turbo"\n')
    with pytest.raises(ConfigError) as raised:
        built(settings, "gpt")
    assert f"error: {raised.value}\nhint: {raised.value.hint}\n" in page
    assert all(f"| `{control}` |" in page for control in Control)


IMPORTS = """
import contextlib, json, sys
from pathlib import Path
from counterpoint.drive.config import load
from counterpoint.drive.registry import Registry
from counterpoint.errors import ConfigError
BEFORE = set(sys.modules)
found = {}
for name in json.loads(sys.argv[2]):
    settings = load(flags={}, environment={}, settings_file=Path(sys.argv[1]), repository=None).settings
    made = Registry(settings, read_at_base={}.get, environment={}, resume="", drafts=Path("/nowhere/case"))
    with contextlib.suppress(ConfigError):  # the local model need not be installed
        made.agent(name)
    found[name] = sorted(set(sys.modules) - BEFORE)
    for module in [each for each in sys.modules if each.startswith("counterpoint.agents.") and each not in BEFORE]:
        del sys.modules[module]
print(json.dumps([sorted(BEFORE), found]))
"""
OF_MODELS: Final = ("answers", "models", "questions", "wire")
OF_PROGRAMS: Final = ("program",)
OF_CODING_AGENTS: Final = ("answers", "capabilities", "events", "headless", "profiles", "program", "questions")
AGENTS: Final = {
    "openai": ('kind = "openai"\nmodel = "gpt-5.5"', ("openai", *OF_MODELS)),
    "anthropic": ('kind = "anthropic"\nmodel = "claude-opus-4-8"', ("anthropic", *OF_MODELS)),
    "chat": ('kind = "chat"\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\ncontrols = []', ("chat", *OF_MODELS)),
    "gemini": ('kind = "gemini"\nmodel = "gemini-3.5-flash"', ("gemini", *OF_MODELS)),
    "local": ("", ("local", "llama", "chat", *OF_MODELS, *OF_PROGRAMS)),
    "command": ('kind = "command"\ncommand = ["true"]\ndestination = "local"', ("command", *OF_PROGRAMS)),
    "codex": ('kind = "codex"\nprogram = "/bin/true"\nenvironment = ["CODEX_API_KEY"]', OF_CODING_AGENTS),
    "scripted": ('kind = "scripted"\nfile = "/dev/null"', ("scripted",)),
    "human": ("", ("human", "filling", "plainly", "terminal")),
    "checks": ("", ("checks",)),
}


def test_an_agent_that_is_not_used_is_not_imported(tmp_path: Path) -> None:
    """Issue 5, done when: each brings its own modules alone, and no HTTP library before the first question."""
    settings = tmp_path / "config.toml"
    settings.write_text("".join(f"[agents.{name}]\n{table}\n" for name, (table, _) in AGENTS.items() if table))
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, settings, json.dumps(list(AGENTS))],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    )
    before, found = json.loads(done.stdout)
    prefix = "counterpoint.agents."
    shared = {f"{prefix}{name}" for name in ("base", "capabilities", "schemas")}
    assert {name for name in before if name.startswith(prefix)} <= shared
    for name, (_, own) in AGENTS.items():
        modules = {module.removeprefix(prefix) for module in found[name] if module.startswith(prefix)}
        assert modules <= set(own), name
        assert modules, name
    everything = {*before, *(module for modules in found.values() for module in modules)}
    assert not everything & {"httpx2", "jsonschema", "xllamacpp"}
