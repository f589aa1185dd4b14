"""What the value of a setting may look like: one reader for each shape.

A reader takes an untyped value and its `Place`, and returns the typed value or raises `ConfigError` with the dotted
key, what was expected, what was found and the source. What looks like a credential is refused and never shown.
"""

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from counterpoint.core.values import NAME
from counterpoint.drive.credentials import argv_holds_credential, looks_like_credential, names_credential
from counterpoint.drive.settings import Origin, Source
from counterpoint.errors import ConfigError
from counterpoint.isolation.addresses import address_fault

__all__ = [
    "DESTINATION",
    "NOTHING",
    "Argv",
    "Place",
    "Reader",
    "address",
    "assignments",
    "command",
    "commands",
    "destination",
    "did_you_mean",
    "each_a_command",
    "each_one_of",
    "key_text",
    "model",
    "name",
    "names",
    "nearest",
    "number",
    "one_of",
    "plain_model",
    "pointer",
    "program",
    "revision",
    "table",
    "text",
    "variables",
    "whole",
    "word",
    "words",
]

DESTINATION: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
MAX_TEXT: Final = 4096
MAX_ITEMS: Final = 256
_SHOWN: Final = 80

Argv = tuple[str, ...]
E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A setting by its dotted key, in the source that is being read."""

    path: str
    source: Source

    def below(self, key: str) -> "Place":
        return replace(self, path=f"{self.path}.{key_text(key)}" if self.path else key_text(key))

    def item(self, index: int) -> "Place":
        return replace(self, path=f"{self.path}[{index}]")

    def error(self, expected: str, *, got: object = None, hint: str = "") -> ConfigError:
        return ConfigError(self.path, expected, got=_shown(got), source=self.source.name, hint=hint or self._hint())

    def _hint(self) -> str:
        match self.source.origin:
            case Origin.FLAG:
                return f"correct {self.source.name}"
            case Origin.ENVIRONMENT:
                return f"correct or unset {self.source.name}"
            case _:
                return f"correct {self.path} in {self.source.name}"


Reader = Callable[[object, Place], Any]


def key_text(key: str) -> str:
    """Return a key as it stands in a dotted path: bare, or quoted and cut where TOML would quote it."""
    return key if re.fullmatch(r"[\w-]{1,64}", key, re.ASCII) else ascii(key[:_SHOWN])


def nearest(word: str, known: Collection[str]) -> str:
    """Return the known word that `word` was probably meant to be, or ""."""
    import difflib  # noqa: PLC0415 - only somebody who mistyped a word pays for it

    near = difflib.get_close_matches(word[:_SHOWN], sorted(known), n=1, cutoff=0.6)
    return near[0] if near else ""


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Return the hint that names the nearest of the known words, or ""."""
    near = nearest(word, known)
    return f"did you mean {near!r}?" if near else ""


