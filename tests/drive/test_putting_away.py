"""What turns that came to nothing leave in the work tree is put away, and a person's never (drive/editing.py).

Sources: SPEC D-06; DESIGN 4 ("work trees"); FIELD-FAULTS F30.
"""

from pathlib import Path

import pytest

from counterpoint.drive.editing import Editing
from counterpoint.errors import NeedsPerson
from tests.channels import CASE
from tests.drive.edited import ANSWERING, KEPT, SECOND, Bench, nothing_is_pending, of


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def loose(tmp_path: Path) -> Bench:
    return Bench(tmp_path, commits=False)


def test_a_hook_of_a_lost_turn_needs_a_person(bench: Bench) -> None:
    """Files are put back; a hook is not, so that nobody is asked before a person has seen it."""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    bench.git.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    with pytest.raises(NeedsPerson) as caught:
        bench.resumed().begin(SECOND, bench.candidate, goes_on=False, patient=False)
    assert str(caught.value) == (
        f"edits of 'price.py' came to nothing; they are kept under {KEPT}; "
        "'hooks/pre-commit' of the git folder was added"
    )
    (bench.top / ".git/hooks/pre-commit").unlink()
    assert bench.resumed().begin(SECOND, bench.candidate, goes_on=False, patient=False) == ""


def test_edits_of_a_lost_turn_are_kept_and_the_tree_is_put_back_byte_for_byte(bench: Bench) -> None:
    """DESIGN "work trees": after a crash they are kept under `refs/counterpoint/<case>/<turn>`; nothing is lost."""
    before = bench.files()
    bench.begin()
    bench.edit()
    bench.git.write("built.log", "ignored\n")
    listed = ", ".join(repr(path) for path in bench.EDITED)
    line = f"edits of {listed} came to nothing; they are kept under {KEPT}"
    assert bench.resumed().begin(SECOND, bench.candidate, goes_on=False, patient=False) == line
    assert (bench.kept(), bench.head, bench.status()) == ([KEPT], bench.tip, "")
    ignored = bench.top / "built.log"
    assert ignored.read_text() == "ignored\n"
    ignored.unlink()
    assert bench.files() == before
    assert bench.at(KEPT, "price.py") == "x = 3\n"
    named = bench.git.git("diff", "--name-only", bench.tip, KEPT).decode().split()
    assert tuple(named) == bench.EDITED
    assert bench.put_away() == ""


def test_a_turn_begun_again_after_it_was_put_away_is_put_away_again(bench: Bench) -> None:
    """An interruption between the journal and the question leaves the turn's name as it was."""
    bench.begin()
    assert bench.put_away() == ""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    assert bench.put_away() == f"edits of 'price.py' came to nothing; they are kept under {KEPT}"
    assert bench.read("price.py") == "x = 2\n"


def test_what_is_still_to_be_taken_is_not_put_away(bench: Bench) -> None:
    """An answer that was kept before a crash is taken after it, with the edits it speaks of."""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    assert bench.look.put_away(lambda turn: turn == ANSWERING.id) == ""
    assert bench.read("price.py") == "x = 3\n"
    assert bench.resumed().take(bench.request("price.py")).made is not None


def test_it_puts_nothing_back_where_the_branch_has_moved(bench: Bench) -> None:
    """Somebody committed on top: what lies there may be theirs. Once the branch is back, it goes on."""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    bench.git.git("commit", "-q", "--allow-empty", "-m", "a person's")
    line = f"the work tree was left as it is: HEAD is at {bench.head[:12]}, and {ANSWERING.id} began at"
    assert bench.put_away() == f"{line} {bench.tip[:12]}"
    assert (bench.read("price.py"), bench.kept()) == ("x = 3\n", [])
    with pytest.raises(NeedsPerson, match="somebody committed on change while the case was driven") as caught:
        bench.begin(SECOND)
    ref = f"refs/counterpoint/{KEPT.split('/')[2]}/{bench.head[:12]}"
    assert caught.value.hint == (
        f"`git reset --keep {bench.tip[:12]}` takes the branch back ({ref} keeps the commit); then resume the case"
    )
    bench.git.git("reset", "-q", "--keep", bench.tip)
    assert bench.begin(SECOND).endswith(f"they are kept under {KEPT}")


def test_edits_of_two_lost_turns_are_both_kept(bench: Bench) -> None:
    """Each under its own turn, and under a name of its own where one turn was lost twice."""
    for turn in (ANSWERING, SECOND):
        bench.begin(turn)
        bench.git.write("price.py", f"x = {turn.ask}0\n")
        bench.put_away()
    bench.begin(SECOND)
    bench.git.write("price.py", "x = 30\n")
    bench.put_away()
    refs = [KEPT, f"refs/counterpoint/{CASE}/{SECOND.id}", f"refs/counterpoint/{CASE}/{SECOND.id}-2"]
    assert bench.kept() == refs
    assert [bench.at(ref, "price.py") for ref in refs] == ["x = 10\n", "x = 20\n", "x = 30\n"]


