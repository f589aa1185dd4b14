"""Records that do not add up, and doorbells that can be mended (SPEC C-064, C-067, C-140, C-141)."""

import sys
from datetime import timedelta
from typing import Final

import pytest

from counterpoint.drive.beginning import Form
from counterpoint.drive.channels import open_channels
from counterpoint.drive.compacting import compact_channel
from tests.drive.watching.examples import Place

DAY: Final = timedelta(days=1)
BOTH_FORMS: Final = pytest.mark.parametrize("form", [Form.PLAIN, Form.SIGNED])


@pytest.mark.parametrize("content", [None, b"{", b"[]"])
@BOTH_FORMS
def test_a_doorbell_that_is_lost_or_torn_is_written_anew_from_the_record(
    place: Place, form: Form, content: bytes | None
) -> None:
    """The thread goes on where the public tool sees none, or refuses (C-140)."""
    place.begin(form)
    place.wire()
    place.say("claude", "question")
    before = place.bell.read_bytes()
    place.bell.unlink()
    if content is not None:
        place.bell.write_bytes(content)
    done, lines = place.tick()
    assert lines == [
        f"doorbell written anew: {place.bell.name} was missing or torn; it is at MSG-1 again, from the record",
        "retry MSG-1 claude question: said",
        "invoked glm for seq 1: ok",
    ]
    assert place.bell.read_bytes() == before
    assert done.called == "glm"


def test_a_doorbell_behind_our_own_entries_is_written_anew(place: Place) -> None:
    """A crash between entry and doorbell leaves that; our trailer says that it was no forger (C-140)."""
    place.begin(Form.SIGNED)
    place.wire()
    place.say("claude", "question")
    old = place.bell.read_bytes()
    place.say("glm", "info")
    new = place.bell.read_bytes()
    place.bell.write_bytes(old)
    done, lines = place.tick()
    assert lines[0] == f"doorbell written anew: {place.bell.name} stood at 1; it is at MSG-2 again, from the record"
    assert (done.called, place.bell.read_bytes()) == ("claude", new)


def test_an_entry_beyond_the_doorbell_that_nobody_signed_for_waits_once_and_then_escalates(place: Place) -> None:
    """The public tool's ladder: deferred at first, escalated when the same is seen again, then healed (C-067)."""
    place.begin()
    place.wire()
    place.say("claude", "question")
    old = place.bell.read_bytes()
    place.say("glm", "info")
    new = place.bell.read_bytes()
    place.bell.write_bytes(old)
    ahead = "mailbox ahead of signal (entries at 2, signal at 1); deferring to next tick"
    assert place.tick()[1][2:] == [ahead]
    done, lines = place.tick()
    assert done.escalated
    (line,) = lines
    assert line.startswith(
        "ESCALATE: record anomaly - mailbox-ahead-of-doorbell: mailbox holds MSG-2 but the doorbell"
    )
    assert place.memory()["escalated"] == ["record-anomaly:2"]
    assert place.memory()["last_anomaly"] == "2|1|mailbox-ahead-of-doorbell"
    place.bell.write_bytes(new)
    assert place.tick()[1] == ["invoked claude for seq 2: ok"]
    assert "last_anomaly" not in place.memory()


def test_an_entry_that_was_edited_stops_every_call(place: Place) -> None:
    """No agent is called on a record that does not hold, however little of it changed (C-141)."""
    place.begin(Form.SIGNED)
    place.wire()
    place.say("claude", "question", "please say yes")
    place.tick()
    place.say("glm", "info", "thanks")
    place.file.write_bytes(place.file.read_bytes().replace(b"say yes", b"say no!"))
    assert place.tick()[1][-1] == "record anomaly (chain); deferring to next tick"
    done, lines = place.tick()
    assert (done.escalated, done.called) == (True, "")
    assert lines[0].startswith(f"ESCALATE: record anomaly - chain: {place.channel} MSG-1: ")


def test_a_record_that_lost_entries_is_told_and_nobody_called(place: Place) -> None:
    """The doorbell knows of more than the file holds: deferred, then escalated (C-067, C-141)."""
    place.begin(Form.SIGNED)
    place.wire()
    whole = place.file.read_bytes()
    place.say("claude", "question")
    place.file.write_bytes(whole)
    assert place.tick()[1] == ["record anomaly (chain, doorbell-ahead); deferring to next tick"]
    done, lines = place.tick()
    assert (done.escalated, done.called) == (True, "")
    assert lines[0].startswith("ESCALATE: record anomaly - chain: ")


def test_a_mailbox_that_is_no_text_is_told_in_the_words_of_verify(place: Place) -> None:
    """No traceback, and the watcher of the other threads goes on (C-144)."""
    place.begin()
    place.wire()
    place.say("claude", "question")
    place.file.write_bytes(place.file.read_bytes() + b"\xff\n")
    assert place.tick()[1][-1] == "record anomaly (unreadable-record); deferring to next tick"
    done, lines = place.tick()
    assert done.escalated
    assert lines[0].startswith(f"ESCALATE: record anomaly - unreadable-record: {place.file.name}: ")


def test_a_fresh_channel_without_a_doorbell_gets_a_fresh_one(place: Place) -> None:
    """As `init` writes it; there is nothing to say about it."""
    place.begin()
    place.wire()
    fresh = place.bell.read_bytes()
    place.bell.unlink()
    assert place.tick()[1] == []
    assert place.bell.read_bytes() == fresh


def test_what_was_archived_meanwhile_is_shown_and_an_archive_is_looked_at(place: Place) -> None:
    """A thread may come and go between two ticks; an edit in an archive is an edit of the record (C-045, C-141)."""
    place.begin(Form.SIGNED)
    place.wire()
    place.tick()
    place.say("claude", "question")
    place.say("owner", "close")
    store = open_channels(str(place.root), place.environment)
    compact_channel(store, place.channel, keep_days=0, now=place.now + DAY)
    assert place.tick()[1] == ["retry MSG-1 claude question: said", "retry MSG-2 owner close: said"]
    place.rest()
    (archive,) = place.root.glob("archive/*-07.md")
    archive.write_bytes(archive.read_bytes().replace(b"said", b"sold", 1))
    assert place.tick()[1][0].startswith("record anomaly (")


def test_a_record_that_a_command_has_spoiled_is_left_to_the_next_tick(place: Place) -> None:
    """What it did is told then (C-064)."""
    place.begin(Form.SIGNED)
    spoil = f"open({str(place.file)!r}, 'w')"
    place.wire(commands={"claude": ["x"], "glm": [sys.executable, "-c", spoil]})
    place.say("claude", "question")
    assert place.tick()[1] == ["retry MSG-1 claude question: said", "invoked glm for seq 1: ok"]
    assert place.tick()[1] == ["record anomaly (doorbell-ahead); deferring to next tick"]


def test_the_doorbell_of_a_brokered_channel_is_left_to_its_controller(place: Place) -> None:
    """It knows phases and deadlines that the record does not tell (C-140)."""
    name = place.begin()
    settings = place.root / f"{name}.debate.json"
    settings.write_text(settings.read_text().replace('"managed_version": 1', '"managed_version": 2'))
    place.wire()
    place.say("owner", "info")
    place.bell.write_text("{")
    ahead = "mailbox ahead of signal (entries at 1, signal at 0); deferring to next tick"
    assert place.tick()[1][1:] == [ahead]
    assert place.bell.read_text() == "{"
    place.bell.write_text('{"seq": 0}')
    assert place.tick()[1] == [ahead]
