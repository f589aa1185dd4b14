"""Peers of an answer that do as they are told, turn by turn, built from the brief alone."""

from collections.abc import Mapping
from typing import Any

__all__ = ["phase_of", "reply_to"]


def phase_of(keys: Mapping[str, Any]) -> str:
    """Return the phase in which a reply with these keys is asked for."""
    return "confirming" if "approved" in keys else "comparing" if "agreesWith" in keys else "answering"


def reply_to(phase: str, payload: Mapping[str, Any], told: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return what a peer answers.

    A text is its answer; of a candidate, what it objects to, "" for nothing. In a comparison it objects to whoever
    answers otherwise, or agrees with all if it is told `{"agrees": true}`.
    """
    named: Mapping[str, Any] = {"answer": told} if isinstance(told, str) else told
    place = {"where": named.get("where", ""), "quote": named.get("quote", "")}
    if phase == "confirming":
        points = [named["answer"]] if named.get("answer") else []
        objections = [{"point": point, "reason": "it is so", **place} for point in points]
        echoed = payload["candidate"]
        return {"reasoning": "read", "objections": objections, "candidate": echoed, "approved": not points}
    first = {"reasoning": "I thought about it.", "keyPoints": ["as I know"], "answer": named["answer"]}
    if phase == "answering":
        return first
    others = payload["others"]
    agrees = [each["peer"] for each in others] if named.get("agrees") else []
    against = [each for each in others if each["peer"] not in agrees and each["answer"] != named["answer"]]
    objections = [
        {"point": each["answer"], "reason": "it is not so", **place, "peer": each["peer"]} for each in against
    ]
    change = {"changedMind": named.get("why", ""), **place}
    return {**first, "objections": objections, "agreesWith": agrees, **change}
