"""The mailbox: two parties and a supervisor on a shared channel (SPEC 3.2, 3.3)."""

from counterpoint.protocols.mailbox.parties import BROKERED, MANAGED, Parties, make_parties, read_parties
from counterpoint.protocols.mailbox.rules import (
    Entry,
    EntryType,
    Mailbox,
    Submission,
    admit,
    apply,
    check_commits,
    check_submission,
    cited_commits,
    fold,
)

__all__ = [
    "BROKERED",
    "MANAGED",
    "Entry",
    "EntryType",
    "Mailbox",
    "Parties",
    "Submission",
    "admit",
    "apply",
    "check_commits",
    "check_submission",
    "cited_commits",
    "fold",
    "make_parties",
    "read_parties",
]
