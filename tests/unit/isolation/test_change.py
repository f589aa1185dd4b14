"""What changed, as reviewers are shown it: every path, whole or named as not shown."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterpoint.core.canonical import visible
from counterpoint.errors import SourceError
from counterpoint.isolation.change import change
from counterpoint.isolation.changed import Change, ChangedFile, ChangeKind, FileKind, NotShown, Side, Unshown
from counterpoint.isolation.export import Limits
from counterpoint.isolation.repository import Quarantine, Repository
from tests import need
from tests.repositories import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "repo")


@pytest.fixture
def quarantine(scratch: Scratch) -> Iterator[Quarantine]:
    with Quarantine(Repository.find(scratch.top)) as made:
        yield made


def section(found: Change, path: str) -> str:
    """Return the part of the text about one path, without its first line."""
    [part] = [part for part in found.text.split("diff --git a/")[1:] if part.startswith(f"{path} b/{path}\n")]
    return part.partition("\n")[2]


def test_an_edit_an_addition_and_a_deletion_are_shown_whole(scratch: Scratch, quarantine: Quarantine) -> None:
    """The issue, 6: reviewers judge the diff from the merge base to the candidate."""
    base = scratch.commit({"edit": "one\ntwo\nthree\n", "gone": "bye\n", "same": "same\n"})
    (scratch.top / "gone").unlink()
    head = scratch.commit({"edit": "one\n2\nthree\n", "new/file": "hello"})
    found = change(quarantine, base, head)
    ids = {
        name: scratch.id("rev-parse", name)
        for name in (f"{base}:edit", f"{head}:edit", f"{base}:gone", f"{head}:new/file")
    }
    old, new, gone, added = ids.values()
    assert found.text == (
        f"diff --git a/edit b/edit\nindex {old[:12]}..{new[:12]}\n--- a/edit\n+++ b/edit\n"
        "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        f"diff --git a/gone b/gone\ndeleted file mode 100644\nindex {gone[:12]}..000000000000\n"
        "--- a/gone\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-bye\n"
        f"diff --git a/new/file b/new/file\nnew file mode 100644\nindex 000000000000..{added[:12]}\n"
        "--- /dev/null\n+++ b/new/file\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n"
    )
    assert found.files[0] == ChangedFile(
        path="edit",
        is_plain=True,
        change=ChangeKind.MODIFIED,
        kind=FileKind.TEXT,
        old=Side(id=old, mode="100644", size=14),
        new=Side(id=new, mode="100644", size=12),
        added_lines=1,
        deleted_lines=1,
    )
    assert [(file.path, file.change.value) for file in found.files[1:]] == [
        ("gone", "deleted"),
        ("new/file", "added"),
    ]
    assert (found.base, found.head, found.not_shown) == (base, head, ())
    assert found.shown_paths == ("edit", "gone", "new/file")


def test_an_empty_file_is_shown_by_its_header(scratch: Scratch, quarantine: Quarantine) -> None:
    """FIELD-FAULTS F15: there is nothing more to see of it."""
    found = change(quarantine, scratch.commit({"a": "1"}), scratch.commit({"empty": ""}))
    assert section(found, "empty") == "new file mode 100644\nindex 000000000000..e69de29bb2d1\n"
    assert (found.shown_paths, found.files[0].added_lines) == (("empty",), 0)


def test_no_change_is_nothing_to_review(scratch: Scratch, quarantine: Quarantine) -> None:
    """SPEC D-05: a base that is the candidate, or holds the same files, is refused with advice."""
    base = scratch.commit({"a": "1"})
    for head in (base, scratch.commit(message="empty")):
        with pytest.raises(SourceError, match=f"nothing to review: {base} and {head} hold the same files") as caught:
            change(quarantine, base, head)
        assert "--base" in caught.value.hint


def test_a_binary_file_is_named_with_its_sizes(scratch: Scratch, quarantine: Quarantine) -> None:
    """The issue's bad input: a binary diff. A NUL byte decides, wherever it stands."""
    base = scratch.commit({"a": b"\0one", "c": b"x" * 20_000 + b"\0"})
    head = scratch.commit({"a": b"\0three", "b": b"x" * 20_000 + b"\0", "c": "text"})
    found = change(quarantine, base, head)
    assert section(found, "a").endswith("not shown: a binary file, 4 bytes before and 6 bytes after\n")
    assert found.not_shown == (
        NotShown(path="a", reason=Unshown.BINARY, size=6),
        NotShown(path="b", reason=Unshown.BINARY, size=20_001),
        NotShown(path="c", reason=Unshown.BINARY, size=20_001),
    )
    assert found.shown_paths == ()
    assert {file.kind for file in found.files} == {FileKind.BINARY}


