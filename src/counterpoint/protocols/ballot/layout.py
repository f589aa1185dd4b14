"""The document as a file: title, version heading, text, debate (SPEC B-03). Reading one, and what the parts are.

    # Title

    ## Current Consolidated Version — v2

    The text.

    ## Debate — Round 1
    ...

The text is what stands between the line end of the version heading and the first byte of the first debate heading. A
text that the rules admit holds neither heading, so there is one way to read a document.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from counterpoint.core.canonical import visible
from counterpoint.errors import SourceError
from counterpoint.protocols.ballot.forms import Vote
from counterpoint.protocols.ballot.grammar import SEALED, stray_lines
from counterpoint.protocols.ballot.text import version_heading

__all__ = ["Document", "WrittenRound", "WrittenVote", "head_of", "read_debate", "read_document"]

_VERSION: Final = re.compile(r"^## Current Consolidated Version — v\[?([1-9][0-9]{0,5})\]?[ \t]*$", re.MULTILINE)
_DEBATE: Final = re.compile(r"^## Debate — Round ([1-9][0-9]{0,5})$", re.MULTILINE)
_TITLE: Final = re.compile(r"#{1,6}[ \t]+(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document, read."""

    title: str
    version: int
    """0 where there is no version heading: a plain text."""
    text: str
    """Exactly the bytes between the two headings, decoded; of a plain text, all of it but its title."""
    debate: str
    """Everything from the first debate heading on."""
    line: int
    """The number of the line that the text begins in."""
    has_title: bool = True
    """Whether it has a heading of its own: a plain text may have none."""


def head_of(title: str, version: int) -> str:
    """Return what stands above the text."""
    return f"# {title}\n\n{version_heading(version)}\n"


def read_document(content: str, *, name: str) -> Document:
    """Return the parts of a document; a plain text is one whose first heading, at its top, is the title.

    Args:
        content: the file's text.
        name: the title of a text that begins with none.

    Raises:
        SourceError: it has a version heading that is not in its place, or two.
    """
    found = _VERSION.search(content)
    if found is None:
        return _plain(content, name)
    above = [line for line in content[: found.start()].split("\n") if line.strip()]
    title = _TITLE.fullmatch(above[0]) if len(above) == 1 else None
    if title is None:
        raise SourceError(
            f"the version heading of {name} follows {len(above)} lines; above it stands the title and nothing else",
            hint="put one line `# Title` above it, and all of the text below it",
        )
    start = found.end() + 1
    debate = _DEBATE.search(content, start)
    end = debate.start() if debate else len(content)
    return Document(
        title=_one_line(title[1]),
        version=int(found[1]),
        text=content[start:end],
        debate=content[end:],
        line=content.count("\n", 0, start) + 1,
    )


def _plain(content: str, name: str) -> Document:
    if stray := _DEBATE.search(content):
        raise SourceError(
            f"{name} has the heading {stray[0]!r} and no version heading above it",
            hint="give it its `## Current Consolidated Version — v1`, or take the debate out",
        )
    first, _, rest = content.lstrip("\n").partition("\n")
    title = _TITLE.fullmatch(first.rstrip())
    if title is None or not title[1].strip("# \t"):
        return Document(title=_one_line(name), version=0, text=content, debate="", line=1, has_title=False)
    line = content.count("\n", 0, len(content) - len(rest)) + 1
    return Document(title=_one_line(title[1]), version=0, text=rest, debate="", line=line)


def _one_line(title: str) -> str:
    return " ".join(visible(title).split())


# --- the debate


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenVote:
    """A vote as a document has it."""

    seat: str
    at: str
    """Empty where it is missing."""
    vote: str
    """Empty where the case ended before it could be given."""
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRound:
    """A round's debate block, as far as it can be checked."""

    number: int
    case: str
    version: int
    candidate: str
    roster: tuple[str, ...]
    deadline: str
    """Empty: none."""
    most: int
    """Rounds at most."""
    votes: tuple[WrittenVote, ...]
    is_over: bool
    """Whether its votes are revealed."""
    orchestrator: str
    """Empty: nobody is named."""
    decision: str
    """Of the case, where it ended in this round; empty otherwise."""
    strays: tuple[str, ...]
    """Lines that no debate has there."""


