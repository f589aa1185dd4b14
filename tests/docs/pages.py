"""The pages of the documentation, and the code blocks in them.

What a block is stands in its info string; `docs/developing.md` says what the tests make of each. A comment directly
above a block says more of it: `<!-- not run: WHY -->`, `<!-- held by TEST -->`, `<!-- output -->`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.need import ROOT

__all__ = ["DOCS", "GENERATED", "Block", "blocks_of", "pages", "written"]

DOCS: Final = ROOT / "docs"
GENERATED: Final = frozenset({DOCS / "cli.md"})
"""Written by `make docs`; `tests/cli/test_reference.py` holds it to the program."""

_FENCE: Final = re.compile(r"(`{3,}|~{3,})([^`\n]*)")
_COMMENT: Final = re.compile(r"<!-- (not run|held by|output)(?::? (.+?))? -->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    line: int
    """Of its fence."""
    info: str
    text: str
    notes: dict[str, str] = field(default_factory=dict)
    """What the comment above it says."""


def pages() -> tuple[Path, ...]:
    """Return README.md and every page below docs/."""
    return (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))


def blocks_of(text: str) -> Iterator[Block]:
    """Return the fenced blocks of a page in order."""
    lines = text.split("\n")
    notes: dict[str, str] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        if fence := _FENCE.fullmatch(line):
            end = lines.index(fence[1], number + 1)
            body = "".join(f"{each}\n" for each in lines[number + 1 : end])
            yield Block(line=number + 1, info=fence[2].strip(), text=body, notes=notes)
            number, notes = end, {}
        elif comment := _COMMENT.fullmatch(line):
            notes[comment[1]] = comment[2] or ""
        elif line:
            notes = {}
        number += 1


def written(text: str, block: Block, body: str) -> str:
    """Return a page with another text in one of its blocks."""
    lines = text.split("\n")
    lines[block.line : block.line + block.text.count("\n")] = body.removesuffix("\n").split("\n")
    return "\n".join(lines)
