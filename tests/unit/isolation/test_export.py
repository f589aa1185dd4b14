"""An export is exactly the tree's files, or says what it is not."""

import errno
import os
import resource
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from counterpoint.core.canonical import digest
from counterpoint.errors import SourceError
from counterpoint.isolation.export import STAMP_NS, Limits, Remark, export, withheld
from counterpoint.isolation.repository import Quarantine, Repository
from tests import need
from tests.repositories import Scratch, exported_bytes


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "repo")


@pytest.fixture
def quarantine(scratch: Scratch) -> Iterator[Quarantine]:
    with Quarantine(Repository.find(scratch.top)) as made:
        yield made


def reasons(remarks: tuple[Remark, ...]) -> dict[str, str]:
    return {remark.path: remark.reason for remark in remarks}


def test_an_export_holds_every_file_of_the_commit(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY B.5: contents, folders and execute bits, and a report that lists them."""
    files: dict[str, str | bytes] = {
        "a.txt": "one\n",
        "src/b.py": "print(1)\n",
        "src/deep/er/c": b"\0\xff\r\n",
        "run.sh": "#!/bin/sh\n",
        "empty": "",
    }
    for name, content in files.items():
        scratch.write(name, content)
    (scratch.top / "run.sh").chmod(0o755)
    commit = scratch.commit()
    report = export(quarantine.objects, commit, tmp_path / "out")
    assert exported_bytes(tmp_path / "out") == {
        name.encode(): content.encode() if isinstance(content, str) else content for name, content in files.items()
    }
    assert (report.source, report.tree) == (commit, scratch.id("rev-parse", f"{commit}^{{tree}}"))
    assert {path: file.is_executable for path, file in report.files.items()} == {
        name: name == "run.sh" for name in files
    }
    assert report.files["a.txt"].sha256 == digest(b"one\n")
    assert report.folders == {b"src", b"src/deep", b"src/deep/er"}
    assert report.total_bytes == sum(map(len, files.values()))
    assert report.withheld == report.links == report.submodules == report.odd == ()


def test_a_commit_and_its_tree_give_the_same_export(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """Ours: the digest binds what is on disk, whatever it was asked for by, and in whatever order."""
    commit = scratch.commit({"a": "1", "b/c": "2"})
    one = export(quarantine.objects, commit, tmp_path / "one")
    other = export(quarantine.objects, one.tree, tmp_path / "other", writable=True)
    assert one.digest == other.digest
    assert one.digest != export(quarantine.objects, scratch.commit({"a": "2"}), tmp_path / "third").digest


def test_everything_is_read_only_with_one_time(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """FIELD-FAULTS F30: and an access time that was never later than the other, so that a read shows."""
    scratch.write("src/run", "x").chmod(0o755)
    out = tmp_path / "out"
    export(quarantine.objects, scratch.commit({"src/a": "1"}), out)
    for path, mode in ((out, 0o555), (out / "src", 0o555), (out / "src/a", 0o444), (out / "src/run", 0o555)):
        found = path.stat()
        assert (stat.S_IMODE(found.st_mode), found.st_mtime_ns) == (mode, STAMP_NS)
    assert (out / "src" / "a").stat().st_atime_ns == STAMP_NS


def test_a_writable_export_lets_its_owner_write(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """Ours: tests write where they stand."""
    export(quarantine.objects, scratch.commit({"src/a": "1"}), tmp_path / "out", writable=True)
    for path, mode in ((".", 0o755), ("src", 0o755), ("src/a", 0o644)):
        assert stat.S_IMODE((tmp_path / "out" / path).stat().st_mode) == mode


def test_a_link_is_a_plain_file_of_its_target(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY B.5, R21: nothing in an export points anywhere."""
    (scratch.top / "out-of-tree").symlink_to("/etc/passwd")
    (scratch.top / "up").symlink_to("../../..")
    report = export(quarantine.objects, scratch.commit({"a": "1"}), tmp_path / "out")
    assert exported_bytes(tmp_path / "out") == {b"out-of-tree": b"/etc/passwd", b"up": b"../../..", b"a": b"1"}
    assert reasons(report.links) == {"out-of-tree": "/etc/passwd", "up": "../../.."}
    assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))


