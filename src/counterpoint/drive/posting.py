"""Saying something in a shared channel, beside the public tool and by its rules (SPEC 3.3).

    post(store, "project-04711", sender="claude", type="question", thread="retry", text="Why 3?", stamp=stamp)

What can be refused without the channel is refused before it is held. The rules and their order are
`protocols.mailbox`; which line reads as a header, which commit exists and what the doorbell says is found out here.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from counterpoint.frozen import dataclass
from counterpoint.protocols.mailbox import (
    MANAGED,
    Entry,
    EntryType,
    Mailbox,
    Submission,
    admit,
    check_commits,
    check_submission,
    cited_commits,
    fold,
    make_parties,
    read_parties,
)
from counterpoint.record.header import reads_as_header
from counterpoint.record.store import Block, Draft, Genesis, Held, Store

if TYPE_CHECKING:
    from counterpoint.drive.channels import FileStore

__all__ = ["Posted", "begin_channel", "begin_plain", "bell_of", "entry_of", "post", "state_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """What became of a submission."""

    n: int
    """Its number in the record."""
    turn: str
    """Whose turn it is now; empty where it is nobody's."""
    thread: str
    """The thread that is open now; empty where none is."""


def begin_channel(
    store: Store,
    channel: str,
    *,
    parties: tuple[str, str],
    supervisor: str,
    thread_cap: int,
    project: str | None,
    channel_id: str,
    stamp: str,
    keys: Sequence[str] = (),
    party_keys: Sequence[tuple[str, str]] = (),
) -> None:
    """Begin a shared channel in which our entries are chained; the public tool works on it as on its own.

    Args:
        store: where it is kept.
        channel: its name, `<label>-<five digits>` by custom.
        parties: the two who take turns.
        supervisor: who may speak at any time.
        thread_cap: how many entries a thread may have.
        project: the repository whose commits refs may cite; `None`: they are not looked up.
        channel_id: 32 random hex digits.
        stamp: of this moment.
        keys: public keys that may sign; none: the channel is not signed.
        party_keys: parties that sign for themselves, each with a public key of its own.

    Raises:
        ConfigError: the names or the cap cannot be used.
        RecordError: the channel cannot be made.
    """
    settings = _settings(
        channel,
        parties=parties,
        supervisor=supervisor,
        thread_cap=thread_cap,
        project=project,
        version=MANAGED,
    )
    genesis = Genesis(
        channel_id=channel_id,
        mode="shared",
        roster=(*parties, supervisor),
        keys=tuple(keys),
        party_keys=tuple(party_keys),
    )
    store.create(channel, genesis, stamp=stamp, sender=supervisor, settings=settings)


def begin_plain(
    store: "FileStore",
    channel: str,
    *,
    parties: tuple[str, str],
    supervisor: str,
    thread_cap: int,
    project: str | None,
    version: int = MANAGED,
) -> None:
    """Begin a shared channel in the public tool's own form, in which nothing is chained.

    Raises:
        ConfigError: the names or the cap cannot be used.
        RecordError: the channel cannot be made.
    """
    settings = _settings(
        channel,
        parties=parties,
        supervisor=supervisor,
        thread_cap=thread_cap,
        project=project,
        version=version,
    )
    store.create_plain(channel, settings)


def _settings(
    channel: str, *, parties: tuple[str, str], supervisor: str, thread_cap: int, project: str | None, version: int
) -> Mapping[str, Any]:
    make_parties(parties=parties, supervisor=supervisor, thread_cap=thread_cap, project=project, version=version)
    return {
        "parties": list(parties),
        "supervisor": supervisor,
        "thread_cap": thread_cap,
        "name": channel,
        "project": project,
        "managed_version": version,
    }


