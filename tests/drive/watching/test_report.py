"""What `watch-status` reads, and that it changes nothing by reading (SPEC C-048)."""

import os
from datetime import timedelta

from counterpoint.drive.watching.lock import hold_watcher
from counterpoint.drive.watching.opening import open_config
from counterpoint.drive.watching.report import Report, report, report_lines
from counterpoint.drive.watching.verdict import Word
from counterpoint.record.fs import RealFiles
from tests.drive.watching.examples import STAMP, Place


def told(place: Place) -> tuple[Report, list[str]]:
    config, _ = open_config(str(place.root), place.channel, str(place.top / "watcher.json"), place.environment)
    found = report(RealFiles(), str(place.root), config, place.environment, now=place.now, grace_s=120)
    return found, list(report_lines(found, config, now=place.now))


def test_a_report_names_everything_and_makes_nothing(place: Place) -> None:
    """An absent memory stays absent (C-048)."""
    place.begin()
    place.wire()
    before = sorted(place.top.rglob("*"))
    found, lines = told(place)
    assert lines == [
        f"channel:  {place.root}",
        f"state:    {place.state} (absent - never ticked)",
        "unit:     debate-watch-w (by convention; scheduling is host config)",
        "signal:   seq 0 | turn - | thread - | updated ",
        "managed:  phase - | deadline - | result - | close_reason -",
        "mirrored: last_mirrored_seq 0",
        "lock:     free (probed, not guessed)",
    ]
    assert (found.verdict.word, found.holder) == (Word.IDLE, None)
    assert sorted(place.top.rglob("*")) == before


def test_a_report_knows_the_holder_the_calls_and_a_doorbell_that_is_lost(place: Place) -> None:
    """What a lost doorbell would say is found out from the record (C-048, C-140)."""
    place.begin()
    place.wire()
    for n in range(7):
        place.say(("claude", "glm")[n % 2], "info")
        place.tick()
    place.later(9)
    place.bell.unlink()
    with hold_watcher(str(place.state), root=str(place.root), stamp=STAMP):
        found, lines = told(place)
    assert lines[5:9] == [
        "mirrored: last_mirrored_seq 7",
        "  seq 3: invoked 1x, last 9s ago",
        "  seq 4: invoked 1x, last 9s ago",
        "  seq 5: invoked 1x, last 9s ago",
    ]
    assert lines[-2] == "  (2 older invocation records not shown)"
    assert lines[-1].startswith(f"lock:     HELD by pid {os.getpid()} since {STAMP} | cwd ")
    assert found.verdict.word is Word.INVOKED
    assert found.verdict.detail.startswith("seq 7 invoked 1x, awaiting reply for 9s of 100s [tick lock held by pid ")
    place.later(timedelta(hours=1).total_seconds())
    assert told(place)[0].verdict.word is Word.STALE


def test_a_case_of_the_controller_that_ended_is_told_of(place: Place) -> None:
    """The doorbell's own fields say how (C-008)."""
    place.begin()
    place.wire()
    place.bell.write_text('{"seq": 0, "phase": "terminal", "case_thread": "gate", "terminal_result": "NO_PASS"}')
    found, lines = told(place)
    assert found.verdict.word is Word.TERMINAL
    assert lines[4] == "managed:  phase terminal | deadline - | result NO_PASS | close_reason -"
