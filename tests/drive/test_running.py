"""Cases on disk, driven one beside the other (drive/running.py)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from counterpoint.core.rules import Withdraw
from counterpoint.drive.cases import load_case, make_home
from counterpoint.drive.paths import find_folders
from counterpoint.drive.planning import ReviewRequest, plan_review
from counterpoint.drive.plans import open_planned
from counterpoint.drive.running import Session, driving, objects_of
from counterpoint.drive.store import open_store
from counterpoint.errors import LeaseHeld
from tests.drive.edited import Edited
from tests.processes import finish


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Edited]:
    """Lend a repository; the temporary folder of its test has to be empty in the end."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    yield Edited(tmp_path)
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.fixture
def session(edited: Edited, tmp_path: Path) -> Session:
    environment = {
        "COUNTERPOINT_STATE": str(tmp_path / "state"),
        "COUNTERPOINT_CONFIG": str(tmp_path / "config"),
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "PATH": "/usr/bin:/bin",
    }
    return Session.of(
        repo=edited.top, cases=make_home(edited.top), folders=find_folders(environment), environment=environment
    )


def opened(session: Session, name: str, *, author: str = "human") -> str:
    """Open a review by people, and return its name."""
    case = f"review-20260706t140748z-{name}"
    plan = plan_review(
        ReviewRequest(
            repo=session.repo, flags={"review.reviewers": ("human",), "review.base": "main"}, author=author
        ),
        folders=session.folders,
        environment=session.environment,
        snapshot_into=objects_of(session.cases, case),
    )
    open_planned(session, plan, case=case, grants=())
    return case


def test_two_cases_do_not_edit_one_work_tree_at_once(session: Session, tmp_path: Path) -> None:
    """DESIGN "work trees": neither could tell its edits from the other's. The second leaves nothing behind."""
    one, two = opened(session, "00000001"), opened(session, "00000002")
    with driving(session, one, may_run=False):
        mine = set((tmp_path / "tmp").iterdir())
        said = f"the work tree {session.repo} is edited in a case that pid"
        with pytest.raises(LeaseHeld, match=said), driving(session, two, may_run=False):
            raise AssertionError("it was driven")
        assert set((tmp_path / "tmp").iterdir()) == mine
    with driving(session, two, may_run=False) as driver:
        finish(driver.speak("owner", Withdraw(reason="enough")))
    loaded = load_case(open_store(session.cases, session.folders), session.cases, two)
    assert loaded.state.closed is not None


def test_a_case_that_edits_nothing_is_driven_beside_one_that_does(session: Session) -> None:
    """It has an export of its own, and takes nothing from the work tree."""
    edits, reads = opened(session, "00000001"), opened(session, "00000002", author="")
    with driving(session, edits, may_run=False), driving(session, reads, may_run=False) as driver:
        finish(driver.speak("owner", Withdraw(reason="enough")))