def test_what_was_staged_and_left_in_no_file_reaches_no_later_commit(bench: Bench) -> None:
    """SPEC D-16: the person's next commit holds nothing that nobody has listed."""
    bench.begin()
    bench.git.write("hidden.py", "h = 1\n")
    bench.git.git("add", "hidden.py")
    (bench.top / "hidden.py").unlink()
    assert bench.put_away() == f"what was staged, and is in no file, is kept under {KEPT}-staged"
    assert (bench.status(), bench.at(f"{KEPT}-staged", "hidden.py")) == ("", "h = 1\n")


def test_edits_are_kept_also_where_git_knows_nobody(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who has no name for git yet loses nothing for it."""
    monkeypatch.setenv("HOME", str(bench.objects))
    look = Editing(
        bench.repository,
        objects=bench.objects,
        vault=bench.vault,
        case=CASE,
        base=bench.base,
        commits=True,
        now=bench.clock.now,
        environment={},
    )
    look.begin(ANSWERING, bench.candidate, goes_on=False, patient=False)
    bench.git.write("price.py", "x = 3\n")
    assert KEPT in look.put_away(nothing_is_pending)
    assert bench.git.git("log", "-1", "--format=%an", KEPT) == b"Counterpoint\n"


def test_nobody_is_asked_while_the_tree_is_not_at_the_candidate(bench: Bench) -> None:
    """SPEC D-06: whatever lies there before the first question is a person's, and is neither taken nor put away."""
    bench.git.write("price.py", "x = 9\n")
    bench.git.write("notes.txt", "mine\n")
    before = bench.files()
    for ask in (bench.begin, lambda: bench.look.demand_candidate(bench.candidate)):
        with pytest.raises(NeedsPerson) as caught:
            ask()
        said = f"the work tree differs from the candidate {bench.tip[:12]} in 'notes.txt', 'price.py'"
        assert str(caught.value) == said
        assert caught.value.hint == "commit nothing; undo or stash what is yours, then resume the case"
    assert bench.put_away() == ""
    assert (bench.files(), bench.kept()) == (before, [])


def test_a_second_question_does_not_go_on_with_what_a_person_edited_since(bench: Bench) -> None:
    """The first one's edits were put away in between, so what lies there now is nobody's answer."""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    bench.put_away()
    bench.git.write("price.py", "x = 9  # a person's\n")
    with pytest.raises(NeedsPerson, match="differs from the candidate"):
        bench.begin(SECOND, goes_on=True)
    assert bench.put_away() == ""
    assert bench.read("price.py") == "x = 9  # a person's\n"


def test_a_person_who_is_the_author_edits_as_they_like_and_nothing_is_put_away(bench: Bench) -> None:
    """They may have begun before they were asked, go away in between, and set git up meanwhile."""
    bench.git.write("price.py", "x = 3\n")
    bench.begin(patient=True)
    assert bench.put_away() == ""
    bench.git.git("config", "user.name", "Ada")
    bench.look = bench.resumed()
    bench.begin(patient=True)
    assert bench.read("price.py") == "x = 3\n"
    edit = bench.look.take(bench.request("price.py"))
    bench.look.land(edit)
    assert (bench.head, bench.status(), bench.put_away()) == (of(edit), "", "")


def test_without_commits_lost_edits_are_put_away_down_to_what_was_judged(loose: Bench) -> None:
    """What was not committed before is a person's: it comes back, byte for byte."""
    before = loose.files()
    loose.begin()
    loose.git.write("price.py", "x = 3\n")
    loose.git.write("more.py", "m = 1\n")
    assert loose.put_away() == f"edits of 'more.py', 'price.py' came to nothing; they are kept under {KEPT}"
    assert loose.files() == before
    assert loose.at(KEPT, "price.py") == "x = 3\n"


def test_files_that_no_commit_holds_are_kept_before_anybody_is_asked(loose: Bench) -> None:
    """F30, as it was seen: a reader throws away what is in no commit. The message names where it still is."""
    loose.look.demand_candidate(loose.candidate)
    loose.git.git("checkout", "-q", "--", ".")
    ref = f"refs/counterpoint/{CASE}/{loose.candidate}"
    with pytest.raises(NeedsPerson, match=f"in 'price.py'; {ref} has what was judged"):
        loose.look.demand_candidate(loose.candidate)
    loose.git.git("restore", "--source", ref, "--", ".")
    loose.look.demand_candidate(loose.candidate)
