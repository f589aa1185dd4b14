"""`review`: reviewers judge a change, an author answers, round by round, until they agree or cannot.

A round is a reading and an answer. In a reading every reviewer answers blind, and all answers are revealed in one
batch. The author then fixes or disputes; what it edited becomes the next candidate. The reading after the last answer
ends the case. Without an author there is one reading. The decision follows from ledger, evidence and coverage.
Source: SPEC D-10 to D-18; DESIGN 4.
"""

from counterpoint.protocols.review.codec import (
    AnswerFindings,
    CommandClaim,
    GiveVerdict,
    NameChecks,
    NamedAnswer,
    NamedFinding,
)
from counterpoint.protocols.review.guards import GUARDS
from counterpoint.protocols.review.opening import OPENING_GUARDS
from counterpoint.protocols.review.rules import REVIEW
from counterpoint.protocols.review.standing import ENTRY_GUARDS
from counterpoint.protocols.review.table import TABLE, Phase

__all__ = [
    "ENTRY_GUARDS",
    "GUARDS",
    "OPENING_GUARDS",
    "REVIEW",
    "TABLE",
    "AnswerFindings",
    "CommandClaim",
    "GiveVerdict",
    "NameChecks",
    "NamedAnswer",
    "NamedFinding",
    "Phase",
]
