"""Two parties and a supervisor on a shared channel: strict turns, one open thread, a cap (SPEC C-020 to C-031).

Here is what posting needs: who may say what now, and whose turn it is then. The state is the fold of the entries; the
doorbell is only a copy of it. Rules are checked in the order of the public tool, and only what it refuses is refused:

- before the channel is held, of the submission alone: POST-1 to POST-8, and of its refs POST-9 and POST-10;
- while it is held, of the submission and the state: THREAD-1 to THREAD-4.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from counterpoint.errors import Refused
from counterpoint.frozen import dataclass
from counterpoint.protocols.mailbox.parties import LETTERS, SLUG, Parties

__all__ = [
    "OPENERS",
    "TYPES",
    "Entry",
    "EntryType",
    "Mailbox",
    "Submission",
    "admit",
    "apply",
    "check_commits",
    "check_submission",
    "cited_commits",
    "fold",
]

_ONE_LINE: Final = (
    "refs must be a single line - it is written into the entry header, and a line break there forges an entry when "
    "the record is re-parsed"
)
_CONTROLLER_SPEAKS: Final = (
    "managed party entries are controller-brokered; the adapter may not self-assert --from or post directly"
)
_NO_BYPASS: Final = "a party cannot bypass one-thread-at-a-time"
_ONLY_OPENERS: Final = "only review-request/question/info (or a one-shot close correction) may start one"
_COMMIT: Final = re.compile(r"@([0-9a-fA-F]{7,40})\b")


class EntryType(StrEnum):
    REVIEW_REQUEST = "review-request"
    VERDICT = "verdict"
    FIX_REPORT = "fix-report"
    QUESTION = "question"
    INFO = "info"
    CLOSE = "close"


TYPES: Final = frozenset(EntryType)
OPENERS: Final = frozenset({EntryType.REVIEW_REQUEST, EntryType.QUESTION, EntryType.INFO, EntryType.CLOSE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What somebody wants to say."""

    speaker: str
    type: str
    thread: str
    text: str
    refs: str = ""
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the fold has to know of an entry."""

    n: int
    speaker: str
    type: str
    thread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailbox:
    """Whose turn it is, in which thread; both empty where no thread is open."""

    turn: str = ""
    thread: str = ""


def check_submission(parties: Parties, submission: Submission, *, forged: tuple[int, str] | None) -> None:
    """Refuse what may not be said in any state.

    Args:
        parties: of the channel.
        submission: what is to be said.
        forged: number and text of the first line that a reader would take for the header of an entry, if any.

    Raises:
        Refused: POST-1 to POST-8.
    """
    text, refs, lines = submission.text.strip(), submission.refs, submission.refs.splitlines()
    speaker, slug, supervisor = submission.speaker, submission.thread, parties.supervisor
    number, line = forged or (0, "")
    guards = (
        ("POST-1", not text, "refused: empty body", "write something"),
        (
            "POST-2",
            forged,
            f"refused: body line {number} would parse as an entry header and forge an entry: {line!r}",
            "quote that line with `> `, or indent it unless it is the first; a code fence does not help",
        ),
        (
            "POST-3",
            lines and lines != [refs],
            f"refused: {_ONE_LINE}: {refs!r}",
            "write refs on one line",
        ),
        (
            "POST-4",
            submission.type not in TYPES,
            f"refused: unknown entry type {submission.type!r} (one of {tuple(str(kind) for kind in EntryType)!r})",
            "use one of these types",
        ),
        (
            "POST-5",
            speaker not in {*parties.parties, supervisor},
            f"refused: unknown sender {speaker!r} (parties {parties.parties!r}, supervisor {supervisor!r})",
            "speak under one of these names",
        ),
        (
            "POST-6",
            parties.brokered and speaker != supervisor,
            f"refused: {_CONTROLLER_SPEAKS}",
            "let the controller run the seat",
        ),
        (
            "POST-7",
            not SLUG.fullmatch(slug),
            f"refused: invalid thread slug {slug!r} ({LETTERS})",
            "choose another",
        ),
        (
            "POST-8",
            submission.force and speaker != supervisor,
            f"refused: force is supervisor-only (supervisor {supervisor!r}); {_NO_BYPASS}",
            f"ask {supervisor!r}",
        ),
    )
    _refuse_first(guards, speaker)


_Guard = tuple[str, object, str, str]
"""Rule, whether it is broken, the reason, the hint."""


def _refuse_first(guards: Sequence[_Guard], speaker: str) -> None:
    for rule, is_broken, reason, hint in guards:
        if is_broken:
            raise Refused(rule, reason, seat=speaker, hint=hint)


def cited_commits(refs: str) -> tuple[str, ...]:
    """Return the commits that refs cite as `name@sha`."""
    return tuple(_COMMIT.findall(refs))


def check_commits(
    submission: Submission, known: Mapping[str, bool], *, repository: str, at_least_one: bool = False
) -> None:
    """Refuse refs that cite what is no commit of `repository`.

    Args:
        submission: what is to be said.
        known: for each cited commit, whether the repository has it.
        repository: where it was looked up.
        at_least_one: whether a commit has to be cited.

    Raises:
        Refused: POST-9 or POST-10.
    """
    missing = next((sha for sha in cited_commits(submission.refs) if not known[sha]), None)
    cited = f"refused: refs cite {missing!r}, which is not a commit in "
    bound = (
        f"{cited}this channel's project {repository}. One channel carries one project - post this review to the "
        "channel of the repo it cites, or the supervisor may force a deliberate exception."
    )
    guards = (
        (
            "POST-10",
            at_least_one and not known,
            f"refused: --verify-refs found no name@sha citation in refs {submission.refs!r}",
            "cite what you speak about as name@sha",
        ),
        ("POST-9", missing, f"{cited}{repository}" if at_least_one else bound, "cite a commit of that repository"),
    )
    _refuse_first(guards, submission.speaker)


def admit(parties: Parties, state: Mailbox, submission: Submission, *, n: int, count: int) -> Mailbox:
    """Return the state after `submission` is recorded.

    Args:
        parties: of the channel.
        state: before it.
        submission: what is to be said, already checked by itself.
        n: the number of the newest entry.
        count: how many entries the submission's thread has.

    Raises:
        Refused: THREAD-1 to THREAD-4.
    """
    speaker, thread, is_open = submission.speaker, submission.thread, bool(state.thread)
    is_party = speaker != parties.supervisor
    guards = (
        (
            "THREAD-1",
            is_party and not is_open and submission.type not in OPENERS,
            f"refused: {str(submission.type)!r} cannot open a thread - {_ONLY_OPENERS}",
            "open it with one of these",
        ),
        (
            "THREAD-2",
            is_party and n > 0 and is_open and state.turn != speaker,
            f"refused: not your turn (turn={state.turn}); double-posting is how loops start",
            "wait for your turn" if state.turn else f"wait for {parties.supervisor!r} to close the thread",
        ),
        (
            "THREAD-3",
            is_open and thread != state.thread and not submission.force,
            f"refused: thread '{state.thread}' is open; one thread at a time (force to override)",
            f"close {state.thread!r} first",
        ),
        (
            "THREAD-4",
            is_open and thread == state.thread and submission.type != EntryType.CLOSE and count >= parties.thread_cap,
            f"refused: thread '{thread}' is at its {parties.thread_cap}-entry cap; it must be closed",
            "close it; the cap binds the supervisor too",
        ),
    )
    _refuse_first(guards, speaker)
    return apply(parties, state, Entry(n=n + 1, speaker=speaker, type=submission.type, thread=thread))


def apply(parties: Parties, state: Mailbox, entry: Entry) -> Mailbox:
    """Return the state after `entry`, whatever let it in (SPEC C-029 to C-031)."""
    if entry.type == EntryType.CLOSE:
        is_aside = bool(state.thread) and entry.thread != state.thread
        return state if is_aside else Mailbox()
    if entry.speaker not in parties.parties:
        return Mailbox(turn=state.turn, thread=state.thread or entry.thread)
    return Mailbox(turn=parties.other(entry.speaker), thread=entry.thread)


def fold(parties: Parties, entries: Iterable[Entry]) -> Mailbox:
    """Return the state after `entries`; the genesis entry says nothing in a thread."""
    state = Mailbox()
    for entry in entries:
        if entry.n > 0:
            state = apply(parties, state, entry)
    return state