def test_a_submodule_is_recorded_and_not_fetched(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY B.5: another repository's commit is an id here, and nothing on disk."""
    tree = scratch.tree([("160000", b"sub", "1" * 40), ("100644", b"z", scratch.blob(b"1"))])
    report = export(quarantine.objects, tree, tmp_path / "out")
    assert reasons(report.submodules) == {"sub": "1" * 40}
    assert exported_bytes(tmp_path / "out") == {b"z": b"1"}


def test_names_of_other_encodings_are_written_and_listed(
    scratch: Scratch, quarantine: Quarantine, tmp_path: Path
) -> None:
    """The issue's bad input: a name that is not UTF-8 is there under its bytes."""
    need.linux()
    commit = scratch.commit({"a": "1"})
    scratch.write(b"caf\xe9/\xff.txt", "2")
    commit = scratch.commit()
    report = export(quarantine.objects, commit, tmp_path / "out")
    assert exported_bytes(tmp_path / "out") == {b"a": b"1", b"caf\xe9/\xff.txt": b"2"}
    assert report.files["caf\\xe9/\\xff.txt"].raw == b"caf\xe9/\xff.txt"
    assert set(reasons(report.odd)) == {"caf\\xe9", "caf\\xe9/\\xff.txt"}


def test_a_name_with_a_newline_is_withheld_visibly(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """The issue's bad input: it crashes nothing, and the report says that it is missing."""
    report = export(
        quarantine.objects, scratch.commit({"new\nline": "1", "esc\x1b[31m/x": "2", "a": "3"}), tmp_path / "out"
    )
    assert exported_bytes(tmp_path / "out") == {b"a": b"3"}
    assert reasons(report.withheld) == {
        "new\\u{a}line": "a control or format character is in the name",
        "esc\\u{1b}[31m": "a control or format character is in the name",
    }


def test_a_tree_that_no_git_would_write_is_exported_safely(
    scratch: Scratch, quarantine: Quarantine, tmp_path: Path
) -> None:
    """SECURITY B.5, G1 to G8: places, `.git` in any spelling, separators, duplicates and odd modes."""
    blob = scratch.blob(b"x")
    inner = scratch.tree([("100644", b"config", blob)])
    entries = [
        ("100644", b"..", blob),
        ("40000", b".", inner),
        ("40000", b".git", inner),
        ("40000", b".GiT", inner),
        ("100644", b"git~1", blob),
        ("100644", b"../../escaped", blob),
        ("100644", b"", blob),
        ("100644", b"dup", blob),
        ("100755", b"dup", blob),
        ("40000", b"dup", inner),
        ("100777", b"mode", blob),
        ("100664", b"group", blob),
        ("100644", b"folder-as-file", inner),
        ("120000", b"long-link", scratch.blob(b"x" * 5000)),
        ("100644", b"ok", blob),
    ]
    report = export(quarantine.objects, scratch.commit_tree(scratch.tree(entries)), tmp_path / "out")
    assert exported_bytes(tmp_path / "out") == {b"dup": b"x", b"group": b"x", b"ok": b"x"}
    missing = reasons(report.withheld)
    assert set(missing) == {
        "",
        ".",
        "..",
        ".git",
        ".GiT",
        "git~1",
        "../../escaped",
        "dup",
        "mode",
        "folder-as-file",
        "long-link",
    }
    assert len(report.withheld) == 12
    assert missing["dup"] == "the name stands twice in its folder"
    assert missing["mode"] == "its mode is 100777"
    assert missing["folder-as-file"] == "its object is a tree, not a file"
    assert "group" in reasons(report.odd)


def test_names_that_differ_in_case_alone_are_listed(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY B.5: both are there where the disk can hold both; the report says that elsewhere it cannot."""
    blob, other = scratch.blob(b"1"), scratch.blob(b"2")
    report = export(
        quarantine.objects, scratch.tree([("100644", b"A", blob), ("100644", b"a", other)]), tmp_path / "out"
    )
    held = [path for path, content in exported_bytes(tmp_path / "out").items()]
    assert len(held) + len(report.withheld) == 2
    assert reasons(report.odd) == {"a": "differs from 'A' only in case or composition"}


def test_a_large_file_is_withheld_with_its_size(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY G10: it is never read; F15: and never missing silently."""
    commit = scratch.commit({"big": "x" * 101, "small": "x" * 100})
    report = export(quarantine.objects, commit, tmp_path / "out", limits=Limits(blob_bytes=100))
    assert exported_bytes(tmp_path / "out") == {b"small": b"x" * 100}
    assert withheld(quarantine.objects, commit, limits=Limits(blob_bytes=100)) == report.withheld
    assert reasons(report.withheld) == {"big": "it has 101 bytes; at most 100 are exported"}


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (Limits(total_bytes=5), "the tree holds 6 bytes; at most 5 are exported"),
        (Limits(entries=4), r"brings the entries to 5; at most 4 are read"),
        (Limits(depth=1), r"folder 'd/e/' is more than 1 folders deep"),
    ],
)
def test_over_any_other_limit_nothing_is_exported(
    scratch: Scratch, quarantine: Quarantine, tmp_path: Path, limits: Limits, says: str
) -> None:
    """SECURITY G10: total, number and depth."""
    commit = scratch.commit({"a": "12", "b": "34", "d/e/f": "56"})
    with pytest.raises(SourceError, match=says):
        export(quarantine.objects, commit, tmp_path / "out", limits=limits)
    assert not (tmp_path / "out").exists()


def test_a_tree_of_trees_of_trees_is_stopped_early(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY G10: ten objects that unfold to 10^10 files."""
    tree, mode = scratch.blob(b"x"), "100644"
    for _ in range(10):
        tree, mode = scratch.tree([(mode, b"%d" % number, tree) for number in range(10)]), "40000"
    with pytest.raises(SourceError, match="at most 2000 are read"):
        export(quarantine.objects, tree, tmp_path / "out", limits=Limits(entries=2000))


def test_a_missing_or_lying_object_leaves_no_export(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY G11: an export is whole or it is not there."""
    commit = scratch.commit({"a": "1", "b": "2"})
    a, b = scratch.id("rev-parse", "HEAD:a"), scratch.id("rev-parse", "HEAD:b")
    lie = scratch.loose(a).read_bytes()
    scratch.loose(b).chmod(0o644)
    scratch.loose(b).write_bytes(lie)
    with pytest.raises(SourceError):
        export(quarantine.objects, commit, tmp_path / "out")
    scratch.loose(b).unlink()
    with pytest.raises(SourceError, match=f"object {b} is missing"):
        export(quarantine.objects, commit, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_disk_that_refuses_is_a_typed_error_and_leaves_nothing(
    scratch: Scratch, quarantine: Quarantine, tmp_path: Path
) -> None:
    """The issue's bad input: a full disk, here a limit on the size of a file."""
    commit = scratch.commit({"a": "1", "b/c": "x" * 20_000})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(SourceError, match=r"cannot be written to .*File too large") as caught:
            export(quarantine.objects, commit, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "TMPDIR" in caught.value.hint
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_is_not_written_into(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """R21: nor removed: it is somebody's."""
    commit = scratch.commit({"a": "1"})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with pytest.raises(SourceError, match="File exists"):
        export(quarantine.objects, commit, tmp_path / "out")
    assert exported_bytes(tmp_path / "out") == {b"mine": b"mine"}


def test_a_path_too_long_for_the_system_is_withheld(scratch: Scratch, quarantine: Quarantine, tmp_path: Path) -> None:
    """SECURITY G10: sixteen folders of 250 letters each."""
    tree = scratch.tree([("100644", b"f" * 250, scratch.blob(b"1"))])
    for _ in range(16):
        tree = scratch.tree([("40000", b"x" * 250, tree)])
    report = export(quarantine.objects, tree, tmp_path / "out")
    assert [remark.reason for remark in report.withheld] == ["the path has 4015 bytes; at most 4000 are written"]
    assert report.files == {}


def test_a_name_that_the_disk_refuses_is_withheld_with_all_below_it(
    scratch: Scratch, quarantine: Quarantine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SECURITY B.5: a disk that takes `README` and `readme` for one file keeps the first, and the report says so."""
    taken: set[str] = set()

    def ignoring_case(call: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(path: bytes | Path, *arguments: Any, **options: Any) -> Any:
            if isinstance(path, bytes) and path != b".":
                if (folded := path.decode().casefold()) in taken:
                    raise FileExistsError(errno.EEXIST, "File exists")
                taken.add(folded)
            return call(path, *arguments, **options)

        return refuse

    monkeypatch.setattr("os.mkdir", ignoring_case(os.mkdir))
    monkeypatch.setattr("os.open", ignoring_case(os.open))
    inner = scratch.tree([("100644", b"x", scratch.blob(b"1"))])
    blob = scratch.blob(b"2")
    tree = scratch.tree(
        [("40000", b"A", inner), ("40000", b"a", inner), ("100644", b"README", blob), ("100644", b"readme", blob)]
    )
    report = export(quarantine.objects, tree, tmp_path / "out")
    monkeypatch.undo()
    assert exported_bytes(tmp_path / "out") == {b"A/x": b"1", b"README": b"2"}
    assert reasons(report.withheld) == dict.fromkeys(
        ("a", "readme"), "this file system refuses the name: File exists"
    )
    assert set(report.files) == {"A/x", "README"}
    assert report.folders == {b"A"}


def test_what_is_no_plain_file_is_part_of_the_digest(
    scratch: Scratch, quarantine: Quarantine, tmp_path: Path
) -> None:
    """Ours: an export that lacks a file is not the same as one of a tree that never had it."""
    blob = scratch.blob(b"1")
    whole = export(quarantine.objects, scratch.tree([("100644", b"a", blob)]), tmp_path / "one")
    link = export(quarantine.objects, scratch.tree([("120000", b"a", blob)]), tmp_path / "link")
    assert (whole.files, whole.digest == link.digest) == (link.files, False)
    partial = export(
        quarantine.objects, scratch.tree([("100644", b"..", blob), ("100644", b"a", blob)]), tmp_path / "two"
    )
    assert whole.files == partial.files
    assert whole.digest != partial.digest