def test_no_attribute_hides_a_difference(scratch: Scratch, quarantine: Quarantine) -> None:
    """SECURITY B.5: `-diff`, `binary`, text conversion and line endings are a repository's words, not ours."""
    attributes = "*.py -diff\n*.js binary\n*.c diff=evil\n*.h eol=crlf\n*.t working-tree-encoding=UTF-16 ident\n"
    names = [f"a.{suffix}" for suffix in ("py", "js", "c", "h", "t")]
    scratch.commit({".gitattributes": attributes})
    trees = []
    for content in (b"good()\n", b"evil()\n"):
        for name in names:
            scratch.git("update-index", "--add", "--cacheinfo", f"100644,{scratch.blob(content)},{name}")
        trees.append(scratch.id("write-tree"))
    (scratch.git_dir / "info" / "attributes").write_text("* -diff\n")
    base, head = trees
    found = change(quarantine, base, head)
    assert found.shown_paths == tuple(sorted(names))
    assert all(section(found, name).endswith("-good()\n+evil()\n") for name in names)


def test_a_mode_a_link_and_a_submodule_are_shown(scratch: Scratch, quarantine: Quarantine) -> None:
    """SECURITY B.5: an execute bit, a file that became a link, and another repository's commit."""
    blob = scratch.blob(b"target")
    old = scratch.tree([("100644", b"link", blob), ("100644", b"run", blob), ("160000", b"sub", "1" * 40)])
    new = scratch.tree([("120000", b"link", blob), ("100755", b"run", blob), ("160000", b"sub", "2" * 40)])
    found = change(quarantine, old, new)
    assert section(found, "run") == "old mode 100644\nnew mode 100755\n"
    assert section(found, "link") == "old mode 100644\nnew mode 120000\n"
    assert section(found, "sub").endswith(f"-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n")
    assert [file.kind.value for file in found.files] == ["link", "text", "submodule"]
    assert found.files[2].old == Side(id="1" * 40, mode="160000", size=None)
    assert found.shown_paths == ("link", "run", "sub")


def test_a_file_that_became_a_folder_is_a_deletion_and_an_addition(scratch: Scratch, quarantine: Quarantine) -> None:
    """Ours: nothing of either is lost."""
    base = scratch.commit({"a": "1\n", "b/c": "2\n"})
    scratch.git("rm", "-q", "-r", ".")
    head = scratch.commit({"a/x": "3\n", "b": "4\n"})
    found = change(quarantine, base, head)
    assert [(file.path, file.change.value) for file in found.files] == [
        ("a", "deleted"),
        ("a/x", "added"),
        ("b", "added"),
        ("b/c", "deleted"),
    ]


def test_a_moved_file_is_shown_on_both_paths(scratch: Scratch, quarantine: Quarantine) -> None:
    """Ours: renames are not guessed."""
    base = scratch.commit({"old": "line\n" * 50})
    scratch.git("mv", "old", "new")
    found = change(quarantine, base, scratch.commit())
    assert {file.path: (file.added_lines, file.deleted_lines) for file in found.files} == {
        "new": (50, 0),
        "old": (0, 50),
    }


def test_odd_names_are_shown_visibly(scratch: Scratch, quarantine: Quarantine) -> None:
    """The issue's bad input: names with newlines and other encodings; a name cannot begin a section of its own."""
    need.linux()
    base = scratch.commit({"a": "1"})
    for name in (b"caf\xe9", b"x\ndiff --git a/y b/y\n", "b\u202ec".encode(), "grün".encode()):
        scratch.write(name, "1\n")
    found = change(quarantine, base, scratch.commit())
    assert {file.path: file.is_plain for file in found.files} == {
        "b\\u{202e}c": False,
        "caf\\xe9": False,
        "grün": True,
        "x\\u{a}diff --git a/y b/y\\u{a}": False,
    }
    assert found.text.count("\ndiff --git ") == 3
    assert section(found, "caf\\xe9").endswith("--- /dev/null\n+++ b/caf\\xe9\n@@ -0,0 +1 @@\n+1\n")


