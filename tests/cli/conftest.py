"""What the tests of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from counterpoint.agents.probes import PROBES
from tests import ballots
from tests.agents.fake_api import Answerer, FakeApi
from tests.agents.fake_script import play
from tests.reviewing import Project


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """Lend a project whose folder is the current one; afterwards nothing may be left in its temporary folder."""
    made = Project(tmp_path, capsys)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.top)
    yield made
    made.check()


@pytest.fixture
def home(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lend a home where nobody is signed in, and a PATH on which no coding agent lies but those of the test."""
    found = tmp_path / "home"
    found.mkdir()
    monkeypatch.setenv("HOME", str(found))
    monkeypatch.setenv("PATH", f"{project.bin}:/usr/bin:/bin")
    for probe in PROBES.values():
        for variable in (*probe.key_variables, probe.moved[0]):
            monkeypatch.delenv(variable, raising=False)
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    project.begin()
    return found


@pytest.fixture
def answers() -> Answerer:
    """Return how the model behind `api` answers: by the script in its prompt; a module may say otherwise."""
    return play


@pytest.fixture
def api(answers: Answerer) -> Iterator[FakeApi]:
    """Lend the fake API; afterwards nobody is connected to it."""
    with FakeApi(answers) as running:
        yield running
        running.idle()


@pytest.fixture
def votes(project: Project) -> Project:
    """Lend a project with an orchestrator and two voters that do as `planned_seats.plan` says."""
    return ballots.begin(project)
