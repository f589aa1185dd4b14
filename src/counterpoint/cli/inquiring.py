"""What the commands share that begin a case about a question or a text: their options, and the way to its end.

A command gives itself the options with `inquiry_options`, gets them as one `Common`, makes an `Inquiry`, and hands
both as one `Request` to `run_inquiry`: plan, build the agents, ask a person for leave, open, say what it is, drive,
print, exit. `counterpoint doctor` makes the same request and looks at it instead.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.cli.allow import Allowed, ask_leave, can_ask
from counterpoint.cli.ending import run_to_its_end
from counterpoint.cli.output import tell
from counterpoint.cli.review_options import Seconds, taping_of, taping_options
from counterpoint.cli.where import Where
from counterpoint.core.docket import Effort
from counterpoint.drive.cases import case_name
from counterpoint.drive.cassettes import Taping
from counterpoint.drive.inquiry import Inquiry, plan_inquiry
from counterpoint.drive.plans import CasePlan, check_opening, open_planned
from counterpoint.drive.running import Session, check_agents
from counterpoint.drive.settings import LOCAL, Settings
from counterpoint.errors import SourceError
from counterpoint.views.kinds import VIEWS

__all__ = ["Common", "Request", "inquiry_options", "read_text", "run_inquiry"]

_SHOWN_REMARKS: Final = 5
MAX_TEXT: Final = 1 << 20
_NO_UTF8: Final = re.compile("[\ud800-\udfff]")
"""What stands for such a byte of the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What a user asks for with the shared options; None and () where one was not given, or is not the command's."""

    effort: str | None = None
    max_rounds: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    deadline: int | None = None
    trust_commands: bool = False
    consents: tuple[str, ...] = ()
    record: Path | None = None
    replay: Path | None = None

    @property
    def taping(self) -> Taping | None:
        """Where answers are recorded, or played again from.

        Raises:
            UsageError: both were asked for.
        """
        return taping_of(self.record, self.replay)

    def flags(self, protocol: str) -> Mapping[str, object]:
        """Return the settings among the options, by their keys."""
        return {
            f"{protocol}.effort": self.effort,
            f"{protocol}.max_rounds": self.max_rounds,
            "limits.max_calls": self.max_calls,
            "limits.max_tokens": self.max_tokens,
            "limits.deadline_s": self.deadline,
        }


_OPTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "effort": click.option(
        "--effort",
        type=click.Choice([word.value for word in Effort]),
        help="How hard agents are asked to think.  [default: high]",
    ),
    "max_rounds": click.option(
        "--max-rounds", type=click.IntRange(1, 100), metavar="N", help="How many rounds there are at most."
    ),
    "max_calls": click.option(
        "--max-calls", type=click.IntRange(min=1), metavar="N", help="How many questions may be asked in all."
    ),
    "max_tokens": click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop asking once this many tokens are reported.",
    ),
    "deadline": click.option("--deadline", type=Seconds(), help="End the case after this long: 90s, 10m, 2h."),
    "trust_commands": click.option(
        "--trust-commands", is_flag=True, help="Let agents that the repository sets up run here, in this run."
    ),
    "consents": click.option(
        "--consent",
        "consents",
        multiple=True,
        metavar="DEST",
        help="Let what its seats are given be sent there, in this run.",
    ),
}


def inquiry_options(*, without: Collection[str] = ()) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return what gives a command the shared options, and passes it the keyword argument `common`.

    Args:
        without: fields of `Common` for which the command has options of its own, or none.
    """

    def give(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def with_common(**given: Any) -> int:
            mine = {each.name: given.pop(each.name) for each in fields(Common) if each.name in taken}
            return command(common=Common(**mine), **given)

        taken = {name for name in (*_OPTIONS, "record", "replay") if name not in without}
        optioned = taping_options(with_common)
        for name, option in reversed(list(_OPTIONS.items())):
            if name in taken:
                optioned = option(optioned)
        return optioned

    return give


def read_text(path: Path, *, most: int = MAX_TEXT) -> str:
    """Return the text of a file that a command line names, of so many bytes at most.

    Raises:
        SourceError: it cannot be read, is too large, or is no UTF-8 text.
    """
    try:
        # A pipe is opened without waiting for its writer: where there is none, reading it ends at once.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK), "rb") as file:
            os.set_blocking(file.fileno(), True)
            content = file.read(most + 1)
            unwritten = not content and stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}", hint="name a file that is there") from None
    if unwritten:
        hint = "name a file, or let what writes to the pipe begin first"
        raise SourceError(f"{path} is a pipe that nobody writes to", hint=hint)
    if len(content) > most:
        raise SourceError(f"{path} has more than {most} bytes", hint="name a shorter text")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8: byte {error.start}", hint="convert it to UTF-8") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A case as its command line asks for it."""

    where: Where
    inquiry: Inquiry
    common: Common
    arrange: Callable[[CasePlan], CasePlan] = lambda plan: plan
    """Returns the plan as it is to be: for what follows from other settings."""
    say: Callable[[CasePlan], Iterable[str]] = lambda _plan: ()
    """Yields lines of the protocol's own about what is begun."""
    asks: Callable[[CasePlan], bool] = lambda _plan: True
    """Returns whether anybody is going to be asked; else nobody is named."""

    @property
    def asked(self) -> Inquiry:
        """Return the inquiry with the settings among the shared options."""
        given = {**self.common.flags(self.inquiry.protocol), **self.inquiry.flags}
        return replace(self.inquiry, flags={key: value for key, value in given.items() if value is not None})


