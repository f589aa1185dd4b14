"""Whatever a tree holds, nothing of it is lost without a word, and nothing lands outside the export."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.isolation.change import change
from counterpoint.isolation.export import export
from counterpoint.isolation.exported import differences
from counterpoint.isolation.names import visible_path
from counterpoint.isolation.removal import remove
from counterpoint.isolation.repository import Quarantine, Repository
from tests.repositories import Scratch, exported_bytes

NASTY = [
    b"a",
    b"A",
    b"b",
    b"..",
    b".",
    b"",
    b".git",
    b".GIT.",
    b"git~1",
    b"a/b",
    b"../x",
    b"a\\b",
    b"n\nl",
    b"\xff",
    "é".encode(),
]
names = st.sampled_from(NASTY) | st.binary(max_size=4).map(lambda name: name.replace(b"\0", b"?"))
modes = st.sampled_from(["100644", "100755", "120000", "160000", "100664", "100777", "40755", "0"])
leaves = st.tuples(names, modes, st.binary(max_size=6))
trees = st.recursive(
    st.lists(leaves, max_size=4),
    lambda inner: st.lists(st.tuples(names, st.just("40000"), inner) | leaves, max_size=4),
    max_leaves=12,
)

Made = list[Any]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return Scratch(tmp_path_factory.mktemp("trees") / "repo")


@pytest.fixture(scope="module")
def quarantine(scratch: Scratch) -> Iterator[Quarantine]:
    with Quarantine(Repository.find(scratch.top)) as made:
        yield made


def store(scratch: Scratch, made: Made) -> str:
    entries = []
    for name, mode, content in made:
        entries.append((mode, name, store_content(scratch, mode, content)))
    return scratch.tree(entries)


def store_content(scratch: Scratch, mode: str, content: Any) -> str:
    if mode == "40000":
        return store(scratch, content)
    return "1" * 40 if mode == "160000" else scratch.blob(content)


def paths(made: Made, prefix: bytes = b"") -> Iterator[tuple[bytes, bool]]:
    """Return every path, each with whether it is a folder."""
    for name, mode, content in made:
        yield prefix + name, mode == "40000"
        if mode == "40000":
            yield from paths(content, prefix + name + b"/")


@given(made=trees)
@settings(max_examples=12)
def test_every_entry_of_any_tree_is_accounted_for(scratch: Scratch, quarantine: Quarantine, made: Made) -> None:
    """SECURITY B.5, G1 to G8, R20: exported, recorded or withheld with a reason; and shown or named as not shown."""
    tree = store(scratch, made)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        report = export(quarantine.objects, tree, out)
        assert [path.name for path in Path(folder).iterdir()] == ["out"]
        assert set(exported_bytes(out)) == {file.raw for file in report.files.values()}
        assert differences(out, report) == ()
        remove(out)
    told = {remark.path for remark in (*report.withheld, *report.submodules)} | set(report.files)
    told |= {visible_path(path) for path in report.folders}
    for path, _ in paths(made):
        above = [path[:end] for end, byte in enumerate(path) if byte == ord("/")]
        assert told & {visible_path(part) for part in (path, *above)}
    leaves_made = {visible_path(path) for path, is_folder in paths(made) if not is_folder}
    if leaves_made:
        found = change(quarantine, scratch.tree([]), tree)
        assert {file.path for file in found.files} == leaves_made
        assert set(found.shown_paths) | {missing.path for missing in found.not_shown} == leaves_made
