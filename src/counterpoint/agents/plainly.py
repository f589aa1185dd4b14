"""JSON values as lines for a person: no brackets and no quotes, hidden characters written out.

A text of several lines stands under its key behind a bar, so that nothing in it looks like a question or a heading.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from counterpoint.core.canonical import visible

__all__ = ["plain_lines"]

_BAR: Final = "  | "


def plain_lines(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield an object, line by line. What is empty is left out."""
    for key, inner in value.items():
        yield from _named(f"{visible(key)}:", inner)


def _named(name: str, value: Any) -> Iterator[str]:
    match value:
        case None | "":
            pass
        case Mapping() if value:
            yield name
            yield from (f"  {line}" for line in plain_lines(value))
        case list() | tuple() if value:
            yield name
            for item in value:
                yield from _item(item)
        case Mapping() | list() | tuple():
            pass
        case str() if "\n" in value:
            yield name
            yield from (f"{_BAR}{line}" for line in visible(value).removesuffix("\n").split("\n"))
        case _:
            yield f"{name} {_word(value)}"


def _item(item: Any) -> Iterator[str]:
    if isinstance(item, Mapping):
        yield from (f"    {line}" if at else f"  - {line}" for at, line in enumerate(plain_lines(item)))
    else:
        yield from (f"  {line}" for line in _named("-", item))


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return visible(str(value))
