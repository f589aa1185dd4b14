"""What holds for every test: a home of its own, the same examples on every run, no skip under `REQUIRE_ALL=1`."""

import os
import signal
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

from tests import need

settings.register_profile("ordinary", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("soak", deadline=None, max_examples=500)

_MEASURE = pytest.StashKey[Mapping[str, str]]()
_FOREIGN = ("XDG_", "GIT_", "COUNTERPOINT_")


def pytest_configure(config: pytest.Config) -> None:
    # Whoever starts the tests may ignore it, and a child would inherit that: ours are told to end by it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    settings.load_profile("soak" if config.option.markexpr == "soak" else "ordinary")
    # The tests' own children are measured only where a test asks: the tracer costs each a tenth of a CPU second.
    runs_tests = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    measuring = {name: os.environ[name] for name in ("COVERAGE_PROCESS_START",) if name in os.environ}
    config.stash[_MEASURE] = measuring
    for name in measuring if runs_tests else ():
        del os.environ[name]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _no_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _no_skip(report)
    return report


def _no_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and need.require_all():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        report.longrepr = f"REQUIRE_ALL=1 allows no skip: {reason}"
        report.outcome = "failed"


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test an empty home: it neither reads nor writes the settings, state or git setup of its user."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def measured(pytestconfig: pytest.Config) -> Mapping[str, str]:
    """Return what to add to a child's environment so that its coverage counts; empty outside the gate."""
    return pytestconfig.stash[_MEASURE]
