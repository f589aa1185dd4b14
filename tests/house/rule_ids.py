"""Rule ids in the source, in the manifest, in the tests and in the docs: the same set everywhere."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from tests.house.source import Source, called
from tests.rules.rule import Rule

__all__ = ["disagreements", "headings", "names_of_tests", "rule_ids"]

RULE: Final = re.compile(r"[A-Z]+-[0-9]+")
FENCED: Final = re.compile(r"^(~~~+|```+).*?^\1\s*?$", re.MULTILINE | re.DOTALL)
NOT_RULES: Final = frozenset({"SHA-256", "UTF-8"})
PURE: Final = ("src/counterpoint/core/", "src/counterpoint/protocols/")


def rule_ids(files: Iterable[Source]) -> dict[str, str]:
    """Return each rule id with the first place that names it.

    In `core` and `protocols` every string that reads as an id is one; elsewhere only what `Refused` is given.
    """
    found: dict[str, str] = {}
    for source in files:
        pure = source.path.startswith(PURE)
        for node in [source.tree] if pure else _refusals(source):
            for value, line in _ids(node):
                found.setdefault(value, f"{source.path}:{line}")
    return found


def _refusals(source: Source) -> Iterator[ast.Call]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and called(node).rpartition(".")[2] == "Refused":
            yield node


def _ids(node: ast.AST) -> Iterator[tuple[str, int]]:
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Constant) or not isinstance(inner.value, str):
            continue
        if RULE.fullmatch(inner.value) and inner.value not in NOT_RULES:
            yield inner.value, inner.lineno


def headings(documents: Mapping[str, str]) -> dict[str, str]:
    """Return each rule id that a heading of a Markdown text has, outside fences, with the document's name."""
    found: dict[str, str] = {}
    for name, text in documents.items():
        for heading in re.findall(r"^#+ .*", FENCED.sub("", text), re.MULTILINE):
            found.update(dict.fromkeys(RULE.findall(heading), name))
    return found


def names_of_tests(files: Iterable[Source]) -> set[str]:
    """Return `path::function` of every test."""
    return {
        f"{source.path}::{node.name}"
        for source in files
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def disagreements(
    rules: Sequence[Rule], *, ids: Mapping[str, str], tests: set[str], documented: Mapping[str, str]
) -> Iterator[str]:
    """Compare the manifest with the source, the tests and the docs, both ways."""
    listed = [rule.id for rule in rules]
    for twice in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"{twice} stands twice in the manifest"
    for name in sorted(ids.keys() - set(listed)):
        yield f"{name} ({ids[name]}) is not in tests/rules/manifest.py"
    for name in sorted(set(listed) - ids.keys()):
        yield f"{name} is in the manifest, and no code refuses by it"
    for name in sorted(documented.keys() - set(listed)):
        yield f"{name} is a heading in {documented[name]}, and not in the manifest"
    for rule in rules:
        if rule.id not in documented:
            yield f"{rule.id} has no heading in docs/"
        for kind, name in (("accepted", rule.accepted), ("refused", rule.refused)):
            if name not in tests:
                yield f"{rule.id}: there is no test {name!r} for the {kind} example"
        if rule.accepted == rule.refused:
            yield f"{rule.id}: one test cannot be both examples"
