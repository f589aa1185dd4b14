"""Cassettes of cases: where a run records its agents, or plays them again (`docs/howto/record-and-replay.md`).

A cassette brings who sits in the case and which answers they give, never a command, a consent or trust. Its settings
take the place of the person's own while it is played, so that it plays where nobody has set an agent up.
"""

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from counterpoint.agents.base import Agent
from counterpoint.agents.cassette import SETTINGS, Cassette, Header, TapedSeat
from counterpoint.agents.taped import RecordingAgent, ReplayAgent, Stage
from counterpoint.core.canonical import canonical_json, digest
from counterpoint.core.docket import Docket
from counterpoint.core.entries import AttemptFailed, CaseOpened, Entry, SubmissionSealed
from counterpoint.drive.cases import HOME
from counterpoint.drive.clock import Clock
from counterpoint.drive.keys import KEYS
from counterpoint.drive.paths import Folders, path_text
from counterpoint.drive.settings import (
    BUILT_IN,
    LOCAL,
    AgentKind,
    AgentSettings,
    CodingAgent,
    CommandAgent,
    ModelAgent,
    Origin,
    Settings,
)
from counterpoint.errors import ConfigError, RecordError, SourceError
from counterpoint.isolation.patches import WorkTree
from counterpoint.isolation.repository import Repository

__all__ = ["Tape", "Taping"]

