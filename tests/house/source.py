"""Python files as the house checks read them: path, text, tree and comments."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

__all__ = ["Source", "called", "imported", "sources"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file. A complaint about it begins with `path:line`."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def comments(self) -> Iterator[tuple[int, str]]:
        """Yield the line number and the text of each comment."""
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string

    def at(self, line: int, complaint: str) -> str:
        return f"{self.path}:{line}: {complaint}"


def sources(root: Path, *folders: str) -> list[Source]:
    """Return every Python file under `folders` of `root`, in order."""
    return [_source(root, path) for folder in folders for path in sorted((root / folder).rglob("*.py"))]


@cache
def _source(root: Path, path: Path) -> Source:
    return Source(path=path.relative_to(root).as_posix(), text=path.read_text("utf-8"))


def called(node: ast.AST) -> str:
    """Return the dotted name that a call names, or nothing where it names none."""
    match node:
        case ast.Call(func=function):
            return called(function)
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{called(value)}.{name}"
        case _:
            return ""


def imported(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line number and the dotted name of everything imported, `a.b` for `from a import b`."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
