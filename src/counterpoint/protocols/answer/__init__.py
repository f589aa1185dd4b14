"""`answer`: peers answer one question for themselves, hold their answers against each other, and confirm one text.

Round one is sealed. In a later round each sees the others' newest answers under neutral labels, objects or agrees,
and keeps or changes its own. Where all stand by one text, all confirm exactly that text, or an objection drops it. A
vote ends with the count of the sealed openings. Source: SPEC D-25 to D-32.
"""

from counterpoint.protocols.answer.counting import Tally, Votes, count, is_same, normalised
from counterpoint.protocols.answer.forms import CompareAnswers, ConfirmCandidate, GiveAnswer
from counterpoint.protocols.answer.guards import COMPARING_GUARDS, CONFIRMING_GUARDS, OPENING_GUARDS
from counterpoint.protocols.answer.rules import ANSWER, STAGES
from counterpoint.protocols.answer.state import AnswerState, Concession, Confirmation, Objection, Position, digest_of
from counterpoint.protocols.answer.table import TABLE, Phase

__all__ = [
    "ANSWER",
    "COMPARING_GUARDS",
    "CONFIRMING_GUARDS",
    "OPENING_GUARDS",
    "STAGES",
    "TABLE",
    "AnswerState",
    "CompareAnswers",
    "Concession",
    "ConfirmCandidate",
    "Confirmation",
    "GiveAnswer",
    "Objection",
    "Phase",
    "Position",
    "Tally",
    "Votes",
    "count",
    "digest_of",
    "is_same",
    "normalised",
]
