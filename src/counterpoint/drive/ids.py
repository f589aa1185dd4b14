"""Random names as an argument: channel ids, salts, seeds, case tokens.

`RandomIds` draws them from the operating system; `CountedIds` counts, for tests and examples that must give the same
bytes twice.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

__all__ = ["CountedIds", "Ids", "RandomIds"]


class Ids(ABC):
    """Where random names come from."""

    @abstractmethod
    def token(self, size: int) -> str:
        """Return `size` bytes as lower-case hex digits."""


class RandomIds(Ids):
    """Draws from the source it is given, `secrets.token_hex` outside tests."""

    def __init__(self, source: Callable[[int], str]) -> None:
        self._source = source

    def token(self, size: int) -> str:
        return self._source(size)


class CountedIds(Ids):
    """Counts from one."""

    def __init__(self) -> None:
        self._count = 0

    def token(self, size: int) -> str:
        self._count += 1
        return f"{self._count:0{2 * size}x}"
