"""Reading the words of a channel command as `argparse` reads them for the public tool, from a table of options.

- `--x V`, `--x=V`, and any beginning of a name that fits one option alone; our own options have no short forms, so
  that they take away none of the public tool's.
- A word that begins with a hyphen is no value, unless it is a number, holds a blank, or is a hyphen alone.
- What is wrong with the command line is `Usage`, exit code 2.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

__all__ = ["CHANNEL", "JSON", "ROOT", "Option", "Shape", "Usage", "parse"]


class Usage(Exception):
    """The command line is wrong; `str()` says how."""


class Option(NamedTuple):
    name: str
    """Without its two hyphens."""
    takes: str = ""
    """What its value is called in the help; empty: it takes none."""
    about: str = ""
    read: Callable[[str], Any] = str
    default: Any = None
    required: bool = False
    repeats: bool = False
    ours: bool = False
    """The public tool does not have it."""
    hidden: bool = False
    """Read, and left out of the help."""

    @property
    def flag(self) -> str:
        return f"--{self.name}"


class Shape(NamedTuple):
    """What one command understands."""

    summary: str
    options: tuple[Option, ...]
    exits: Mapping[int, str]
    about: str = ""
    one_of: tuple[str, ...] = ()
    """Options of which exactly one is given."""
    examples: tuple[tuple[str, str], ...] = ()


ROOT: Final = Option("root", "DIR", "the folder of the channel  [default: .]", default=".")
CHANNEL: Final = Option("channel", "ID", "the channel's name; needed only where the folder holds several")
JSON: Final = Option("json", about="print one JSON object, errors too", ours=True)


def parse(shape: Shape, words: Sequence[str]) -> dict[str, Any] | None:
    """Return the value of every option by its name; `None` where the help is asked for.

    Raises:
        Usage: the words are no command line of this shape.
    """
    given: dict[str, Any] = {}
    extra: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        found = None if word == "--" else _option(shape, word)
        if found is None:
            extra += words[at:] if word == "--" else [word]
            at = len(words) if word == "--" else at
            continue
        option, value = found
        if option is None:
            return None
        if option.takes and value is None:
            value, at = _next_value(shape, option, words, at)
        elif not option.takes and value is not None:
            raise Usage(f"argument {option.flag}: ignored explicit argument {value!r}")
        _take(given, option, value)
    return _whole(shape, given, extra)


def _option(shape: Shape, word: str) -> tuple[Option | None, str | None] | None:
    """Return the option that a word names, `None` for the help, and its value; `None` where it names none.

    Raises:
        Usage: it is the beginning of several, or of none.
    """
    if not word.startswith("-") or word == "-":
        return None
    name, equals, value = word.partition("=")
    found = [option for option in (*shape.options, _HELP) if name == option.flag]
    if not found and name.startswith("--"):
        found = [option for option in (*shape.options, _HELP) if option.flag.startswith(name) and not option.ours]
    if len(found) > 1:
        names = ", ".join(option.flag for option in found)
        raise Usage(f"ambiguous option: {word} could match {names}")
    if name == "-h":
        found = [_HELP]
    if found:
        return (None if found[0] is _HELP else found[0]), value if equals else None
    if " " in word or _is_number(word):
        return None
    raise Usage(f"unrecognized arguments: {word}")


def _is_number(word: str) -> bool:
    """Say whether a word is a negative number, `-1` or `-.5`."""
    whole, point, fraction = word[1:].partition(".")
    return fraction.isdecimal() and (not whole or whole.isdecimal()) if point else whole.isdecimal()


_HELP: Final = Option("help")


def _next_value(shape: Shape, option: Option, words: Sequence[str], at: int) -> tuple[str, int]:
    if words[at : at + 1] == ["--"]:
        at += 1
    elif at < len(words) and _is_option(shape, words[at]):
        raise Usage(f"argument {option.flag}: expected one argument")
    if at >= len(words):
        raise Usage(f"argument {option.flag}: expected one argument")
    return words[at], at + 1


def _is_option(shape: Shape, word: str) -> bool:
    try:
        return _option(shape, word) is not None
    except Usage:
        return True


def _take(given: dict[str, Any], option: Option, text: str | None) -> None:
    if text is None:
        given[option.name] = True
        return
    try:
        value = option.read(text)
    except (ValueError, OverflowError) as error:
        raise Usage(f"argument {option.flag}: {error}") from None
    if option.repeats:
        given.setdefault(option.name, []).append(value)
    else:
        given[option.name] = value


def _whole(shape: Shape, given: dict[str, Any], extra: list[str]) -> dict[str, Any]:
    missing = [option.flag for option in shape.options if option.required and option.name not in given]
    if missing:
        raise Usage(f"the following arguments are required: {', '.join(missing)}")
    if shape.one_of:
        choices = [f"--{name}" for name in shape.one_of]
        chosen = [flag for flag in choices if flag[2:] in given]
        if len(chosen) > 1:
            raise Usage(f"argument {chosen[1]}: not allowed with argument {chosen[0]}")
        if not chosen:
            raise Usage(f"one of the arguments {' '.join(choices)} is required")
    if extra:
        raise Usage(f"unrecognized arguments: {' '.join(extra)}")
    for option in shape.options:
        given.setdefault(option.name, _default(option))
    return given


def _default(option: Option) -> Any:
    if option.repeats:
        return []
    return option.default if option.takes else False


def whole_number(lowest: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `lowest` on."""

    def read(text: str) -> int:
        number = int(text)
        if number < lowest:
            raise ValueError(f"{text!r} is below {lowest}")
        return number

    return read


def one_of(*words: str) -> Callable[[str], str]:
    """Return a reader of one of these words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"invalid choice: {text!r} (choose from {', '.join(map(repr, words))})")
        return text

    return read
