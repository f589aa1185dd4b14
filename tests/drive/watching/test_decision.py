"""What a tick does, case by case, and the verdicts of `watch-status`: pure functions (SPEC C-048, C-065 to C-068)."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from counterpoint.drive.watching.decision import Act, Anomaly, Bell, Decision, bell_in, decide, weigh
from counterpoint.drive.watching.lock import Holder
from counterpoint.drive.watching.state import Invocation, WatchState
from counterpoint.drive.watching.verdict import Ending, Word, judge
from tests.drive.watching.examples import NOW, config

BELL: Final = Bell(n=3, turn="glm", thread="retry", updated_at=NOW - timedelta(seconds=30))
UNMANAGED: Final = config(managed=False, commands={"claude": ("true",)})


def called(count: int, *, ago: int) -> WatchState:
    stamp = (NOW - timedelta(seconds=ago)).isoformat()
    return WatchState(invocations={3: Invocation(count=count, last_at=stamp)})


def act_of(decision: Decision) -> tuple[Act, str]:
    return decision.act, decision.party or decision.reason


@pytest.mark.parametrize(
    ("bell", "state", "expected"),
    [
        (BELL, WatchState(), (Act.INVOKE, "glm")),
        (replace(BELL, thread=""), WatchState(), (Act.WAIT, "no open thread")),
        (BELL, called(0, ago=0), (Act.INVOKE, "glm")),
        (BELL, called(1, ago=99), (Act.WAIT, "waiting on seq 3 (invoked 1x)")),
        (BELL, called(1, ago=100), (Act.INVOKE, "glm")),
        (BELL, called(2, ago=99), (Act.WAIT, "waiting on seq 3 (invoked 2x)")),
        (BELL, called(2, ago=100), (Act.ESCALATE, "thread 'retry' stuck on 'glm' at seq 3 after 2 invocations")),
        (
            BELL,
            called(2, ago=100).with_escalated("retry", 3),
            (Act.STUCK, "seq 3 escalated; supervisor action required"),
        ),
        (BELL, called(2, ago=100).with_escalated("retry", 2), (Act.ESCALATE, None)),
        (replace(BELL, n=4), called(2, ago=100), (Act.INVOKE, "glm")),
        (
            BELL,
            WatchState(invocations={3: Invocation(count=1, last_at="yesterday")}),
            (Act.WAIT, "waiting on seq 3 (invoked 1x)"),
        ),
    ],
)
def test_a_party_is_called_once_for_a_doorbell_once_more_and_then_a_person_is_told(
    bell: Bell, state: WatchState, expected: tuple[Act, str | None]
) -> None:
    """One call for each number, one timed retry, one escalation, then STUCK (C-065)."""
    act, said = act_of(decide(bell, state, config(), NOW))
    assert (act, said if expected[1] is not None else None) == expected


def test_a_debounced_party_is_called_when_the_doorbell_is_old_enough() -> None:
    """The doorbell's own stamp counts; one that cannot be read delays nothing (C-065)."""
    slow = config(debounce_s={"glm": 31})
    assert act_of(decide(BELL, WatchState(), slow, NOW)) == (Act.WAIT, "debouncing 'glm' (31s)")
    assert decide(BELL, WatchState(), config(debounce_s={"glm": 30}), NOW).act is Act.INVOKE
    assert decide(BELL, WatchState(), config(debounce_s={"claude": 31}), NOW).act is Act.INVOKE
    assert decide(replace(BELL, updated_at=None), WatchState(), slow, NOW).act is Act.INVOKE


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"commands": {"glm": ("true",)}}, "missing adapter command for managed parties: claude"),
        (
            {"commands": {"glm": ("a",), "claude": ("b",), "eve": ("c",)}},
            "commands configured for non-party names: eve",
        ),
        ({"brokered": True}, "managed-version 2 requires two seat adapter profiles"),
    ],
)
def test_a_managed_channel_whose_settings_cannot_drive_it_is_told_to_a_person(
    changes: dict[str, object], problem: str
) -> None:
    """Never a silent wait for somebody who is not there (C-068)."""
    broken = config(**changes)
    assert act_of(decide(BELL, WatchState(), broken, NOW)) == (Act.ESCALATE, f"invalid managed channel: {problem}")
    verdict = judge(BELL, WatchState(), broken, now=NOW, holder=None, grace_s=120)
    assert (verdict.word, verdict.detail) == (Word.INVALID, f"managed channel configuration is invalid: {problem}")


@pytest.mark.parametrize(
    ("turn", "reason"),
    [("", "open thread 'retry' has no party turn"), ("eve", "no adapter command for turn 'eve'")],
)
def test_a_turn_that_nobody_is_called_for_escalates_on_a_managed_channel_alone(turn: str, reason: str) -> None:
    """On a channel of the first layout a person may speak for a party (C-065, C-068)."""
    bell = replace(BELL, turn=turn)
    assert act_of(decide(bell, WatchState(), config(), NOW)) == (Act.ESCALATE, f"invalid managed channel: {reason}")
    assert act_of(decide(bell, WatchState(), UNMANAGED, NOW)) == (Act.WAIT, reason)
    words = [judge(bell, WatchState(), each, now=NOW, holder=None, grace_s=1).word for each in (config(), UNMANAGED)]
    assert words == [Word.INVALID, Word.MANUAL]


