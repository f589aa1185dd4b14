"""An author that leaves what is no ordinary file, or too much of it: nothing leads out, blocks, or is lost.

Sources: issue 3, "symlink out of the workspace"; SPEC D-16; SECURITY B.5, S1, G10.
"""

import os

import pytest

from tests.hostile.stage import Stage

_EDIT = 'write("price.py", "x = 3\\n"); '
LINKS = {
    '(here / "out").symlink_to("/etc"); answer("price.py", "out")': "'out' is a symbolic link to '/etc', which is an",
    '(here / "out").symlink_to("../.."); answer("price.py", "out")': "which leads out of the work tree",
    '(here / "out").symlink_to(".git/config"); answer("price.py", "out")': "which leads into a git folder",
    '(here / "lib/out").symlink_to("../.GIT"); answer("price.py", "lib/out")': "which leads into a git folder",
    '(here / "a").symlink_to("b"); (here / "b").symlink_to("../x"); answer("price.py", "a", "b")': (
        "'a' is a symbolic link to 'b', which leads out of the work tree"
    ),
    # A tracked folder becomes a link that leads out; what lies behind it is not the project's.
    '(here / "lib/one.py").unlink(); (here / "lib").rmdir(); (here / "lib").symlink_to("/etc"); '
    'answer("price.py", "lib", "lib/one.py")': "'lib' is a symbolic link to '/etc', which is an absolute path",
    '(here / "lib/one.py").unlink(); os.mkfifo(here / "lib/one.py"); answer("price.py", "lib/one.py")': (
        "'lib/one.py' is no file, folder or symbolic link"
    ),
    '(here / "lib/one.py").unlink(); socket.socket(socket.AF_UNIX).bind("lib/one.py"); '
    'answer("price.py", "lib/one.py")': "'lib/one.py' is no file, folder or symbolic link",
}


def test_what_leads_out_or_is_no_file_is_not_committed(stage: Stage) -> None:
    """Issue 3, SECURITY B.5: each is named in the refusal, and a pipe blocks nobody."""
    stage.begin(**{"lib/one.py": "y = 1\n"})
    stage.author_tries(*(_EDIT + each for each in LINKS))
    called = stage.review()
    failures = [failure.detail for failure in stage.case.state.failures]
    for detail, said in zip(failures, LINKS.values(), strict=True):
        assert said in detail
    assert called.code == 0, called
    assert (stage.changed_in(), stage.status) == (["price.py"], "")


def test_a_link_leads_out_also_where_it_is_turned_in_a_later_step(stage: Stage) -> None:
    """Issue 3: `link` is harmless while `lib` is a folder, and leads out once `lib` is a link to the top."""
    stage.begin(**{"lib/one.py": "y = 1\n"})
    first = 'write("half.py", "z\\n"); (here / "link").symlink_to("lib/../x"); answer("half.py", "link")\n'
    then = 'import shutil; shutil.rmtree(here / "lib"); (here / "lib").symlink_to(".")\n'
    then += 'write("price.py", "x = 3\\n"); answer("price.py", "lib", "lib/one.py")\n'
    stage.author(
        f'if p["round"] == 1:\n    {first}' + f"if not again: {then}" + 'answer("price.py", "lib", "lib/one.py")\n'
    )
    called = stage.review()
    assert called.code == 1, called
    assert "'link' is a symbolic link to 'lib/../x', which leads out of the work tree" in stage.said
    assert stage.offers == [("half.py", "link")]
    assert (stage.status, stage.changed_in()) == ("", ["half.py", "link"])


def test_a_repository_inside_is_named_and_left_for_a_person(stage: Stage) -> None:
    """SPEC D-16: it is not committed as a bare id, and what somebody may have in it is not removed."""
    start = stage.begin()
    plant = 'write("sub/x.py", "y"); git("init", "-q", "sub"); git("-C", "sub", "add", "x.py")\n'
    plant += 'git("-C", "sub", "-c", "user.name=E", "-c", "user.email=e@x", "commit", "-qm", "x")\n'
    stage.author(
        f"if not again:\n    {plant.replace(chr(10), chr(10) + '    ')}\n" + _EDIT + 'answer("price.py", "sub")\n'
    )
    called = stage.review()
    assert called.code == 1, called
    assert "'sub' is a repository of its own" in stage.said
    assert stage.head == start
    assert (stage.top / "sub" / "x.py").read_text() == "y"
    assert "sub" in called.err


@pytest.mark.parametrize("count", [500, pytest.param(5000, marks=pytest.mark.soak)])
def test_very_many_files_at_once_are_one_commit(stage: Stage, count: int) -> None:
    """SECURITY G10: listed exactly they are taken; left out of the list they are named in one bounded sentence."""
    stage.begin()
    many = f'names = [f"gen/{{n:04}}.py" for n in range({count})]\nfor name in names: write(name, "x\\n")\n'
    stage.author(many + 'write("price.py", "x = 3\\n")\nif again: answer("price.py", *names)\n')
    called = stage.review("--max-rounds", "1")
    assert called.code == 0, called
    assert stage.failures == [("ana", "refused")]
    assert f"and {count - 5} more changed and were not listed" in stage.said
    assert len(stage.said) < 1000
    assert len(stage.changed_in()) == count + 1
    assert stage.status == ""


def test_a_file_that_is_too_large_to_be_read_is_no_part_of_an_approval(stage: Stage) -> None:
    """SECURITY G10, FIELD-FAULTS F15: it is committed as listed, and nobody saw it: undetermined, exit 3."""
    stage.begin()
    stage.author(
        'write("big.bin", "0123456\\n" * (5 << 20))\nwrite("price.py", "x = 3\\n")\nanswer("price.py", "big.bin")\n'
    )
    called = stage.review("--max-rounds", "1")
    assert called.code == 3, called
    assert "big.bin" in called.out
    assert (stage.changed_in(), stage.status) == (["big.bin", "price.py"], "")


def test_names_that_no_line_and_no_text_can_hold(stage: Stage) -> None:
    """SECURITY R19, B.5: refused by name in visible form, kept under a ref byte for byte, taken out of the tree."""
    stage.begin()
    before = stage.everything()
    odd = [b"new\nline.py", b"bad\xff.py", "bidi\u202eyp.exe".encode()]
    stage.author(f'for name in {odd!r}: open(os.path.join(os.fsencode(here), name), "w").close()\n')
    called = stage.review()
    assert called.code == 1, called
    assert stage.failures == [("ana", "refused")] * 2
    for shown in (r"new\\u{a}line.py", r"bad\\xff.py", r"bidi\\u{202e}yp.exe"):
        assert shown in stage.said
    (ref,) = stage.kept
    listed = stage.git.git("ls-tree", "--name-only", "-z", ref).split(b"\0")
    assert set(odd) <= set(listed)
    assert stage.everything() == before
    assert not any(os.path.lexists(stage.top / os.fsdecode(name)) for name in odd)
