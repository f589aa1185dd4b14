"""The journal of a case that edits: what was there before an author was asked, and whether that has come to its end.

An entry lies in the case's vault, is written once and signed; it is named by its number and its turn. Another entry,
empty, says that its turn was taken or put away. A turn that was put away and is begun again has an entry more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from counterpoint.core.canonical import NotCanonical, canonical_json, parse_json
from counterpoint.core.codec import decode_value, encode_value
from counterpoint.drive.kept import Voucher
from counterpoint.errors import RecordError, UnknownEntry
from counterpoint.isolation.gitstate import GitState
from counterpoint.record.store import Vault

__all__ = ["Begun", "Journal", "turn_of"]

_BEGUN: Final = "begun-"
_DONE: Final = "done-"
_MAX_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What is written before an author is asked."""

    git: GitState
    patient: bool
    """Whether a person edits: what they leave stays."""
    start: str
    """The candidate that the edit starts from."""


class Journal:
    """The journal of one case."""

    def __init__(self, vault: Vault, voucher: Voucher) -> None:
        self._vault = vault
        self._voucher = voucher

    def entries(self) -> list[str]:
        """Return the names of all entries, oldest first."""
        return sorted(name.removeprefix(_BEGUN) for name in self._vault.names() if name.startswith(_BEGUN))

    def open(self) -> list[str]:
        """Return the entries of which nothing has come yet."""
        kept = self._vault.names()
        return [entry for entry in self.entries() if f"{_DONE}{entry}" not in kept]

    def has(self, turn_id: str) -> bool:
        """Return whether anything was written before this turn."""
        return turn_id in map(turn_of, self.entries())

    def begin(self, turn_id: str, begun: Begun) -> None:
        """Write that a turn is about to be asked; twice in a row is once."""
        open_entries = self.open()
        if open_entries and turn_of(open_entries[-1]) == turn_id:
            return
        name = f"{_BEGUN}{len(self.entries()) + 1:06d}-{turn_id}"
        line = canonical_json(encode_value(begun)).encode()
        self._vault.put(name, line + b"\n" + self._voucher.sign(name, line).encode())

    def read(self, entry: str) -> Begun:
        """Return what an entry says.

        Raises:
            RecordError: it is not as this machine's driver wrote it.
        """
        name = f"{_BEGUN}{entry}"
        line, _, signature = (self._vault.get(name) or b"").partition(b"\n")
        if not self._voucher.is_signed(name, line, signature.decode("ascii", "replace")):
            raise RecordError(f"{name} in the vault is not as it was written", hint="put the file back")
        try:
            return decode_value(Begun, parse_json(line, max_bytes=_MAX_BYTES))
        except (NotCanonical, UnknownEntry) as error:
            raise RecordError(f"{name} in the vault cannot be read: {error}", hint="put the file back") from None

    def first_of_round(self, turn_id: str, *, is_asked: bool) -> Begun | None:
        """Return what was there before the first question of the turn's round, or None where nobody was asked in it.

        A turn that was begun twice had not been asked the first time; the turn itself counts only if it is asked.
        """
        newest = {turn_of(entry): entry for entry in self.entries()}
        if not is_asked:
            newest.pop(turn_id, None)
        asked = [entry for turn, entry in newest.items() if _round_of(turn) == _round_of(turn_id)]
        return self.read(asked[0]) if asked else None

    def end(self, entries: Sequence[str]) -> None:
        """Write that these have come to their end."""
        for entry in entries:
            self._vault.put(f"{_DONE}{entry}", b"")


def turn_of(entry: str) -> str:
    """Return the id of the turn that an entry is about."""
    return entry.partition("-")[2]


def _round_of(turn_id: str) -> str:
    return turn_id.rpartition(".")[0]
