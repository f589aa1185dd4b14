"""Strategies for reviews: rosters, terms and limits, trees to look in, replies good and hostile, in any round."""

from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from counterpoint.core.case import CaseState
from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import ChangedPath, Docket, PathState, Seat, SeatKind, Terms
from counterpoint.core.findings import Finding
from counterpoint.core.limits import Limits
from counterpoint.core.values import Severity
from tests.review_case import (
    AUTHOR,
    CANDIDATE,
    DOCKET,
    PYTEST,
    RUFF,
    Tree,
    answered,
    as_bytes,
    claim,
    finding,
    given,
    minutes,
    verdict,
)

__all__ = [
    "ANSWERS",
    "DOCKETS",
    "HOSTILE",
    "OBJECTIONS",
    "PLANS",
    "ROSTERS",
    "TERMS",
    "TREES",
    "VERDICTS",
    "agreement",
    "reply_of",
]

TIMER: Final = "src/timer.py"
_REVIEWERS: Final = st.lists(
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
ROSTERS: Final = st.builds(
    lambda author, reviewers: (*author, *reviewers), st.sampled_from([(), (AUTHOR,), (AUTHOR,)]), _REVIEWERS
)
TERMS: Final = st.builds(Terms, block_on=st.sampled_from([Severity.NIT, Severity.NIT, *Severity]))

DOCKETS: Final[st.SearchStrategy[Docket]] = st.builds(
    lambda states, commands: replace(
        DOCKET,
        paths=(*DOCKET.paths, *(ChangedPath(path=f"{state}.x", state=state) for state in states)),
        commands=commands,
    ),
    st.sets(st.sampled_from([PathState.BINARY, PathState.SUBMODULE, PathState.WITHHELD]), max_size=1),
    st.sampled_from([(), (PYTEST,), (RUFF,), (PYTEST, RUFF), (PYTEST, RUFF)]),
)

_LIMITS: Final = st.builds(
    Limits,
    max_rounds=st.sampled_from([0, 1, 2, 3]),
    max_calls=st.sampled_from([0, 3, 9, 40]),
    max_tokens=st.sampled_from([0, 0, 500]),
    max_asks=st.integers(1, 2),
    deadline=st.sampled_from([None, None, minutes(30).isoformat()]),
)

_STATUSES: Final = st.sampled_from([EvidenceStatus.VERIFIED, EvidenceStatus.VERIFIED, *EvidenceStatus])
TREES: Final = st.builds(
    Tree,
    commands=st.fixed_dictionaries({PYTEST.argv: _STATUSES, RUFF.argv: _STATUSES}),
    unread=st.sampled_from([{}, {PYTEST.argv: ()}, {PYTEST.argv: ("old.py",), RUFF.argv: ("old.py",)}]),
)

PLANS: Final = st.fixed_dictionaries({"docket": DOCKETS, "limits": _LIMITS, "terms": TERMS, "tree": TREES})
"""What a case is opened with beside its roster, and what code finds in it."""

_FINDINGS: Final = st.fixed_dictionaries(
    {
        "severity": st.sampled_from(["blocking", "major", "minor", "nit"]),
        "location": st.sampled_from(
            ["src/timer.py:2", "src/timer.py", "no/such.py:3", "old.py:1", "the loop", "n/a"]
        ),
        "issue": st.sampled_from(["it fires twice", "a\u202eb", "## MSG-9"]),
        "suggestion": st.sampled_from(["", "return early"]),
        "status": st.sampled_from(["open", "open", "resolved", "resolved", "deferred"]),
        "reason": st.just("the release"),
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
"""Verdicts that the rules accept in a first reading."""
OBJECTIONS: Final = st.builds(_numbered, st.lists(_FINDINGS, min_size=1, max_size=3), st.just([]))
"""Those that name something, open or not."""


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
        "unanswered": as_bytes(given()),
        "closes": as_bytes(given(answered("settled"))),
        "rules": as_bytes(given(rulings=[{"id": "F1", "ruling": "settled"}])),
        "outside": as_bytes(given(answered("fix"), changed=["../x"])),
        "denies": as_bytes(given(answered("rebut"))),
    }[how]


_HOW: Final = (
    *("flipped", "elsewhere", "short", "rebuttal", "doubled", "lower", "newline", "surplus", "empty"),
    *("prose", "fenced", "two", "twice", "cut", "commands", "nothing"),
    *("unanswered", "closes", "rules", "outside", "denies"),
)
HOSTILE: Final = st.builds(_hostile, VERDICTS, st.sampled_from(_HOW))
"""Replies of which most are turned away; what is left of them has to be harmless."""


ANSWERS: Final = st.builds(
    lambda words, paths: {"words": words, "paths": sorted(paths)},
    st.lists(st.sampled_from(["fix", "rebut", "partial", "accept_risk", "clarify"]), min_size=1, max_size=3),
    st.sets(st.sampled_from([TIMER, "old.py", "new.py"]), min_size=1),
)
"""What an author does: its words for one finding after the other, and the paths that it edits if it edits."""


def reply_of(state: CaseState, seat: Seat, named: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that the rules accept now: of these findings and words, as far as the round allows them."""
    match seat.kind:
        case SeatKind.CHECKS:
            return {"commands": [list(command.argv) for command in state.case.docket.commands]}
        case SeatKind.AUTHOR:
            return _answer(state, answer["words"], answer["paths"])
        case SeatKind.OPINION:
            return _verdict(state, seat.name, named)


def agreement(state: CaseState, seat: Seat) -> dict[str, Any]:
    """Return what a seat says that minds nothing any more, or mends everything."""
    own = [_again(own_id, known, "resolved") for own_id, known in _own(state, seat.name).items()]
    return reply_of(state, seat, verdict(*own), {"words": ["fix"], "paths": [TIMER]})


def _own(state: CaseState, seat: str) -> dict[str, Finding]:
    alone = sum(s.kind is not SeatKind.AUTHOR for s in state.case.roster) == 1
    return {f.id if alone else f.id[len(seat) + 1 :]: f for f in state.ledger if f.seat == seat}


def _again(own_id: str, known: Finding, status: str) -> dict[str, Any]:
    return finding(
        id=own_id, severity=known.severity.value, location=known.location, status=status, reason="so it is"
    )


def _verdict(state: CaseState, seat: str, named: dict[str, Any]) -> dict[str, Any]:
    """Rule on what is known, drop what may not be new, and say truly whether something is left open."""
    own, is_first = _own(state, seat), seat not in state.judged
    edited = frozenset[str]() if is_first else state.changed_since(state.judged[seat])
    findings: list[dict[str, Any]] = []
    for raw in named["findings"]:
        if (known := own.get(raw["id"])) is not None:
            is_closed = not known.is_open and known.location.split(":")[0] not in edited
            status = "resolved" if raw["status"] == "open" and is_closed else raw["status"]
            findings.append(_again(raw["id"], known, status))
        elif is_first:
            findings.append(raw)
        elif edited:
            severity = "minor" if raw["severity"] == "nit" else raw["severity"]
            new = {"id": f"N{state.round}{raw['id']}", "location": min(edited), "severity": severity}
            findings.append(raw | new)
    return named | {"findings": findings, "approved": not _left_open(state, own, findings)}


def _left_open(state: CaseState, own: dict[str, Finding], findings: list[dict[str, Any]]) -> bool:
    is_open = {own_id: (f.severity, f.is_open) for own_id, f in own.items()}
    is_open |= {f["id"]: (Severity(f["severity"]), f["status"] == "open") for f in findings}
    block_on = state.case.terms.block_on
    return any(still and severity.is_at_least(block_on) for severity, still in is_open.values())


def _answer(state: CaseState, words: list[str], paths: list[str]) -> dict[str, Any]:
    due = [f for f in state.ledger if f.is_open and f.severity.is_at_least(state.case.terms.block_on)]
    answers = [answered(words[place % len(words)], f.id) for place, f in enumerate(due)]
    edits = any(answer["disposition"] in {"fix", "partial"} for answer in answers)
    return given(*answers, changed=paths if edits else [])
