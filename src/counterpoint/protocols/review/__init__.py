"""`review`: reviewers judge a change; their opinions are sealed, revealed together, and weighed by code.

Reviewers alone, one round: every reviewer answers blind, all answers are revealed in one batch, findings enter the
ledger, and the decision follows from ledger, evidence and coverage. Source: SPEC D-10 to D-15; DESIGN 4.
"""

from counterpoint.protocols.review.codec import CommandClaim, GiveVerdict, NameChecks, NamedFinding
from counterpoint.protocols.review.guards import GUARDS, OPENING_GUARDS
from counterpoint.protocols.review.rules import REVIEW
from counterpoint.protocols.review.table import TABLE, Phase

__all__ = [
    "GUARDS",
    "OPENING_GUARDS",
    "REVIEW",
    "TABLE",
    "CommandClaim",
    "GiveVerdict",
    "NameChecks",
    "NamedFinding",
    "Phase",
]
