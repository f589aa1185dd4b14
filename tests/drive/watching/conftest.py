from pathlib import Path

import pytest

from tests.drive.watching.examples import Place


@pytest.fixture
def place(tmp_path: Path, own_home: Path) -> Place:
    return Place(tmp_path, environment={"HOME": str(own_home), "PATH": "/usr/bin:/bin"})