def test_a_reading_that_does_not_add_up_waits_once_and_then_escalates() -> None:
    """The first look may have met a writer at work; the same reading again has not (C-067)."""
    torn, twice = Anomaly(code="torn", detail="half"), Anomaly(code="duplicate-seq", detail="MSG-2 twice")
    first = weigh([torn, twice], newest=3, bell=3, state=WatchState())
    assert first.lines == ("record anomaly (duplicate-seq, torn); deferring to next tick",)
    assert (first.escalates, first.fingerprint) == (False, "3|3|duplicate-seq|torn")
    again = weigh([torn, twice], newest=3, bell=3, state=WatchState(anomaly=first.fingerprint))
    assert again.escalates
    assert again.lines == (
        "ESCALATE: record anomaly - torn: half",
        "ESCALATE: record anomaly - duplicate-seq: MSG-2 twice",
    )
    moved = weigh([torn], newest=5, bell=4, state=WatchState(anomaly=first.fingerprint))
    assert moved.lines == ("mailbox ahead of signal (entries at 5, signal at 4); deferring to next tick",)


def test_a_doorbell_is_read_as_leniently_as_the_public_tool_reads_it() -> None:
    """Numbers may be text, stamps may lack a zone; what is no object says nothing (C-008, C-012)."""
    assert bell_in(b'{"seq": "3", "turn": "glm", "thread": "retry", "updated_at": "2026-07-06T14:07:18"}') == BELL
    assert bell_in(b"{}") == Bell()
    assert [bell_in(content) for content in (None, b"[]", b"{", b"\xff", b'{"seq": true}')] == [None] * 5


HOLDER: Final = Holder(pid=7, since="then", channel="/c", cwd="/work")
HELD: Final = " [tick lock held by pid 7 since then, /work, serving /c]"


@pytest.mark.parametrize(
    ("bell", "state", "word", "detail"),
    [
        (replace(BELL, thread=""), WatchState(), Word.IDLE, "no open thread; nothing is waiting to be driven"),
        (BELL, called(1, ago=40), Word.INVOKED, f"seq 3 invoked 1x, awaiting reply for 40s of 100s{HELD}"),
        (
            BELL,
            called(1, ago=100),
            Word.STALE,
            f"seq 3 invoked 1x, 100s ago - past the 100s retry window, so no tick is running{HELD}",
        ),
        (BELL, WatchState(), Word.DRIVING, f"seq 3 posted 30s ago, not yet due (60s debounce+grace){HELD}"),
        (
            replace(BELL, updated_at=NOW - timedelta(seconds=60)),
            called(0, ago=1),
            Word.STALE,
            f"seq 3 uninvoked for 60s, past its 60s debounce+grace - nothing is driving 'retry'{HELD}",
        ),
        (
            replace(BELL, updated_at=None),
            WatchState(),
            Word.STALE,
            f"seq 3 uninvoked and the signal stamp is unreadable{HELD}",
        ),
        (
            BELL,
            WatchState(invocations={3: Invocation(count=2, last_at="?")}),
            Word.STALE,
            f"seq 3 invoked 2x but its stamp is unreadable{HELD}",
        ),
        (
            BELL,
            called(1, ago=1).with_escalated("retry", 3),
            Word.ESCALATED,
            f"seq 3 escalated on 'retry'; supervisor action required{HELD}",
        ),
    ],
)
def test_every_verdict_says_who_holds_the_lock_and_what_is_waited_for(
    bell: Bell, state: WatchState, word: Word, detail: str
) -> None:
    """The words and their reasons are those of the public tool (C-048)."""
    verdict = judge(bell, state, config(debounce_s={"glm": 30}), now=NOW, holder=HOLDER, grace_s=30)
    assert (verdict.word, verdict.detail) == (word, detail)


def test_an_escalated_record_is_no_idle_channel() -> None:
    """The public tool says IDLE, exit 0, while a record anomaly stands escalated (C-146)."""
    told = WatchState(anomaly="3|2|torn").with_escalated("record-anomaly", 3)
    idle = replace(BELL, thread="")
    assert judge(idle, told, config(), now=NOW, holder=None, grace_s=1).word is Word.ESCALATED
    for healed in (replace(told, anomaly=""), replace(told, anomaly="4|2|torn")):
        assert judge(idle, healed, config(), now=NOW, holder=None, grace_s=1).word is Word.IDLE


def test_a_case_of_the_controller_that_ended_is_told_as_it_ended() -> None:
    """The doorbell of a brokered channel says how (C-008, C-048)."""
    idle = replace(BELL, thread="")
    words = [
        judge(
            idle,
            WatchState(),
            config(),
            now=NOW,
            holder=None,
            grace_s=1,
            ending=Ending(thread="gate", result=result, reason="r"),
        )
        for result in ("PASS", "ERROR")
    ]
    assert [word.word for word in words] == [Word.TERMINAL, Word.ERROR]
    assert words[0].detail == "managed case 'gate' closed as 'PASS' ('r')"
