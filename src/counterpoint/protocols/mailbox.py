"""Two parties and a supervisor on a shared channel: strict turns, one open thread, a cap (SPEC C-020 to C-031).

Here is what posting needs: who may say what now, and whose turn it is then. The state is the fold of the entries; the
doorbell is only a copy of it. Rules are checked in the order of the public tool, and only what it refuses is refused:

- before the channel is held, of the submission alone: POST-1 to POST-8, and of its refs POST-9 and POST-10;
- while it is held, of the submission and the state: THREAD-1 to THREAD-4.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from counterpoint.errors import ConfigError, Refused

__all__ = [
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
    "read_parties",
]

DEFAULT_CAP: Final = 12
MIN_CAP: Final = 2
BROKERED: Final = 2
"""The `managed_version` under which the public tool's controller speaks for the parties."""

_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_COMMIT: Final = re.compile(r"@([0-9a-fA-F]{7,40})\b")


class EntryType(StrEnum):
    REVIEW_REQUEST = "review-request"
    VERDICT = "verdict"
    FIX_REPORT = "fix-report"
    QUESTION = "question"
    INFO = "info"
    CLOSE = "close"


OPENERS: Final = frozenset({EntryType.REVIEW_REQUEST, EntryType.QUESTION, EntryType.INFO, EntryType.CLOSE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parties:
    """Who speaks in a channel, and its settings that bind them."""

    parties: tuple[str, str]
    supervisor: str
    thread_cap: int = DEFAULT_CAP
    project: str | None = None
    """The repository whose commits refs may cite."""
    brokered: bool = False
    """The public tool's controller speaks for the parties."""

    def other(self, party: str) -> str:
        first, second = self.parties
        return second if party == first else first


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


def read_parties(settings: Mapping[str, Any]) -> Parties:
    """Return who speaks in the channel of these settings; what is unknown in them is left alone (SPEC C-007).

    Raises:
        ConfigError: a setting is missing or not what it should be.
    """
    names = settings.get("parties")
    if not isinstance(names, list) or len(names) != len(("one", "other")):
        raise ConfigError("parties", "a list of two names", got=names)
    supervisor, cap, version = settings.get("supervisor"), settings.get("thread_cap", DEFAULT_CAP), _version(settings)
    first, second = (_name(f"parties[{i}]", name) for i, name in enumerate(names))
    everybody = (first, second, _name("supervisor", supervisor))
    if len(set(everybody)) < len(everybody):
        raise ConfigError("parties", "three different names with the supervisor's", got=list(everybody))
    if not isinstance(cap, int) or isinstance(cap, bool) or cap < MIN_CAP:
        raise ConfigError("thread_cap", f"a number of entries, at least {MIN_CAP}", got=cap)
    project = settings.get("project")
    if project is not None and not isinstance(project, str):
        raise ConfigError("project", "the path of a repository", got=project)
    return Parties(
        parties=(first, second),
        supervisor=everybody[2],
        thread_cap=cap,
        project=project,
        brokered=version == BROKERED,
    )


def _version(settings: Mapping[str, Any]) -> int | None:
    version = settings.get("managed_version")
    if version is not None and (isinstance(version, bool) or version not in {1, BROKERED}):
        raise ConfigError("managed_version", f"1 or {BROKERED} in a shared channel", got=version)
    return version


def _name(key: str, name: object) -> str:
    if not isinstance(name, str) or not _SLUG.fullmatch(name):
        raise ConfigError(key, "a name of lower-case letters, digits and hyphens", got=name)
    return name


def check_submission(parties: Parties, submission: Submission, *, forged: str) -> None:
    """Refuse what may not be said in any state.

    Args:
        parties: of the channel.
        submission: what is to be said.
        forged: the first line of its text that a reader would take for the header of an entry, or "".

    Raises:
        Refused: POST-1 to POST-8.
    """
    text, refs, lines = submission.text.strip(), submission.refs, submission.refs.splitlines()
    speaker, slug = submission.speaker, submission.thread
    everybody = (*parties.parties, parties.supervisor)
    guards = (
        ("POST-1", not text, "the text is empty", "write something"),
        (
            "POST-2",
            forged,
            f"a line of the text reads as the header of an entry: {forged[:80]!r}",
            "quote that line with `> `",
        ),
        ("POST-3", lines and lines != [refs], f"refs {refs!r} are more than one line", "write refs on one line"),
        (
            "POST-4",
            submission.type not in set(EntryType),
            f"type {submission.type!r} is none of {', '.join(EntryType)}",
            "use one of these types",
        ),
        (
            "POST-5",
            speaker not in everybody,
            f"{speaker!r} is none of {', '.join(everybody)}",
            "speak under one of these names",
        ),
        (
            "POST-6",
            parties.brokered and speaker != parties.supervisor,
            f"the public tool's controller speaks for {speaker!r} in this channel",
            "let the controller run the seat",
        ),
        (
            "POST-7",
            not _SLUG.fullmatch(slug),
            f"thread {slug!r} is not of the form {_SLUG.pattern}",
            "choose another thread",
        ),
        (
            "POST-8",
            submission.force and speaker != parties.supervisor,
            f"{speaker!r} used force; only {parties.supervisor!r} may",
            f"ask {parties.supervisor!r}",
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
    missing = [sha for sha in cited_commits(submission.refs) if not known[sha]]
    unknown = f"{missing[0]!r} in refs is no commit of {repository}" if missing else ""
    guards = (
        (
            "POST-10",
            at_least_one and not known,
            f"refs {submission.refs!r} cite no commit",
            "cite what you speak about as name@sha",
        ),
        ("POST-9", missing, unknown, "cite a commit of that repository, or post to the channel of the other one"),
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
            f"a {submission.type} cannot open a thread",
            f"open it with one of {', '.join(sorted(OPENERS))}",
        ),
        (
            "THREAD-2",
            is_party and n > 0 and is_open and state.turn != speaker,
            f"it is the turn of {state.turn or 'nobody'!r}, not of {speaker!r}",
            "wait for your turn" if state.turn else f"wait for {parties.supervisor!r} to close the thread",
        ),
        (
            "THREAD-3",
            is_open and thread != state.thread and not submission.force,
            f"thread {state.thread!r} is open, and this is for {thread!r}",
            f"close {state.thread!r} first",
        ),
        (
            "THREAD-4",
            is_open and thread == state.thread and submission.type != EntryType.CLOSE and count >= parties.thread_cap,
            f"thread {thread!r} has {count} entries; its cap is {parties.thread_cap}",
            "close it; the cap binds the supervisor too",
        ),
    )
    _refuse_first(guards, speaker)
    return apply(parties, state, Entry(n=n + 1, speaker=speaker, type=submission.type, thread=thread))


def apply(parties: Parties, state: Mailbox, entry: Entry) -> Mailbox:
    """Return the state after `entry`, whatever let it in (SPEC C-029 to C-031)."""
    if entry.type == EntryType.CLOSE:
        return Mailbox()
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
