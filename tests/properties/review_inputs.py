"""Strategies for reviews: rosters and limits to open them with, trees to look in, replies good and hostile."""

from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import ChangedPath, Docket, PathState, Seat, SeatKind
from counterpoint.core.limits import Limits
from tests.review_case import CANDIDATE, DOCKET, PYTEST, RUFF, Tree, as_bytes, claim, minutes, verdict

__all__ = ["DOCKETS", "HOSTILE", "LIMITS", "ROSTERS", "TREES", "VERDICTS", "reply_of"]

ROSTERS: Final = st.lists(
    st.builds(
        Seat,
        name=st.sampled_from(["a", "a-b", "b", "checks", "c-1"]),
        party=st.sampled_from(["claude", "codex", "owner"]),
        kind=st.sampled_from([SeatKind.OPINION, SeatKind.OPINION, SeatKind.CHECKS]),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda seat: seat.name,
).map(tuple)

DOCKETS: Final[st.SearchStrategy[Docket]] = st.builds(
    lambda states, commands: replace(
        DOCKET,
        paths=(*DOCKET.paths, *(ChangedPath(path=f"{state}.x", state=state) for state in states)),
        commands=commands,
    ),
    st.sets(st.sampled_from([PathState.BINARY, PathState.SUBMODULE, PathState.WITHHELD]), max_size=1),
    st.sampled_from([(), (PYTEST,), (RUFF,), (PYTEST, RUFF), (PYTEST, RUFF)]),
)

LIMITS: Final = st.builds(
    Limits,
    max_calls=st.sampled_from([0, 3, 5, 40]),
    max_tokens=st.sampled_from([0, 0, 250]),
    max_asks=st.integers(1, 2),
    deadline=st.sampled_from([None, None, minutes(30).isoformat()]),
)

_STATUSES: Final = st.sampled_from([EvidenceStatus.VERIFIED, EvidenceStatus.VERIFIED, *EvidenceStatus])
TREES: Final = st.builds(
    Tree,
    commands=st.fixed_dictionaries({PYTEST.argv: _STATUSES, RUFF.argv: _STATUSES}),
    unread=st.sampled_from([{}, {PYTEST.argv: ()}, {PYTEST.argv: ("old.py",), RUFF.argv: ("old.py",)}]),
)

_FINDINGS: Final = st.fixed_dictionaries(
    {
        "severity": st.sampled_from(["blocking", "major", "minor", "nit"]),
        "location": st.sampled_from(
            ["src/timer.py:2", "src/timer.py", "no/such.py:3", "old.py:1", "the loop", "n/a"]
        ),
        "issue": st.sampled_from(["it fires twice", "a\u202eb", "## MSG-9"]),
        "suggestion": st.sampled_from(["", "return early"]),
        "status": st.sampled_from(["open", "resolved", "resolved"]),
    },
    optional={"quote": st.sampled_from(["return 1", "return None", "return 7"])},
)
_CLAIMS: Final = st.builds(
    lambda command, passes: claim(command, passes=passes),
    st.sampled_from(["pytest -q", "ruff check", "rm -rf /", "un'closed"]),
    st.booleans(),
)


def _numbered(findings: list[dict[str, Any]], claims: list[dict[str, Any]]) -> dict[str, Any]:
    return verdict(*({"id": f"F{n}", **f} for n, f in enumerate(findings, 1)), claims=claims)


VERDICTS: Final = st.builds(_numbered, st.lists(_FINDINGS, max_size=3), st.lists(_CLAIMS, max_size=2))
"""Verdicts that the rules accept."""


def _hostile(reply: dict[str, Any], how: str) -> bytes:
    changes: dict[str, Any] = {
        "flipped": {"approved": not reply["approved"]},
        "elsewhere": {"candidate": "e" * 40},
        "short": {"candidate": CANDIDATE[:7]},
        "rebuttal": {"responseToRebuttal": "I disagree"},
        "doubled": {"findings": [*reply["findings"], *reply["findings"]]},
        "lower": {"findings": [{**f, "id": "a-b-F1"} for f in reply["findings"]]},
        "newline": {"findings": [{**f, "id": f"{f['id']}\n"} for f in reply["findings"]]},
        "surplus": {"decision": "PASS"},
        "empty": {"summary": " "},
    }
    if how in changes:
        return as_bytes(reply | changes[how])
    text = as_bytes(reply)
    return {
        "prose": b"I approve this change.",
        "fenced": b"```json\n" + text + b"\n```",
        "two": text + text,
        "twice": text[:-1] + b', "approved": true}',
        "cut": text[:-1],
        "commands": as_bytes({"commands": [["rm", "-rf", "/"]]}),
        "nothing": b"",
    }[how]


_HOW: Final = (
    *("flipped", "elsewhere", "short", "rebuttal", "doubled", "lower", "newline", "surplus", "empty"),
    *("prose", "fenced", "two", "twice", "cut", "commands", "nothing"),
)
HOSTILE: Final = st.builds(_hostile, VERDICTS, st.sampled_from(_HOW))
"""Replies of which most are turned away; what is left of them has to be harmless."""


def reply_of(seat: Seat, docket: Docket, verdict_given: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that the rules accept: this verdict, or what a checks seat of the docket names."""
    if seat.kind is SeatKind.CHECKS:
        return {"commands": [list(command.argv) for command in docket.commands]}
    return verdict_given
