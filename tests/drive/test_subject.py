"""A case about words alone has nothing that code could look up (drive/subject.py)."""

import asyncio

from counterpoint.core.checks import Evidence, EvidenceStatus, PathCheck
from counterpoint.core.rules import Materials
from counterpoint.core.values import Turn
from counterpoint.drive.subject import TextSubject

TURN = Turn(phase="reviewing", round=1, seat="one", ask=1, blind=True)


def test_a_text_is_shown_and_nothing_of_it_is_checked() -> None:
    """Not checked is not verified."""
    subject = TextSubject("the text", shown_paths=("a.md",))
    request = PathCheck(path="a.md", line=None, candidate="c" * 40)
    shown = Materials(change="the text", shown_paths=("a.md",), not_shown=())
    assert asyncio.run(subject.materials()) == shown
    assert asyncio.run(subject.look_up(request)) == Evidence(
        request=request, status=EvidenceStatus.NOT_CHECKED, detail="this case has no tree to look in"
    )


def test_the_desk_of_a_text_is_empty_watched_and_removed() -> None:
    """What an agent leaves in its tree is told (FIELD-FAULTS F30); afterwards all of it is gone."""

    async def sit() -> None:
        async with TextSubject().desk(TURN) as desk:
            tree, scratch = desk.workspace.tree, desk.workspace.scratch
            assert list(tree.iterdir()) == list(scratch.iterdir()) == []
            assert desk.touched() == ()
            (tree / "stray").write_text("x")
            assert desk.touched() == ("stray",)
        assert not tree.exists()
        assert not scratch.exists()

    asyncio.run(sit())
