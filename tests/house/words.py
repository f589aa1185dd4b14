"""The glossary as a rule: `docs/glossary.md` names each concept once and says which words it replaces."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.house.source import Source

__all__ = ["Glossary", "foreign_words", "read_glossary"]

_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Glossary:
    """`ours` are the left column's words; `instead` maps each word of the last column to the one to use."""

    ours: frozenset[str]
    instead: dict[str, str]


def read_glossary(text: str) -> Glossary:
    """Read the tables of `docs/glossary.md`: word, meaning, not."""
    ours: set[str] = set()
    instead: dict[str, str] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| **") or len(cells) != 3:
            continue
        names = re.findall(r"[a-z]+(?: [a-z]+)*", cells[0])
        ours.update(names)
        refused = re.sub(r"\(.*?\)", "", cells[2])
        instead.update(dict.fromkeys(re.findall(r"[a-z]+(?: [a-z]+)*", refused), names[0]))
    return Glossary(ours=frozenset(ours), instead={word: use for word, use in instead.items() if word not in ours})


def foreign_words(source: Source, glossary: Glossary) -> Iterator[str]:
    """Complain of a class whose name holds a word that the glossary replaces."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ClassDef):
            continue
        name = " ".join(word.lower() for word in _CAMEL.findall(node.name))
        for word, use in glossary.instead.items():
            if re.search(rf"\b{word}\b", name):
                yield source.at(node.lineno, f"class {node.name}: the word for {word!r} here is {use!r}")
