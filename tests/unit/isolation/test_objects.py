"""Objects by id: what comes out is what the id names, or nothing does."""

import hashlib
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.errors import SourceError
from counterpoint.isolation.git import Git, Place
from counterpoint.isolation.objects import Objects, TreeEntry, hash_object, parse_tree
from counterpoint.isolation.repository import Quarantine, Repository
from tests.repositories import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "repo")


@pytest.fixture
def objects(scratch: Scratch) -> Iterator[Objects]:
    with Quarantine(Repository.find(scratch.top)) as quarantine:
        yield quarantine.objects


entries = st.builds(
    TreeEntry,
    name=st.binary(max_size=9).map(lambda name: name.replace(b"\0", b"")),
    mode=st.sampled_from([0o100644, 0o100755, 0o040000, 0o120000, 0o160000, 0o100600]),
    id=st.binary(min_size=20, max_size=20).map(bytes.hex),
)


@given(st.lists(entries))
def test_a_tree_is_taken_apart_whatever_its_names_are(made: list[TreeEntry]) -> None:
    """SECURITY B.5: nothing of a tree is passed over, in any order and any number of times."""
    content = b"".join(b"%o %s\0" % (entry.mode, entry.name) + bytes.fromhex(entry.id) for entry in made)
    assert list(parse_tree(content, digest_size=20)) == made


@given(st.binary(max_size=60))
def test_other_bytes_are_a_tree_or_a_value_error(content: bytes) -> None:
    """SECURITY G10: no byte sequence gets past as anything else."""
    try:
        parsed = list(parse_tree(content, digest_size=20))
    except ValueError:
        return
    assert sum(len(entry.name) + 21 for entry in parsed) <= len(content)


def test_kinds_sizes_and_contents_come_in_order(scratch: Scratch, objects: Objects) -> None:
    """Ours: more objects than one group asks for, some of them twice."""
    ids = [scratch.blob(b"x" * size) for size in range(5)] * 200
    assert [found.size for found in objects.stat(ids)] == [0, 1, 2, 3, 4] * 200
    assert b"".join(objects.blobs(ids, max_size=9)) == b"x" * 2000


def test_a_reader_left_early_does_not_mix_up_the_next(scratch: Scratch, objects: Objects) -> None:
    """Ours: answers that are still on the way belong to nobody."""
    ids = [scratch.blob(str(number).encode()) for number in range(9)]
    first = objects.blobs(ids, max_size=9)
    assert next(first) == b"0"
    inner = objects.blobs(ids[5:], max_size=9)
    assert next(inner) == b"5"
    first.close()
    assert list(inner) == [b"6", b"7", b"8"]
    assert list(objects.blobs(ids[2:4], max_size=9)) == [b"2", b"3"]


def test_a_missing_object_is_refused(objects: Objects) -> None:
    """SECURITY G11: a promised or lost object is never fetched and never skipped."""
    gone = "1" * 40
    for read in (objects.stat([gone]), objects.blobs([gone], max_size=9)):
        with pytest.raises(SourceError, match=f"object {gone} is missing") as caught:
            next(read)
        assert "git cat-file" in caught.value.hint


def test_an_object_that_lies_about_its_id_is_refused(scratch: Scratch, objects: Objects) -> None:
    """SECURITY B.5, G11: bytes that were put in another object's place are found by their hash."""
    honest, liar = scratch.blob(b"honest"), scratch.blob(b"liar!!")
    scratch.loose(honest).chmod(0o644)
    scratch.loose(honest).write_bytes(scratch.loose(liar).read_bytes())
    with pytest.raises(SourceError) as caught:
        next(objects.blobs([honest], max_size=9))
    # Git itself finds this one out for a loose object; the hash finds it in a pack too (next test).
    assert honest in str(caught.value)


