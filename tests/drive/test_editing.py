"""The work tree while an author edits it: what is taken whole, and what lands (drive/editing.py).

Sources: SPEC D-16; DESIGN 4 ("work trees"); FIELD-FAULTS F30.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from counterpoint.core.docket import ChangedPath, PathState
from counterpoint.core.edits import Edit
from counterpoint.errors import NeedsPerson, RecordError
from counterpoint.isolation.worktree import snapshot_worktree
from counterpoint.record.files import Layout
from tests.drive.edited import ANSWERING, SECOND, Bench, nothing_is_pending, of
from tests.places import begun_place


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def loose(tmp_path: Path) -> Bench:
    return Bench(tmp_path, commits=False)


def test_exactly_the_listed_paths_become_a_commit_that_nothing_refers_to_before_it_lands(bench: Bench) -> None:
    """SPEC D-16: one commit on the branch, by whom git names, with the given message and just those paths."""
    bench.begin()
    bench.edit()
    lists = bench.request(*bench.EDITED, message="Say three\n\nF1: because")
    edit = bench.look.take(lists)
    made = of(edit)
    assert (edit.request, edit.faults) == (lists, ())
    assert edit.made is not None
    assert edit.made.paths == (
        ChangedPath(path="kept.py", state=PathState.DELETED),
        ChangedPath(path="link", state=PathState.TEXT),
        ChangedPath(path="new/deep.py", state=PathState.TEXT),
        ChangedPath(path="price.py", state=PathState.TEXT),
    )
    assert (bench.head, bench.kept()) == (bench.tip, [])
    bench.look.land(edit)
    assert (bench.head, bench.status()) == (made, "")
    said = bench.git.git("log", "-1", "--format=%P|%an <%ae>|%cn|%B", made).decode().strip()
    assert said == f"{bench.tip}|Ada <ada@example.org>|Ada|Say three\n\nF1: because"
    changed = bench.git.git("diff-tree", "-r", "--no-commit-id", "--name-only", made).decode().split()
    assert tuple(changed) == bench.EDITED
    assert bench.put_away() == ""


def _plant_hook(bench: Bench) -> None:
    bench.git.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")


def _commit_behind(bench: Bench) -> None:
    bench.git.commit({"price.py": "x = 3\n"})


def _link_out(bench: Bench) -> None:
    (bench.top / "price.py").unlink()
    (bench.top / "price.py").symlink_to("../outside")


def _also_another(bench: Bench) -> None:
    bench.git.write("kept.py", "k = 2\n")


def _nothing_at_all(bench: Bench) -> None:
    bench.git.write("price.py", "x = 2\n")


def _another_branch(bench: Bench) -> None:
    bench.git.git("checkout", "-q", "-b", "own")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_also_another, "'kept.py' changed and was not listed"),
        (_nothing_at_all, "'price.py' was listed and did not change"),
        (_commit_behind, "HEAD moved from {tip} to {head}"),
        (_another_branch, "HEAD left 'refs/heads/change' for 'refs/heads/own'"),
        (_plant_hook, "'hooks/pre-commit' of the git folder was added"),
        (_link_out, "'price.py' is a symbolic link to '../outside', which leads out of the work tree"),
    ],
)
def test_an_edit_with_a_fault_is_not_taken(bench: Bench, spoil: Callable[[Bench], None], said: str) -> None:
    """DESIGN "work trees": what was not listed makes the round incomplete, and so does what else moved."""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    spoil(bench)
    edit = bench.look.take(bench.request("price.py"))
    assert edit == Edit(
        request=bench.request("price.py"),
        faults=(said.format(tip=bench.tip[:12], head=bench.head[:12]),),
        made=None,
    )


def test_an_edit_that_nobody_was_asked_for_is_not_taken(bench: Bench) -> None:
    """DESIGN "work trees": without the journal nobody knows what the author began from."""
    bench.git.write("price.py", "x = 3\n")
    assert bench.look.take(bench.request("price.py")).faults == (f"nothing was journalled before {ANSWERING.id}",)


def test_an_answer_without_an_edit_makes_nothing_and_ends_the_turn(bench: Bench) -> None:
    """What a person edits afterwards is not the author's, and is not put away as such."""
    bench.begin()
    edit = bench.look.take(bench.request())
    assert edit == Edit(request=bench.request(), faults=(), made=None)
    bench.look.land(edit)
    bench.git.write("price.py", "x = 9  # a person's\n")
    assert bench.put_away() == ""
    assert bench.resumed().put_away(nothing_is_pending) == ""
    assert bench.read("price.py") == "x = 9  # a person's\n"
    assert bench.kept() == []


def test_an_edit_may_take_the_whole_change_back(bench: Bench) -> None:
    """SPEC D-16: a candidate that differs from the base in nothing is one all the same."""
    bench.begin()
    bench.git.write("price.py", "x = 1\n")
    edit = bench.look.take(bench.request("price.py"))
    assert edit.made is not None
    assert edit.made.paths == ()
    bench.look.land(edit)
    assert bench.git.git("diff", bench.base, "HEAD") == b""


def test_a_second_question_goes_on_with_the_edits_of_the_first(bench: Bench) -> None:
    """SPEC D-16: an incomplete answer is given again, not the work."""
    bench.begin()
    bench.edit()
    assert bench.look.take(bench.request("price.py")).faults
    assert bench.begin(SECOND, goes_on=True) == ""
    edit = bench.look.take(bench.request(*bench.EDITED, turn=SECOND))
    bench.look.land(edit)
    assert (bench.head, bench.status(), bench.kept()) == (of(edit), "", [])


