"""Which changed paths were before whom (FIELD-FAULTS F15; DESIGN "Checks as a reviewer")."""

from dataclasses import replace

import pytest

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import ChangedPath, PathState
from counterpoint.core.outcome import Coverage
from tests.review_case import (
    CHECKS,
    CRITIC,
    DOCKET,
    NAMED_CHECKS,
    PATHS,
    PYTEST,
    RUFF,
    SKEPTIC,
    Play,
    Replies,
    Tree,
    claim,
    ended,
    verdict,
)

NOT_CHECKED = EvidenceStatus.NOT_CHECKED
NONE_PASSED = {PYTEST.argv: EvidenceStatus.REFUTED, RUFF.argv: NOT_CHECKED}
NONE_RAN = {PYTEST.argv: NOT_CHECKED, RUFF.argv: NOT_CHECKED}
ALL_STATES = replace(DOCKET, paths=tuple(ChangedPath(path=f"{state}.x", state=state) for state in PathState))


@pytest.mark.parametrize(
    ("replies", "shown", "commands", "unseen"),
    [
        ({CHECKS: NAMED_CHECKS}, (), {}, ("submodule.x", "withheld.x")),
        ({CHECKS: NAMED_CHECKS}, (), {PYTEST.argv: NOT_CHECKED}, ("submodule.x", "withheld.x")),
        ({CHECKS: NAMED_CHECKS}, (), NONE_PASSED, ("submodule.x", "withheld.x")),
        ({CHECKS: NAMED_CHECKS}, (), NONE_RAN, tuple(f"{state}.x" for state in PathState)),
        ({CRITIC: verdict(), CHECKS: NAMED_CHECKS}, ("submodule.x",), {}, ("withheld.x",)),
        ({CRITIC: verdict()}, ("text.x", "elsewhere.x"), {}, tuple(f"{s}.x" for s in PathState if s != "text")),
        (
            {CRITIC: verdict(claims=[claim("pytest -q", passes=True)])},
            ("text.x",),
            {},
            ("binary.x", "deleted.x", "submodule.x", "withheld.x"),
        ),
        ({CRITIC: verdict(), SKEPTIC: verdict()}, tuple(f"{state}.x" for state in PathState), {}, ()),
    ],
    ids=["checks", "some ran", "none passed", "none ran", "both", "one path", "a claim is no coverage", "all shown"],
)
def test_a_path_is_covered_by_who_was_shown_it_or_by_checks_that_had_it(
    replies: Replies, shown: tuple[str, ...], commands: dict[tuple[str, ...], EvidenceStatus], unseen: tuple[str, ...]
) -> None:
    """FIELD-FAULTS F15: submodules and withheld files are not in the export on which checks ran."""
    case = ended(replies, shown=shown, docket=ALL_STATES, tree=Tree(commands=commands))
    assert case.outcome.coverage == Coverage(
        changed=tuple(f"{state}.x" for state in PathState), unseen=unseen, unread=None
    )


def test_checks_that_failed_cover_nothing_by_what_others_made_run() -> None:
    """A command that a claim made run is no reading of the change."""
    case = Play(CRITIC, CHECKS, quorum=1)
    case.answer("critic", verdict(claims=[claim("pytest -q", passes=True)]), shown=("src/timer.py",))
    case.fail("checks")
    case.fail("checks")
    case.settle()
    assert case.outcome.coverage == Coverage(changed=PATHS, unseen=("old.py",), unread=None)


def test_what_a_seat_without_a_verdict_was_shown_covers_nothing() -> None:
    """FIELD-FAULTS F15: to be shown a file and to say nothing is not to have looked at it."""
    case = Play(CRITIC, SKEPTIC, quorum=1)
    case.answer("critic", verdict(), shown=("old.py",))
    case.answer("skeptic", verdict(), shown=("src/timer.py",))
    del case.vault[case.state.sealed["skeptic"].turn.id]
    case.settle()
    assert case.outcome.coverage == Coverage(changed=PATHS, unseen=("src/timer.py",), unread=None)


@pytest.mark.parametrize(
    ("told", "unread"),
    [
        ((("old.py", "src/timer.py"), ("src/timer.py", "else.py")), ("src/timer.py",)),
        ((("src/timer.py", "old.py"), ("old.py", "src/timer.py")), ("src/timer.py", "old.py")),
        ((("old.py",), ()), ()),
        ((("old.py",), None), None),
        ((None, None), None),
    ],
    ids=["both", "all", "none", "one cannot tell", "nobody can tell"],
)
def test_a_path_is_unread_only_if_every_command_that_ran_says_so(
    told: tuple[tuple[str, ...] | None, ...], unread: tuple[str, ...] | None
) -> None:
    """A command that cannot tell may have read it (DESIGN "Checks as a reviewer")."""
    unread_by = {c.argv: unread for c, unread in zip((PYTEST, RUFF), told, strict=True) if unread is not None}
    case = ended({CHECKS: NAMED_CHECKS}, tree=Tree(unread=unread_by))
    assert case.outcome.coverage == Coverage(changed=PATHS, unseen=(), unread=unread)


def test_a_command_that_did_not_run_says_nothing_about_what_was_read() -> None:
    """Its empty list would be taken for: it opened everything."""
    tree = Tree(commands={RUFF.argv: NOT_CHECKED}, unread={PYTEST.argv: ("old.py",), RUFF.argv: ()})
    assert ended({CHECKS: NAMED_CHECKS}, tree=tree).outcome.coverage.unread == ("old.py",)
