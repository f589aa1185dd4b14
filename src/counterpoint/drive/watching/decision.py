"""What a tick of the watcher does: pure, so that every case of it can be tested (SPEC C-065, C-067, C-068).

- Nothing is run while no thread is open; the turn alone says nothing.
- One call for each number of the doorbell. No reply to it: one more after `retry_seconds`, then a person is told,
  once.
- A record that does not add up may be a writer at work: the first look waits, the same again tells a person.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from counterpoint.drive.watching.config import WatcherConfig
from counterpoint.drive.watching.state import WatchState
from counterpoint.record.bell import read_bell
from counterpoint.record.header import parse_stamp

__all__ = ["Act", "Anomaly", "Bell", "Decision", "Look", "bell_in", "bell_saying", "decide", "weigh"]

_RETRIED = 2
"""Calls for one number of the doorbell, the first and its one repetition."""


class Act(StrEnum):
    WAIT = "wait"
    INVOKE = "invoke"
    ESCALATE = "escalate"
    STUCK = "stuck"
    """A person was told before, and nothing has changed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bell:
    """What the doorbell says."""

    n: int = 0
    turn: str = ""
    thread: str = ""
    updated_at: datetime | None = None


def bell_in(content: bytes | None) -> Bell | None:
    """Return what a doorbell's bytes say; `None` where there are none, or they say nothing."""
    found = read_bell(content)
    return None if found is None else bell_saying(*found)


def bell_saying(n: int, fields: Mapping[str, Any]) -> Bell:
    return Bell(
        n=n,
        turn=str(fields.get("turn", "")),
        thread=str(fields.get("thread", "")),
        updated_at=parse_stamp(str(fields.get("updated_at", ""))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    act: Act
    reason: str
    """For people: what a person is told where `act` says so, else why."""
    party: str = ""
    """Whom to call."""


def decide(bell: Bell, state: WatchState, config: WatcherConfig, now: datetime) -> Decision:
    """Return what to do about a record that adds up."""
    if config.problem:
        return Decision(act=Act.ESCALATE, reason=f"invalid managed channel: {config.problem}")
    if not bell.thread:
        return Decision(act=Act.WAIT, reason="no open thread")
    if fault := _undrivable(bell, config):
        act = Act.ESCALATE if config.managed else Act.WAIT
        return Decision(act=act, reason=f"invalid managed channel: {fault}" if config.managed else fault)
    debounce_s = config.debounce_s.get(bell.turn, 0)
    if debounce_s and bell.updated_at is not None and (now - bell.updated_at).total_seconds() < debounce_s:
        return Decision(act=Act.WAIT, reason=f"debouncing {bell.turn!r} ({debounce_s}s)")
    if state.has_escalated(bell.thread, bell.n):
        return Decision(act=Act.STUCK, reason=f"seq {bell.n} escalated; supervisor action required")
    return _call(bell, state, config, now)


def _undrivable(bell: Bell, config: WatcherConfig) -> str:
    """Say why nobody can be called, if so."""
    if not bell.turn:
        return f"open thread {bell.thread!r} has no party turn"
    if bell.turn not in config.commands:
        return f"no adapter command for turn {bell.turn!r}"
    return ""


def _call(bell: Bell, state: WatchState, config: WatcherConfig, now: datetime) -> Decision:
    called = state.invocations.get(bell.n)
    if called is None or called.count < 1:
        return Decision(act=Act.INVOKE, party=bell.turn, reason=f"first invocation for seq {bell.n}")
    waiting = Decision(act=Act.WAIT, reason=f"waiting on seq {bell.n} (invoked {called.count}x)")
    if called.when is None:
        return waiting
    age_s = (now - called.when).total_seconds()
    if age_s < config.retry_s:
        return waiting
    if called.count < _RETRIED:
        reason = f"retry for seq {bell.n} after {int(age_s)}s without a reply"
        return Decision(act=Act.INVOKE, party=bell.turn, reason=reason)
    reason = f"thread {bell.thread!r} stuck on {bell.turn!r} at seq {bell.n} after {called.count} invocations"
    return Decision(act=Act.ESCALATE, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """One thing about a record that does not add up."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a tick makes of a record that does not add up."""

    lines: tuple[str, ...]
    fingerprint: str
    """Of this reading; the same on the next tick is no writer at work."""
    escalates: bool


def weigh(anomalies: Sequence[Anomaly], *, newest: int, bell: int, state: WatchState) -> Look:
    """Return what to say of anomalies: wait once, then tell a person (SPEC C-067).

    Args:
        anomalies: at least one.
        newest: the newest entry of the channel file.
        bell: the doorbell's number.
        state: of the watcher, before this tick.
    """
    codes = sorted(each.code for each in anomalies)
    fingerprint = "|".join([str(newest), str(bell), *codes])
    if state.anomaly == fingerprint:
        lines = [f"ESCALATE: record anomaly - {each.code}: {each.detail}" for each in anomalies]
        return Look(lines=tuple(lines), fingerprint=fingerprint, escalates=True)
    if newest > bell:
        line = f"mailbox ahead of signal (entries at {newest}, signal at {bell}); deferring to next tick"
    else:
        line = f"record anomaly ({', '.join(codes)}); deferring to next tick"
    return Look(lines=(line,), fingerprint=fingerprint, escalates=False)
