"""`ballot`: a frozen roster votes on a document, version by version, until all approve the same bytes or cannot.

One orchestrator writes the text and has no vote. Voters vote blind, bound to a version and to the SHA-256 of its
text. Reservations that the orchestrator calls cosmetic may be challenged by every voter. After the last round the
program decides nothing: a person is asked. Source: SPEC B-01 to B-20; DESIGN 4.
"""

from counterpoint.protocols.ballot.forms import Needs, Vote, Weight
from counterpoint.protocols.ballot.guards import claims_of
from counterpoint.protocols.ballot.rules import BALLOT, STAGES
from counterpoint.protocols.ballot.state import BallotState, Obstacle, Reservation, objections_of, reservations_of
from counterpoint.protocols.ballot.table import TABLE, Phase
from counterpoint.protocols.ballot.text import as_text, candidate_of, debate_heading, version_heading

__all__ = [
    "BALLOT",
    "STAGES",
    "TABLE",
    "BallotState",
    "Needs",
    "Obstacle",
    "Phase",
    "Reservation",
    "Vote",
    "Weight",
    "as_text",
    "candidate_of",
    "claims_of",
    "debate_heading",
    "objections_of",
    "reservations_of",
    "version_heading",
]
