"""The public tool works on our channels as on its own, and we on its (DESIGN 5; issue 2, "it is done when")."""

import re
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from counterpoint.drive.posting import begin_channel, post
from counterpoint.errors import Refused
from counterpoint.protocols.mailbox import Mailbox, Parties, Submission, admit, check_submission
from counterpoint.record.files import FileStore, Layout
from tests import need
from tests.channels import CASE, SHARED, STAMP, begin, draft, file_store, key
from tests.interop.public_tool import begun_by_the_tool, debate, in_its_python, shared_store

STAMPS: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    """A store with a channel of ours, in which three threads were spoken."""
    need.oracle()
    store = shared_store(tmp_path)
    begin_channel(
        store,
        SHARED,
        parties=("claude", "codex"),
        supervisor="owner",
        thread_cap=12,
        project=None,
        channel_id="5" * 32,
        stamp=STAMP,
        keys=(key().public,),
    )
    for thread in ("first", "second"):
        say(store, "claude", "question", thread, f"question in {thread}")
        say(store, "codex", "info", thread, f"answer in {thread}")
        say(store, "claude", "close", thread, "closed")
    say(store, "codex", "question", "third", "Is this open?")
    return store


def say(store: FileStore, sender: str, kind: str, thread: str, text: str) -> int:
    return post(store, SHARED, sender=sender, type=kind, thread=thread, text=text, stamp=STAMP).n


def test_the_public_tool_reads_and_verifies_a_channel_of_ours(store: FileStore, tmp_path: Path) -> None:
    """`status`, `read` and `verify` do not mind the genesis entry, nor trailers (issue 2)."""
    assert '"seq": 7' in debate(tmp_path, "status").output
    read = debate(tmp_path, "read")
    assert (read.code, "Is this open?" in read.output, "MSG-6" in read.output) == (0, True, False)
    assert "answer in first" in debate(tmp_path, "read", "--thread", "first").output
    assert debate(tmp_path, "verify") == (0, "record verifies clean\n", "")
    assert store.verify(SHARED).is_clean


def test_the_public_tool_posts_to_a_channel_of_ours_and_we_go_on(store: FileStore, tmp_path: Path) -> None:
    """Its entry is plain, takes the next number and turn, and is sealed in by our next one (DESIGN 5)."""
    posted = debate(
        tmp_path, "post", "--from", "claude", "--type", "info", "--thread", "third", "--body", "From the other tool."
    )
    assert (posted.code, posted.output) == (0, "posted MSG-8 (turn -> codex)\n")
    assert say(store, "codex", "close", "third", "closed by ours") == 9
    verified = store.verify(SHARED)
    assert (verified.plain, verified.tamper_evident_from, verified.is_clean) == ((8,), 9, True)
    assert debate(tmp_path, "verify").output == "record verifies clean\n"


def test_both_tools_refuse_alike_out_of_turn(store: FileStore, tmp_path: Path) -> None:
    """Whoever holds no turn is refused by both, and nothing is written."""
    before = (tmp_path / f"{SHARED}.channel.md").read_bytes()
    theirs = debate(tmp_path, "post", "--from", "codex", "--type", "info", "--thread", "third", "--body", "again")
    assert (theirs.code, "not your turn" in theirs.errors) == (1, True)
    with pytest.raises(Refused, match="THREAD-2"):
        say(store, "codex", "info", "third", "again")
    assert (tmp_path / f"{SHARED}.channel.md").read_bytes() == before


@pytest.mark.parametrize("newest_too", [False, True])
def test_a_compaction_by_the_public_tool_keeps_our_verification_clean(
    store: FileStore, tmp_path: Path, *, newest_too: bool
) -> None:
    """Blocks move to an archive with a banner and a blank line more, the newest thread too (issue 2)."""
    if newest_too:
        say(store, "claude", "close", "third", "closed")
    compacted = debate(tmp_path, "compact", "--keep-days", "0")
    assert compacted.code == 0, compacted
    assert compacted.output.count("archived") == (3 if newest_too else 2)
    n = store.head(SHARED)[0]
    assert [block.n for block in store.read(SHARED)] == list(range(n + 1))
    verified = store.verify(SHARED)
    assert (verified.n, verified.is_clean) == (n, True)
    assert say(store, "owner", "info", "after" if newest_too else "third", "after the compaction") == n + 1
    assert store.verify(SHARED).is_clean
    assert debate(tmp_path, "verify").code == 0
    posted = debate(tmp_path, "post", "--from", "owner", "--type", "close", "--thread", "third", "--body", "x")
    assert posted.output == f"posted MSG-{n + 2} (turn -> -)\n" if not newest_too else posted.code == 1
    assert store.verify(SHARED).is_clean


