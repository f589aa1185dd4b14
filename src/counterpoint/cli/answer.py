"""`counterpoint answer`: several answer one question for themselves, and confirm one text or say that they cannot."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.cli.completing import agent_option
from counterpoint.cli.inquiring import Common, Request, inquiry_options, read_text, run_inquiry
from counterpoint.cli.manual import CASE_EXITS, Manual, json_option
from counterpoint.cli.where import Where, where_options
from counterpoint.core.canonical import visible
from counterpoint.drive.inquiry import Inquiry
from counterpoint.drive.plans import CasePlan

__all__ = ["answer", "answer_options", "answer_request"]

_PATH: Final = click.Path(path_type=Path)


_OPTIONS: Final = (
    click.argument("question", nargs=-1, metavar="[--] QUESTION"),
    where_options,
    agent_option("--peers", metavar="NAME,NAME", help="The agents that answer, two or more."),
    agent_option("--peer", "named", multiple=True, metavar="NAME", help="One of them; once for each."),
    click.option("--question-file", type=_PATH, metavar="FILE", help="Read the question from this file."),
    click.option(
        "--context-file",
        "context_files",
        type=_PATH,
        multiple=True,
        metavar="FILE",
        help="What belongs to the question, shown to all; may be given more than once.",
    ),
    click.option("--base", metavar="REV", help="The commit whose files they may read.  [default: HEAD]"),
    click.option("--vote", is_flag=True, help="End with the count of the first answers, given blind."),
    click.option(
        "--option",
        "options",
        multiple=True,
        metavar="TEXT",
        help="With --vote: an answer that counts; name every one.",
    ),
    click.option(
        "--until-agreement",
        is_flag=True,
        help="Do not count rounds: go on until all confirm one text, nothing moves, or a limit is reached.",
    ),
    inquiry_options(),
)


def answer_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `counterpoint answer`; `answer_request` makes one value of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def answer_request(
    *,
    question: Sequence[str],
    where: Where,
    peers: str | None,
    named: Sequence[str],
    question_file: Path | None,
    context_files: Sequence[Path],
    base: str | None,
    vote: bool,
    options: Sequence[str],
    until_agreement: bool,
    common: Common,
) -> Request:
    """Return what is asked for.

    Raises:
        UsageError: options contradict each other, or nothing is asked.
        SourceError: a file cannot be read.
    """
    asked = _question(question, question_file)
    _check(common, vote=vote, options=options, until_agreement=until_agreement)
    inquiry = Inquiry(
        protocol="answer",
        folder=where.repo,
        flags={"answer.peers": _peers(peers, named)},
        question=asked,
        context="\n\n".join(read_text(path) for path in context_files),
        reads_tree=True,
        revision=base or "",
        vote_only=vote,
        options=tuple(options),
        may_repeat=True,
    )

    def arrange(plan: CasePlan) -> CasePlan:
        return replace(plan, limits=replace(plan.limits, max_rounds=0)) if until_agreement else plan

    def tell_options(_plan: CasePlan) -> Iterator[str]:
        if options:
            yield f"options: {visible(', '.join(options))}"

    return Request(where=where, inquiry=inquiry, common=common, arrange=arrange, say=tell_options)


@click.command(
    cls=Manual,
    exits={**CASE_EXITS, 0: "all confirmed one text, or in a vote more than half chose it"},
    examples=[
        ('counterpoint answer --peers claude,codex -- "Is the cache safe to share between threads?"', "ask two"),
        ('counterpoint answer --effort low -- "Why does the build take ten minutes?"', "whom your settings name"),
        (
            'counterpoint answer --vote --option yes --option no -- "Is this a breaking change?"',
            "count, do not debate",
        ),
        ("counterpoint answer --question-file q.md --context-file log.txt", "from files"),
    ],
)
@answer_options
@json_option
def answer(*, as_json: bool, **given: Any) -> int:
    """Have several answer one question, each for itself, and hold their answers against each other.

    The first answers are sealed: nobody sees another's. Then each sees the others' answers under neutral names,
    objects or agrees, and keeps or changes its own. Once all stand by one text, all confirm exactly that text, or an
    objection drops it. The report has the opening answers, what changed and why, and whether debate changed what the
    majority had said first.

    In a repository they may read the files of HEAD. Nothing tracked is written, nothing is committed or posted.
    """
    return run_inquiry(answer_request(**given), as_json=as_json)


def _question(words: Sequence[str], file: Path | None) -> str:
    if words and file is not None:
        raise click.UsageError(f"{file} has a question, and {words[0]!r} is another; nobody was asked")
    text = read_text(file) if file is not None else " ".join(words)
    if not text.strip():
        what = f"{file} is blank" if file is not None else "a question is missing"
        raise click.UsageError(f'{what}; nobody was asked. Put it last: counterpoint answer -- "QUESTION"')
    return text.strip()


def _peers(peers: str | None, named: Sequence[str]) -> tuple[str, ...] | None:
    if peers is not None and named:
        raise click.UsageError(f"--peers names {peers!r}, and --peer {named[0]!r}; use one of them")
    found = tuple(name.strip() for name in peers.split(",")) if peers is not None else tuple(named)
    if len(found) == 1:
        raise click.UsageError(f"{found[0]!r} is one peer; two or more answer each other")
    return found or None


def _check(common: Common, *, vote: bool, options: Sequence[str], until_agreement: bool) -> None:
    if options and not vote:
        raise click.UsageError("--option names an answer that counts, and nothing is counted without --vote")
    if vote and (until_agreement or common.max_rounds is not None):
        given = "--until-agreement" if until_agreement else "--max-rounds"
        raise click.UsageError(f"--vote ends with the first answers, and {given} is for the rounds after them")
    if until_agreement and common.max_rounds is not None:
        raise click.UsageError("--until-agreement does not count rounds, and --max-rounds does")
