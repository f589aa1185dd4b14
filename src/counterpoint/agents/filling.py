"""A form along a JSON Schema: one plain question for each value that is open, held to its part of the schema at once.

- `const` is filled in and not asked for. `default` is what an empty line stands for. `enum` is chosen by number or by
  the beginning of the word. `prefixItems` are asked for one by one under their titles; `description` is said.
- What has been typed is kept at once, each answer with its question. `<` goes back by one; of what was kept earlier
  as much is taken up again as the person says.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from counterpoint.agents.base import MAX_REPLY_BYTES, schema_fault
from counterpoint.agents.terminal import MAX_LINE, Terminal
from counterpoint.core.canonical import parse_json, visible

__all__ = ["Editor", "Form"]

T = TypeVar("T")

HOW: Final = """\
`<` goes back one question. A line that ends in \\ goes on in the next one.
For a longer text, `e` opens your editor, and `@file` reads a file (`@@` for a text that begins with @)."""
_BACK: Final = "<"
_YES: Final = frozenset({"y", "yes", "true"})
_NO: Final = frozenset({"n", "no", "false"})
_LEFT_OUT: Final = object()
_SHORT: Final = 20
_INLINE: Final = 80
"""Characters up to which choices stand in the question itself."""
_ITEM_SHOWN: Final = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """The person's own editor."""

    argv: Sequence[str]
    """Empty if none is known."""
    env: Mapping[str, str]


class _WentBack(Exception):
    """The person wants the question before this one again."""


@dataclass(frozen=True, slots=True)
class _Given:
    question: str
    answer: str