def test_the_public_tool_reads_a_case_and_does_not_post_to_it(tmp_path: Path) -> None:
    """A case channel says `managed_version: 3`: reading and verifying go, posting does not (DESIGN 5)."""
    need.oracle()
    store = file_store(str(tmp_path), Layout.CASES)
    begin(store, Layout.CASES)
    store.append(CASE, [draft("one", thread="case", typed=True)], expected=0)
    folder = tmp_path / CASE
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    read = debate(folder, "read", "--thread", "case")
    assert (read.code, "one" in read.output) == (0, True)
    assert debate(folder, "verify").output == "record verifies clean\n"
    assert debate(folder, "status").code == 0
    posted = debate(folder, "post", "--from", "owner", "--type", "info", "--thread", "case", "--body", "x")
    assert (posted.code, posted.errors) == (1, "unsupported managed_version 3; this release supports (1, 2)\n")
    assert debate(folder, "compact", "--keep-days", "0").output == "nothing to compact\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_channel_of_the_public_tool_is_continued_byte_for_byte(tmp_path: Path) -> None:
    """The same entries by us and by it are the same bytes, the doorbell too, but for the stamps (DESIGN 5)."""
    said = [
        ("claude", "review-request", "plan", "  Please look.\r\nTwice.\n\n", "plan.md, a | b"),
        ("owner", "info", "plan", "A note: żółć 漢 \u2028 \x0c end", ""),
        ("codex", "verdict", "plan", "```\nfine\n```", "-"),
        ("owner", "close", "plan", "> ## MSG-1 | quoted", ""),
    ]
    files = []
    for who in ("ours", "theirs"):
        root = tmp_path / who
        root.mkdir()
        channel = begun_by_the_tool(root)
        for sender, kind, thread, text, refs in said:
            if who == "ours":
                store = shared_store(root)
                post(store, channel, sender=sender, type=kind, thread=thread, text=text, refs=refs, stamp=STAMP)
            else:
                flags = ("--from", sender, "--type", kind, "--thread", thread, "--body", text, "--refs", refs)
                assert debate(root, "post", *flags).code == 0
        names = [f"{channel}.channel.md", f"{channel}.signal.json"]
        files.append([STAMPS.sub(b"<stamp>", (root / name).read_bytes()) for name in names])
        assert debate(root, "verify").output == "record verifies clean\n"
    assert files[0] == files[1]


_APPLY: Final = """
import json, sys
from pathlib import Path
from random import Random
from debate.channel import ChannelError, post, read_signal
root, name = Path(sys.argv[1]), sys.argv[2]
results = []
for said in json.load(sys.stdin):
    sender, kind, thread, body, refs, force = said
    try:
        post(root, sender, kind, thread, body, refs=refs, force=force, name=name)
        results.append("posted")
    except ChannelError as error:
        results.append("refused")
    signal = read_signal(root, name)
    results.append([signal["seq"], signal["turn"], signal["thread"]])
print(json.dumps(results))
"""

SENDERS: Final = ["claude", "codex", "owner", "eve"]
TYPES: Final = ["review-request", "verdict", "question", "info", "close", "info", "vote"]
TEXTS: Final = ["text", "more\ntext", " ", "x\n## MSG-9 | z | from: a | type: b | thread: c | refs: -"]
REFS: Final = ["", "a.md", "a\nb"]


def conversations(draw: Random, length: int, *, cap: int) -> list[list[object]]:
    """Make up submissions, most of them about the thread that is open then.

    A thread is opened once, and force never closes another one: there the public tool is known to be at fault
    (SPEC C-142, C-143).
    """
    parties, state, count = Parties(parties=("claude", "codex"), supervisor="owner", thread_cap=cap), Mailbox(), 0
    said: list[list[object]] = []
    for step in range(length):
        sender, kind = draw.choices(SENDERS, [4, 4, 3, 1])[0], draw.choice(TYPES)
        thread = draw.choices([state.thread or f"thread-{step}", f"aside-{step}", "T"], [12, 2, 1])[0]
        text, refs = draw.choices(TEXTS, [20, 5, 1, 1])[0], draw.choices(REFS, [20, 5, 1])[0]
        force = kind != "close" and draw.random() < 1 / 8
        said.append([sender, kind, thread, text, refs, force])
        submission = Submission(speaker=sender, type=kind, thread=thread, text=text, refs=refs, force=force)
        with suppress(Refused):
            check_submission(parties, submission, forged=(2, text) if "## MSG" in text else None)
            before, state = state, admit(parties, state, submission, n=step, count=count)
            count = (count if state.thread == before.thread else 0) + (thread == state.thread)
    return said


def test_both_tools_decide_alike_over_many_conversations(tmp_path: Path) -> None:
    """The same random submissions are let in and refused by both, with the same turn and thread after each (3.3)."""
    need.oracle()
    said: list[Any] = conversations(Random(20260706), 600, cap=4)
    theirs_root, ours_root = tmp_path / "theirs", tmp_path / "ours"
    for root in (theirs_root, ours_root):
        root.mkdir()
    theirs = in_its_python(_APPLY, [str(theirs_root), begun_by_the_tool(theirs_root, cap=4)], given=said)
    channel = begun_by_the_tool(ours_root, cap=4)
    store = shared_store(ours_root)
    ours: list[object] = []
    for sender, kind, thread, text, refs, force in said:
        try:
            post(
                store,
                channel,
                sender=str(sender),
                type=str(kind),
                thread=str(thread),
                text=str(text),
                refs=str(refs),
                force=bool(force),
                stamp=STAMP,
            )
            ours.append("posted")
        except Refused:
            ours.append("refused")
        with store.hold(channel) as held:
            bell = held.bell or {"turn": "", "thread": ""}
            ours.append([max(0, held.n), bell["turn"], bell["thread"]])
    assert ours == theirs
    assert ours.count("posted") > 50
