"""What a scheduler is to be told, printed and never installed: systemd user units, a line for cron (SPEC C-113)."""

import shlex
import sys
from pathlib import Path
from typing import NamedTuple

from counterpoint.drive.watching.wiring import Wiring

__all__ = ["Units", "units"]


class Units(NamedTuple):
    name: str
    """`debate-watch-<channel>`: units, states, locks and logs carry one name."""
    service: str
    timer: str
    cron: str


def units(wiring: Wiring) -> Units:
    """Return the units that tick once a minute."""
    name = f"debate-watch-{wiring.channel}"
    folder = str(Path(wiring.config_path).absolute().parent)
    command = (
        *(sys.executable, "-m", "counterpoint", "channel", "watch-once"),
        *("--root", wiring.root, "--channel", wiring.channel, "--config", wiring.config_path),
    )
    service = f"""\
[Unit]
Description=one tick of the watcher of {wiring.channel}

[Service]
Type=oneshot
WorkingDirectory={_escaped(folder)}
ExecStart={" ".join(map(_systemd, command))}
SyslogIdentifier={name}
"""
    timer = f"""\
[Unit]
Description=a tick of the watcher of {wiring.channel} every minute

[Timer]
OnBootSec=1min
OnUnitActiveSec=1min
AccuracySec=5s

[Install]
WantedBy=timers.target
"""
    line = f"* * * * * cd {shlex.quote(folder)} && {shlex.join(command)}"
    return Units(name, service, timer, line.replace("%", r"\%"))


def _systemd(word: str) -> str:
    """Return a word of ExecStart: quoted, and nothing in it a specifier or a variable."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$") + '"'


def _escaped(path: str) -> str:
    return path.replace("%", "%%")
