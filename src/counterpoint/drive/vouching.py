"""Who may sign for whom, by a file that lies where the writers of a channel do not write (SECURITY R14)."""

from pathlib import Path

from counterpoint.errors import RecordError
from counterpoint.protocols.mailbox import Parties
from counterpoint.record.allowed import MAX_ALLOWED, read_allowed
from counterpoint.record.safe import typed
from counterpoint.record.speakers import Vouch

__all__ = ["read_signers"]


def read_signers(file: str, parties: Parties) -> Vouch:
    """Return what an OpenSSH allowed_signers file says of the parties of a channel.

    Raises:
        RecordError: it cannot be read, or names none of them.
    """
    with typed(f"refused: {file} cannot be read"), Path(file).open("rb") as opened:
        allowed = read_allowed(opened.read(MAX_ALLOWED), source=file)
    roster = (*parties.parties, parties.supervisor)
    if allowed.parties.isdisjoint(roster):
        reason = f"refused: {file} names none of {', '.join(roster)}"
        raise RecordError(reason, hint="name the parties as the channel does")
    return allowed.fault
