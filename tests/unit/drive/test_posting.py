"""Posting to a shared channel: what it looks up, what it believes, and what it leaves alone (SPEC 3.3)."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from counterpoint.drive.posting import Posted, begin_channel, post
from counterpoint.errors import ConfigError, RecordError, Refused
from counterpoint.record.bell import write_object
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.memory import MemoryStore
from counterpoint.record.store import Store
from tests import need
from tests.channels import SHARED, STAMP, file_store, texts

ID: Final = "5" * 32


def begun(store: Store, *, project: str | None = None, cap: int = 12) -> Store:
    begin_channel(
        store,
        SHARED,
        parties=("claude", "codex"),
        supervisor="owner",
        thread_cap=cap,
        project=project,
        channel_id=ID,
        stamp=STAMP,
    )
    return store


def say(store: Store, text: str = "text", **named: Any) -> Posted:
    said = {"sender": "claude", "type": "question", "thread": "retry", "stamp": STAMP} | named
    return post(store, SHARED, text=text, **said)


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return begun(MemoryStore() if request.param == "memory" else file_store(str(tmp_path), Layout.SHARED))


def test_a_conversation_takes_turns(store: Store) -> None:
    """What was posted, whose turn it is and which thread is open is told after each entry (SPEC C-029, C-032)."""
    assert say(store) == Posted(n=1, turn="codex", thread="retry")
    assert say(store, sender="owner", type="info") == Posted(n=2, turn="codex", thread="retry")
    assert say(store, sender="codex", type="info") == Posted(n=3, turn="claude", thread="retry")
    assert say(store, type="close") == Posted(n=4, turn="", thread="")
    with pytest.raises(Refused, match="THREAD-1"):
        say(store, type="verdict")
    assert [block.n for block in store.read(SHARED)] == [0, 1, 2, 3, 4]


def test_what_is_posted_is_stripped_and_empty_refs_are_a_dash(store: Store) -> None:
    """SPEC C-010, C-011."""
    say(store, "\n  text \n more\t\n")
    (entry,) = store.read(SHARED, 0)
    assert (entry.text, entry.refs) == ("text \n more", "-")


@pytest.mark.parametrize(
    ("text", "rule"), [(" ", "POST-1"), ("x\n## MSG-9 | z | from: a | type: b | thread: c | refs: -", "POST-2")]
)
def test_a_refused_text_writes_nothing(store: Store, text: str, rule: str) -> None:
    """SPEC C-020."""
    with pytest.raises(Refused, match=rule):
        say(store, text)
    assert texts(store, SHARED) == []


def test_a_genesis_gives_no_turn_and_opens_no_thread(store: Store) -> None:
    """The doorbell stays fresh, so that numbers begin at 1 for both tools (DESIGN 5)."""
    with store.hold(SHARED) as held:
        assert held.bell == {"seq": 0, "turn": "", "thread": "", "last_entry": "", "updated_at": ""}
    assert say(store, thread="genesis").n == 1


def test_the_cap_counts_the_entries_of_the_open_thread(tmp_path: Path) -> None:
    """SPEC C-027; a thread that is opened anew begins to count anew, unlike in the public tool (SPEC C-143)."""
    store = begun(file_store(str(tmp_path), Layout.SHARED), cap=2)
    say(store)
    say(store, sender="codex", type="info")
    with pytest.raises(Refused, match="THREAD-4"):
        say(store, type="info")
    say(store, type="close")
    say(store)
    say(store, sender="codex", type="info")
    with pytest.raises(Refused, match="THREAD-4"):
        say(store, type="info")


@pytest.fixture
def files(tmp_path: Path) -> FileStore:
    store = file_store(str(tmp_path), Layout.SHARED)
    begun(store)
    say(store)
    say(store, sender="codex", type="info")
    return store


@pytest.mark.parametrize("bell", ["lost", "torn", "stale"])
def test_a_doorbell_that_cannot_be_believed_is_folded_from_the_record(files: FileStore, bell: str) -> None:
    """Turn, thread and number go on as if nothing had happened (SPEC C-140)."""
    path = Path(files.root, f"{SHARED}.signal.json")
    if bell == "lost":
        path.unlink()
    elif bell == "torn":
        path.write_bytes(path.read_bytes()[:20])
    else:
        path.write_bytes(write_object({"seq": 1, "turn": "codex", "thread": "retry", "last_entry": "MSG-1"}))
    with pytest.raises(Refused, match="THREAD-2"):
        say(files, sender="codex", type="info")
    assert say(files, type="info") == Posted(n=3, turn="codex", thread="retry")
    assert path.read_bytes() == write_object(
        {"seq": 3, "turn": "codex", "thread": "retry", "last_entry": "MSG-3", "updated_at": STAMP}
    )


def test_what_the_public_tools_controller_wrote_into_the_doorbell_is_kept(files: FileStore) -> None:
    """Its fields stand before ours, in its order (SPEC C-008)."""
    path = Path(files.root, f"{SHARED}.signal.json")
    bell = {"phase": "docket", "deadline": "x", "seq": 2, "turn": "claude", "thread": "retry", "case_thread": "retry"}
    path.write_bytes(write_object(bell))
    say(files, sender="owner", type="info")
    ours = {"seq": 3, "turn": "claude", "thread": "retry", "last_entry": "MSG-3", "updated_at": STAMP}
    kept = {"phase": "docket", "deadline": "x", "case_thread": "retry"}
    assert path.read_bytes() == write_object({**kept, **ours})


@pytest.mark.parametrize(
    ("parties", "supervisor", "cap"),
    [
        (("claude", "claude"), "owner", 12),
        (("claude", "codex"), "codex", 12),
        (("claude", "codex"), "owner", 1),
        (("A", "b"), "owner", 12),
    ],
)
def test_a_channel_is_not_begun_with_settings_that_cannot_be_used(
    tmp_path: Path, parties: tuple[str, str], supervisor: str, cap: int
) -> None:
    """SPEC C-007."""
    with pytest.raises(ConfigError):
        begin_channel(
            file_store(str(tmp_path), Layout.SHARED),
            SHARED,
            parties=parties,
            supervisor=supervisor,
            thread_cap=cap,
            project=None,
            channel_id=ID,
            stamp=STAMP,
        )
    assert list(tmp_path.iterdir()) == []


def test_posting_to_a_channel_that_is_not_there_names_it(tmp_path: Path) -> None:
    """One sentence, and nothing is made."""
    with pytest.raises(RecordError, match=SHARED):
        say(file_store(str(tmp_path), Layout.SHARED))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str]:
    """A repository with one commit, and its id."""
    need.tool("git")
    top = tmp_path / "project"
    top.mkdir()
    who = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    for command in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "one")):
        subprocess.run(["git", *command], cwd=top, check=True)
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=top, check=True, capture_output=True, text=True)
    return top, found.stdout.strip()


def test_refs_are_looked_up_in_the_project_of_the_channel(tmp_path: Path, repository: tuple[Path, str]) -> None:
    """A commit of another repository is refused; what cites none is not looked up; force goes past (SPEC C-023)."""
    top, commit = repository
    (tmp_path / "root").mkdir()
    store = begun(file_store(str(tmp_path / "root"), Layout.SHARED), project=str(top))
    foreign = "0123456789abcdef"
    assert say(store, refs=f"plan@{commit[:9]}, plan.md").n == 1
    with pytest.raises(Refused, match="POST-9"):
        say(store, sender="codex", type="info", refs=f"plan@{foreign}")
    assert say(store, sender="codex", type="info", refs="plan.md").n == 2
    assert say(store, sender="owner", type="info", refs=f"plan@{foreign}", force=True).n == 3


def test_refs_of_a_project_that_is_no_repository_are_refused(tmp_path: Path) -> None:
    """There is no commit where there is no repository (SPEC C-023)."""
    need.tool("git")
    store = begun(MemoryStore(), project=str(tmp_path))
    with pytest.raises(Refused, match="POST-9"):
        say(store, refs="plan@0123456789abcdef")


def test_refs_are_verified_where_the_poster_asks_for_it(store: Store, repository: tuple[Path, str]) -> None:
    """At least one commit, and each one in that repository, before anything else is checked (SPEC C-033)."""
    top, commit = repository
    with pytest.raises(Refused, match="POST-10"):
        say(store, sender="eve", refs="plan.md", verify_refs=str(top))
    with pytest.raises(Refused, match="POST-9"):
        say(store, refs=f"a@{commit}, b@0123456789abcdef", verify_refs=str(top))
    assert say(store, refs=f"a@{commit}", verify_refs=str(top)).n == 1


_LOADED: Final = """
import sys
import counterpoint.drive.posting, counterpoint.record.files
print(*sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:])))
"""


def test_posting_loads_nothing_that_it_does_not_need() -> None:
    """A cold start of `post` is most of what it costs (SPEC C-154); a key is loaded where a channel is signed."""
    heavy = ["asyncio", "click", "cryptography", "jsonschema", "pathlib", "subprocess", "threading", "urllib"]
    ran = subprocess.run([sys.executable, "-c", _LOADED, *heavy], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
