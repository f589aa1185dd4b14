"""Seats of a ballot that do as they are told, turn by turn, and what they are told in one word each."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from counterpoint.agents.base import Agent, Progress, Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.values import Usage
from counterpoint.errors import AgentError, Unreachable

__all__ = ["ToldAgent", "reply_to"]

_VOTES: Final = {"yes": "Approved", "but": "Approved with reservations", "no": "Rejected"}

Say = Callable[[Mapping[str, Any]], Any]


def reply_to(phase: str, payload: Mapping[str, Any], word: str) -> dict[str, Any]:
    """Return what a seat answers to a brief, built from the brief alone.

    A vote is `yes`, `no`, `but` or `but:<needs>`; a classification `cosmetic` or `blocking`; `challenge` challenges
    all; a new text is the word itself.
    """
    match phase:
        case "voting":
            vote, _, needs = word.partition(":")
            point = [{"point": "a comma is missing", "needs": needs or "nothing"}] if vote == "but" else []
            return {
                "reason": "I read it",
                "reservations": point,
                "version": payload["version"],
                "candidate": payload["candidate"],
                "vote": _VOTES.get(vote, "Approved"),
            }
        case "classifying":
            weight = word if word == "blocking" else "cosmetic"
            named = [
                {"reservation": r["id"], "reason": "so it is", "weight": weight} for r in payload["reservations"]
            ]
            return {"classifications": named}
        case "challenging":
            named = [{"reservation": c["id"], "reason": "it is more"} for c in payload["classified"]]
            return {"challenges": named if word == "challenge" else []}
        case _:
            answers = [{"objection": o["id"], "answer": "I changed it"} for o in payload["objections"]]
            text = f"Version {payload['version'] + 1} of the text.\n" if word == "yes" else word
            return {"answers": answers, "text": text}


class ToldAgent(Agent):
    """Says `yes` to every turn that is not in its words. `phase.round` names a turn, `phase.round.ask` one question.

    The word `down` is no answer, `prose` is one that is no JSON. A function makes a reply of the payload.
    """

    kind = "scripted"
    destination = "local"

    def __init__(self, words: Mapping[str, str | Say] | None = None) -> None:
        self.words = dict(words or {})
        self.asked: list[str] = []

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        turn = workspace.turn
        self.asked.append(turn.id)
        at = f"{turn.phase}.{turn.round}"
        word = self.words.get(f"{at}.{turn.ask}", self.words.get(at, "yes"))
        if word == "down":
            raise _down()
        if word == "prose":
            content = b"I approve of it with all my heart."
        elif isinstance(word, str):
            content = json.dumps(reply_to(turn.phase, brief.payload, word)).encode()
        else:
            said = word(brief.payload)
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
        return Reply(
            content=content,
            model_requested="m",
            model_reported="m",
            usage=Usage(input_tokens=10, output_tokens=1, known=True),
            session="",
        )


def _down() -> AgentError:
    return Unreachable("the provider is down")