def test_invisible_and_undecodable_content_is_written_out(scratch: Scratch, quarantine: Quarantine) -> None:
    """SECURITY R19: a bidi mark in a source file is what a reviewer must see."""
    base = scratch.commit({"a": "1\n"})
    found = change(quarantine, base, scratch.commit({"a": "x\u202ey\x1b[2J\x0c\n".encode() + b"caf\xe9\n"}))
    assert "+x\\u{202e}y\\u{1b}[2J\\u{c}\n+caf\\xe9\n" in found.text
    assert visible(found.text) == found.text


def test_line_endings_are_said_once_where_all_agree_and_shown_where_not(
    scratch: Scratch, quarantine: Quarantine
) -> None:
    """Ours: a change of line endings alone must not look like no change."""
    base = scratch.commit({"dos": "1\r\n2\r\n", "turned": "1\n", "lone": "1\n"})
    found = change(quarantine, base, scratch.commit({"dos": "1\r\n3\r\n", "turned": "1\r\n", "lone": "1\r2\n"}))
    assert section(found, "dos").partition("line endings CR LF\n")[2].endswith("@@ -1,2 +1,2 @@\n 1\n-2\n+3\n")
    assert section(found, "turned").endswith("-1\n+1\\u{d}\n")
    assert section(found, "lone").endswith("-1\n+1\\u{d}2\n")


