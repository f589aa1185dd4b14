"""Does a seat work? One round trip in a channel made for it; the real one is not touched (SPEC C-113).

A pass says that the command reads its turn and posts. It says nothing of how good its answers are.
"""

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from counterpoint.drive.beginning import Form, begin
from counterpoint.drive.channels import open_channels
from counterpoint.drive.posting import post
from counterpoint.drive.watching.child import call
from counterpoint.drive.watching.config import WatcherConfig
from counterpoint.drive.watching.prompts import prompt_for, protocol_page
from counterpoint.drive.watching.wiring import Wiring

__all__ = ["smoke"]

_TAIL = 160
_PROBE = "Smoke probe: answer on this open thread with any well-formed entry, then stop."


def smoke(
    wiring: Wiring, environment: Mapping[str, str], *, now: Callable[[], datetime], emit: Callable[[str], None]
) -> Sequence[str]:
    """Try every party that a command speaks for; return what failed.

    Args:
        wiring: whose commands and settings are tried.
        environment: of the commands.
        now: tells the time.
        emit: is told what is done.
    """
    failures = []
    for party, argv in wiring.called.items():
        scratch = tempfile.mkdtemp(prefix="counterpoint-smoke-")
        emit(f"smoke {party}: about to spend ONE model call ({argv[0]} ...); the real channel is untouched")
        failure = _try(wiring, party, argv, scratch, environment, now=now, emit=emit)
        if failure:
            failures.append(f"{party}: {failure}")
            emit(f"smoke {party}: what is left of it lies in {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    return failures


def _try(
    wiring: Wiring,
    party: str,
    argv: tuple[str, ...],
    scratch: str,
    environment: Mapping[str, str],
    *,
    now: Callable[[], datetime],
    emit: Callable[[str], None],
) -> str:
    """Return why the party's command did not answer; empty where it did."""
    channel = _scratch_channel(wiring, party, scratch, environment, now)
    config = WatcherConfig(
        root=os.path.realpath(scratch),
        channel=channel,
        parties=wiring.parties.parties,
        managed=True,
        brokered=False,
        state_path="",
        commands={party: argv},
        prompts={party: prompt_for(party)},
        debounce_s={},
    )
    emit(f"smoke {party}: seat running (timeout {wiring.timeout_s}s)")
    path = f"{_pinned(scratch)}{os.pathsep}{environment.get('PATH', os.defpath)}"
    ended = call(
        config.command(party),
        timeout_s=wiring.timeout_s,
        mark=f"smoke.{secrets.token_hex(8)}",
        cwd=scratch,
        env={**environment, "PATH": path},
    )
    if ended.failure:
        return f"seat command failed to run: {ended.failure}"
    replies = [block for block in open_channels(scratch, environment).read(channel, 0) if block.sender == party]
    if replies:
        emit(f"smoke {party}: PASS -- {replies[0].type!r} reply landed in the scratch mailbox")
        return ""
    (Path(scratch) / "seat-output.txt").write_bytes(ended.output)
    tail = ended.output.decode("utf-8", "replace").strip()[-_TAIL:]
    return f"no reply landed in the scratch mailbox ({ended.said}; output tail: {tail!r})"


def _scratch_channel(
    wiring: Wiring, party: str, scratch: str, environment: Mapping[str, str], now: Callable[[], datetime]
) -> str:
    parties = wiring.parties
    channel = begin(
        scratch,
        environment,
        parties=parties.parties,
        supervisor=parties.supervisor,
        thread_cap=parties.thread_cap,
        label="smoke",
        is_brokered=False,
        form=Form.PLAIN,  # nothing of it is to be remembered
        channel_id=secrets.token_hex(16),
        draw=secrets.randbelow,
        stamp=_stamp(now),
    ).name
    (Path(scratch) / "PROTOCOL.md").write_text(protocol_page(parties.thread_cap), "utf-8")
    post(
        open_channels(scratch, environment),
        channel,
        sender=parties.other(party),
        type="info",
        thread="smoke-probe",
        text=_PROBE,
        stamp=_stamp(now),
    )
    return channel


def _stamp(now: Callable[[], datetime]) -> str:
    return now().isoformat(timespec="seconds")


def _pinned(scratch: str) -> str:
    """Return a folder in which `counterpoint` is this very program, and `debate` its mailbox."""
    folder = Path(scratch) / "bin"
    folder.mkdir()
    for name, words in (("counterpoint", ""), ("debate", " channel")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {_quoted(sys.executable)} -m counterpoint{words} "$@"\n', "utf-8")
        program.chmod(0o755)
    return str(folder)


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"
