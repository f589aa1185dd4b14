"""Seats that are small programs and do as a plan says, in a project that the command line is called in."""

import json
import sys
from collections.abc import Iterable
from typing import Any, Final

import pytest

from tests.agents.fake_api import FakeApi
from tests.agents.models import KEY
from tests.need import ROOT
from tests.reviewing import Project

__all__ = ["add_model", "asked", "begin", "plan", "shown"]

_BEFORE: Final = f"""\
#!{sys.executable}
import json, os, pathlib, signal, sys

sys.path.insert(0, {str(ROOT)!r})
brief, here = json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(__file__).parent
name, payload = pathlib.Path(__file__).name, brief["payload"]
"""
_BETWEEN: Final = """\
with (here / "asked").open("a") as file:
    file.write(f"{name} {turn}\\n")
(here / f"{name}.{turn}.json").write_text(json.dumps(payload))
told = json.loads((here / "plan.json").read_text()).get(name, {}).get(turn, usual)
if told == "kill":
    if not (here / "killed").exists():
        (here / "killed").touch()
        os.kill(os.getppid(), signal.SIGKILL)
        sys.exit(1)
    told = usual
"""


def begin(project: Project, names: Iterable[str], *, owes: str, says: str) -> Project:
    """Set up seats of these names, and a person `me`; where the plan says nothing, they do the usual.

    Args:
        project: whose settings they are in.
        names: of the seats.
        owes: Python that sets `phase`, `turn` and `usual` from `brief` and `payload`.
        says: Python that prints the reply of whoever is `told` something; `kill` ends the driver, once.
    """
    project.begin()
    settings = '[agents.me]\nkind = "human"\n'
    for name in names:
        program = project.bin / name
        program.write_text(_BEFORE + owes + _BETWEEN + says)
        program.chmod(0o755)
        command = f'kind = "command"\ncommand = ["{program}", "{{brief_json}}"]\ndestination = "local"'
        settings += f"[agents.{name}]\n{command}\n"
    project.configure(settings)
    plan(project)
    return project


def plan(project: Project, **says: dict[str, Any]) -> None:
    """Say what seats do, by their names and the turns `phase.round`."""
    (project.bin / "plan.json").write_text(json.dumps(says))


def asked(project: Project) -> list[str]:
    """Return who was asked in which turn, sorted."""
    path = project.bin / "asked"
    return sorted(path.read_text().splitlines()) if path.exists() else []


def shown(project: Project, turn: str) -> Any:
    """Return the payload that a seat saw in a turn: `ada.comparing.2`."""
    return json.loads((project.bin / f"{turn}.json").read_text())


def add_model(project: Project, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> str:
    """Add a model behind the API to the seats of a project, and return its name."""
    settings = (project.config / "config.toml").read_text()
    model = f'kind = "openai"\nmodel = "gpt-5.5"\nbase_url = "{api.url}/v1"\nkey_variable = "CRITIC_API_KEY"'
    project.configure(f"{settings}[agents.model]\n{model}\n")
    monkeypatch.setenv("CRITIC_API_KEY", KEY)
    return "model"