def test_content_cannot_pass_itself_off_as_a_section(scratch: Scratch, quarantine: Quarantine) -> None:
    """FIELD-FAULTS F1: what a diff quotes decides nothing; each content line keeps its mark."""
    base = scratch.commit({"a": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n"})
    found = change(quarantine, base, scratch.commit({"a": "-- a/y\n++ b/y\n@@ -1 +1 @@\nnot shown: nothing"}))
    assert [file.path for file in found.files] == ["a"]
    assert (found.files[0].added_lines, found.files[0].deleted_lines) == (3, 3)


def test_over_the_budget_the_smallest_are_shown_and_the_rest_is_named(
    scratch: Scratch, quarantine: Quarantine
) -> None:
    """FIELD-FAULTS F15: no file is cut, and none is missing silently."""
    sizes = {"a": 400, "b": 50, "c": 300, "d": 60, "e": 5000}
    base = scratch.commit({"z": "1"})
    found = change(quarantine, base, scratch.commit({name: "x" * size for name, size in sizes.items()}), max_text=700)
    assert found.shown_paths == ("b", "d")
    assert {missing.path: missing.reason.value for missing in found.not_shown} == dict.fromkeys("ace", "over_budget")
    assert {missing.path: missing.size // 100 for missing in found.not_shown} == {"a": 5, "c": 4, "e": 50}
    assert section(found, "e").endswith("not shown: its diff of 5000 bytes does not fit, 5000 bytes after\n")
    assert [file.added_lines for file in found.files] == [1] * 5
    shown = sum(len(f"diff --git a/{path} b/{path}\n") + len(section(found, path)) for path in found.shown_paths)
    assert shown <= 700


def test_one_long_diff_over_the_budget_is_counted_and_not_kept(scratch: Scratch, quarantine: Quarantine) -> None:
    """FIELD-FAULTS F15: an edit whose hunks alone are over the budget."""
    base = scratch.commit({"a": "x\n" * 3000, "b": "1\n"})
    found = change(quarantine, base, scratch.commit({"a": "y\n" * 3000, "b": "2\n"}), max_text=2000)
    assert found.shown_paths == ("b",)
    assert (found.files[0].added_lines, found.files[0].deleted_lines) == (3000, 3000)
    [missing] = found.not_shown
    assert missing.size > 18_000


def test_a_file_over_the_limit_of_one_blob_is_named(scratch: Scratch, quarantine: Quarantine) -> None:
    """SECURITY G10: it is not read at all."""
    base = scratch.commit({"a": "1"})
    found = change(quarantine, base, scratch.commit({"a": "x" * 101}), limits=Limits(blob_bytes=100))
    assert found.not_shown == (NotShown(path="a", reason=Unshown.TOO_LARGE, size=101),)
    assert section(found, "a").endswith("not shown: too large to compare, 1 bytes before and 101 bytes after\n")
    assert found.files[0].kind is FileKind.UNKNOWN


def test_what_a_malformed_tree_adds_is_named(scratch: Scratch, quarantine: Quarantine) -> None:
    """SECURITY B.5, G1 to G8: every difference is reported, also one that git's own diff would pass over."""
    blob, other = scratch.blob(b"1\n"), scratch.blob(b"2\n")
    inner = scratch.tree([("100644", b"x", blob)])
    old = scratch.tree([("100644", b"a", blob)])
    new = scratch.tree(
        [
            ("100644", b"a", blob),
            ("100644", b"a", other),
            ("100644", b"..", other),
            ("40000", b".git", inner),
            ("100644", b"p/q", other),
            ("100644", b"tree", inner),
            ("100600", b"mode", other),
        ]
    )
    found = change(quarantine, old, new)
    assert [(missing.path, missing.reason.value) for missing in found.not_shown] == [
        ("a", "malformed"),
        ("p/q", "malformed"),
        ("tree", "malformed"),
    ]
    assert found.shown_paths == ("..", ".git/x", "mode")
    assert section(found, "tree").endswith("not shown: a malformed tree entry, 29 bytes after\n")


@pytest.mark.parametrize(
    ("limits", "says"), [(Limits(entries=1), "more than 2 tree entries differ"), (Limits(depth=1), "folders deep")]
)
def test_the_walk_is_bounded(scratch: Scratch, quarantine: Quarantine, limits: Limits, says: str) -> None:
    """SECURITY G10: number and depth."""
    base = scratch.commit({"a": "1"})
    head = scratch.commit({"b/c/d": "2", "e": "3"})
    with pytest.raises(SourceError, match=says):
        change(quarantine, base, head, limits=limits)


def test_the_same_trees_give_the_same_change(scratch: Scratch, tmp_path: Path) -> None:
    """Ours: the record binds the digest of the text, so another day and another clone must give the same bytes."""
    base = scratch.commit({f"f{number}": f"{number}\n" * 9 for number in range(20)})
    head = scratch.commit({f"f{number}": f"{number}\n" * 8 + "x\n" for number in range(20)})
    scratch.git("clone", "-q", scratch.top, tmp_path / "clone")
    found = []
    for top in (scratch.top, tmp_path / "clone"):
        with Quarantine(Repository.find(top)) as quarantine:
            found.append(change(quarantine, base, head, max_text=1500))
    assert found[0] == found[1]


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "++\n", "--\n", "é\n", " \n", "@@\n"]), max_size=40).map(
    "".join
)


@given(old=lines, new=lines, ending=st.sampled_from(["", "no newline"]))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_text_turns_the_old_files_into_the_new(
    scratch: Scratch, quarantine: Quarantine, old: str, new: str, ending: str
) -> None:
    """Ours: the diff is complete: applied by git to the old side it gives the new one, byte for byte."""
    new += ending
    if old == new:
        return
    old_tree, new_tree = (scratch.tree([("100644", b"f", scratch.blob(side.encode()))]) for side in (old, new))
    text = change(quarantine, old_tree, new_tree).text
    scratch.write("f", old)
    scratch.git("apply", "--allow-empty", "--unidiff-zero", "--whitespace=nowarn", "-", stdin=text.encode())
    assert (scratch.top / "f").read_bytes() == new.encode()


def test_five_megabytes_cost_little(scratch: Scratch, quarantine: Quarantine) -> None:
    """The issue's bad input: a 5 MB diff. Well under ten seconds of CPU, git's own included."""
    old = "".join(f"line {number} of a long file that somebody generated\n" for number in range(50_000))
    new = old.replace("somebody", "somebody else")
    base = scratch.commit({"a": old})
    head = scratch.commit({"a": new, "b": new})
    before = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found = change(quarantine, base, head, max_text=16 << 20)
    quarantine.close()
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    spent = sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(before, after, strict=True))
    assert len(found.text) > 5_000_000
    assert found.shown_paths == ("a", "b")
    assert spent < 5