def test_a_packed_object_that_lies_about_its_id_is_refused(scratch: Scratch, objects: Objects) -> None:
    """SECURITY B.5: git reads a packed object without hashing it, so the index of a pack can name any content."""
    honest, liar = scratch.blob(b"honest"), scratch.blob(b"liar!!")
    stem = scratch.git_dir / "objects" / "pack" / "pack"
    name = scratch.id("pack-objects", str(stem), stdin=f"{liar}\n".encode())
    index = Path(f"{stem}-{name}.idx")
    content = bytearray(index.read_bytes()[:-20])
    first = bytes.fromhex(honest)
    content[8 : 8 + 1024] = b"".join((1 if first[0] <= byte else 0).to_bytes(4, "big") for byte in range(256))
    content[8 + 1024 : 8 + 1024 + 20] = first
    index.chmod(0o644)
    index.write_bytes(content + hashlib.sha1(content).digest())
    scratch.loose(honest).unlink()
    scratch.loose(liar).unlink()
    assert scratch.git("cat-file", "blob", honest) == b"liar!!"
    with pytest.raises(SourceError, match=f"object {honest} holds bytes that hash to {liar}"):
        next(objects.blobs([honest], max_size=9))


def test_a_wrong_kind_or_an_oversized_object_is_refused_unread(scratch: Scratch, objects: Objects) -> None:
    """SECURITY G10: the size is known before the content is taken."""
    blob = scratch.blob(b"x" * 100)
    with pytest.raises(SourceError, match="is a blob of 100 bytes; expected a blob of at most 99"):
        next(objects.blobs([blob], max_size=99))
    with pytest.raises(SourceError, match="is a blob of 100 bytes; expected a tree"):
        objects.tree(blob)
    assert next(objects.blobs([blob], max_size=100)) == b"x" * 100


def test_a_commit_and_a_tree_lead_to_the_tree(scratch: Scratch, objects: Objects) -> None:
    """Ours: both may be judged."""
    commit = scratch.commit({"a": "1"})
    tree = scratch.id("rev-parse", "HEAD^{tree}")
    assert objects.tree_of(commit) == objects.tree_of(tree) == tree
    assert objects.tree(tree) == (TreeEntry(name=b"a", mode=0o100644, id=scratch.id("rev-parse", "HEAD:a")),)


def test_a_malformed_tree_or_commit_is_refused(scratch: Scratch, objects: Objects) -> None:
    """SECURITY G10: what cannot be taken apart whole is not taken apart."""
    bad_tree = scratch.id("hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=b"100644 a\0short")
    with pytest.raises(SourceError, match=f"tree {bad_tree} is malformed: an id is cut short"):
        objects.tree(bad_tree)
    bad_commit = scratch.id("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=b"tree 12\n")
    with pytest.raises(SourceError, match="names no tree"):
        objects.tree_of(bad_commit)


def test_a_damaged_object_ends_the_reading_with_a_typed_error(scratch: Scratch, objects: Objects) -> None:
    """Ours: git dies over bytes that do not inflate, and says which."""
    oid = scratch.blob(b"content")
    path = scratch.loose(oid)
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"blob 7\0content")[:-6])
    for _ in range(2):  # a reader that died is replaced
        with pytest.raises(SourceError):
            next(objects.blobs([oid], max_size=9))


def test_a_git_that_ended_by_itself_is_a_typed_error(tmp_path: Path) -> None:
    """Ours: killed by somebody, or out of memory."""
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nread id; echo $id blob 1; echo fatal: why >&2\n")
    program.chmod(0o755)
    objects = Objects(Git(program=program, version=(2, 40)), Place(cwd=tmp_path), object_format="sha1")
    assert [found.size for found in objects.stat(["1" * 40])] == [1]
    objects._talks["--batch-check"]._process.wait(timeout=60)
    with pytest.raises(SourceError, match="git stopped reading objects: fatal: why"):
        next(objects.stat(["1" * 40]))
    objects.close()


def test_a_pipe_for_an_object_costs_a_bounded_time(
    scratch: Scratch, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SECURITY G10: opening a pipe waits for ever; the reader does not."""
    monkeypatch.setattr("counterpoint.isolation.objects.ANSWER_S", 0.3)
    oid = scratch.blob(b"content")
    scratch.loose(oid).unlink()
    os.mkfifo(scratch.loose(oid))
    with pytest.raises(SourceError, match=r"git gave no object for 0\.3 s"):
        next(objects.stat([oid]))


def test_ids_are_those_of_git(scratch: Scratch) -> None:
    """Ours: the hash is git's own, in both formats."""
    assert hash_object("sha1", "blob", b"content") == scratch.blob(b"content")
    assert len(hash_object("sha256", "blob", b"")) == 64
