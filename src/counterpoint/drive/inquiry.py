"""What a case about a question or a text is to be, worked out before anything is asked or written.

It stands in any folder. In a repository the seats may be lent the files of one commit, HEAD by default, as an export
to read: what is not committed is not read, and nothing tracked is ever written (SPEC D-31). Flags or settings name
who sits in it; where they name nobody, the best that this machine has is proposed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from counterpoint.core.canonical import canonical_json
from counterpoint.core.checks import Evidence, LookUp
from counterpoint.core.docket import Docket, Terms
from counterpoint.core.limits import Limits
from counterpoint.drive.cases import SUPERVISOR
from counterpoint.drive.config import check_seated
from counterpoint.drive.ground import Ground, find_ground, join_given
from counterpoint.drive.lent import SOURCES, look_up_in_sources
from counterpoint.drive.paths import disk_asked, path_text
from counterpoint.drive.plans import CasePlan, limits_of
from counterpoint.drive.proposing import Proposal, joined, offer, propose_agents
from counterpoint.drive.session import Session
from counterpoint.drive.settings import (
    AgentKind,
    AnswerSettings,
    BallotSettings,
    Origin,
    ProposeSettings,
    Settings,
    Source,
)
from counterpoint.errors import ConfigError, SourceError
from counterpoint.isolation.export import Remark, withheld
from counterpoint.isolation.repository import Quarantine, Repository
from counterpoint.isolation.revisions import head_or_none, resolve
from counterpoint.isolation.sources import copy_sources
from counterpoint.isolation.worktree import look_at_worktree

__all__ = ["Inquiry", "ground_for", "plan_inquiry", "seated_in"]

_Section = AnswerSettings | ProposeSettings | BallotSettings
_SHORT: Final = 12
_NAMED_WITHHELD: Final = 20


def _nothing() -> Mapping[str, object]:
    return MappingProxyType({})


def _nobody() -> Mapping[str, Mapping[str, object]]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What a user asks for."""

    protocol: str
    folder: Path
    """Where it is begun: in a repository, or anywhere."""
    flags: Mapping[str, object] = field(default_factory=_nothing)
    """Settings given as flags, by dotted key (`answer.peers`); who sits in the case is one of them."""
    defaults: Mapping[str, object] = field(default_factory=_nothing)
    """What holds in this protocol where no source sets it, by dotted key (`limits.max_tokens`)."""
    given: Mapping[str, Mapping[str, object]] = field(default_factory=_nobody)
    """Agents for this case alone: by name, what `[agents.<name>]` would say. Models only, and never a key."""
    question: str
    instructions: str = ""
    context: str = ""
    """What belongs to the question."""
    text: str = ""
    """The text that is judged."""
    candidate: str = ""
    """Its digest, where it is on the table from the beginning."""
    reads_tree: bool = False
    """Whether the seats are lent the repository's files, where there is a repository."""
    revision: str = ""
    """The commit whose files these are; empty: HEAD."""
    vote_only: bool = False
    claims: Callable[[str], Sequence[LookUp]] = lambda _sources: ()
    """Returns what the text claims of its sources, given their digest: it is looked up before anybody is asked."""
    options: tuple[str, ...] = ()
    """The answers that count in a vote; empty where any text does."""
    fewest_judges: int = 2
    """How many sit in it at least beside an author; so many are proposed where nobody is named."""
    may_repeat: bool = False
    """Whether one agent may take several seats where nobody is named."""


@disk_asked("the case cannot be prepared")
def plan_inquiry(
    inquiry: Inquiry, *, session: Session, case_folder: Callable[[], Path], can_ask: bool = False
) -> CasePlan:
    """Work out a case about a question or a text.

    Args:
        inquiry: what the user asks for.
        session: what it would be driven with.
        case_folder: makes the case's own folder and returns it; called where something has to be kept there.
        can_ask: whether a person is there, to whom an agent that is named and not set up can be offered.

    Raises:
        SourceError: a commit or a folder that it names is not there, or the repository cannot be used.
        ConfigError: a setting is wrong, or there are too few agents.
    """
    ground = ground_for(inquiry, session)
    offered = offer(session, ground.settings, seated_in(inquiry, ground.settings)) if can_ask else None
    if offered is not None:
        ground = replace(ground, settings=offered.settings)
    check_seated(ground.settings, inquiry.protocol)
    author, judges, found = _seated(inquiry, ground.settings, session)
    proposal = joined(offered, found)
    if proposal is not None:
        ground = replace(ground, settings=proposal.settings)
    settings, section = ground.settings, _section(ground.settings, inquiry.protocol)
    _check_parties(inquiry, settings, (author, *judges) if author else judges)
    tree, remarks = _tree(inquiry, ground.repository)
    sources, evidence, left_out = _sources(ground, section, case_folder, inquiry.claims)
    return CasePlan(
        protocol=inquiry.protocol,
        ground=ground,
        docket=Docket(
            question=inquiry.question,
            instructions=inquiry.instructions,
            context=inquiry.context,
            text=inquiry.text,
            candidate=inquiry.candidate,
            tree=tree,
            remarks=(*remarks, *left_out),
        ),
        terms=Terms(effort=section.effort, vote_only=inquiry.vote_only, sources=sources, options=inquiry.options),
        limits=_limits(settings, section),
        deadline_s=settings.limits.deadline_s,
        author=author,
        judges=judges,
        given={name: canonical_json(table) for name, table in inquiry.given.items() if name in (author, *judges)},
        proposal=proposal,
        evidence=evidence,
    )


