"""What the tests of hostile seats share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.stage import Stage
from tests.reviewing import Project


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """Lend a project and its seats; afterwards nothing may be left in its temporary folder or running."""
    project = Project(tmp_path, capsys)
    for name, value in project.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.top)
    yield Stage(project)
    project.check()
