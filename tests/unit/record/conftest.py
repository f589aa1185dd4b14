"""Channels with two entries each, for the tests of what is put right and what is continued."""

from pathlib import Path

import pytest

from counterpoint.record.files import Layout
from tests.places import Place, begun_place, plain_place


@pytest.fixture(params=Layout)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A channel of ours, of either kind."""
    layout: Layout = request.param
    return begun_place(tmp_path, layout)


@pytest.fixture
def shared(tmp_path: Path) -> Place:
    """A shared channel of ours."""
    return begun_place(tmp_path, Layout.SHARED)


@pytest.fixture
def plain(tmp_path: Path) -> Place:
    """A channel that the public tool began."""
    return plain_place(tmp_path)