class Form:
    """Asks for one value of a schema. `kept` is the file in which the answers are kept."""

    def __init__(self, terminal: Terminal, kept: Path, editor: Editor) -> None:
        self._terminal = terminal
        self._kept = kept
        self._editor = editor
        self._given = _read(kept)
        self._at = 0
        self._is_quiet = False

    async def fill(self, schema: Mapping[str, Any]) -> Any:
        """Return the value that the person gives."""
        self._terminal.say(f"\nYour answer. {HOW}\n")
        while True:
            self._at = 0
            try:
                return await self._value(schema, "answer", schema)
            except _WentBack:
                if not self._given:
                    self._terminal.say("  This is the first question.")
                self._keep(self._given[:-1])
                self._is_quiet = True

    async def take_up(self) -> None:
        """Ask how much of what was given stays, where anything was."""
        count = len(self._given)
        if not count:
            return None
        self._terminal.say(f"\nAnswers kept from before: {count}.")
        for number, given in enumerate(self._given, 1):
            answer = visible(f"  {number}. {given.question} {given.answer}").replace("\n", " ")
            self._terminal.say(_cut(answer, _ITEM_SHOWN))
        while True:
            typed = (await self._terminal.ask("Go on from there? [Y/n, or how many to keep] ")).lower()
            if typed in _NO:
                return self._keep([])
            if not typed or typed in _YES:
                return None
            if typed.isdecimal() and int(typed) <= count:
                return self._keep(self._given[: int(typed)])

    async def is_sent(self) -> bool:
        """Ask whether what was given is to be sent; else `fill` goes on with what of it is kept."""
        while True:
            typed = (await self._terminal.ask("Send this? [Y/n] ")).lower()
            if not typed or typed in _YES:
                return True
            self._is_quiet = typed == _BACK
            if typed == _BACK:
                self._keep(self._given[:-1])
                return False
            if typed in _NO:
                await self.take_up()
                return False

    async def _value(
        self, schema: Mapping[str, Any], label: str, root: Mapping[str, Any], *, optional: bool = False
    ) -> Any:
        """Return the value that a person gives for `schema`; `_LEFT_OUT` for an optional one left blank."""
        if "$ref" in schema:
            schema = _resolved(schema["$ref"], root)
        match schema:
            case {"const": fixed}:
                return fixed
            case {"type": "object", "properties": dict() as parts}:
                self._say(f"{label}:")
                required = schema.get("required", ())
                found = {
                    key: await self._value(part, key, root, optional=key not in required)
                    for key, part in parts.items()
                }
                return {key: value for key, value in found.items() if value is not _LEFT_OUT}
            case {"type": "array", "items": {"enum": [*words]}}:
                return await self._several(schema, label, words)
            case {"type": "array", "items": {"type": "object" | "string"}}:
                return await self._list(schema, label, root, optional=optional)
            case _:
                return await self._leaf(schema, label, optional=optional)

    async def _list(self, schema: Mapping[str, Any], label: str, root: Mapping[str, Any], *, optional: bool) -> Any:
        before = schema.get("default", ())
        kept = f"{label}: {len(before)} as before. Keep them? [Y/n] "
        if before and await self._asked(kept, lambda typed: not typed or _truth(typed)):
            return before
        found: list[Any] = []
        named, least, most = schema.get("prefixItems", ()), schema.get("minItems", 0), schema.get("maxItems")
        while most is None or len(found) < most:
            count = len(found)
            if count >= least and not await self._yes(f"{label}: {count} so far. Add one? [y/N] "):
                break
            item = named[count] if count < len(named) else schema["items"]
            heading = f"{label} {count + 1}" + (f" of {least}" if count < least else "")
            if "title" in item:
                heading += f": {visible(item['title'])}"
                self._say(f"\n{_described(heading, item)}")
            found.append(await self._value(item, heading, root))
        return _LEFT_OUT if optional and not found else found

    async def _several(self, schema: Mapping[str, Any], label: str, words: Sequence[Any]) -> list[Any]:
        if not words:
            return []
        self._offer(words)
        about = _about(schema, [_choices(words), "several with commas", "Enter for none"])

        def read(typed: str) -> list[Any]:
            chosen = [_chosen(words, each.strip()) for each in typed.split(",") if each.strip()]
            return _fitting(list(dict.fromkeys(chosen)), schema)

        return await self._asked(f"  {label} ({about}): ", read)

    async def _leaf(self, schema: Mapping[str, Any], label: str, *, optional: bool) -> Any:
        default, words = schema.get("default", ""), schema.get("enum", ())

        def read(typed: str) -> Any:
            if not typed and "default" in schema:
                return default
            return _LEFT_OUT if not typed and optional else _fitting(_meant(schema, typed), schema)

        hints = [_choices(words)] if words else ["y/n"] if schema.get("type") == "boolean" else []
        if default:
            hints.append(
                "Enter keeps it as it is" if "\n" in str(default) else f"Enter for {_cut(str(default), _SHORT)}"
            )
        elif optional:
            hints.append("Enter leaves it out")
        self._offer(words)
        about = _about(schema, hints)
        is_text = schema.get("type") == "string" and not words
        begin = str(default) if is_text else None
        return await self._asked(f"  {label} ({about}): " if about else f"  {label}: ", read, begin)

    def _offer(self, words: Sequence[Any]) -> None:
        """Show choices that are too long for one line."""
        if _is_long(words):
            self._say("\n".join(f"  {number}. {visible(str(word))}" for number, word in enumerate(words, 1)))

    async def _yes(self, question: str) -> bool:
        return await self._asked(question, lambda typed: bool(typed) and _truth(typed))

    async def _asked(self, question: str, read: Callable[[str], T], begin: str | None = None) -> T:
        """Return what the answer to a question means: one that was given before, or one that is typed now.

        Args:
            question: as it is shown.
            read: what an answer means; a `ValueError` says why it means nothing.
            begin: what an editor begins with; None where it is not for an editor.
        """
        if self._at < len(self._given):
            answer = self._given[self._at].answer
            self._at += 1
            self._say(f"{question}{visible(answer)}")
            return read(answer)
        self._is_quiet = False
        while True:
            try:
                answer = await self._typed(question, begin)
                value = read(answer)
            except ValueError as error:
                self._terminal.say(f"  That does not fit: {visible(str(error))}")
                continue
            self._at += 1
            self._given.append(_Given(question.strip(), answer))
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(_line(self._given[-1]))
            return value

    async def _typed(self, question: str, begin: str | None) -> str:
        typed = await self._terminal.ask(question)
        if typed == _BACK:
            raise _WentBack
        if begin is not None and typed == "e":
            return await self._edited(begin)
        if begin is not None and typed.startswith("@"):
            return typed[1:] if typed.startswith("@@") else _of_file(typed[1:].strip())
        parts = [typed]
        while parts[-1].endswith("\\"):
            parts[-1] = parts[-1][:-1].rstrip()
            parts.append(await self._terminal.ask("  "))
        return " ".join(parts)

    async def _edited(self, begin: str) -> str:
        """Return what the person has written in their editor.

        Raises:
            ValueError: there is no editor, or it did not end well.
        """
        if not self._editor.argv:
            raise ValueError("no editor is known; set VISUAL or EDITOR, or use @file")
        path = self._kept.with_suffix(".txt")
        path.write_text(begin, encoding="utf-8", newline="")
        try:
            code = await self._terminal.lend([*self._editor.argv, str(path)], self._editor.env)
            if code:
                raise ValueError(f"the editor {self._editor.argv[0]!r} ended with exit {code}")
            return _of_file(str(path))
        except OSError as error:
            raise ValueError(f"the editor {self._editor.argv[0]!r} cannot be started: {error.strerror}") from None
        finally:
            path.unlink(missing_ok=True)

    def _say(self, text: str) -> None:
        """Say something, but not again on the way back to a question."""
        if not (self._is_quiet and self._at < len(self._given)):
            self._terminal.say(text)

    def _keep(self, given: Sequence[_Given]) -> None:
        self._given = list(given)
        self._kept.write_text("".join(map(_line, given)), encoding="utf-8")