def test_a_hook_planted_in_the_first_question_is_found_in_the_second(bench: Bench) -> None:
    """What is compared with is what was there before the round; also for a driver that has been killed since."""
    bench.begin()
    _plant_hook(bench)
    bench.begin(SECOND, goes_on=True)
    bench.git.write("price.py", "x = 3\n")
    for look in (bench.look, bench.resumed()):
        faults = look.take(bench.request("price.py", turn=SECOND)).faults
        assert faults == ("'hooks/pre-commit' of the git folder was added",)


def test_what_a_person_sets_up_before_the_author_was_asked_is_theirs(bench: Bench) -> None:
    """A turn that is begun again had not been asked the first time; what has changed since is no author's doing."""
    bench.begin()
    assert bench.put_away() == ""
    bench.git.git("config", "user.name", "Ada")
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    assert bench.look.take(bench.request("price.py")).faults == ()


def test_a_repository_inside_needs_a_person_before_anybody_is_asked(tmp_path: Path) -> None:
    """It was there before: no answer could ever be taken beside it."""
    bench = Bench(tmp_path, commits=False)
    bench.git.git("init", "-q", "inner")
    with pytest.raises(NeedsPerson, match="no edit can be taken from this work tree: 'inner/' is a repository"):
        bench.begin()
    (bench.top / ".gitignore").write_text("*.log\n/inner/\n")
    bench.candidate = snapshot_worktree(bench.repository, bench.objects).tree
    assert bench.begin() == ""


def test_an_edit_lands_once_however_often_it_is_told_to(bench: Bench) -> None:
    """A driver that was killed after it moved the branch comes again."""
    bench.begin()
    bench.edit()
    edit = bench.look.take(bench.request(*bench.EDITED))
    for look in (bench.look, bench.look, bench.resumed()):
        look.land(edit)
        assert (bench.head, bench.status()) == (of(edit), "")
    assert bench.git.git("rev-list", "--count", f"{bench.base}..HEAD") == b"2\n"


def test_an_edit_does_not_land_on_a_branch_that_stands_elsewhere(bench: Bench) -> None:
    """SPEC D-16: nothing is forced. A person is needed, the edit is not lost, and lands once the branch is back."""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    edit = bench.look.take(bench.request("price.py"))
    bench.git.git("commit", "-q", "--allow-empty", "-m", "a person's")
    mine = bench.head
    with pytest.raises(NeedsPerson, match=f"the edit of {ANSWERING.id} cannot be committed: HEAD of") as caught:
        bench.look.land(edit)
    assert caught.value.hint is not None
    assert caught.value.hint.count("then resume") == 1
    assert (bench.head, bench.read("price.py")) == (mine, "x = 3\n")
    bench.git.git("reset", "-q", "--soft", bench.tip)
    bench.look.land(edit)
    assert (bench.head, bench.status()) == (of(edit), "")


def test_without_commits_a_candidate_is_a_tree_and_head_stays_where_it_is(loose: Bench) -> None:
    """SPEC D-02 `--no-commit`: branch and index are the person's."""
    index = (loose.top / ".git/index").read_bytes()
    loose.begin()
    loose.git.write("price.py", "x = 3\n")
    edit = loose.look.take(loose.request("price.py"))
    loose.look.land(edit)
    assert loose.head == loose.tip
    assert (loose.top / ".git/index").read_bytes() == index
    loose.look.demand_candidate(of(edit))
    assert loose.put_away() == ""
    assert (loose.read("price.py"), loose.at(loose.kept()[-1], "price.py")) == ("x = 3\n", "x = 3\n")


def test_what_a_reader_does_to_the_work_tree_is_told(bench: Bench) -> None:
    """FIELD-FAULTS F30: a reviewer that was only to read resets, commits or plants."""
    strays = bench.look.watch(bench.candidate)
    assert strays() == ()
    bench.git.write("kept.py", "k = 2\n")
    assert strays() == ("kept.py",)
    _commit_behind(bench)
    _plant_hook(bench)
    assert strays() == (
        f"HEAD moved from {bench.tip[:12]} to {bench.head[:12]}",
        "'hooks/pre-commit' of the git folder was added",
        "kept.py",
        "price.py",
    )
    (bench.top / ".git/HEAD").write_text("nonsense\n")
    assert len(strays()) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b'{"git": null, "patient": false, "start": ""}'])
def test_a_damaged_journal_stops_everything_and_says_which_file(tmp_path: Path, content: bytes) -> None:
    """Fail closed: without it nobody knows whose edits these are. Nothing is put back, taken or lost."""
    (tmp_path / "channel").mkdir()
    place = begun_place(tmp_path / "channel", Layout.CASES)
    bench = Bench(tmp_path, vault=place.store.vault(place.channel))
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    (journal,) = place.folder.rglob("begun-*")
    kept = journal.read_bytes()
    journal.write_bytes(content)
    again = bench.resumed()
    attempts: list[Callable[[], object]] = [
        lambda: again.put_away(nothing_is_pending),
        lambda: again.take(bench.request("price.py")),
        lambda: again.begin(SECOND, bench.candidate, goes_on=False, patient=False),
    ]
    for attempt in attempts:
        with pytest.raises(RecordError, match=f"{journal.name} in the vault cannot be read: ") as caught:
            attempt()
        assert caught.value.hint == "put the file back"
    assert (bench.read("price.py"), bench.kept()) == ("x = 3\n", [])
    journal.write_bytes(kept)
    assert again.take(bench.request("price.py")).made is not None
