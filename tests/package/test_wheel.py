"""The built wheel, alone in an empty environment: what a user gets who installs the package (FIELD-FAULTS F45)."""

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests import need

TIMEOUT_S: Final = 110


def _run(*command: str | Path, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a program from a folder that is not ours, in an empty home."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "LANG", "PATH"))}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | {"HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the pinned builder, without a download."""
    folder = tmp_path_factory.mktemp("dist")
    built = _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=need.ROOT, home=folder)
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel with the pinned requirements of a user, nothing else, and return the `bin` folder."""
    folder = tmp_path_factory.mktemp("empty")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=TIMEOUT_S)
    pip = [sys.executable, "-m", "pip", "-qq", "--python", str(environment / "bin/python"), "install"]
    needed = subprocess.run(
        [*pip, "--require-hashes", "-r", str(need.ROOT / "requirements/run.txt")],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if needed.returncode != 0:
        need.absent(f"the package index was of no use: {needed.stderr.strip().splitlines()[-1]}")
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, timeout=TIMEOUT_S)
    return environment / "bin"


def test_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    """What lies in `src/counterpoint` is in the wheel, data files too; tests and caches are not."""
    source = need.ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "counterpoint").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = zipfile.ZipFile(wheel).namelist()
    assert {name for name in names if not name.partition("/")[0].endswith(".dist-info")} == expected


def test_installed_wheel_says_its_version(installed: Path, tmp_path: Path) -> None:
    """Both console scripts and `python -m` start from another folder with a clean home."""
    version = tomllib.loads((need.ROOT / "pyproject.toml").read_text())["project"]["version"]
    for command in ([installed / "counterpoint"], [installed / "cpt"], [installed / "python", "-m", "counterpoint"]):
        done = _run(*command, "--version", cwd=tmp_path, home=tmp_path)
        assert done.stderr == ""
        assert done.returncode == 0
        assert version in done.stdout


def test_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    """`counterpoint demo` needs nothing that the package does not contain (FIELD-FAULTS F45)."""
    need.tool("git")
    home, elsewhere = tmp_path / "home", tmp_path / "else where"
    home.mkdir()
    elsewhere.mkdir()
    done = _run(installed / "counterpoint", "demo", cwd=elsewhere, home=home)
    assert done.stderr == ""
    assert done.returncode == 0, done.stdout
    assert "verify" in done.stdout