def _line(given: _Given) -> str:
    return f"{json.dumps([given.question, given.answer])}\n"


def _read(kept: Path) -> list[_Given]:
    """Return the whole lines of the file of kept answers; a crash may have cut the last."""
    found = []
    for line in kept.read_text("utf-8", "replace").split("\n")[:-1] if kept.exists() else ():
        try:
            question, answer = json.loads(line)
        except ValueError:
            break
        found.append(_Given(question, answer))
    return found


def _resolved(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of our own schema that `#/$defs/name` names."""
    found: Any = root
    for key in ref.removeprefix("#/").split("/"):
        found = found[key]
    assert isinstance(found, Mapping)
    return found


def _of_file(name: str) -> str:
    """Return the text of a file, without the line ends at its end.

    Raises:
        ValueError: there is none, or it is too long or no UTF-8.
    """
    try:
        with Path(name).expanduser().open("rb") as file:
            content = file.read(MAX_REPLY_BYTES + 1)
        text = content.decode("utf-8")
    except OSError as error:
        raise ValueError(f"{name!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name!r} is not UTF-8 text") from None
    if len(content) > MAX_REPLY_BYTES:
        raise ValueError(f"{name!r} has more than {MAX_REPLY_BYTES} bytes")
    return text.replace("\r\n", "\n").rstrip("\n")


def _is_long(words: Sequence[Any]) -> bool:
    return sum(len(str(word)) for word in words) > _INLINE


def _choices(words: Sequence[Any]) -> str:
    if _is_long(words):
        return f"1 to {len(words)}, or how it begins"
    return ", ".join(f"{number} {visible(str(word))}" for number, word in enumerate(words, 1))


def _about(schema: Mapping[str, Any], hints: Sequence[str]) -> str:
    return "; ".join([*([schema["description"]] if "description" in schema else []), *hints])


def _described(heading: str, item: Mapping[str, Any]) -> str:
    return f"{heading}\n    {visible(item['description'])}" if item.get("description") else heading


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _truth(typed: str) -> bool:
    if typed.lower() not in _YES | _NO:
        raise ValueError("expected y or n")
    return typed.lower() in _YES


def _chosen(words: Sequence[Any], typed: str) -> Any:
    """Return the word that is meant: the whole of it, its number, or how it begins.

    Raises:
        ValueError: none is, or more than one.
    """
    said = typed.lower()
    if exact := [word for word in words if str(word).lower() == said]:
        return exact[0]
    if said.isdecimal() and 0 < int(said) <= len(words):
        return words[int(said) - 1]
    fits = [word for word in words if said and str(word).lower().startswith(said)]
    if len(fits) != 1:
        raise ValueError(f"expected one of {', '.join(map(str, words))}, or its number")
    return fits[0]


def _meant(schema: Mapping[str, Any], typed: str) -> Any:
    """Return the value that a typed line means under `schema`.

    Raises:
        ValueError: it means none; the text says what does.
    """
    if "enum" in schema:
        return _chosen(schema["enum"], typed)
    match schema.get("type"):
        case "string":
            return typed
        case "boolean":
            return _truth(typed)
        case "integer" if not typed.removeprefix("-").isdecimal():
            raise ValueError("expected a whole number")
        case "integer":
            return int(typed)
        case _:
            return parse_json(typed, max_bytes=MAX_LINE)


def _fitting(value: T, schema: Mapping[str, Any]) -> T:
    """Return the value, where it fits its part of the schema.

    Raises:
        ValueError: it does not.
    """
    fault = schema_fault(value, schema)
    if not fault:
        return value
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        raise ValueError(f"it has {len(value)} characters; at most {schema['maxLength']} fit")
    if isinstance(value, str) and not value.strip():
        raise ValueError("this may not be empty")
    raise ValueError(fault.removeprefix("the reply: "))