_NOWHERE: Final = "http://127.0.0.1:9"
"""Stands for an address that a kind of agent has to have; nobody calls it."""
_SECTIONS: Final = frozenset({"review", "answer", "propose", "ballot", "limits", "agents"})
_OWN_PLACES: Final = frozenset({"ballot.sources"})
"""A folder of whoever recorded; whoever plays it names their own."""
_SEATED: Final = frozenset(
    {
        "review.reviewers",
        "review.author",
        "answer.peers",
        "propose.proposer",
        "propose.critics",
        "ballot.orchestrator",
        "ballot.voters",
    }
)
"""Who sits there is taken along however it was said."""
_OWN_ORIGINS: Final = frozenset({Origin.PERSON, Origin.ENVIRONMENT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Taping:
    """What a command line says of a cassette."""

    folder: Path
    is_replay: bool

    @classmethod
    def of(cls, record: Path | None, replay: Path | None) -> "Taping | None":
        """Return what the two options come to; at most one of them is given."""
        assert record is None or replay is None, "the command line refuses both"
        folder = record or replay
        return None if folder is None else cls(folder=folder.absolute(), is_replay=replay is not None)

    @property
    def flag(self) -> str:
        return "--replay" if self.is_replay else "--record"

    def folders(self, own: Folders) -> Folders:
        """Return the person's folders for a run: a replay has the cassette's settings."""
        return replace(own, config=self.folder) if self.is_replay else own

    def check(self, worktree: Path | None) -> None:
        """Refuse a folder that cannot be recorded into, or has nothing to play, before anything is begun.

        Args:
            worktree: the files that are judged and edited; None where a case edits nothing.

        Raises:
            ConfigError: it is not empty, or lies among the files that are judged.
            RecordError: it is no cassette that can be read.
        """
        if self.is_replay:
            _demand_harmless(Cassette(self.folder))
            return
        if worktree is not None and _is_among(worktree.resolve(), self.folder.resolve()):
            raise ConfigError(
                self.flag,
                "a folder outside the work tree, where nobody's edits are looked for",
                got=path_text(self.folder),
                hint="name another folder; a finished cassette can be moved anywhere",
            )
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            hint = "name a new one for each case"
            raise ConfigError(self.flag, "a new or empty folder", got=path_text(self.folder), hint=hint)

    def begin(
        self, settings: Settings, docket: Docket, parties: tuple[str, ...], case: str, *, protocol: str = "review"
    ) -> None:
        """Make the cassette of a case that is about to be opened, or hold the played one to be about it.

        Raises:
            RecordError: it cannot be made or read.
            SourceError: another change, question or text was recorded.
            ConfigError: others sit in it than were recorded.
        """
        cassette, names = Cassette(self.folder), tuple(dict.fromkeys(parties))
        base, candidate = _about(docket)
        if self.is_replay:
            header = cassette.header()
            what = ("base", "candidate") if docket.is_about_change else ("digest of the question and its texts",) * 2
            hint = (
                "check out the commit that was recorded, and name its --base"
                if docket.is_about_change
                else "ask what was recorded, with the same texts and files beside it"
            )
            for word, found, recorded in zip(what, (base, candidate), (header.base, header.candidate), strict=True):
                if found != recorded:
                    raise SourceError(f"the {word} is {found}; recorded was {recorded}", hint=hint)
            if names != (recorded_names := tuple(seat.party for seat in header.seats)):
                raise ConfigError(
                    self.flag,
                    f"the seats of the cassette: {', '.join(recorded_names)}",
                    got=", ".join(names),
                    hint="name nobody, or who was recorded, in the same order",
                )
            return
        seats = tuple(
            TapedSeat(
                party=name, kind=settings.agents[name].kind.value, destination=settings.agents[name].destination
            )
            for name in names
        )
        written = _settings_for_replay(settings, names, protocol)
        header = Header(
            case=case,
            base=base,
            candidate=candidate,
            seats=seats,
            settings=digest(written.encode()),
        )
        cassette.begin(header, written)

    def seed(self, case: str) -> str:
        """Return what a case is shuffled by: in a replay as it was recorded, so that each seat reads the same.

        Raises:
            RecordError: the cassette cannot be read.
        """
        recorded = Cassette(self.folder).header().case if self.is_replay else case
        return digest(f"the order of {recorded}".encode())[:32]

    def check_case(self, case: str, opened: Docket) -> None:
        """Hold a cassette to be the one of a case that goes on.

        Raises:
            ConfigError: another case was recorded there.
            SourceError: something else was.
            RecordError: it cannot be read.
        """
        header = _demand_harmless(Cassette(self.folder))
        if not self.is_replay and header.case != case:
            raise ConfigError(self.flag, f"the cassette of {case}", got=header.case)
        base, candidate = _about(opened)
        if self.is_replay and (header.base, header.candidate) != (base, candidate):
            raise SourceError(
                f"the case is about {candidate}; recorded was {header.candidate}",
                hint="name the cassette that the case was begun with",
            )

    def unused(self, entries: Iterable[Entry]) -> tuple[str, ...]:
        """Return the recorded turns that a played case, of these entries, has not asked for."""
        if not self.is_replay:
            return ()
        asked = {entry.turn.id for entry in entries if isinstance(entry, SubmissionSealed | AttemptFailed)}
        return tuple(sorted(Cassette(self.folder).turns() - asked))


class Tape:
    """The agents of one case around its cassette."""

    def __init__(
        self,
        taping: Taping,
        opened: CaseOpened,
        settings: Settings,
        repository: Repository | None,
        *,
        objects: Path,
        environment: Mapping[str, str],
        clock: Clock,
    ) -> None:
        self._is_replay = taping.is_replay
        self._stage = Stage(
            cassette=Cassette(taping.folder),
            worktree=None
            if repository is None or not opened.docket.is_about_change
            else WorkTree(repository=repository, objects=objects),
            opened=frozenset({opened.docket.base, opened.docket.candidate}),
            now=clock.now,
            secrets=_variables(settings, environment),
        )

    def agent(self, found: AgentSettings, build: Callable[[], Agent]) -> Agent:
        """Return what sits for an agent; while a cassette is played, none is built."""
        if self._is_replay:
            return ReplayAgent(self._stage, kind=found.kind.value, destination=found.destination)
        return RecordingAgent(build(), self._stage)


def _is_among(top: Path, folder: Path) -> bool:
    return folder.is_relative_to(top) and not folder.is_relative_to(top / HOME)


def _about(docket: Docket) -> tuple[str, str]:
    """Return what a case is about: base and candidate, or twice the digest of the question and its texts."""
    if docket.is_about_change:
        return docket.base, docket.candidate
    texts = [docket.question, docket.instructions, docket.context, docket.text, docket.tree]
    about = digest(canonical_json(texts).encode())
    return about, about


def _variables(settings: Settings, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return every variable that an agent may have been given; where two agents have one of a name, both values."""
    found = dict(environment)
    for name, agent in settings.agents.items():
        if isinstance(agent, CommandAgent):
            found |= {f"{key} of {name}": value for key, value in agent.set.items()}
    return found


# --- settings for a replay


def _demand_harmless(cassette: Cassette) -> Header:
    """Return what a cassette is about, its settings being those that were written, and none that would run anything.

    Raises:
        RecordError: they are others, or there is no cassette.
    """
    header, content = cassette.header(), cassette.settings()
    table = tomllib.loads(content.decode()) if digest(content) == header.settings else None
    if table is None or not table.keys() <= _SECTIONS:
        got = "others than were recorded" if table is None else ", ".join(sorted(table.keys() - _SECTIONS))
        raise RecordError(
            f"{SETTINGS} of the cassette {path_text(cassette.folder)} holds {got}",
            hint="take a copy that nobody edited, or record the case anew",
        )
    return header


def _settings_for_replay(settings: Settings, parties: tuple[str, ...], protocol: str) -> str:
    """Return TOML: who sits in the case, and what of its terms and limits the person had set outside the repository.

    Commands of the project are left out: a cassette can come from anybody, and brings nothing that would run.
    """
    lines = []
    for section in (protocol, "limits"):
        values = list(_own_values(settings, section))
        if values:
            lines += [f"[{section}]", *(f"{key} = {_toml(value)}" for key, value in values), ""]
    for name in parties:
        if name in BUILT_IN:
            continue
        lines += [f"[agents.{name}]", *(f"{k} = {_toml(v)}" for k, v in _plain(settings.agents[name]).items()), ""]
    return "\n".join(lines)


def _own_values(settings: Settings, section: str) -> Iterator[tuple[str, Any]]:
    for key in KEYS:
        where, _, name = key.path.partition(".")
        origin = settings.source(key.path).origin
        is_own = origin in _OWN_ORIGINS or (key.path in _SEATED and origin is Origin.FLAG)
        if where == section and key.path not in _OWN_PLACES and is_own:
            yield name, getattr(getattr(settings, section), name)


def _plain(agent: AgentSettings) -> dict[str, Any]:
    """Return the least that an agent of that kind is set up with; it sits and sends where the recorded one did."""
    plain: dict[str, Any] = {"kind": agent.kind.value}
    match agent:
        case CommandAgent():
            plain |= {"command": ("recorded",), "destination": agent.destination}
        case ModelAgent():
            plain |= {"model": agent.model, "destination": agent.destination}
            plain |= {"base_url": _NOWHERE} if agent.kind is AgentKind.CHAT or agent.destination == LOCAL else {}
        case CodingAgent():
            plain |= {"model": agent.model} if agent.model else {}
            plain |= {"destination": agent.destination, "environment": ("RECORDED",)}
            plain |= {"base_url": _NOWHERE} if agent.base_url else {}
        case _ if agent.kind is AgentKind.SCRIPTED:
            plain |= {"file": "recorded"}
        case _:
            pass
    return plain


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
