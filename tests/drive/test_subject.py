"""A case about words alone has nothing that code could look up (drive/subject.py)."""

import asyncio
from dataclasses import replace

from counterpoint.core.checks import EditCheck, Evidence, EvidenceStatus, PathCheck
from counterpoint.core.edits import Edit
from counterpoint.core.rules import Exhibit, Materials
from counterpoint.core.values import Turn
from counterpoint.drive.subject import TextSubject

TURN = Turn(phase="reviewing", round=1, seat="one", ask=1, blind=True)
WHOLE = Exhibit(base="b" * 40, candidate="c" * 40)
AGAIN = Exhibit(base="c" * 40, candidate="c" * 40)


def test_a_text_is_shown_and_nothing_of_it_is_checked() -> None:
    """Not checked is not verified."""
    subject = TextSubject("the text", shown_paths=("a.md",))
    request = PathCheck(path="a.md", line=None, candidate="c" * 40)
    shown = Materials(change="the text", shown_paths=("a.md",), not_shown=())
    assert asyncio.run(subject.materials(WHOLE)) == shown
    assert asyncio.run(subject.materials(AGAIN)) == Materials(change="", shown_paths=())
    assert asyncio.run(subject.look_up(request)) == Evidence(
        request=request, status=EvidenceStatus.NOT_CHECKED, detail="this case has no tree to look in"
    )


def test_the_desk_of_a_text_is_empty_watched_and_removed() -> None:
    """What an agent leaves in its tree is told (FIELD-FAULTS F30); afterwards all of it is gone."""

    async def sit() -> None:
        async with TextSubject().desk(TURN, WHOLE) as desk:
            tree, scratch = desk.workspace.tree, desk.workspace.scratch
            assert list(tree.iterdir()) == list(scratch.iterdir()) == []
            assert desk.touched() == ()
            (tree / "stray").write_text("x")
            assert desk.touched() == ("stray",)
        assert not tree.exists()
        assert not scratch.exists()

    asyncio.run(sit())


def test_a_text_has_nothing_to_edit() -> None:
    """An author that lists a path of it is told so; one that lists none is believed."""
    subject = TextSubject()
    lists = EditCheck(turn="answering.1.author.1", start="c" * 40, paths=("a.md",), commits=True, message="m")
    assert asyncio.run(subject.take_edit(lists)) == Edit(
        request=lists, faults=("'a.md' is listed, and this case has no tree to edit",), made=None
    )
    nothing = Edit(request=replace(lists, paths=()), faults=(), made=None)
    assert asyncio.run(subject.take_edit(nothing.request)) == nothing
    asyncio.run(subject.land(nothing))
    assert asyncio.run(subject.make_ready(TURN, WHOLE, goes_on=False, patient=False)) == ""
    assert subject.put_away(lambda _turn: False) == ""
