"""The one screen on which a person is asked for agents, consent and trust, as text; the command line shows it.

Everything on it that comes from a repository is written on one line with hidden characters made visible, so that
no name and no command can draw a screen of its own.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.drive.consent import Scope
from counterpoint.drive.permission import Running, Wanted
from counterpoint.drive.settings import LOCAL
from counterpoint.errors import NeedsPerson

__all__ = ["SCOPE_OPTION", "Answer", "Question", "Screen", "Subject", "compose", "needs_person", "parse_answer"]

SCOPE_OPTION: Final[Mapping[Scope, str]] = {
    Scope.CHANGE: "",
    Scope.TREE: " --scope tree",
    Scope.TEXT: " --scope text",
}
"""What `counterpoint consent grant` is told of each scope."""


class Subject(StrEnum):
    AGENTS = "leave to take these agents"
    CONSENT = "consent"
    TRUST = "trust"


class Answer(StrEnum):
    YES = "yes"
    NO = "no"
    QUIT = "quit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question; a yes to consent grants every destination on the screen, one to agents takes all of them."""

    subject: Subject
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    text: str
    questions: tuple[Question, ...]
    """In the order in which to ask them, below the text."""


def compose(asked: Wanted, *, repository: str, until: str, own_branch: bool, settings_file: str = "") -> Screen:
    """Return the screen for what is still open.

    Args:
        asked: what `permission.still_open` returned; not settled.
        repository: its top folder, or where a case of words stands outside any; for people.
        until: stamp of the end of the grants that a yes makes.
        own_branch: whether a yes to trust is remembered.
        settings_file: the person's, where a yes to the proposed agents goes.
    """
    blocks = [[f"{asked.what.capitalize()} in {_line(repository)}", "", *_agents(asked)]]
    questions: list[Question] = []
    if asked.proposed:
        blocks.append(list(_proposed(asked, settings_file)))
        questions.append(Question(subject=Subject.AGENTS, prompt="Use them? [y/N/q] "))
    if asked.sending:
        blocks.append(list(_consent(asked, repository, until)))
        questions.append(Question(subject=Subject.CONSENT, prompt="Send it? [y/N/q] "))
    if asked.running:
        blocks.append(list(_trust(asked, own_branch=own_branch)))
        questions.append(Question(subject=Subject.TRUST, prompt="Run them? [y/N/q] "))
    text = "\n\n".join("\n".join(block) for block in blocks) + "\n"
    return Screen(text=text, questions=tuple(questions))


def _agents(asked: Wanted) -> Iterator[str]:
    for agent in asked.agents:
        where = "stays on this machine" if agent.destination == LOCAL else f"sends to {agent.destination}"
        model = f", model {_line(agent.model)}" if agent.model else ""
        yield f"  {agent.name} ({agent.kind}{model}): {where}"


def _proposed(asked: Wanted, settings_file: str) -> Iterator[str]:
    yield "Agents. These were found on this machine:"
    for each in asked.proposed:
        yield f"  {each.name}: {_line(each.why)}"
    yield f"A yes adds what is new to {_line(settings_file)}; `counterpoint agents` shows it."


def _consent(asked: Wanted, place: str, until: str) -> Iterator[str]:
    yield "Consent. This would leave this machine:"
    for each in asked.sending:
        yield f"  the {each.scope}, to {each.destination}, for {' and '.join(each.agents)}"
    yield f"A yes is kept for {_line(place)} until {until}; `counterpoint consent list` shows it."


def _trust(asked: Wanted, *, own_branch: bool) -> Iterator[str]:
    on_what = ", on the code under review" if asked.what == "review" else ""
    yield f"Trust. These commands would run here with your permissions{on_what}:"
    for each in asked.running:
        yield from _command(each)
    if own_branch:
        yield "A yes is kept for this checkout's own branches; `counterpoint trust list` shows it."
    else:
        yield "This change was fetched from elsewhere. A yes is for this run alone."


def _command(each: Running) -> Iterator[str]:
    given = f"; given {', '.join(each.given)}" if each.given else ""
    yield f"  {_line(shlex.join(each.argv))}"
    yield f"    {_line(each.why)}{given}"


def _line(text: str) -> str:
    return visible(text).replace("\n", "\\u{a}").replace("\t", "\\u{9}")


def parse_answer(text: str | None) -> Answer | None:
    """Return what a typed line says: no by default, quit at the end of input (None), None to ask again."""
    match text.strip().lower() if text is not None else "quit":
        case "y" | "yes":
            return Answer.YES
        case "" | "n" | "no":
            return Answer.NO
        case "q" | "quit":
            return Answer.QUIT
        case _:
            return None


def needs_person(asked: Wanted, *, own_branch: bool = True, place: str = "") -> NeedsPerson:
    """Return the error for a run that cannot ask: no terminal, and no flag that answers.

    Args:
        asked: what is still open.
        own_branch: whether a kept answer would cover it.
        place: ` --repo DIR` where the commands of the hint need it.
    """
    new = [each for each in asked.proposed if each.add]
    missing = [f"leave to take {each.name!r}, which nobody set up" for each in new]
    missing += [f"consent to send the {each.scope} to {each.destination!r}" for each in asked.sending]
    flags = [f"--consent {each.destination}" for each in asked.sending]
    commands = [
        f"`counterpoint consent grant {each.destination}{SCOPE_OPTION[each.scope]}{place}`" for each in asked.sending
    ]
    if asked.running:
        count = "1 command" if len(asked.running) == 1 else f"{len(asked.running)} commands"
        missing.append(f"the answer whether {count} may run unboxed in this checkout")
        flags.append("--trust-commands")
        commands += [f"`counterpoint trust grant{place}`"] if own_branch else []
    steps = [f"run {' and '.join(f'`{each.add}`' for each in new)}"] if new else []
    if flags:
        steps.append(f"pass `{' '.join(flags)}` for this run")
    hint = "; then ".join(steps)
    if commands:
        hint += f", or run {' and '.join(commands)}"
    return NeedsPerson(f"a person is needed: {', and '.join(missing)}", hint=hint)
