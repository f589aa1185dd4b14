"""A terminal of which the other end is a person's."""

import os
import pty
from collections.abc import Iterator

import pytest

from counterpoint.agents.terminal import Terminal


@pytest.fixture
def line() -> Iterator[tuple[Terminal, int]]:
    """Return a terminal at a real pseudo-terminal, and the descriptor on which a person types."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "r", encoding="utf-8") as reads, os.fdopen(os.dup(slave), "w", encoding="utf-8") as writes:
        yield Terminal(reads, writes), master
    os.close(master)
