"""Names out of a repository: their one text form, and which of them are written to disk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.core.canonical import visible
from counterpoint.isolation.names import folded, unsafe, visible_path


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_two_paths_never_share_a_form(one: bytes, other: bytes) -> None:
    """SECURITY R19: a name cannot pass itself off as another one by what is written out."""
    assert (visible_path(one) == visible_path(other)) == (one == other)


@given(st.text(max_size=20))
def test_the_form_of_a_path_has_nothing_hidden_in_it(name: str) -> None:
    """SECURITY R19, T1: the form goes to terminals and briefs as it is."""
    form = visible_path(name.encode("utf-8", "surrogatepass"))
    assert form.isprintable()
    assert visible(form) == form


@pytest.mark.parametrize(
    ("raw", "form"),
    [
        (b"src/a b.py", "src/a b.py"),
        ("naïve/日本.txt".encode(), "naïve/日本.txt"),
        (b"caf\xe9", "caf\\xe9"),
        (b"new\nline", "new\\u{a}line"),
        (b"back\\slash", "back\\\\slash"),
        ("a\u202etxt.py".encode(), "a\\u{202e}txt.py"),
        ("a\u00a0b\u3164".encode(), "a\\u{a0}b\\u{3164}"),
    ],
)
def test_a_path_is_written_out_where_it_is_not_plain(raw: bytes, form: str) -> None:
    """Ours: names with newlines, control characters or other encodings stay readable."""
    assert visible_path(raw) == form


@pytest.mark.parametrize(
    "name",
    [
        b"",
        b".",
        b"..",
        b"a/b",
        b"a\\b",
        b"x" * 256,
        b"new\nline",
        b"esc\x1b[31m",
        "a\u202eb".encode(),
        "a\u2028b".encode(),
        b".git",
        b".GIT",
        b".git ",
        b".git.",
        b".git. .",
        b".git::$INDEX_ALLOCATION",
        b".git :x",
        b"git~1",
        b"GIT~1",
        ".g\u200cit".encode(),
        ".\uff47\uff49\uff54".encode(),
    ],
)
def test_a_name_that_could_mislead_is_not_written(name: bytes) -> None:
    """SECURITY B.5: `.git` and its NTFS and HFS+ variants, separators, places, control and format characters."""
    assert unsafe(name)


@pytest.mark.parametrize(
    "name",
    [
        b"a.py",
        b".gitattributes",
        b".github",
        b"git~2",
        b"...",
        b"x" * 255,
        b"caf\xe9",
        "日本".encode(),
        b"a;rm -rf b",
    ],
)
def test_an_ordinary_name_is_written(name: bytes) -> None:
    """Ours: a shell's characters and other encodings are no danger to a program that uses no shell."""
    assert unsafe(name) == ""


def test_names_that_differ_in_case_or_composition_fold_together() -> None:
    """SECURITY B.5: what a file system that ignores case and composition cannot tell apart."""
    assert folded(b"README") == folded(b"ReadMe")
    assert folded("é".encode()) == folded("e\u0301".encode())
    assert folded(b"a") != folded(b"b")