class _Words(str):
    """A description, which an error shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


NOTHING: Final = _Words("nothing")


def _shown(value: object) -> object:
    match value:
        case None:
            return None
        case Mapping():
            return _Words("a table")
        case list() | tuple():
            return _Words("a list" if value else "an empty list")
        case str() if looks_like_credential(value):
            return _Words("what looks like a credential")
        case _Words():
            return value
        case str():
            return value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
        case _:
            return value


def table(value: object, place: Place, known: Collection[str]) -> Mapping[str, object]:
    """Read a table that has no other keys than the known ones."""
    if not isinstance(value, Mapping):
        raise place.error("a table", got=value, hint=f"write it as a section: [{place.path}]")
    for key in value:
        if key in known:
            continue
        below = place.below(key)
        if names_credential(key):
            raise _no_credential(below)
        listing = ", ".join(sorted(known)) or "nothing"
        raise below.error(f"one of {listing}", got=key, hint=did_you_mean(key, known) or f"remove {below.path}")
    return value


def whole(lowest: int, highest: int) -> Reader:
    """Read a whole number within two bounds."""

    def read(value: object, place: Place) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise place.error(f"a whole number from {lowest} to {highest}", got=value)
        return value

    return read


def text(value: object, place: Place) -> str:
    """Read a text that is not blank and holds no NUL and no credential."""
    if not isinstance(value, str) or not value.strip() or not _is_plain(value):
        raise place.error(f"a text of 1 to {MAX_TEXT} characters", got=value)
    if looks_like_credential(value):
        raise _no_credential(place)
    return value


def _is_plain(value: str) -> bool:
    # A lone surrogate stands for a byte of an environment variable that is not UTF-8.
    return len(value) <= MAX_TEXT and "\0" not in value and not re.search("[\ud800-\udfff]", value)


def one_of(words: type[E]) -> Callable[[object, Place], E]:
    """Read one word of a closed list."""

    def read(value: object, place: Place) -> E:
        listing = " or ".join(repr(str(word)) for word in words)
        if not isinstance(value, str) or value not in list(words):
            near = did_you_mean(value, [str(word) for word in words]) if isinstance(value, str) else ""
            raise place.error(listing, got=value, hint=near)
        return words(value)

    return read


def number(lowest: float, highest: float) -> Callable[[object, Place], float]:
    """Read a number within two bounds; a fraction is one."""

    def read(value: object, place: Place) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= highest:
            raise place.error(f"a number from {lowest:g} to {highest:g}", got=value)
        return value

    return read


def word(value: object, place: Place) -> str:
    """Read one word of lower-case letters and underlines."""
    if not isinstance(value, str) or not re.fullmatch(r"[a-z_]{1,32}", value):
        raise place.error("one word of lower-case letters", got=value)
    return value


def words(value: object, place: Place) -> tuple[str, ...]:
    """Read a list of words, which may be empty."""
    return () if value == [] else _list(value, place, word, what="a list of words")


def each_one_of(closed: type[E]) -> Callable[[object, Place], tuple[E, ...]]:
    """Read a list of words of a closed list, which may be empty."""

    def read(value: object, place: Place) -> tuple[E, ...]:
        return () if value == [] else _list(value, place, one_of(closed), what="a list of words")

    return read


def address(value: object, place: Place) -> str:
    """Read the base address of an API."""
    found = text(value, place)
    if fault := address_fault(found):
        expected = "an https address, or an http address of this machine, without login, query or fragment"
        raise place.error(expected, got=_Words(fault))
    return found.rstrip("/")


def revision(value: object, place: Place) -> str:
    """Read what names one commit: a branch, a tag, an id, `HEAD~3`."""
    found = text(value, place)
    if found.startswith("-") or re.search(r"[\s\x00-\x20\x7f:?*\[\\]|\.\.", found):
        raise place.error("the name of a branch, tag or commit", got=found)
    return found


def model(value: object, place: Place) -> str:
    """Read the name of one model; a word that stands for whatever is current pins nothing (SPEC A-03)."""
    found = text(value, place)
    if found.lower() in {"auto", "inherit", "inherited", "current", "default"} or re.search(r"\s", found):
        raise place.error("the name of one model", got=found)
    return found


def plain_model(value: object, place: Place) -> str:
    """Read the name of one model that goes into a command: nothing in it can be an option or a quote."""
    found = model(value, place)
    if not re.fullmatch(r"[A-Za-z0-9][\w.:/@+\[\]-]{0,199}", found, re.ASCII):
        raise place.error("the name of one model: letters, digits and . : / @ + - _ [ ]", got=found)
    return found


def program(value: object, place: Place) -> str:
    """Read a program: a name that is looked up on PATH, or an absolute path."""
    found = text(value, place)
    if found.startswith("-") or ("/" in found and not found.startswith("/")):
        raise place.error("the name of a program on PATH, or its absolute path", got=found)
    return found


def destination(value: object, place: Place) -> str:
    """Read where bytes go: `local`, or the name of a provider."""
    if not isinstance(value, str) or not DESTINATION.fullmatch(value):
        expected = "'local' or a provider's name in lower-case letters, digits, dots and hyphens"
        raise place.error(expected, got=value)
    return value


def pointer(value: object, place: Place) -> str:
    """Read a JSON Pointer (RFC 6901)."""
    if not isinstance(value, str) or len(value) > MAX_TEXT or not re.fullmatch(r"(?:/(?:[^~/]|~[01])*)*", value):
        raise place.error("a JSON Pointer such as '/result/text'", got=value)
    return value


def names(value: object, place: Place) -> tuple[str, ...]:
    """Read names of agents; one that stands twice fills two seats."""
    return _list(value, place, name, what="a list of names of agents", repeats=True)


def variables(value: object, place: Place) -> tuple[str, ...]:
    """Read names of environment variables, each once."""
    return _list(value, place, variable, what="a list of names of environment variables")


def variable(value: object, place: Place) -> str:
    """Read the name of one environment variable that is not ours to set."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w{0,127}", value, re.ASCII):
        raise place.error("the name of an environment variable", got=value)
    if value in _RESERVED or value.startswith(_RESERVED_PREFIXES):
        raise place.error("a variable that Counterpoint does not set itself", got=value)
    return value


