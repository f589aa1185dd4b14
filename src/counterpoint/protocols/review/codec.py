"""The reply shapes of a review: JSON Schema, submissions, and the way from one to the other.

The verdict's keys are those of SPEC D-11 (`responseToRebuttal` included). Four more are optional: a finding's `quote`
and `reason`, `claims` about project commands, and `candidate`. In the schema the reason stands before the verdict. An
author answers each finding and lists the paths that it changed (SPEC D-13).
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, assert_never

from counterpoint.core.canonical import visible
from counterpoint.core.docket import SeatKind
from counterpoint.core.findings import OWN_ID, Disposition, FindingStatus
from counterpoint.core.values import Severity

__all__ = [
    "AnswerFindings",
    "CommandClaim",
    "GiveVerdict",
    "NameChecks",
    "NamedAnswer",
    "NamedFinding",
    "Submission",
    "parse_reply",
    "schema_for",
]

_TEXT: Final = {"type": "string", "maxLength": 20_000}
_WORDS: Final = {"type": "string", "minLength": 1, "maxLength": 20_000, "pattern": r"\S"}

_FINDING: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "severity", "location", "issue", "suggestion", "status"],
    "properties": {
        "id": {"type": "string", "pattern": f"^{OWN_ID.pattern}$", "description": "F1, F2, ..."},
        "location": {**_WORDS, "maxLength": 1000, "description": "path:line, a path, or words"},
        "quote": {
            **_WORDS,
            "maxLength": 4000,
            "description": "text copied letter by letter from that file; code looks whether it stands there",
        },
        "issue": _WORDS,
        "suggestion": {**_TEXT, "description": "what would settle it"},
        "severity": {"enum": [s.value for s in Severity]},
        "reason": {**_TEXT, "description": "why it is resolved or deferred, or why it still stands"},
        "status": {"enum": ["open", "resolved", "deferred"]},
    },
}
_CLAIM: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["statement", "command", "passes"],
    "properties": {
        "statement": _WORDS,
        "command": {**_WORDS, "maxLength": 1000, "description": "one of the project commands, as listed"},
        "passes": {"type": "boolean"},
    },
}
_VERDICT: Final[Mapping[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "findings", "responseToRebuttal", "approved"],
    "properties": {
        "summary": _WORDS,
        "findings": {"type": "array", "maxItems": 200, "items": _FINDING},
        "claims": {"type": "array", "maxItems": 50, "items": _CLAIM},
        "responseToRebuttal": {**_TEXT, "description": "empty in round one"},
        "candidate": {"type": "string", "maxLength": 200, "description": "if given: the id of what was judged"},
        "approved": {"type": "boolean", "description": "true only when no finding is open"},
    },
}
_ANSWER: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["finding", "reasoning", "disposition"],
    "properties": {
        "finding": {"type": "string", "minLength": 1, "maxLength": 200, "description": "its id, as in the payload"},
        "reasoning": {**_WORDS, "description": "what was done, or why it is not so"},
        "disposition": {"enum": [d.value for d in Disposition]},
    },
}
_ANSWERS: Final[Mapping[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["summary", "dispositions", "changed"],
    "properties": {
        "summary": {**_WORDS, "maxLength": 2000, "description": "one sentence; it becomes the commit's subject"},
        "dispositions": {"type": "array", "maxItems": 1000, "items": _ANSWER},
        "changed": {
            "type": "array",
            "maxItems": 10_000,
            "items": {"type": "string", "minLength": 1, "maxLength": 4000},
            "description": "every path you changed, added or deleted, from the top of the repository; empty if none",
        },
    },
}
_COMMANDS: Final[Mapping[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["commands"],
    "properties": {
        "commands": {
            "type": "array",
            "maxItems": 200,
            "items": {"type": "array", "minItems": 1, "maxItems": 1000, "items": _TEXT},
        }
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFinding:
    """A finding as a reviewer names it, before it has its place in the ledger."""

    own_id: str
    severity: Severity
    location: str
    issue: str
    suggestion: str
    status: FindingStatus
    quote: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandClaim:
    """What a reviewer says of a project command."""

    statement: str
    argv: tuple[str, ...]
    passes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveVerdict:
    """An opinion seat's answer."""

    summary: str
    findings: tuple[NamedFinding, ...]
    claims: tuple[CommandClaim, ...]
    response_to_rebuttal: str
    candidate: str | None
    approved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NameChecks:
    """A checks seat's answer: the project commands whose result it stands on."""

    commands: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAnswer:
    """The author's answer to one finding, by the finding's id in the ledger."""

    id: str
    disposition: Disposition
    reasoning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFindings:
    """The author's answer to a reading."""

    summary: str
    answers: tuple[NamedAnswer, ...]
    changed: tuple[str, ...]
    """The paths that it says it changed."""


Submission = GiveVerdict | NameChecks | AnswerFindings

_SCHEMAS: Final = MappingProxyType(
    {SeatKind.OPINION: _VERDICT, SeatKind.CHECKS: _COMMANDS, SeatKind.AUTHOR: _ANSWERS}
)
_STATUSES: Final = MappingProxyType(
    {"open": FindingStatus.OPEN, "resolved": FindingStatus.SETTLED, "deferred": FindingStatus.DEFERRED}
)


def schema_for(kind: SeatKind) -> Mapping[str, Any]:
    """Return the schema of the answer that a seat of this kind owes."""
    return _SCHEMAS[kind]


def parse_reply(kind: SeatKind, reply: Mapping[str, Any]) -> Submission:
    """Return the submission in a reply that is valid under `schema_for(kind)`."""
    match kind:
        case SeatKind.CHECKS:
            return NameChecks(commands=tuple(tuple(argv) for argv in reply["commands"]))
        case SeatKind.AUTHOR:
            return AnswerFindings(
                summary=visible(reply["summary"]),
                answers=tuple(_answer(a) for a in reply["dispositions"]),
                changed=tuple(reply["changed"]),
            )
        case SeatKind.OPINION:
            return _verdict(reply)
        case _:
            assert_never(kind)


def _answer(raw: Mapping[str, Any]) -> NamedAnswer:
    return NamedAnswer(
        id=raw["finding"], disposition=Disposition(raw["disposition"]), reasoning=visible(raw["reasoning"])
    )


def _verdict(reply: Mapping[str, Any]) -> GiveVerdict:
    return GiveVerdict(
        summary=visible(reply["summary"]),
        findings=tuple(_finding(f) for f in reply["findings"]),
        claims=tuple(_claim(c) for c in reply.get("claims", ())),
        response_to_rebuttal=visible(reply["responseToRebuttal"]),
        candidate=reply.get("candidate"),
        approved=reply["approved"],
    )


def _finding(raw: Mapping[str, Any]) -> NamedFinding:
    return NamedFinding(
        own_id=raw["id"],
        severity=Severity(raw["severity"]),
        location=visible(raw["location"]).replace("\n", " "),
        issue=visible(raw["issue"]),
        suggestion=visible(raw["suggestion"]),
        status=_STATUSES[raw["status"]],
        quote=raw.get("quote"),
        reason=visible(raw.get("reason", "")).strip(),
    )


def _claim(raw: Mapping[str, Any]) -> CommandClaim:
    try:
        argv = tuple(shlex.split(raw["command"]))
    except ValueError:  # an unclosed quotation: no project command is spelt so
        argv = (raw["command"],)
    return CommandClaim(statement=visible(raw["statement"]), argv=argv, passes=raw["passes"])
