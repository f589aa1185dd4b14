"""The lines that a debate is made of, section by section, without what stands in code. Any other line is nobody's.

A document is read by the lines that are looked for in it. That none is there besides, and none twice, is held here: a
reader sees a vote wherever it stands.
"""

import re
from collections.abc import Iterator
from typing import Final

from counterpoint.protocols.ballot.forms import Needs, Vote, Weight

__all__ = ["SEALED", "stray_lines"]

SEALED: Final = "The votes are sealed until all are in."

_Rows = tuple[re.Pattern[str], ...]


def _rows(*patterns: str) -> _Rows:
    return tuple(map(re.compile, patterns))


def _any_of(words: type[Vote] | type[Needs] | type[Weight]) -> str:
    return f"(?:{'|'.join(words)})"


_NAME: Final = "`[^`]*`"
_ON: Final = "on v[0-9]{1,6}"
_DATE: Final = r"- Date: \S+"
_MISSING: Final = rf"- Vote: \*\*{Vote.REJECTED}\*\* {_ON}, since no valid vote came in time"
_SECTIONS: Final[tuple[tuple[re.Pattern[str], _Rows, _Rows], ...]] = (
    (
        re.compile(""),
        _rows(
            rf"- Case: {_NAME}, round [0-9]+ of at most [0-9]{{1,6}}",
            rf"- Reviewed: v[0-9]{{1,6}}, SHA-256 {_NAME}",
            rf"- Orchestrator: {_NAME}, which has no vote",
            rf"- Roster: {_NAME}(?:, {_NAME})*",
            rf"- Deadline: (?:{_NAME}|none)",
            re.escape(SEALED),
        ),
        (),
    ),
    (
        re.compile(f"### {_NAME}"),
        _rows(
            rf"- Agent: {_NAME}, party {_NAME}; its session, if it keeps one, is not written here",
            _DATE,
            rf"- Vote: \*\*{_any_of(Vote)}\*\* {_ON}|- Vote: none {_ON}|{_MISSING}",
        ),
        _rows(rf"Reservation {_NAME}, which needs {_any_of(Needs)}:"),
    ),
    (re.compile(f"### {_NAME} classifies"), _rows(_DATE), _rows(rf"{_NAME} is {_any_of(Weight)}:")),
    (re.compile(f"### {_NAME} (?:challenges|lets it pass)"), _rows(_DATE), _rows(f"{_NAME} is not cosmetic:")),
    (re.compile(f"### {_NAME} writes v[0-9]{{1,6}}"), _rows(_DATE), _rows(f"To {_NAME}:")),
    (re.compile("### What it came to"), _rows(r"- Decision: \*\*[a-z_]+\*\* \([a-z_]+\)"), _rows("- .+")),
    (
        re.compile("## Unresolved Divergence"),
        _rows(
            r"[0-9]+ of [0-9]+ rounds are spent, and v[0-9]+ is not approved by all\."
            r" The program decides nothing here; a person has to\."
        ),
        (),
    ),
    (
        re.compile("### The position of (?:`[^`]*`|those who do not approve it)"),
        _rows(r"v[0-9]+, as it stands above\.", rf"Without a valid vote: {_NAME}(?:, {_NAME})*\."),
        _rows(rf"To {_NAME}, of the round before:", f"{_NAME}, {_NAME}:"),
    ),
)
"""Of each section its heading, the lines that stand there once at most, and those that may stand there again."""
_CLAIMED: Final = re.compile("- (?:Vote|Decision|Reviewed|Date|Roster|Case|Deadline|Orchestrator|Agent):.*")


def stray_lines(block: str) -> Iterator[str]:
    """Yield the lines of a round's block, below its heading, that no section has there, or that stand twice."""
    _, once, often = _SECTIONS[0]
    seen = set[re.Pattern[str]]()
    for line in filter(None, block.split("\n")):
        if line.startswith("#"):
            section = next((each for each in _SECTIONS[1:] if each[0].fullmatch(line)), None)
            _, once, often = section or (None, (), ())
            seen = set()
            if section is None:
                yield line
            continue
        row = next((row for row in once if row.fullmatch(line)), None)
        is_free = row is None and any(row.fullmatch(line) for row in often) and not _CLAIMED.fullmatch(line)
        if not is_free and (row is None or row in seen):
            yield line
        elif row is not None:
            seen.add(row)
