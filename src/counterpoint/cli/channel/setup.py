"""`counterpoint channel setup`: wire the two seats of a channel to commands (SPEC C-050, C-110 to C-113).

Flags are answers: a party that one names is not asked about. `--yes` asks nothing, and refuses where neither a flag
nor the last `setup` has an answer.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from counterpoint.cli.channel.clock import now
from counterpoint.cli.channel.parsing import CHANNEL, JSON, ROOT, Option, Shape
from counterpoint.cli.channel.printing import print_json, print_lines, tell
from counterpoint.drive.channels import find_channel, open_channels, shown_path
from counterpoint.drive.watching.opening import parties_and_care
from counterpoint.drive.watching.scheduling import units
from counterpoint.drive.watching.smoke import smoke
from counterpoint.drive.watching.wiring import (
    Remembered,
    Wiring,
    config_path,
    defaults_path,
    remembered,
    state_path,
    write,
)
from counterpoint.errors import ConfigError
from counterpoint.protocols.mailbox import Parties

__all__ = ["SHAPE", "run"]

SMOKE_FAILED: Final = 4
_YES: Final = frozenset({"", "y", "yes"})
_GIT_S: Final = 30

SHAPE: Final = Shape(
    summary="wire the seats of a channel to commands",
    about=(
        "Writes the watcher's settings, with a fixed prompt for each party, and PROTOCOL.md where there is none. "
        "Keys never belong there: let a program of yours read them."
    ),
    options=(
        ROOT,
        CHANNEL,
        Option("command", "PARTY=ARGV", "the command of a party, as 'glm=glm-agent {prompt}'", repeats=True),
        Option("human", "PARTY", "a person speaks for this party", repeats=True),
        Option("yes", about="ask nothing: take flags and the last answers, and replace the settings"),
        Option("smoke", about="then try each seat once, in a channel made for it: one model call each"),
        Option("scheduler", about="then print systemd user units and a cron line; nothing is installed"),
        JSON,
    ),
    exits={
        0: "written",
        1: "refused; nothing was written",
        2: "the command line is wrong",
        4: "written, and a seat did not answer its smoke test",
        130: "interrupted",
    },
    examples=(
        ("counterpoint channel setup --root collab", "asks for each party's command"),
        ("counterpoint channel setup --command 'glm=glm-agent {prompt}' --human claude --yes", "asks nothing"),
    ),
)


def run(given: Mapping[str, Any]) -> int:
    """Ask what is not answered, write, and try and print what is asked for."""
    root = shown_path(given["root"])
    channel = find_channel(root, given["channel"])
    if not channel:
        raise _unfit(
            "refused: setup needs a named channel (the id is the state-file stem, the unit name and the config stem)",
            hint="run `counterpoint channel migrate` first",
        )
    parties, managed = parties_and_care(open_channels(root, os.environ), channel)
    if parties.brokered:
        raise _unfit(
            "refused: this channel is fully managed -- the public tool's controller runs its seats, so no watcher "
            "command can",
            hint="let the public tool drive it",
        )
    wiring = _interview(given, os.path.realpath(root), channel, parties, managed=managed)
    written = write(wiring, os.environ)
    if not given["json"]:
        print_lines(*(f"wrote {path}" for path in written))
    failures = _smoke(wiring, as_json=given["json"]) if given["smoke"] else ()
    for reason in failures:
        tell(f"smoke FAIL: {reason}")
    scheduler = _scheduler(wiring) if given["scheduler"] and not failures else ()
    if given["scheduler"] and failures:
        tell("scheduler output withheld: fix the failing seat first")
    hints = list(_hints(wiring))
    if given["json"]:
        print_json(
            {"wrote": list(written), "smoke_failures": list(failures), "scheduler": list(scheduler), "hints": hints}
        )
    else:
        print_lines(*scheduler, *(f"hint: {hint}" for hint in hints))
    return SMOKE_FAILED if failures else 0


def _unfit(sentence: str, *, hint: str) -> ConfigError:
    return ConfigError("setup", "", sentence=sentence, hint=hint)


def _interview(given: Mapping[str, Any], root: str, channel: str, parties: Parties, *, managed: bool) -> Wiring:
    last, yes = remembered(defaults_path(os.environ)), given["yes"]
    commands = _flags(given)
    unanswered = [party for party in parties.parties if party not in commands]
    if unanswered and set(last.commands) >= set(unanswered) and (yes or _as_last_time(last, unanswered)):
        commands |= {party: last.commands[party] for party in unanswered}
        unanswered = []
    if unanswered and yes:
        names = ", ".join(map(repr, unanswered))
        raise _unfit(
            f"refused: --yes with no remembered or flag-supplied answer for {names}", hint="give --command or --human"
        )
    for party in unanswered:
        answer = _ask(f"Command for seat {party!r} (argv; empty = human-driven): ")
        commands[party] = _split(answer, party) if answer else None
    path = config_path(root, channel, parties.project)
    return Wiring(
        root=root,
        channel=channel,
        parties=parties,
        managed=managed,
        commands=commands,
        config_path=path,
        state_path=state_path(channel),
        debounce_s={party: each for party, each in last.debounce_s.items() if party in parties.parties},
        retry_s=last.retry_s,
        timeout_s=last.timeout_s,
        overwrite=yes or not os.path.lexists(path) or _may_overwrite(path),
    )


def _flags(given: Mapping[str, Any]) -> dict[str, tuple[str, ...] | None]:
    commands: dict[str, tuple[str, ...] | None] = {}
    for text in given["command"]:
        party, equals, argv = text.partition("=")
        if not equals or not argv.strip():
            raise _unfit(f"refused: --command needs PARTY=ARGV, got {text!r}", hint="as 'glm=glm-agent {prompt}'")
        commands[party.strip()] = _split(argv, party.strip())
    return commands | {party.strip(): None for party in given["human"]}


def _split(text: str, party: str) -> tuple[str, ...]:
    try:
        program, *arguments = shlex.split(text)
    except ValueError as error:
        raise _unfit(f"refused: the command for {party!r} cannot be split: {error}", hint="close the quote") from None
    return (str(Path(program).expanduser()), *arguments)


def _as_last_time(last: Remembered, unanswered: list[str]) -> bool:
    lines = [f"Wire seats as last time?  (remembered from channel {last.channel})"]
    for party in unanswered:
        argv = last.commands[party]
        lines.append(f"  {party:8} -> {'human-driven' if argv is None else shlex.join(argv)}")
    return _ask("\n".join([*lines, "[Y/n] "])).lower() in _YES


def _may_overwrite(path: str) -> bool:
    if _ask(f"{path} exists -- overwrite? [y/N] ").lower() in _YES - {""}:
        return True
    raise _unfit("refused: not overwriting the existing config", hint="move it away, or pass --yes")


def _ask(question: str) -> str:
    """Return what a person answers; questions go to standard error, so that a pipe gets the result alone."""
    sys.stdout.flush()
    sys.stderr.write(question)
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        raise _unfit(
            "refused: a question was left unanswered; the input is at its end",
            hint="answer by flags: --command PARTY=ARGV, --yes",
        )
    return answer.strip()


def _smoke(wiring: Wiring, *, as_json: bool) -> tuple[str, ...]:
    return tuple(smoke(wiring, os.environ, now=now, emit=tell if as_json else print_lines))


def _scheduler(wiring: Wiring) -> tuple[str, ...]:
    told = units(wiring)
    enable = f"systemctl --user daemon-reload && systemctl --user enable --now {told.name}.timer"
    return (
        f"--- ~/.config/systemd/user/{told.name}.service ---",
        told.service,
        f"--- ~/.config/systemd/user/{told.name}.timer ---",
        told.timer,
        f"install (not run for you): {enable}",
        f"no systemd? cron line: {told.cron}",
    )


def _hints(wiring: Wiring) -> Iterator[str]:
    root, channel, config = (shlex.quote(word) for word in (wiring.root, wiring.channel, wiring.config_path))
    yield f"scheduler unit name (convention, not installed): debate-watch-{wiring.channel}"
    yield f"drive it: counterpoint channel watch --root {root} --channel {channel} --config {config}"
    yield "commit <id>.debate.json and PROTOCOL.md; the doorbell, the index and the locks stay out of git"
    for party, argv in wiring.called.items():
        if not any("{prompt}" in part for part in argv):
            yield f"the command for {party!r} has no {{prompt}}: nothing tells it what to do"
    if not _is_ignored(wiring.config_path):
        yield f"add to the repo .gitignore (not edited for you): {Path(wiring.config_path).name}"


def _is_ignored(path: str) -> bool:
    """Say whether git leaves the file alone; also where there is no git."""
    try:
        asked = subprocess.run(
            ["git", "-C", str(Path(path).parent), "check-ignore", "-q", path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return True
    return asked.returncode == 0
