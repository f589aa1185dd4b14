"""Cases on disk: where a repository keeps them, how one is named, and one loaded whole for reading.

`.counterpoint/cases/<case>/` holds a case's channel, vault and reports. `.counterpoint/` ignores itself through its
own `.gitignore`. A case is named on the command line by any unambiguous end or beginning of its name.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from counterpoint.core.case import CaseState
from counterpoint.core.entries import CaseOpened, Entry
from counterpoint.core.outcome import Outcome
from counterpoint.core.rules import Rules
from counterpoint.drive.casefile import read_entries
from counterpoint.drive.imported import Imported
from counterpoint.errors import Corrupt, Refused, SourceError, UnknownEntry
from counterpoint.record.store import Block, Store

__all__ = [
    "HOME",
    "PROTOCOLS",
    "SUPERVISOR",
    "LoadedCase",
    "case_name",
    "find_case",
    "fold_case",
    "list_cases",
    "load_case",
    "make_home",
]

HOME: Final = ".counterpoint"
SUPERVISOR: Final = "owner"
"""Who may speak in every case and has a seat in none."""
PROTOCOLS: Final[Mapping[str, Rules[CaseState]]] = Imported(
    {name: f"counterpoint.protocols.{name}:{name.upper()}" for name in ("review", "answer", "propose", "ballot")}
)
"""The rules of each protocol of cases; its module is imported when a case of it is met."""

_CASE_NAME: Final = re.compile(r"[a-z]+-[0-9]{8}t[0-9]{6}z-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedCase:
    """A case read whole."""

    name: str
    folder: Path
    blocks: tuple[Block, ...]
    entries: tuple[Entry, ...]
    state: CaseState
    outcome: Outcome


def case_name(protocol: str, now: datetime, token: str) -> str:
    """Return a new case's name: protocol, UTC stamp, and eight hex digits, the last four of them random.

    The first four are the fraction of the second, so that names sort by age.
    """
    fraction = now.microsecond * 0x10000 // 1_000_000
    return f"{protocol}-{now.astimezone(UTC):%Y%m%dt%H%M%Sz}-{fraction:04x}{token[-4:]}"


def make_home(root: Path) -> Path:
    """Make `.counterpoint/cases` below `root`, ignored by git through its own ignore file.

    Raises:
        SourceError: it cannot be made, or a link stands in its place: a repository could lead it anywhere.
    """
    home = root / HOME
    cases = home / "cases"
    if link := next((place for place in (home, cases, home / ".gitignore") if place.is_symlink()), None):
        raise SourceError(
            f"{link} is a link; cases are kept in a folder of their own",
            hint="remove the link, or name another folder with --root DIR",
        )
    try:
        cases.mkdir(parents=True, exist_ok=True)
        ignore = home / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise SourceError(
            f"{cases} cannot be made: {error.strerror}", hint="name a folder that can be written with --root DIR"
        ) from None
    return cases


def list_cases(cases: Path) -> tuple[str, ...]:
    """Return the names of the cases in a folder, oldest first."""
    if not cases.is_dir():
        return ()
    found = [p.name for p in cases.iterdir() if p.is_dir() and _CASE_NAME.fullmatch(p.name)]
    return tuple(sorted(found, key=lambda name: name.split("-", 1)[1]))


def find_case(cases: Path, wanted: str) -> str:
    """Return the one case whose name is or holds `wanted`; `last` is the newest.

    Raises:
        SourceError: none or several match.
    """
    names = list_cases(cases)
    if wanted == "last" and names:
        return names[-1]
    ends = [n for n in names if n.startswith(wanted) or n.endswith(wanted)]
    found = [n for n in names if n == wanted] or ends or [n for n in names if wanted in n]
    if len(found) == 1:
        return found[0]
    if not found:
        raise SourceError(f"no case {wanted!r} among the {len(names)} in {cases}", hint="run `counterpoint cases`")
    raise SourceError(f"{wanted!r} fits {len(found)} cases: {', '.join(found[:5])}", hint="write more of the name")


def load_case(store: Store, cases: Path, name: str) -> LoadedCase:
    """Read a case whole and fold it.

    Raises:
        RecordError: the record cannot be read, or the rules refuse one of its entries.
    """
    return fold_case(name, cases / name, read_entries(store, name))


def fold_case(name: str, folder: Path, pairs: Sequence[tuple[Block, Entry]]) -> LoadedCase:
    """Replay a case's entries through its rules.

    Raises:
        Corrupt: they are not this case's, or the rules refuse one of them.
        UnknownEntry: the protocol is not one that this version knows.
    """
    first = pairs[0][1]
    if not isinstance(first, CaseOpened):
        raise Corrupt(name, pairs[0][0].n, f"a case begins with case-opened, not {pairs[0][0].type}")
    if first.case != name:
        raise Corrupt(name, pairs[0][0].n, f"it opens the case {first.case!r}; this one is called {name!r}")
    rules = PROTOCOLS.get(first.protocol)
    if rules is None:
        raise UnknownEntry("case-opened", f"protocol {first.protocol!r}; known: {', '.join(PROTOCOLS)}")
    state = rules.initial
    for block, entry in pairs:
        try:
            state = rules.apply(state, entry)
        except Refused as error:
            raise Corrupt(name, block.n, f"the rules refuse this entry: {error}") from None
    return LoadedCase(
        name=name,
        folder=folder,
        blocks=tuple(block for block, _ in pairs),
        entries=tuple(entry for _, entry in pairs),
        state=state,
        outcome=rules.outcome(state),
    )
