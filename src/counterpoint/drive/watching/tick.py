"""One tick of the watcher: show what is new, decide, remember, and only then call a party (SPEC C-063 to C-069).

- Nothing moved since everything last added up, and nobody is to be called: no file of the channel but the doorbell
  is read, no lock is taken and nothing is written.
- Otherwise the channel is held while it is read, verified and decided on. The state is on disk before a command
  starts, and the channel is free again by then, so that the command can post.
- What a killed watcher left running is ended first.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from counterpoint.core.canonical import visible
from counterpoint.drive.clock import format_stamp
from counterpoint.drive.watching.config import WatcherConfig
from counterpoint.drive.watching.decision import Act, Bell, Decision, bell_in, decide, weigh
from counterpoint.drive.watching.notes import Notes, read_notes, seen_files, write_notes
from counterpoint.drive.watching.state import Unreadable, WatchState, make_folder_of, read_state, write_beside
from counterpoint.errors import ConfigError
from counterpoint.record.bell import MAX_BELL
from counterpoint.record.fs import Files
from counterpoint.record.names import bell_file, settings_file
from counterpoint.record.safe import open_folder, read_file, typed

if TYPE_CHECKING:
    from counterpoint.drive.watching.hands import Hands
    from counterpoint.record.store import Block

__all__ = ["Tick", "Watcher"]

_RECORD: Final = "record-anomaly"
_MAX_SHOWN: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """What came of a tick."""

    escalated: bool = False
    """A person has to look."""
    called: str = ""
    """The party that was called."""


@dataclass(slots=True, kw_only=True)
class Watcher:
    """A watcher of one channel; its ticks have to be held apart by `hold_watcher`."""

    config: WatcherConfig
    fs: Files
    hands: "Callable[[], Hands]"
    """Asked for when something has to be done."""
    now: Callable[[], datetime]
    emit: Callable[[str], None]
    """Told every line as it comes."""
    calling: str = ""
    """The party whose command runs now."""
    _stored: bytes | None = None

    def tick(self) -> Tick:
        """Do one tick.

        Raises:
            ConfigError: the state belongs to another channel.
            LockBusy: a writer held the channel for too long; nothing was done.
            RecordError: a file cannot be read or written.
        """
        path = self.config.state_path
        try:
            state = read_state(self.fs, path)
        except Unreadable as error:
            self.emit(f"ESCALATE: {error}; acting on nothing this tick - inspect or delete the file")
            return Tick(escalated=True)
        self._stored = None if state is None else bytes(state)
        notes = read_notes(self.fs, path)
        self._check_binding(state, notes)
        notes = self._end_left(notes)
        if state is not None and (at_rest := self._at_rest(state, notes)):
            return at_rest
        state = replace(state or WatchState(), channel_root=self.config.root)
        return self._look(state, notes)

    def _check_binding(self, state: WatchState | None, notes: Notes) -> None:
        """Refuse a memory that belongs to another channel.

        Raises:
            ConfigError: it does.
        """
        config = self.config
        stamped = os.path.realpath(state.channel_root) if state is not None and state.channel_root else config.root
        if stamped != config.root:
            raise _foreign(
                config,
                f"channel {stamped}",
                f"this tick is for {config.root}",
                edit=" If the folder has moved, edit 'channel_root' in it.",
            )
        # A channel that was renamed since, as `migrate` does, is no other one.
        is_other = notes.channel is not None and notes.channel != config.channel
        if is_other and os.path.lexists(f"{config.root}/{settings_file(notes.channel or '')}"):
            ours, theirs = config.channel or "legacy", notes.channel or "legacy"
            where = f"of the same folder {config.root}"
            raise _foreign(config, f"channel {theirs!r} {where}", f"this tick is for {ours!r}")

    def _end_left(self, notes: Notes) -> Notes:
        if notes.running:
            self.hands().end_left(notes.running)
            self.emit("an earlier watcher was killed during a call; what it had started is ended")
            notes = replace(notes, running="")
            write_notes(self.fs, self.config.state_path, notes)
        return notes

    def _at_rest(self, state: WatchState, notes: Notes) -> Tick | None:
        """Return what comes of a tick in which nothing moved and nobody is to be called; `None`: look closer."""
        if not notes.verified or notes.channel != self.config.channel or state.anomaly:
            return None
        content = self._bell()
        bell = bell_in(content)
        if bell is None or notes.verified != self._seen(state, content):
            return None
        decision = decide(bell, state, self.config, self.now())
        if decision.act not in {Act.WAIT, Act.STUCK}:
            return None
        return self._say(decision)

    def open_thread(self) -> str:
        """Return the thread that is open now; empty where none is.

        Raises:
            RecordError: the doorbell cannot be read.
        """
        bell = bell_in(self._bell())
        if bell is not None:
            return bell.thread
        # Torn or gone since the tick; that says nothing about the thread, and the next tick writes it anew.
        return "?"

    def _say(self, decision: Decision) -> Tick:
        if decision.act is Act.STUCK:
            self.emit(f"STUCK: {decision.reason}")
        return Tick(escalated=decision.act is Act.STUCK)

    def _bell(self) -> bytes | None:
        config = self.config
        with typed(f"{config.root} cannot be read"), open_folder(self.fs, config.root) as folder:
            return read_file(self.fs, folder, bell_file(config.channel), max_bytes=MAX_BELL)

    def _seen(self, state: WatchState, bell: bytes | None) -> str:
        return f"{seen_files(self.config.root, self.config.channel, bell)} {state.mirrored}"

    def _look(self, state: WatchState, notes: Notes) -> Tick:
        reading = self.hands().look(state.mirrored, self._bell(), now=format_stamp(self.now()))
        if reading.mended:
            self.emit(f"doorbell written anew: {reading.mended}")
        state = self._mirror(state, reading.blocks)
        bell, config = reading.bell, self.config
        if reading.anomalies:
            weighed = weigh(reading.anomalies, newest=reading.newest, bell=bell.n, state=state)
            for line in weighed.lines:
                self.emit(visible(line))
            state = replace(state, anomaly=weighed.fingerprint)
            if weighed.escalates:
                state = state.with_escalated(_RECORD, reading.newest)
            self._save(state, replace(notes, channel=config.channel, verified=""), notes)
            return Tick(escalated=weighed.escalates)
        state = replace(state, anomaly="")
        now = self.now()
        decision = decide(bell, state, config, now)
        if decision.act is Act.ESCALATE:
            self.emit(f"ESCALATE: {decision.reason}")
            state = state.with_escalated(bell.thread, bell.n)
        elif decision.act is Act.INVOKE:
            state = state.with_invoked(bell.n, now.replace(microsecond=0).isoformat())
        noted = replace(notes, channel=config.channel, verified=self._seen(state, self._bell()))
        self._save(state, noted, notes)
        if decision.act is Act.INVOKE:
            return self._call(decision, bell, state, noted)
        said = self._say(decision)
        return replace(said, escalated=said.escalated or decision.act is Act.ESCALATE)

    def _call(self, decision: Decision, bell: Bell, state: WatchState, notes: Notes) -> Tick:
        party, path, hands = decision.party, self.config.state_path, self.hands()
        running = replace(notes, running=f"watch.{os.getpid()}.{os.urandom(8).hex()}")
        write_notes(self.fs, path, running)
        self.calling = party
        try:
            ended = hands.call(self.config.command(party), timeout_s=self.config.timeout_s, mark=running.running)
        finally:
            self.calling = ""
        if ended.failure:
            self.emit(f"invoke failed for {party}: {visible(ended.failure)}")
            where = f"on thread {bell.thread!r} - fix the watcher config"
            self.emit(f"ESCALATE: cannot launch agent for {party!r} {where}")
            state = state.with_escalated(bell.thread, bell.n)
        else:
            self.emit(f"invoked {party} for seq {bell.n}: {ended.said}")
            if ended.output:
                write_beside(self.fs, f"{path}.output", ended.output)
        state = self._mirror(state, hands.newer(state.mirrored))
        self._save(state, notes, running)
        return Tick(escalated=bool(ended.failure), called=party)

    def _mirror(self, state: WatchState, blocks: "Sequence[Block]") -> WatchState:
        for block in blocks:
            if block.n > state.mirrored:
                self.emit(_line(block))
        return state.with_mirrored(max((block.n for block in blocks), default=0))

    def _save(self, state: WatchState, notes: Notes, before: Notes) -> None:
        content, path = bytes(state), self.config.state_path
        if content != self._stored:
            make_folder_of(self.fs, path)
            write_beside(self.fs, path, content)
            self._stored = content
        if notes != before:
            write_notes(self.fs, path, notes)


def _line(block: "Block") -> str:
    first = next((line.strip() for line in block.text.splitlines() if line.strip()), "(empty)")
    return visible(f"{block.thread or '-'} MSG-{block.n} {block.sender} {block.type}: {first[:_MAX_SHOWN]}")


def _foreign(config: WatcherConfig, belongs: str, but: str, *, edit: str = "") -> ConfigError:
    sentence = f"refused: state file {config.state_path} belongs to {belongs}, but {but}"
    hint = (
        "give each channel a state_path of its own: in a shared one the message of one channel stands in for the "
        f"other's.{edit} Do not delete the state file: a seat that is at work would be called again"
    )
    return ConfigError("state_path", "", sentence=sentence, hint=hint)