def post(
    store: Store,
    channel: str,
    *,
    sender: str,
    type: str,  # noqa: A002 - the word of the format, and keyword-only
    thread: str,
    text: str,
    stamp: str,
    refs: str = "",
    force: bool = False,
    verify_refs: str | None = None,
    source: str = "the settings",
) -> Posted:
    """Record what `sender` says, if the rules of the channel let it in, and ring the doorbell.

    Args:
        store: where the channel is kept.
        channel: its name.
        sender: who speaks.
        type: of the entry.
        thread: which it belongs to.
        text: its body.
        stamp: of this moment.
        refs: what it is about, commits as `name@sha`.
        force: the supervisor's way past an open thread.
        verify_refs: a repository in which at least one commit, and every commit that refs cite, has to be.
        source: the path of the channel's settings, for messages.

    Raises:
        Refused: a rule of the channel, SIGN-1 among them; nothing was written.
        LockBusy: another writer held the channel for too long; nothing was written.
        ConfigError: the channel's settings cannot be used.
        RecordError: the record cannot be read or written.
    """
    said = Submission(speaker=sender, type=type, thread=thread, text=text, refs=refs, force=force)
    if verify_refs is not None:
        check_commits(said, _look_up(said, verify_refs), repository=verify_refs, at_least_one=True)
    parties = read_parties(store.settings(channel), source=source)
    check_submission(parties, said, forged=_forged(text))
    if parties.project is not None and not force:
        check_commits(said, _look_up(said, parties.project), repository=parties.project)
    draft = Draft(stamp=stamp, sender=sender, type=type, thread=thread, refs=refs or "-", text=text.strip())
    with store.hold(channel) as held:
        before = state_of(held.bell)
        if before is None:
            before = fold(parties, map(entry_of, held.read()))
        after = admit(parties, before, said, n=held.n, count=_life(held, thread, parties.thread_cap))
        (block,) = held.append([draft], bell=lambda newest: bell_of(newest, after))
    return Posted(n=block.n, turn=after.turn, thread=after.thread)


def _forged(text: str) -> tuple[int, str] | None:
    if "## MSG-" not in text:
        return None
    lines = enumerate(text.strip().splitlines(), 1)
    return next(((number, line) for number, line in lines if reads_as_header(line)), None)


def _life(held: Held, thread: str, cap: int) -> int:
    """Return how many entries the thread has since it was last closed; exact from the cap on (SPEC C-143)."""
    count = held.count(thread)
    if count < cap:
        return count
    return sum(1 for _ in takewhile(lambda block: block.type != EntryType.CLOSE, held.newest(thread)))


def _look_up(said: Submission, repository: str) -> Mapping[str, bool]:
    cited = cited_commits(said.refs)
    if not cited:
        return {}
    if not os.path.isdir(repository):  # noqa: PTH112 - as below, pathlib is not loaded yet
        return dict.fromkeys(cited, False)
    # git, and what starts programs, is loaded only where a commit is cited
    from pathlib import Path  # noqa: PLC0415

    # as above
    from counterpoint.isolation.git import Git, Place  # noqa: PLC0415

    top = Path(repository)
    git = Git.find(checkout=top)
    # 1: no such object; 128: no repository here, so no commit of it either.
    return {
        sha: bool(
            git.run(
                "rev-parse",
                "--verify",
                "--quiet",
                f"{sha}^{{commit}}",
                place=Place(cwd=top),
                accept=(0, 1, 128),
            )
        )
        for sha in cited
    }


def state_of(bell: Mapping[str, Any] | None) -> Mailbox | None:
    """Return what a doorbell says, or `None` where there is none to believe."""
    if bell is None:
        return None
    return Mailbox(turn=str(bell.get("turn", "")), thread=str(bell.get("thread", "")))


def entry_of(block: Block) -> Entry:
    return Entry(n=block.n, speaker=block.sender, type=block.type, thread=block.thread)


def bell_of(block: Block, state: Mailbox) -> Mapping[str, Any]:
    return {
        "seq": block.n,
        "turn": state.turn,
        "thread": state.thread,
        "last_entry": f"MSG-{block.n}",
        "updated_at": block.stamp,
    }
