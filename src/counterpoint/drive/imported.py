"""Values of modules that are imported when somebody asks for them, by the names under which they are listed."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar

__all__ = ["Imported"]

T = TypeVar("T")


class Imported(Mapping[str, T]):
    """A mapping of names to `module:attribute`; looking one up imports its module and no other.

    Args:
        places: where each value is.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> T:
        module, _, attribute = self._places[name].partition(":")
        found: T = getattr(import_module(module), attribute)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
