"""Is anything driving this channel? The answer of `watch-status`: pure, one word and why (SPEC C-048, C-146).

A setting that cannot work comes before every healthy word, and what a person was told of before what time says.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from counterpoint.drive.watching.config import WatcherConfig
from counterpoint.drive.watching.decision import Bell
from counterpoint.drive.watching.lock import Holder
from counterpoint.drive.watching.state import WatchState

__all__ = ["ATTENTION", "Ending", "Verdict", "Word", "judge"]


class Word(StrEnum):
    IDLE = "IDLE"
    DRIVING = "DRIVING"
    INVOKED = "INVOKED"
    STALE = "STALE"
    ESCALATED = "ESCALATED"
    INVALID = "INVALID"
    MANUAL = "MANUAL"
    TERMINAL = "TERMINAL"
    ERROR = "ERROR"


ATTENTION: Final = frozenset({Word.STALE, Word.ESCALATED, Word.INVALID, Word.ERROR})
"""A person should look now."""
RECORD: Final = "record-anomaly"
"""What stands for a thread where the record itself was escalated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    word: Word
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a case of the public tool's controller ended."""

    thread: str
    result: str
    reason: str


def judge(
    bell: Bell,
    state: WatchState,
    config: WatcherConfig,
    *,
    now: datetime,
    holder: Holder | None,
    grace_s: int,
    ending: Ending | None = None,
) -> Verdict:
    """Return the verdict.

    Args:
        bell: what the doorbell says.
        state: the watcher's memory.
        config: its settings.
        now: this moment.
        holder: who watches now, if anybody.
        grace_s: how long a turn may wait for its first call beyond its debounce.
        ending: of the controller's case, where the doorbell tells of one.
    """
    behind = f" {holder.note}" if holder else ""
    if config.problem:
        return Verdict(
            word=Word.INVALID, detail=f"managed channel configuration is invalid: {config.problem}{behind}"
        )
    if told := _told(bell, state, behind):
        return told
    if not bell.thread:
        return _closed(ending)
    if not bell.turn or bell.turn not in config.commands:
        return _unwatched(bell, config, behind)
    called = state.invocations.get(bell.n)
    if called is None or called.count < 1:
        return _uncalled(bell, config, now, grace_s, behind)
    if called.when is None:
        return Verdict(
            word=Word.STALE, detail=f"seq {bell.n} invoked {called.count}x but its stamp is unreadable{behind}"
        )
    age_s = int((now - called.when).total_seconds())
    if age_s < config.retry_s:
        detail = f"seq {bell.n} invoked {called.count}x, awaiting reply for {age_s}s of {config.retry_s}s{behind}"
        return Verdict(word=Word.INVOKED, detail=detail)
    detail = (
        f"seq {bell.n} invoked {called.count}x, {age_s}s ago - past the {config.retry_s}s retry window, "
        f"so no tick is running{behind}"
    )
    return Verdict(word=Word.STALE, detail=detail)


def _told(bell: Bell, state: WatchState, behind: str) -> Verdict | None:
    """Return the verdict where a person was told, and what they were told of still stands."""
    newest = state.anomaly.partition("|")[0]
    if newest and f"{RECORD}:{newest}" in state.escalated:
        detail = f"the record does not add up at MSG-{newest}; run verify, supervisor action required{behind}"
        return Verdict(word=Word.ESCALATED, detail=detail)
    if bell.thread and state.has_escalated(bell.thread, bell.n):
        detail = f"seq {bell.n} escalated on {bell.thread!r}; supervisor action required{behind}"
        return Verdict(word=Word.ESCALATED, detail=detail)
    return None


def _closed(ending: Ending | None) -> Verdict:
    if ending is None:
        return Verdict(word=Word.IDLE, detail="no open thread; nothing is waiting to be driven")
    detail = f"managed case {ending.thread!r} closed as {ending.result!r} ({ending.reason!r})"
    return Verdict(word=Word.ERROR if ending.result == "ERROR" else Word.TERMINAL, detail=detail)


def _unwatched(bell: Bell, config: WatcherConfig, behind: str) -> Verdict:
    match config.managed, bool(bell.turn):
        case True, False:
            detail = f"managed thread {bell.thread!r} has no party turn; no adapter can drive it"
        case True, True:
            detail = f"managed turn {bell.turn!r} has no adapter command; the channel cannot be driven"
        case False, False:
            detail = f"thread {bell.thread!r} has no turn (supervisor opener); no seat is due"
        case _:
            detail = (
                f"turn {bell.turn!r} has no command configured; a live session answers this seat, not the watcher"
            )
    return Verdict(word=Word.INVALID if config.managed else Word.MANUAL, detail=f"{detail}{behind}")


def _uncalled(bell: Bell, config: WatcherConfig, now: datetime, grace_s: int, behind: str) -> Verdict:
    """Return the verdict on a turn that nobody was called for: its age is the doorbell's."""
    if bell.updated_at is None:
        return Verdict(word=Word.STALE, detail=f"seq {bell.n} uninvoked and the signal stamp is unreadable{behind}")
    age_s = int((now - bell.updated_at).total_seconds())
    due_s = config.debounce_s.get(bell.turn, 0) + grace_s
    if age_s < due_s:
        detail = f"seq {bell.n} posted {age_s}s ago, not yet due ({due_s}s debounce+grace){behind}"
        return Verdict(word=Word.DRIVING, detail=detail)
    detail = (
        f"seq {bell.n} uninvoked for {age_s}s, past its {due_s}s debounce+grace - "
        f"nothing is driving {bell.thread!r}{behind}"
    )
    return Verdict(word=Word.STALE, detail=detail)