_CASE: Final = re.compile(r"- Case: `([^`]*)`, round (?=[0-9]+ of at most ([0-9]{1,6}))([0-9]{1,6}) of.*")
_REVIEWED: Final = re.compile(r"- Reviewed: v([0-9]{1,6}), SHA-256 `([0-9a-f]{64})`")
_ORCHESTRATOR: Final = re.compile(r"- Orchestrator: `([^`]*)`, which has no vote")
_DECISION: Final = re.compile(r"- Decision: \*\*([a-z_]+)\*\* \([a-z_]+\)")
_ROSTER: Final = re.compile(r"- Roster: (.*)")
_DEADLINE: Final = re.compile(r"- Deadline: (?:`([^`]*)`|none)")
_SEAT: Final = re.compile(r"### `([^`]*)`")
_DATE: Final = re.compile(r"- Date: (\S*)")
_VOTE: Final = re.compile(rf"- Vote: (?:\*\*({'|'.join(Vote)})\*\*|none) on v([0-9]{{1,6}})(?:,.*)?")


def read_debate(debate: str) -> tuple[WrittenRound, ...]:
    """Return the rounds of a debate, in the order in which they stand there.

    Raises:
        SourceError: a block has not what every block has.
    """
    parts = _DEBATE.split(_without_fences(debate))
    return tuple(_round(int(number), block) for number, block in zip(parts[1::2], parts[2::2], strict=True))


def _without_fences(text: str) -> str:
    """Return the text without what stands in code: nobody's words are a part of the debate's structure."""
    kept, fence = list[str](), ""
    for line in text.split("\n"):
        run = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if line == fence else fence
        elif len(run) >= len("```"):
            fence = run
        else:
            kept.append(line)
    return "\n".join(kept)


def _round(number: int, block: str) -> WrittenRound:
    lines = block.split("\n")
    case, reviewed = _first(_CASE, lines, number), _first(_REVIEWED, lines, number)
    return WrittenRound(
        number=number,
        case=case[1],
        most=int(case[2]),
        version=int(reviewed[1]),
        candidate=reviewed[2],
        roster=tuple(re.findall(r"`([^`]*)`", _first(_ROSTER, lines, number)[1])),
        deadline=_first(_DEADLINE, lines, number)[1] or "",
        votes=tuple(_votes(lines)),
        is_over=SEALED not in lines,
        orchestrator=_said_in(_ORCHESTRATOR, lines),
        decision=_said_in(_DECISION, lines),
        strays=(*stray_lines(block), *(() if int(case[3]) == number else (case[0],))),
    )


def _first(pattern: re.Pattern[str], lines: list[str], number: int) -> re.Match[str]:
    found = next((match for line in lines if (match := pattern.fullmatch(line))), None)
    if found is None:
        what = pattern.pattern.partition(":")[0].removeprefix("- ")
        raise SourceError(f"the debate of round {number} does not say its {what}", hint="compare it with its case")
    return found


def _said_in(pattern: re.Pattern[str], lines: list[str]) -> str:
    return next((match[1] for line in lines if (match := pattern.fullmatch(line))), "")


def _votes(lines: list[str]) -> Iterator[WrittenVote]:
    seat, at = "", ""
    for line in lines:
        if line.startswith("#"):
            heading = _SEAT.fullmatch(line)
            seat, at = heading[1] if heading else "", ""
        elif seat and (date := _DATE.fullmatch(line)):
            at = date[1]
        elif seat and (vote := _VOTE.fullmatch(line)):
            yield WrittenVote(seat=seat, at=at, vote=vote[1] or "", version=int(vote[2]))
