"""The options of `counterpoint review`, and what they come to as one value.

A flag that would do nothing is refused, and so is prose: a review is started by a number or by nothing (SPEC D-01,
D-02).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.cli.completing import agent_option
from counterpoint.core.docket import Effort
from counterpoint.core.values import Severity
from counterpoint.drive.cassettes import Taping

__all__ = ["Asked", "Seconds", "review_options", "taping_of", "taping_options"]

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST_S: Final = 31 * 86400
_PULL: Final = re.compile(r"(?:#|https://[^/\s]+/[^/\s]+/[^/\s]+/pull/)?([1-9][0-9]{0,9})/?")


class Seconds(click.ParamType[int]):
    """A length of time: `90`, `90s`, `10m`, `2h`, `1d`."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", str(value))
        if found is None:
            self.fail(f"{value!r} is not a length of time such as 90s, 10m or 2h", param, ctx)
        seconds = int(found[1]) * _UNITS[found[2] or "s"]
        if not 1 <= seconds <= _LONGEST_S:
            self.fail(f"{value!r} is not from one second to 31 days", param, ctx)
        return seconds


def _words(kind: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([word.value for word in kind])


class _PullNumber(click.ParamType[int]):
    """A pull request: `12`, `#12` or its address."""

    name = "PR"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _PULL.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is not the number of a pull request, and a review takes no prose", param, ctx)
        return int(found[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a user asks for on the command line."""

    pull: int | None
    base: str | None
    reviewers: tuple[str, ...]
    author: str
    max_rounds: int | None
    until_agreement: bool
    no_commit: bool
    no_comment: bool
    worktree: bool
    rationale: str
    context: str
    effort: str | None
    block_on: str | None
    quorum: int | None
    required: tuple[str, ...]
    trust_commands: bool
    consents: tuple[str, ...]
    max_calls: int | None
    max_tokens: int | None
    deadline: int | None
    record: Path | None
    replay: Path | None

    @property
    def taping(self) -> Taping | None:
        """Where answers are recorded, or played again from."""
        return taping_of(self.record, self.replay)

    @property
    def settings(self) -> Mapping[str, object]:
        """The settings among the flags, by their keys."""
        return {
            "review.base": self.base,
            "review.reviewers": self.reviewers,
            "review.max_rounds": 0 if self.until_agreement else self.max_rounds,
            "review.block_on": self.block_on,
            "review.quorum": self.quorum,
            "review.effort": self.effort,
            "checks.require": self.required,
            "limits.max_calls": self.max_calls,
            "limits.max_tokens": self.max_tokens,
            "limits.deadline_s": self.deadline,
        }

    @property
    def commits(self) -> bool:
        """Whether commits are made."""
        return bool(self.author) and not self.no_commit

    def check(self) -> None:
        """Refuse flags that contradict each other, or would do nothing.

        Raises:
            UsageError: there is one.
        """
        if self.max_rounds is not None and self.until_agreement:
            raise click.UsageError("--max-rounds counts the rounds, and --until-agreement does not; give one of them")
        if self.pull is not None and self.worktree:
            raise click.UsageError(f"--worktree judges files that no commit holds, and {self.pull} is a pull request")
        for_author = {
            "--no-commit": self.no_commit,
            "--max-rounds": self.max_rounds,
            "--until-agreement": self.until_agreement,
            "--context": self.context,
        }
        if not self.author and (idle := [flag for flag, value in for_author.items() if value]):
            raise click.UsageError(f"{', '.join(idle)} is about an author; name one with --author")


def taping_of(record: Path | None, replay: Path | None) -> Taping | None:
    """Return what the two options come to.

    Raises:
        UsageError: both were given.
    """
    if record is not None and replay is not None:
        raise click.UsageError("--record asks the agents, and --replay asks none; give one of them")
    return Taping.of(record, replay)


_FOLDER: Final = click.Path(path_type=Path, file_okay=False)
_TAPING: Final = (
    click.option(
        "--record", type=_FOLDER, metavar="DIR", help="Keep in DIR what each seat is asked, answers and edits."
    ),
    click.option("--replay", type=_FOLDER, metavar="DIR", help="Ask no agent: answer and edit as recorded in DIR."),
)
_OPTIONS: Final = (
    click.argument("pull", type=_PullNumber(), required=False, metavar="[PR]"),
    click.option(
        "--base", metavar="REV", help="Compare with this.  [default: the remote's default branch, else main]"
    ),
    agent_option(
        "--reviewer",
        "reviewers",
        multiple=True,
        metavar="NAME",
        help="Who reviews; repeat for several.  [default: what the settings name, else checks]",
    ),
    agent_option("--author", default="", metavar="NAME", help="Who answers the findings, and edits the work tree."),
    click.option(
        "--max-rounds", type=click.IntRange(1, 100), metavar="N", help="How often the author answers.  [default: 3]"
    ),
    click.option(
        "--until-agreement",
        is_flag=True,
        help="No such number: go on until they agree, nothing moves, or a limit is reached.",
    ),
    click.option(
        "--no-commit", is_flag=True, help="Leave the author's edits uncommitted; judge the files as they lie."
    ),
    click.option(
        "--no-comment", is_flag=True, help="Look for no pull request, and post nothing on the one that is named."
    ),
    click.option("--worktree", is_flag=True, help="Judge the files as they lie instead of HEAD."),
    click.option("--rationale", default="", metavar="TEXT", help="Why the change was made; shown to every seat."),
    click.option("--context", default="", metavar="TEXT", help="What the author alone is told."),
    click.option("--effort", type=_words(Effort), help="How hard agents are asked to think.  [default: high]"),
    click.option(
        "--block-on",
        type=_words(Severity),
        help="The least severity that must be settled.  [default: nit, which is everything]",
    ),
    click.option(
        "--quorum", type=click.IntRange(1, 256), metavar="N", help="How many reviewers must answer.  [default: all]"
    ),
    click.option(
        "--require-check",
        "required",
        multiple=True,
        metavar="CMD",
        help="A command that must pass on the candidate, whoever reviews; repeat for several.",
    ),
    click.option("--trust-commands", is_flag=True, help="Let project commands run unboxed, in this run."),
    click.option(
        "--consent",
        "consents",
        multiple=True,
        metavar="DEST",
        help="Let what its reviewers are given be sent there, in this run.",
    ),
    click.option(
        "--max-calls", type=click.IntRange(min=1), metavar="N", help="How many questions may be asked in all."
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop asking once this many tokens are reported.",
    ),
    click.option("--deadline", type=Seconds(), help="End the case after this long: 90s, 10m, 2h."),
    *_TAPING,
)


def review_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a review; they reach it by the names of `Asked`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def taping_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command `--record` and `--replay`."""
    for option in reversed(_TAPING):
        command = option(command)
    return command
