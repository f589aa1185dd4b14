"""A whole record held against the rules: which entries they would not have let in (SPEC C-141)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from counterpoint.errors import Refused
from counterpoint.protocols.mailbox.parties import Parties
from counterpoint.protocols.mailbox.rules import (
    OPENERS,
    TYPES,
    EntryType,
    Mailbox,
    Submission,
    admit,
    check_submission,
)

__all__ = ["Breach", "Said", "replay"]


class Said(NamedTuple):
    """An entry in a record that is replayed."""

    n: int
    speaker: str
    type: str
    thread: str
    is_ours: bool
    """It has a trailer: Counterpoint wrote it."""


class Breach(NamedTuple):
    """An entry that the rules would not have let in."""

    n: int
    rule: str
    reason: str


_REPLIES = TYPES - {EntryType.CLOSE}
_State = tuple[str, str]
"""Turn and thread; a `Mailbox` at the cost that replaying a long record allows."""


def replay(
    parties: Parties, entries: Iterable[tuple[int, str, str, str, bool]], *, is_chained: bool = False
) -> tuple[tuple[Breach, ...], frozenset[Mailbox]]:
    """Hold a whole record against the rules; return the entries that break one, and the states it may be in then.

    Args:
        parties: of the channel.
        entries: the fields of a `Said` each, in the order of their numbers.
        is_chained: what Counterpoint wrote has a trailer; in a plain channel either tool may have written anything.

    The two tools differ where the supervisor closes another thread than the open one by force: the public tool
    forgets the open one too (SPEC C-142). Where either may have written such a close, both states are followed.
    """
    breaches: list[Breach] = []
    states: list[_State] = [("", "")]
    counts: dict[str, int] = {}
    supervisor, cap = parties.supervisor, parties.thread_cap
    successor = dict(zip(parties.parties, reversed(parties.parties), strict=True))
    for said in entries:
        _, speaker, kind, thread, is_ours = said
        count = counts.get(thread, 0)
        if states == [(speaker, thread)] and count < cap and kind in _REPLIES:  # as most entries are
            counts[thread] = count + 1
            states = [(successor[speaker], thread)]
            continue
        is_close, full = kind == EntryType.CLOSE, count >= cap
        legal = [
            state
            for state in states
            if _may_follow(state, speaker, kind, thread, supervisor=supervisor, has_room=is_close or not full)
        ]
        if not legal or kind not in TYPES or (speaker not in successor and speaker != supervisor):
            breaches.append(_breach(parties, states[0], Said(*said), count))
        counts[thread] = 0 if is_close else count + 1
        if is_close:
            states = _closed(legal or states, thread, is_ours=is_ours if is_chained else None)
        elif speaker in successor:
            states = [(successor[speaker], thread)]
        else:
            states = [(turn, open_now or thread) for turn, open_now in legal or states]
    return tuple(breaches), frozenset(Mailbox(turn=turn, thread=thread) for turn, thread in states)


def _may_follow(state: _State, speaker: str, kind: str, thread: str, *, supervisor: str, has_room: bool) -> bool:
    turn, open_now = state
    if not open_now:
        return speaker == supervisor or kind in OPENERS
    if thread != open_now:
        return speaker == supervisor
    return has_room and (speaker in {supervisor, turn})


def _closed(states: Sequence[_State], thread: str, *, is_ours: bool | None) -> list[_State]:
    after: set[_State] = set()
    for turn, open_now in states:
        is_aside = bool(open_now) and thread != open_now
        if is_aside and is_ours is not False:
            after.add((turn, open_now))
        if not is_aside or is_ours is not True:
            after.add(("", ""))
    return sorted(after)


def _breach(parties: Parties, state: _State, said: Said, count: int) -> Breach:
    """Return which rule an entry breaks; the force that may have let it in is not recorded, and given."""
    force = said.speaker == parties.supervisor
    submission = Submission(speaker=said.speaker, type=said.type, thread=said.thread, text="-", force=force)
    before = Mailbox(turn=state[0], thread=state[1])
    broken = None
    try:
        check_submission(parties, submission, forged=None)
        admit(parties, before, submission, n=said.n, count=count)
    except Refused as refused:
        broken = Breach(said.n, refused.rule, refused.reason.removeprefix("refused: "))
    assert broken is not None, f"MSG-{said.n} breaks no rule"
    return broken
