"""The options of `counterpoint propose`, in the SPEC's words (A-43), and what a user may not ask for at once."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import click

from counterpoint.cli.completing import agent_option
from counterpoint.cli.review_options import Seconds
from counterpoint.drive.pairs import PROVIDERS, Wanted

__all__ = ["EXITS", "Asked", "PairOptions", "UsageIsInput", "pair_options", "propose_options"]

EXITS: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "converged: ready to validate, or on conditions",
        1: "nothing could be begun: command line, settings, input or files",
        2: "a person has to answer questions first",
        3: "partial: it ended before the critics agreed; the report says why",
        4: "a person is needed: something is not allowed yet, or a person's seat waits",
        130: "interrupted or withdrawn; what is there is in the report",
    }
)
_INPUT: Final = 1
_LONGEST_S: Final = 7200
_PATH: Final = click.Path(path_type=Path)


class _WrongInput(click.UsageError):
    exit_code = _INPUT


class UsageIsInput(click.Command):
    """A command whose code 2 means something else: a wrong command line is an input error (SPEC A-44).

    What is below it has codes of its own.
    """

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent=parent, **extra)
        except click.UsageError as error:
            if error.ctx is not None and error.ctx.command is not self:
                raise
            raise _WrongInput(error.format_message(), error.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise _WrongInput(error.format_message(), error.ctx or ctx) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """What was given of the pair."""

    provider: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    session_config: Path | None = None
    config: Path | None = None
    api_key_env: str | None = None
    base_url: str | None = None

    @property
    def wanted(self) -> Wanted:
        return Wanted(**{each.name: getattr(self, each.name) for each in fields(self)})

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the options of a whole pair that were not given."""
        whole = {"--provider": self.provider, "--model": self.model, "--reasoning-effort": self.reasoning_effort}
        return tuple(option for option, value in whole.items() if not value)

    @property
    def first(self) -> str:
        """Return the first option that was given, or ""."""
        given = (each.name for each in fields(self) if getattr(self, each.name) is not None)
        return next((f"--{name.replace('_', '-')}" for name in given), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(PairOptions):
    """What a user asks for beside the shared options."""

    question: str | None = None
    question_file: Path | None = None
    context_files: tuple[Path, ...] = ()
    proposer: str | None = None
    critics: tuple[str, ...] = ()
    tree: bool = False
    revision: str | None = None
    max_rounds: int | None = None
    min_rounds: int | None = None
    stall_rounds: int | None = None
    max_output_tokens: int | None = None
    max_total_tokens: int | None = None
    timeout: int | None = None
    max_duration: int | None = None
    out: Path | None = None
    overwrite: bool = False
    quiet: bool = False
    demo: bool = False

    @property
    def names_agents(self) -> bool:
        return self.proposer is not None or bool(self.critics)

    @property
    def pair(self) -> PairOptions:
        return PairOptions(**{each.name: getattr(self, each.name) for each in fields(PairOptions)})

    @property
    def settings(self) -> Mapping[str, object]:
        """Return the settings among the options, by their keys; None where one was not given."""
        critics = [name.strip() for each in self.critics for name in each.split(",")]
        return {
            "propose.proposer": self.proposer,
            "propose.critics": critics or None,
            "propose.max_rounds": self.max_rounds,
            "propose.min_rounds": self.min_rounds,
            "propose.stall_rounds": self.stall_rounds,
            "limits.max_output_tokens": self.max_output_tokens,
            "limits.max_tokens": self.max_total_tokens,
            "limits.call_timeout_s": self.timeout,
            "limits.deadline_s": self.max_duration,
        }

    def check(self) -> None:
        """Refuse what cannot be asked for at once.

        Raises:
            UsageError: two options contradict each other, or nothing is asked.
        """
        if self.demo:
            self._check_demo()
            return
        if (self.question is None) == (self.question_file is None):
            both = "both were given" if self.question is not None else "neither was given"
            raise click.UsageError(f"a requirement comes from the command line or from --question-file; {both}")
        if self.names_agents and self.pair.first:
            raise click.UsageError(
                f"{self.pair.first} gives both seats one pair, and --proposer and --critic name agents"
            )
        if self.revision is not None and not self.tree:
            raise click.UsageError(
                f"--revision {self.revision} says which files the seats may read; it needs --tree, too"
            )
        if self.max_duration is not None and self.max_duration > _LONGEST_S:
            raise click.UsageError(f"--max-duration is {self.max_duration} s; {_LONGEST_S} s are possible")
        if self.overwrite and self.out is None:
            raise click.UsageError("--overwrite is about the folder of --out, and there is none")

    def _check_demo(self) -> None:
        given = {
            "a requirement": self.question is not None or self.question_file is not None,
            "--context-file": bool(self.context_files),
            "--proposer": self.proposer is not None,
            "--critic": bool(self.critics),
            "--tree": self.tree or self.revision is not None,
            self.pair.first: bool(self.pair.first),
        }
        if found := next((name for name, is_given in given.items() if is_given), None):
            raise click.UsageError(
                f"--demo is always the same; it takes no setting of its own, and {found} was given"
            )


def pair_options(*, without: Collection[str] = ()) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return what gives a command the options of the pair."""

    def give(command: Callable[..., int]) -> Callable[..., int]:
        for name, option in reversed(list(_PAIR.items())):
            if name not in without:
                command = option(command)
        return command

    return give


_PAIR: Final[Mapping[str, Callable[..., Any]]] = {
    "provider": click.option("--provider", type=click.Choice(list(PROVIDERS)), help="Who offers the model."),
    "model": click.option("--model", metavar="M", help="One model for both seats, by its full name."),
    "reasoning_effort": click.option("--reasoning-effort", metavar="E", help="Its effort, as its provider calls it."),
    "session_config": click.option(
        "--session-config", type=_PATH, metavar="FILE", help="JSON with exactly model and reasoning_effort."
    ),
    "config": click.option("--config", type=_PATH, metavar="FILE", help="A saved profile other than your own."),
    "api_key_env": click.option("--api-key-env", metavar="VAR", help="The variable that holds the key."),
    "base_url": click.option("--base-url", metavar="URL", help="The API's address, where it is not its vendor's."),
}


def propose_options(*, without: Collection[str] = ()) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return what gives a command the options of `Asked`.

    Args:
        without: those that it has no use for.
    """

    def give(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def taking_all(**given: Any) -> int:
            return command(**given)

        optioned: Callable[..., int] = taking_all
        for name, option in reversed(list(_OPTIONS.items())):
            if name not in without:
                optioned = option(optioned)
        return optioned

    return give


_OPTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "question": click.argument("question", required=False, metavar="[REQUIREMENT]"),
    "question_file": click.option(
        "--question-file", type=_PATH, metavar="FILE", help="Read the requirement from a file."
    ),
    "context_files": click.option(
        "--context-file",
        "context_files",
        type=_PATH,
        multiple=True,
        metavar="FILE",
        help="What belongs to it; seats cite it by its name. Repeat for several.",
    ),
    "proposer": agent_option("--proposer", metavar="NAME", help="The agent that proposes, of your settings."),
    "critics": agent_option(
        "--critic", "critics", multiple=True, metavar="NAME,NAME", help="The agents that criticise, one or more."
    ),
    **_PAIR,
    "tree": click.option(
        "--tree", is_flag=True, help="Let the seats read the files of HEAD, where there is a repository."
    ),
    "revision": click.option("--revision", metavar="REV", help="With --tree: another commit than HEAD."),
    "max_rounds": click.option(
        "--max-rounds", type=click.IntRange(1, 12), metavar="N", help="Rounds at most.  [default: 4]"
    ),
    "min_rounds": click.option(
        "--min-rounds", type=click.IntRange(1, 12), metavar="N", help="Rounds at least.  [default: 2]"
    ),
    "stall_rounds": click.option(
        "--stall-rounds",
        type=click.IntRange(1, 12),
        metavar="N",
        help="End it when nothing moved in so many rounds.  [default: 2]",
    ),
    "max_output_tokens": click.option(
        "--max-output-tokens", type=click.IntRange(256, 100_000), metavar="N", help="Of one answer.  [default: 12000]"
    ),
    "max_total_tokens": click.option(
        "--max-total-tokens",
        "--max-tokens",
        type=click.IntRange(512, 5_000_000),
        metavar="N",
        help="Ask nothing more once so many are reported.  [default: 150000]",
    ),
    "timeout": click.option(
        "--timeout", type=click.IntRange(1, 7200), metavar="SECONDS", help="For one call.  [default: 180]"
    ),
    "max_duration": click.option(
        "--max-duration",
        "--deadline",
        type=Seconds(),
        metavar="TIME",
        help="For all of it, 7200 s at most.  [default: 900, where no person sits]",
    ),
    "out": click.option("--out", type=_PATH, metavar="DIR", help="Put the reports there, too."),
    "overwrite": click.option("--overwrite", is_flag=True, help="Replace reports that lie there."),
    "quiet": click.option("--quiet", is_flag=True, help="Tell nothing while it goes on."),
    "demo": click.option("--demo", is_flag=True, help="Two rounds by scripts: no model is called."),
}
