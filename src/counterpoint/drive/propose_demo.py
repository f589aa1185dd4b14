"""The material of `counterpoint propose --demo`: a requirement and five answers to it, two rounds to agreement."""

import json
from pathlib import Path
from typing import Any, Final

__all__ = ["CRITIC", "PROPOSER", "REQUIREMENT", "build_demo"]

PROPOSER: Final = "proposer"
CRITIC: Final = "critic"
REQUIREMENT: Final = "Let users export their data."
_MODEL: Final = "a script"

_FIRST: Final[dict[str, Any]] = {
    "needs_clarification": False,
    "clarification_questions": [],
    "problem_statement": "Users cannot take their data away, and ask support for it.",
    "goal": "Each user starts an export and fetches it.",
    "success_criteria": ["an export of 1 GB is ready within ten minutes", "support is no longer asked for one"],
    "assumptions": ["an account fits on one disk"],
    "options": [
        {
            "id": "mail",
            "title": "Prepare a ZIP and mail its address",
            "approach": "A job writes the ZIP; the user gets an address that holds for a day.",
            "tradeoffs": ["it has to be stored for a day"],
        },
        {
            "id": "stream",
            "title": "Stream a ZIP at once",
            "approach": "The endpoint writes it while the browser waits.",
            "tradeoffs": ["it cannot be resumed", "a slow line holds a worker"],
        },
    ],
    "recommendation": "Prepare a ZIP in a job: large accounts would time out otherwise.",
    "recommended_option_id": "mail",
    "implementation_steps": ["write the job", "mail the address", "delete the file after a day"],
    "conditions": ["the mail server may be used for it"],
    "validation_steps": ["export the largest account", "try to fetch it as somebody else"],
    "public_summary": "A job prepares a ZIP, and its address is mailed.",
    "responses": [],
}
_SCAN: Final[dict[str, Any]] = {
    "needs_clarification": False,
    "clarification_questions": [],
    "success_criteria": ["nobody but its user can fetch an export"],
    "risk_areas": [
        {
            "id": "R1",
            "concern": "An export reaches somebody else.",
            "check": "fetch it from another account and without one",
            "severity": "critical",
        },
        {
            "id": "R2",
            "concern": "Exports of many users at once starve other work.",
            "check": "start a hundred and watch the queue",
            "severity": "medium",
        },
    ],
    "public_summary": "Mind who can fetch it, and what a rush does.",
}
_REVIEW: Final[dict[str, Any]] = {
    "reviewed_version": 1,
    "issue_evaluations": [],
    "new_issues": [
        {
            "id": "I1",
            "title": "Whoever has the address has the data",
            "description": "A mail is forwarded or read by others, and the address alone opens the file.",
            "target": "implementation_steps",
            "resolution_criterion": "fetching asks for the user's own session",
            "severity": "critical",
        },
        {
            "id": "I2",
            "title": "Nothing limits how many exports run",
            "description": "A rush of users fills the queue of the jobs.",
            "target": "options",
            "resolution_criterion": "exports have a queue of their own",
            "severity": "medium",
        },
    ],
    "conditions": [],
    "next_steps": [],
    "clarification_questions": [],
    "public_summary": "Sound, but for who can fetch it.",
    "assessment": "revise",
}
_SECOND: Final[dict[str, Any]] = _FIRST | {
    "implementation_steps": [
        "write the job, in a queue of its own",
        "mail the address, which asks for the user's session",
        "delete the file after a day",
    ],
    "public_summary": "As before; fetching asks for the session, and exports have their own queue.",
    "responses": [
        {
            "issue_id": "I1",
            "summary": "It is right.",
            "change": "the second step asks for the session",
            "action": "fix",
        },
        {"issue_id": "I2", "summary": "It is right.", "change": "the first step names a queue", "action": "fix"},
    ],
}
_AGAIN: Final[dict[str, Any]] = _REVIEW | {
    "reviewed_version": 2,
    "issue_evaluations": [
        {"issue_id": "I1", "rationale": "A forwarded address opens nothing now.", "status": "resolved"},
        {"issue_id": "I2", "rationale": "A rush delays exports and nothing else.", "status": "resolved"},
    ],
    "new_issues": [],
    "next_steps": ["measure the queue in the first week"],
    "public_summary": "Nothing stands in its way.",
    "assessment": "accept",
}


def build_demo(folder: Path) -> None:
    """Write settings with two agents that answer from a script into `folder`."""
    said = (
        ("proposing", 1, PROPOSER, _FIRST),
        ("proposing", 1, CRITIC, _SCAN),
        ("reviewing", 1, CRITIC, _REVIEW),
        ("revising", 2, PROPOSER, _SECOND),
        ("reviewing", 2, CRITIC, _AGAIN),
    )
    rows = [
        {"phase": phase, "round": number, "seat": seat, "model": _MODEL, "answer": answer}
        for phase, number, seat, answer in said
    ]
    script = folder / "script.json"
    script.write_text(json.dumps({"reply": rows}), encoding="utf-8")
    named = "".join(
        f'[agents.{name}]\nkind = "scripted"\nfile = {json.dumps(str(script))}\n' for name in (PROPOSER, CRITIC)
    )
    (folder / "config.toml").write_text(named, encoding="utf-8")
