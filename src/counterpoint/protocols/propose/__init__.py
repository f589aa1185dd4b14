"""`propose`: one seat proposes how a requirement is met, and critics look for what is wrong with it, round by round.

Proposal and risk scan are made side by side, blind. Then each version is reviewed against a ledger of issues that
only their critics can settle, until all of them accept one version, nothing moves, or a limit is reached. Code
computes the decision from ledger and reviews. Source: SPEC A-01 to A-57; DESIGN 2 and 4.
"""

from counterpoint.protocols.propose.guards import GUARDS_OF_CANDIDATES, GUARDS_OF_REVIEWS, GUARDS_OF_SCANS
from counterpoint.protocols.propose.opening import OPENING_GUARDS, call_ceiling, is_anybody_asked
from counterpoint.protocols.propose.rules import PROPOSE, STAGES
from counterpoint.protocols.propose.state import ProposeState
from counterpoint.protocols.propose.table import TABLE, Phase

__all__ = [
    "GUARDS_OF_CANDIDATES",
    "GUARDS_OF_REVIEWS",
    "GUARDS_OF_SCANS",
    "OPENING_GUARDS",
    "PROPOSE",
    "STAGES",
    "TABLE",
    "Phase",
    "ProposeState",
    "call_ceiling",
    "is_anybody_asked",
]
