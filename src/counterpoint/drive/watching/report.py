"""What `watch-status` tells of a watcher: read alone, nothing made and nothing held (SPEC C-048)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from counterpoint.drive.channels import open_channels
from counterpoint.drive.reading import doorbell_of
from counterpoint.drive.watching.config import WatcherConfig
from counterpoint.drive.watching.decision import bell_saying
from counterpoint.drive.watching.lock import Holder, current_holder
from counterpoint.drive.watching.state import WatchState, read_state
from counterpoint.drive.watching.verdict import Ending, Verdict, judge
from counterpoint.record.bell import MAX_BELL, read_bell
from counterpoint.record.fs import Files
from counterpoint.record.names import bell_file
from counterpoint.record.safe import open_folder, read_file, typed

__all__ = ["Report", "report", "report_lines"]

_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    verdict: Verdict
    bell: Mapping[str, Any]
    """The doorbell's fields."""
    state: WatchState | None
    """`None`: nothing has watched with it yet."""
    holder: Holder | None


def report(
    fs: Files, root: str, config: WatcherConfig, environment: Mapping[str, str], *, now: datetime, grace_s: int
) -> Report:
    """Return how a channel is watched.

    Raises:
        RecordError: a file cannot be read.
    """
    n, fields = _bell(fs, root, config, environment)
    state, holder = read_state(fs, config.state_path), current_holder(config.state_path)
    verdict = judge(
        bell_saying(n, fields),
        state or WatchState(),
        config,
        now=now,
        holder=holder,
        grace_s=grace_s,
        ending=_ending(fields),
    )
    return Report(verdict=verdict, bell=fields, state=state, holder=holder)


def _bell(
    fs: Files, root: str, config: WatcherConfig, environment: Mapping[str, str]
) -> tuple[int, Mapping[str, Any]]:
    with typed(f"{root} cannot be read"), open_folder(fs, root) as folder:
        content = read_file(fs, folder, bell_file(config.channel), max_bytes=MAX_BELL)
    found = read_bell(content)
    if found is not None:
        return found
    fields = doorbell_of(open_channels(root, environment), config.channel).fields
    return int(fields["seq"]), fields


def _ending(fields: Mapping[str, Any]) -> Ending | None:
    if fields.get("phase") != "terminal":
        return None
    thread, result, reason = (str(fields.get(key, "")) for key in ("case_thread", "terminal_result", "close_reason"))
    return Ending(thread=thread, result=result, reason=reason)


def report_lines(found: Report, config: WatcherConfig, *, now: datetime) -> Iterator[str]:
    """Yield the lines that say it."""
    bell, path = found.bell, config.state_path
    yield f"channel:  {config.root}"
    yield f"state:    {path} ({'absent - never ticked' if found.state is None else 'present'})"
    yield f"unit:     debate-watch-{config.name} (by convention; scheduling is host config)"
    yield (
        f"signal:   seq {bell.get('seq', 0)} | turn {bell.get('turn') or '-'} | "
        f"thread {bell.get('thread') or '-'} | updated {bell.get('updated_at', '-')}"
    )
    yield (
        f"managed:  phase {bell.get('phase', '-')} | deadline {bell.get('deadline', '-')} | "
        f"result {bell.get('terminal_result', '-')} | close_reason {bell.get('close_reason', '-')}"
    )
    state = found.state or WatchState()
    yield f"mirrored: last_mirrored_seq {state.mirrored}"
    yield from _invocations(state, now)
    if found.holder is None:
        yield "lock:     free (probed, not guessed)"
    else:
        where = found.holder.cwd or "unavailable on this platform"
        yield f"lock:     HELD by pid {found.holder.pid} since {found.holder.since} | cwd {where}"


def _invocations(state: WatchState, now: datetime) -> Iterator[str]:
    shown = sorted(state.invocations)[-_SHOWN:]
    for n in shown:
        called = state.invocations[n]
        age = "age unknown" if called.when is None else f"{int((now - called.when).total_seconds())}s ago"
        yield f"  seq {n}: invoked {called.count}x, last {age}"
    left_out = len(state.invocations) - len(shown)
    if left_out:
        yield f"  ({left_out} older invocation records not shown)"
