"""The work tree while an author edits it: taken whole, landed, or put away; never a person's (drive/editing.py).

Sources: SPEC D-06, D-16; DESIGN 4 ("work trees"); FIELD-FAULTS F30.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from counterpoint.core.docket import ChangedPath, PathState
from counterpoint.core.edits import Edit
from counterpoint.core.values import Turn
from counterpoint.drive.editing import Editing
from counterpoint.errors import NeedsPerson, RecordError
from counterpoint.isolation.worktree import snapshot_worktree
from counterpoint.record.files import Layout
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Vault
from tests.channels import CASE, begin
from tests.drive.edited import ANSWERING, Edited, asked_again, of
from tests.places import begun_place

SECOND = asked_again(ANSWERING)
KEPT = f"refs/counterpoint/{CASE}/{ANSWERING.id}"


def nothing_is_pending(_turn: str) -> bool:
    return False


class Bench(Edited):
    """An edited repository, and its `Editing` over a vault that outlives it."""

    def __init__(self, top: Path, *, commits: bool = True, vault: Vault | None = None) -> None:
        super().__init__(top, commits=commits)
        self.vault = vault or _vault()
        self.look = self.resumed()

    def resumed(self) -> Editing:
        """Return what a new process begins with."""
        return self.editing(self.vault, CASE)

    def begin(self, turn: Turn = ANSWERING, *, goes_on: bool = False, patient: bool = False) -> str:
        return self.look.begin(turn, self.candidate, goes_on=goes_on, patient=patient)

    def edit(self) -> None:
        """Change, add, delete, link and make executable, and stage a part of it."""
        self.git.write("price.py", "x = 3\n")
        self.git.write("new/deep.py", "n = 1\n")
        (self.top / "kept.py").unlink()
        (self.top / "link").symlink_to("price.py")
        (self.top / "new/deep.py").chmod(0o755)
        self.git.git("add", "price.py", "new")

    EDITED = ("kept.py", "link", "new/deep.py", "price.py")

    def put_away(self) -> str:
        return self.look.put_away(nothing_is_pending)


def _vault() -> Vault:
    store = MemoryStore()
    return store.vault(begin(store, Layout.CASES, signed=False))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


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


def test_a_hook_of_a_lost_turn_needs_a_person(bench: Bench) -> None:
    """Files are put back; a hook is not, so that nobody is asked before a person has seen it."""
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    _plant_hook(bench)
    with pytest.raises(NeedsPerson) as caught:
        bench.resumed().begin(SECOND, bench.candidate, goes_on=False, patient=False)
    assert str(caught.value) == (
        f"edits of 'price.py' came to nothing; they are kept under {KEPT}; "
        "'hooks/pre-commit' of the git folder was added"
    )
    (bench.top / ".git/hooks/pre-commit").unlink()
    assert bench.resumed().begin(SECOND, bench.candidate, goes_on=False, patient=False) == ""


def test_what_a_person_sets_up_before_the_author_was_asked_is_theirs(bench: Bench) -> None:
    """A turn that is begun again had not been asked the first time; what has changed since is no author's doing."""
    bench.begin()
    assert bench.put_away() == ""
    bench.git.git("config", "user.name", "Ada")
    bench.begin()
    bench.git.write("price.py", "x = 3\n")
    assert bench.look.take(bench.request("price.py")).faults == ()


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
    with pytest.raises(NeedsPerson, match=f"change is at {bench.head[:12]}; the case stands at") as caught:
        bench.begin(SECOND)
    assert caught.value.hint == (
        f"go back with `git switch BRANCH` or `git reset --keep {bench.tip[:12]}`, then resume the case"
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


@pytest.fixture
def loose(tmp_path: Path) -> Bench:
    return Bench(tmp_path, commits=False)


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
