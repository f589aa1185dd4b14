"""The standard cases that `turns.py` times: one of each protocol, with agents that answer at once.

Each is small and whole: it goes through every phase that an ordinary run of its protocol has, and ends agreed. A
longer one has a round more; a review, which has one round, has more seats.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from counterpoint.agents.base import NOT_REPORTED, Agent, Progress, Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.docket import Docket
from counterpoint.core.limits import Limits
from counterpoint.core.values import Usage
from counterpoint.protocols.ballot.text import as_text

__all__ = ["STANDARD", "Ready", "Standard"]

ONE_ROUND = Limits()
AT_ONCE = 2
"""The first round, or the first version, in which all can agree."""

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """A standard case: who sits in it, and what each answers in each phase, by the payload of its brief."""

    protocol: str
    docket: Docket
    judges: int
    replies: Mapping[str, Answer]
    """By phase, or by seat and phase where one seat answers otherwise."""
    author: str | None = None
    limits: Limits = ONE_ROUND
    until: int = AT_ONCE
    """The round, or the version, in which all agree."""

    @property
    def seats(self) -> tuple[str, ...]:
        judges = tuple(f"judge-{number}" for number in range(1, self.judges + 1))
        return judges if self.author is None else (self.author, *judges)

    def reply(self, seat: str, phase: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        reply = self.replies.get(f"{seat} {phase}") or self.replies[phase]
        return reply({**payload, "until": self.until})

    def longer(self) -> "Standard":
        """Return the same case, agreed a round later; of a review, with twice as many seats."""
        has_one_round = self.limits == ONE_ROUND
        return replace(self, judges=2 * self.judges) if has_one_round else replace(self, until=self.until + 1)


class Ready(Agent):
    """Answers at once."""

    kind = "scripted"

    def __init__(self, case: Standard) -> None:
        self.case = case
        self.asked = 0

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        self.asked += 1
        turn = workspace.turn
        content = json.dumps(self.case.reply(turn.seat, turn.phase, brief.payload)).encode()
        return Reply(
            content=content, model_requested="", model_reported=NOT_REPORTED, usage=Usage(known=True), session=""
        )


# --- the standard cases


def finding(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"summary": "Read it all.", "findings": [], "responseToRebuttal": "", "approved": True}


def position(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"reasoning": "It is well known.", "keyPoints": ["It is the seat."], "answer": "Paris"}


def first_of_all(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer as the others do, in a longer case not at once."""
    return position(payload) if payload["until"] == AT_ONCE else {**position(payload), "answer": "Lyon"}


def comparison(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Keep the answer, and agree with every other once it is time to."""
    agrees = [other["peer"] for other in payload["others"] if payload["round"] >= payload["until"]]
    more = {"objections": [], "agreesWith": agrees, "changedMind": "", "where": "", "quote": ""}
    return {**position(payload), **more, "answer": payload["your_answer"]["answer"]}


def confirmation(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"reasoning": "Read again.", "objections": [], "candidate": payload["candidate"], "approved": True}


def proposal(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    issues = [issue["id"] for issue in payload.get("issues", ())]
    return {
        "needs_clarification": False,
        "clarification_questions": [],
        "problem_statement": "Users cannot take their data away.",
        "goal": "An export that each user starts.",
        "success_criteria": ["an export of 1 GB ends within a minute"],
        "assumptions": [],
        "options": [{"id": "zip", "title": "A ZIP", "approach": "stream it", "tradeoffs": ["no resume"]}],
        "recommended_option_id": "zip",
        "recommendation": "Stream a ZIP.",
        "implementation_steps": ["write the endpoint"],
        "conditions": [],
        "validation_steps": ["export the largest account"],
        "public_summary": "A streamed ZIP.",
        "responses": [
            {"issue_id": each, "summary": "Answered.", "change": "the steps say so", "action": "fix"}
            for each in issues
        ],
    }


def scan(_: Mapping[str, Any]) -> Mapping[str, Any]:
    area = {"id": "R1", "concern": "personal data leaks", "check": "look at the log", "severity": "high"}
    return {
        "needs_clarification": False,
        "clarification_questions": [],
        "success_criteria": ["nobody else can fetch it"],
        "risk_areas": [area],
        "public_summary": "Mind who may fetch it.",
    }


def judgement(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raise one issue in each version but the last, and find it resolved in the next."""
    is_last = payload["version"] == payload["until"]
    issue = {
        "id": f"I{payload['version']}",
        "title": "The link can be guessed",
        "description": "The address of an export is a counter.",
        "target": "implementation_steps",
        "resolution_criterion": "the address is random",
        "severity": "high",
    }
    rulings = [
        {"issue_id": each["id"], "rationale": "Read.", "status": "resolved"} for each in payload["your_issues"]
    ]
    return {
        "reviewed_version": payload["version"],
        "issue_evaluations": rulings,
        "new_issues": [] if is_last else [issue],
        "conditions": [],
        "next_steps": [],
        "clarification_questions": [],
        "public_summary": "Read.",
        "assessment": "accept" if is_last else "revise",
    }


def vote(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "reason": "It was read.",
        "reservations": [],
        "version": payload["version"],
        "candidate": payload["candidate"],
        "vote": "Rejected" if payload["version"] < payload["until"] else "Approved",
    }


def revision(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    answers = [{"objection": each["id"], "answer": "Changed."} for each in payload["objections"]]
    return {"answers": answers, "text": f"{payload['text']}\nAnd never twice.\n"}


TEXT = as_text("A timer fires once.\n")
STANDARD = (
    Standard(
        protocol="review",
        docket=Docket(question="Is it good to merge?", candidate="c" * 40),
        judges=4,
        replies={"reviewing": finding},
    ),
    Standard(
        protocol="answer",
        docket=Docket(question="Which city is the capital of France?"),
        judges=3,
        limits=Limits(max_rounds=3),
        replies={
            "judge-1 answering": first_of_all,
            "answering": position,
            "comparing": comparison,
            "confirming": confirmation,
        },
    ),
    Standard(
        protocol="propose",
        docket=Docket(question="Let users export their data."),
        author="proposer",
        judges=1,
        limits=Limits(max_rounds=4, min_rounds=2, stall_rounds=2, max_asks=1),
        replies={"proposer proposing": proposal, "proposing": scan, "reviewing": judgement, "revising": proposal},
    ),
    Standard(
        protocol="ballot",
        docket=Docket(question="Timers", text=TEXT, candidate=sha256(TEXT.encode()).hexdigest()),
        author="orchestrator",
        judges=3,
        limits=Limits(max_rounds=3),
        replies={"voting": vote, "revising": revision},
    ),
)
