"""The source of a real package, downloaded once by its hash."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

import pytest

from tests import need

TIMEOUT_S: Final = 110


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked source of six, downloaded by its hash."""
    folder = tmp_path_factory.mktemp("six")
    wanted = [
        "--no-deps",
        "--no-binary",
        ":all:",
        "--require-hashes",
        "-r",
        str(need.ROOT / "requirements/example.txt"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-qq", *wanted, "--dest", str(folder)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        need.absent(f"the package index was of no use: {done.stderr.strip().splitlines()[-1]}")
    (archive,) = folder.glob("six-*.tar.gz")
    with tarfile.open(archive) as packed:
        # An attribute, as Python 3.11.0 to 3.11.3 have no such argument; they take the pinned archive as it is.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)
    return next(path for path in folder.iterdir() if path.is_dir())


@pytest.fixture
def six(unpacked: Path, tmp_path: Path) -> Path:
    """Return a copy of the source of six, as the package index has it."""
    return Path(shutil.copytree(unpacked, tmp_path / "six"))