_RESERVED: Final = frozenset({"HOME", "PWD", "TMPDIR", "TMP", "TEMP", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES"})
_RESERVED_PREFIXES: Final = ("XDG_", "GIT_", "COUNTERPOINT_")


def assignments(value: object, place: Place) -> Mapping[str, str]:
    """Read variables with their values; none of them a credential."""
    if not isinstance(value, Mapping) or not value:
        raise place.error("a table of variables and their values", got=value)
    found: dict[str, str] = {}
    for key, inner in value.items():
        below = place.below(key)
        variable(key, below)
        if names_credential(key):
            raise _no_credential(below)
        if not isinstance(inner, str) or not _is_plain(inner):
            raise below.error(f"a text of at most {MAX_TEXT} characters", got=inner)
        if looks_like_credential(inner):
            raise _no_credential(below)
        found[key] = inner
    return found


def command(value: object, place: Place) -> Argv:
    """Read one command: a text that is split as a shell would split it, or a list of its words. No shell runs it."""
    match value:
        case str():
            argv = _split(text(value, place), place)
        case list() | tuple() if value and all(isinstance(word, str) for word in value):
            argv = tuple(str(word) for word in value)
        case _:
            raise place.error("a command: a text or a list of words", got=value)
    if not argv or not argv[0].strip() or argv[0].startswith("-"):
        raise place.error("a command that begins with a program", got=argv[0] if argv else "")
    if len(argv) > MAX_ITEMS or not all(_is_plain(word) for word in argv):
        raise place.error(f"at most {MAX_ITEMS} words of at most {MAX_TEXT} characters without NUL")
    if argv_holds_credential(argv):
        raise _no_credential(place)
    return argv


def _split(line: str, place: Place) -> Argv:
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise place.error(f"a command with its quotes closed ({error})", got=line.split(maxsplit=1)[0]) from None


def commands(value: object, place: Place) -> tuple[Argv, ...]:
    """Read one command as a text, or a list of commands.

    `["npm", "test"]` is refused: it may be meant as one command of two words or as two commands.
    """
    if isinstance(value, str):
        return (command(value, place),)
    found = _list(value, place, command, what="a command, or a list of commands")
    words = [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
    if len(words) == len(found) > 1 and all(len(argv) == 1 for argv in found):
        one, several = " ".join(words), ", ".join(f'["{word}"]' for word in words)
        hint = f'write ["{one}"] for one command, [{several}] for {len(words)}'
        raise place.error("commands that cannot be read as the words of one", got=words[0], hint=hint)
    return found


def each_a_command(value: object, place: Place) -> tuple[Argv, ...]:
    """Read a list of which every item is one whole command."""
    return _list(value, place, command, what="a list of commands")


def name(value: object, place: Place) -> str:
    """Read the name of one agent."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise place.error("a name of lower-case letters, digits and hyphens", got=value)
    return value


def _list(
    value: object, place: Place, read: Callable[[object, Place], T], *, what: str, repeats: bool = False
) -> tuple[T, ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise place.error(what, got=value)
    if len(value) > MAX_ITEMS:
        raise place.error(f"at most {MAX_ITEMS} items", got=len(value))
    found: list[T] = []
    for index, item in enumerate(value):
        each = read(item, place.item(index))
        if each in found and not repeats:
            raise place.item(index).error("each one once", got=item)
        found.append(each)
    return tuple(found)


def _no_credential(place: Place) -> ConfigError:
    hint = "keep it in the environment, and list its variable's name in `environment`"
    return place.error("no credential", got=_Words("what looks like one"), hint=hint)
