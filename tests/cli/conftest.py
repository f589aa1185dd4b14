"""What the tests of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