def ground_for(inquiry: Inquiry, session: Session) -> Ground:
    """Return where a case would stand, with the settings that hold there and those given for it alone.

    Raises:
        SourceError: there is a repository around it that cannot be used.
        ConfigError: a setting is wrong.
    """
    ground = find_ground(
        inquiry.folder,
        folders=session.folders,
        environment=session.environment,
        flags=inquiry.flags,
        defaults=inquiry.defaults,
    )
    source = Source(origin=Origin.FLAG, name="the command line")
    return replace(ground, settings=join_given(ground.settings, inquiry.given, source))


def _section(settings: Settings, protocol: str) -> _Section:
    found = getattr(settings, protocol)
    assert isinstance(found, _Section), "every protocol about words has its settings"
    return found


def _limits(settings: Settings, section: _Section) -> Limits:
    found = limits_of(settings.limits, max_rounds=section.max_rounds)
    if isinstance(section, ProposeSettings):
        return replace(found, min_rounds=section.min_rounds, stall_rounds=section.stall_rounds)
    return found


# --- who sits in it


def seated_in(inquiry: Inquiry, settings: Settings) -> tuple[str, ...]:
    """Return whom flags or settings seat: the author, "" where nobody is, then who judges."""
    section = _section(settings, inquiry.protocol)
    author: str = getattr(section, section.author_key) if section.author_key else ""
    return author, *getattr(section, section.judges_key)


def _seated(inquiry: Inquiry, settings: Settings, session: Session) -> tuple[str, tuple[str, ...], Proposal | None]:
    """Return the author, who judges, and the proposal that they come out of where somebody had to be found."""
    author, *named = seated_in(inquiry, settings)
    judges, needs_author = tuple(named), bool(_section(settings, inquiry.protocol).author_key)
    missing = (needs_author and not author) + (0 if judges else inquiry.fewest_judges)
    if not missing:
        return author, judges, None
    beside = tuple(name for name in (author, *judges) if name)
    proposal = propose_agents(session, settings, missing, beside=beside, may_repeat=inquiry.may_repeat)
    found = proposal.seats
    if needs_author and not author:
        author, found = found[0], found[1:]
    return author, judges or found, proposal


def _check_parties(inquiry: Inquiry, settings: Settings, parties: tuple[str, ...]) -> None:
    """Refuse what the rules of the case would refuse, before anybody is asked for leave."""
    section = _section(settings, inquiry.protocol)
    path = f"{inquiry.protocol}.{section.judges_key}"
    source = settings.source(path).name
    if SUPERVISOR in parties:
        raise ConfigError(
            path,
            f"no agent called {SUPERVISOR!r}, which is what the supervisor of every case is called",
            source=source,
            hint=f"give [agents.{SUPERVISOR}] another name",
        )
    if checks := next((name for name in parties if settings.agents[name].kind is AgentKind.CHECKS), None):
        hint = "name an agent or a person; commands of the project judge changes"
        key = section.author_key if checks == getattr(section, section.author_key or "", "") else section.judges_key
        path = f"{inquiry.protocol}.{key}"
        source = settings.source(path).name
        raise ConfigError(path, "agents that can answer in words", got=checks, source=source, hint=hint)
    if settings.limits.max_calls < len(parties):
        raise ConfigError(
            "limits.max_calls",
            f"at least {len(parties)}, one question for each seat",
            got=settings.limits.max_calls,
            source=settings.source("limits.max_calls").name,
            hint=f"allow more calls, or name fewer {section.judges_key}",
        )


# --- what they may look into


def _tree(inquiry: Inquiry, repository: Repository | None) -> tuple[str, tuple[str, ...]]:
    """Return the commit whose files are lent, and what has to be said about it."""
    if not inquiry.reads_tree or repository is None:
        if inquiry.revision:
            raise SourceError(
                f"{inquiry.revision} names a commit, and there is no repository around {path_text(inquiry.folder)}",
                hint="name a repository with --repo, or leave the commit out",
            )
        return "", ()
    with Quarantine(repository) as quarantine:
        tree = resolve(quarantine, inquiry.revision) if inquiry.revision else head_or_none(quarantine)
        if tree is None:
            return "", ("the repository has no commit yet, so none of its files can be read",)
        left_out = withheld(quarantine.objects, tree)
    uncommitted = () if inquiry.revision else look_at_worktree(repository).paths
    return tree, (*_dirty(uncommitted, tree), *_left_out(left_out, "in what can be read"))


def _dirty(paths: Sequence[str], commit: str) -> Iterator[str]:
    if paths:
        count = "1 path" if len(paths) == 1 else f"{len(paths)} paths"
        yield f"the work tree differs from HEAD in {count}; what can be read is HEAD, {commit[:_SHORT]}"


def _sources(
    ground: Ground, section: _Section, case_folder: Callable[[], Path], claims: Callable[[str], Sequence[LookUp]]
) -> tuple[str, tuple[Evidence, ...], tuple[str, ...]]:
    """Copy the folder that texts may quote from into the case.

    Return its digest, what code finds there of what the text claims, and what was left out.
    """
    if not isinstance(section, BallotSettings) or not section.sources:
        return "", (), ()
    folder, copy = ground.folder / section.sources, case_folder() / SOURCES
    found = copy_sources(folder, copy, writable=True)
    if not found.files:
        raise SourceError(
            f"there is no file in {path_text(folder)} that a text could quote from",
            hint="name a folder of plain files with --sources",
        )
    evidence = tuple(look_up_in_sources(request, copy, found) for request in claims(found.source))
    return found.source, evidence, tuple(_left_out(found.withheld, "among the sources"))


def _left_out(remarks: Sequence[Remark], where: str) -> Iterator[str]:
    for remark in remarks[:_NAMED_WITHHELD]:
        yield f"{remark.path} is not {where}: {remark.reason}"
    if len(remarks) > _NAMED_WITHHELD:
        yield f"{len(remarks) - _NAMED_WITHHELD} more paths are not {where}"