def run_inquiry(
    request: Request, *, as_json: bool, quiet: bool = False, began: Callable[[str], None] = lambda _case: None
) -> int:
    """Begin a case, drive it to its end, print what it came to, and return the exit code.

    Args:
        request: what the user asks for.
        as_json: whether the result is printed as one JSON object.
        quiet: whether nothing is told of what happens meanwhile.
        began: is told the name of the case once it is open.

    Raises:
        NeedsPerson: something is not allowed, and nobody is there to ask.
        CounterpointError: it cannot be begun; nothing is left of it.
    """
    where, taping = request.where, request.common.taping
    if taping is not None:
        taping.check(None)
    session = Session.of(
        repo=where.repo, cases=where.cases, folders=where.folders, environment=os.environ, taping=taping
    )
    name = case_name(request.inquiry.protocol, session.clock.now(), session.ids.token(4))
    try:
        plan, allowed = _open(session, request, name)
    except BaseException:
        # Nobody has been asked yet: what lies there is no case.
        shutil.rmtree(where.cases / name, ignore_errors=True)
        raise
    began(name)
    if not quiet:
        _say_what(plan, name, request)
    return run_to_its_end(session, where, name, allowed, as_json=as_json, quiet=quiet)


def _open(session: Session, request: Request, name: str) -> tuple[CasePlan, Allowed]:
    """Plan the case, ask for leave and write its beginning."""
    where = request.where

    def case_folder() -> Path:
        folder = where.make() / name
        folder.mkdir(mode=0o700)
        return folder

    plan = plan_inquiry(request.asked, session=session, case_folder=case_folder, can_ask=can_ask())
    plan = request.arrange(plan)
    _check_encoding(plan)
    check_opening(session, plan)
    for notice in plan.notices:
        tell(f"note: {notice}", colour="yellow")
    check_agents(session, plan)
    allowed = ask_leave(
        session,
        plan.leave(),
        trust_flag=request.common.trust_commands,
        consent_flags=request.common.consents,
        proposal=plan.proposal,
    )
    where.make()
    seed = None
    if session.taping is not None:
        session.taping.begin(plan.settings, plan.docket, plan.seats, name, protocol=plan.protocol)
        seed = session.taping.seed(name)
    open_planned(session, plan, case=name, grants=allowed.grants, seed=seed)
    return plan, allowed


def _check_encoding(plan: CasePlan) -> None:
    """Refuse words of the command line, and names of files, that a record cannot keep.

    Raises:
        SourceError: they hold a byte that is no UTF-8.
    """
    docket, terms = plan.docket, plan.terms
    words = {"the question": (docket.question,), "an option": terms.options}
    words |= {"the file's name": tuple(path.path for path in docket.paths)}
    for what, texts in words.items():
        if any(_NO_UTF8.search(text) for text in texts):
            hint = "write it in UTF-8, and let LC_ALL name a locale of UTF-8, such as C.UTF-8"
            raise SourceError(f"{what} holds a byte that is no UTF-8; nobody was asked", hint=hint)


def _say_what(plan: CasePlan, name: str, request: Request) -> None:
    words, most = VIEWS[plan.protocol].words, plan.limits.max_rounds
    tell(f"case {name}")
    if not request.asks(plan):
        return
    if plan.author:
        tell(f"{words.author}: {_agent(plan.settings, plan.author)}")
    tell(f"{words.judges}: {', '.join(_agent(plan.settings, party) for party in plan.judges)}")
    if not plan.terms.vote_only:
        tell(f"rounds: {most} at most" if most else "rounds: until they agree, or nothing moves")
    if plan.docket.tree:
        tell(f"they can read the files of {plan.docket.tree[:12]}")
    for line in request.say(plan):
        tell(line)
    for remark in plan.docket.remarks[:_SHOWN_REMARKS]:
        tell(f"note: {remark}", colour="yellow")
    if (more := len(plan.docket.remarks) - _SHOWN_REMARKS) > 0:
        tell(f"note: and {more} more; the report has them all", colour="yellow")


def _agent(settings: Settings, name: str) -> str:
    agent = settings.agents[name]
    about = [] if agent.kind == name else [agent.kind.value]
    about += [f"sends to {agent.destination}"] if agent.destination != LOCAL else []
    return f"{name} ({', '.join(about)})" if about else name
