"""`counterpoint propose`: a requirement in, a proposal out that critics have held to a ledger of issues."""

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.cli.inquiring import Common, Request, inquiry_options, read_text, run_inquiry
from counterpoint.cli.manual import Manual, ManualWithMore, json_option
from counterpoint.cli.output import print_json, say, tell
from counterpoint.cli.propose_options import EXITS, Asked, PairOptions, UsageIsInput, pair_options, propose_options
from counterpoint.cli.where import Where, where_options
from counterpoint.core.docket import Docket
from counterpoint.drive.inquiry import Inquiry
from counterpoint.drive.pairs import choose_pair, profile_path, save_profile
from counterpoint.drive.paths import Folders, find_folders, path_text
from counterpoint.drive.plans import CasePlan
from counterpoint.drive.propose_demo import CRITIC, PROPOSER, REQUIREMENT, build_demo
from counterpoint.drive.settings import AgentKind, Origin
from counterpoint.protocols.propose import call_ceiling, is_anybody_asked
from counterpoint.views.propose_folder import prepare_folder, put_reports
from counterpoint.views.propose_result import source_remark
from counterpoint.views.writing import write_files, write_reports

__all__ = ["propose", "propose_request", "shared_options"]

_INTERRUPTED: Final = 130
_PERSON: Final = "human"
_ASKS: Final = "limits.asks_per_turn"
_DEFAULTS: Final[Mapping[str, object]] = {
    "limits.max_tokens": 150_000,
    "limits.max_output_tokens": 12_000,
    "limits.call_timeout_s": 180,
    "limits.deadline_s": 900,
}
"""Where nothing else sets them (SPEC A-02)."""


shared_options: Final = inquiry_options(without=("max_rounds", "max_tokens", "deadline"))
"""What `propose` takes of the options that all such commands share; it has limits of its own."""


class _Propose(UsageIsInput, ManualWithMore):
    """The command, with `setup` below it."""


@click.command(
    cls=_Propose,
    exits=EXITS,
    examples=[
        ("counterpoint propose --demo", "two rounds by scripts: no key, no network"),
        (
            'counterpoint propose --provider openai --model gpt-5.5 --reasoning-effort high "Let users export data"',
            "one model in both seats",
        ),
        ('counterpoint propose --proposer claude --critic codex,opus "…"', "agents of your settings"),
        (
            "counterpoint propose --question-file need.md --context-file load.md --out plan",
            "from files, into a folder",
        ),
    ],
)
@where_options
@propose_options()
@shared_options
@json_option
def propose(*, where: Where, common: Common, as_json: bool, **given: Any) -> int:
    """Have a requirement answered by a proposal, and the proposal held to a ledger of issues.

    A proposer writes a proposal while critics look for risks, neither seeing the other. Then each version is reviewed
    and revised, round by round, until every critic accepts one, nothing moves, or a limit is reached. Nobody is asked
    twice: an answer that is not taken ends it. The reports are report.md, result.json and report.html.

    Who sits there: --proposer with --critic; or one pair of model and effort for both seats, from --session-config,
    from --model with --reasoning-effort, from --config, from DEBATE_MODEL with DEBATE_REASONING_EFFORT, or from the
    profile of `counterpoint propose setup`, the first that is there, whole; or the agents of your settings.
    """
    asked = Asked(**given)
    asked.check()
    if asked.out is not None:
        prepare_folder(asked.out, overwrite=asked.overwrite)
    if asked.demo:
        with tempfile.TemporaryDirectory(prefix="counterpoint-propose-") as folder:
            build_demo(Path(folder))
            scripted = _Scripted(repo=where.repo, root=where.root, settings=Path(folder))
            return _run(_request(scripted, common, _demo(), source="demo"), asked, as_json=as_json)
    inquiry, source = _inquiry(where, asked)
    return _run(_request(where, common, inquiry, source=source), asked, as_json=as_json)


def propose_request(*, where: Where, common: Common, **given: Any) -> Request:
    """Return what is asked for with the options of `propose_options`.

    Raises:
        UsageError: options contradict each other, or nothing is asked.
        ConfigError: a source of the pair has half of it, or two disagree.
        SourceError: a file cannot be read.
    """
    asked = Asked(**given)
    asked.check()
    inquiry, source = _inquiry(where, asked)
    return _request(where, common, inquiry, source=source)


@dataclass(frozen=True, kw_only=True)
class _Scripted(Where):
    """A place whose settings are the demo's."""

    settings: Path

    @cached_property
    def folders(self) -> Folders:
        return replace(find_folders(os.environ), config=self.settings)


def _demo() -> Inquiry:
    flags = {"propose.proposer": PROPOSER, "propose.critics": [CRITIC], "propose.max_rounds": 2}
    return Inquiry(
        protocol="propose",
        folder=Path.cwd(),
        flags={**flags, "propose.min_rounds": 2, "propose.stall_rounds": 2},
        defaults=_DEFAULTS,
        question=REQUIREMENT,
        fewest_judges=1,
    )


def _inquiry(where: Where, asked: Asked) -> tuple[Inquiry, str]:
    """Return what is asked for, and the source of its pair: "" where agents are named, or found, or nobody sits."""
    question, context = _question(asked), _context(asked.context_files)
    inquiry = Inquiry(
        protocol="propose",
        folder=where.repo,
        flags=asked.settings,
        defaults=_DEFAULTS,
        question=question,
        context=context,
        reads_tree=asked.tree,
        revision=asked.revision or "",
        fewest_judges=1,
        may_repeat=True,
    )
    pair = None if asked.names_agents else _pair(where, asked.pair)
    if not is_anybody_asked(Docket(question=question, context=context)):
        # It ends before anybody is asked: no agent has to be set up, and nothing to be allowed, for that.
        nobody = {"propose.proposer": _PERSON, "propose.critics": [_PERSON]}
        return replace(inquiry, flags={**inquiry.flags, **nobody}, reads_tree=False, revision=""), ""
    if pair is None:
        return inquiry, ""
    seats = {"propose.proposer": PROPOSER, "propose.critics": [CRITIC]}
    given = {PROPOSER: pair.table(), CRITIC: pair.table()}
    return replace(inquiry, flags={**inquiry.flags, **seats}, given=given), pair.source


def _pair(where: Where, asked: PairOptions) -> Any:
    default = profile_path(os.environ, where.folders.config)
    return choose_pair(asked.wanted, environment=os.environ, default=default)


def _question(asked: Asked) -> str:
    if asked.question_file is not None:
        return read_text(asked.question_file)
    assert asked.question is not None, "the command line has one of the two"
    return asked.question


def _context(files: tuple[Path, ...]) -> str:
    """Return the files, each under the name that seats cite; where they lie on this machine is for nobody else."""
    texts = {path: read_text(path) for path in files}
    return "\n\n".join(f"{_cited(path)}:\n\n{text.rstrip()}" for path, text in texts.items())


def _cited(path: Path) -> str:
    is_inside = not path.is_absolute() and ".." not in path.parts
    return path_text(path) if is_inside else path_text(Path(path.name))


def _request(where: Where, common: Common, inquiry: Inquiry, *, source: str) -> Request:
    def arrange(plan: CasePlan) -> CasePlan:
        if not _asks(plan):
            return _limited(plan)
        remarks = [source_remark(source) if source else _seats_remark(plan)]
        if inquiry.reads_tree and plan.ground.repository is None:
            remarks.append(f"--tree lends nothing: there is no repository around {path_text(inquiry.folder)}")
        docket = replace(plan.docket, remarks=(*plan.docket.remarks, *remarks))
        return _limited(replace(plan, docket=docket))

    return Request(where=where, inquiry=inquiry, common=common, arrange=arrange, say=_limits, asks=_asks)


def _asks(plan: CasePlan) -> bool:
    return is_anybody_asked(plan.docket)


def _limited(plan: CasePlan) -> CasePlan:
    """Return it with the limits of a proposal. What is set and does nothing here is told, and never just dropped."""
    settings, limits = plan.settings, replace(plan.limits, max_asks=1)
    if settings.source("propose.min_rounds").origin is Origin.DEFAULT:
        limits = replace(limits, min_rounds=min(limits.min_rounds, limits.max_rounds))
    waits_for_person = _seats_a_person(plan) and settings.source("limits.deadline_s").origin is Origin.DEFAULT
    ground, source = plan.ground, settings.source(_ASKS)
    if source.origin is not Origin.DEFAULT and settings.limits.asks_per_turn != 1:
        notice = (
            f"{_ASKS} is {settings.limits.asks_per_turn} in {source.name}; here it does nothing, since an answer "
            "that is not taken is never asked for again (ASKS-1)"
        )
        ground = replace(ground, notices=(*ground.notices, notice))
    return replace(
        plan,
        ground=ground,
        limits=limits,
        deadline_s=0 if waits_for_person else plan.deadline_s,
        most_calls=call_ceiling(critics=len(plan.judges), rounds=limits.max_rounds),
    )


def _seats_a_person(plan: CasePlan) -> bool:
    return any(plan.settings.agents[name].kind is AgentKind.HUMAN for name in plan.seats)


_NAMED_BY: Final[Mapping[Origin, str]] = {
    Origin.FLAG: "the command line",
    Origin.ENVIRONMENT: "the environment",
    Origin.PERSON: "your settings",
    Origin.REPOSITORY: "the repository's settings",
    Origin.DEFAULT: "the agents of this machine, since nobody was named",
}


def _seats_remark(plan: CasePlan) -> str:
    proposer, critics = (plan.settings.source(f"propose.{key}").origin for key in ("proposer", "critics"))
    if proposer is critics:
        return source_remark(_NAMED_BY[proposer])
    return source_remark(f"{_NAMED_BY[proposer]} (who proposes) and {_NAMED_BY[critics]} (who criticises)")


def _run(request: Request, asked: Asked, *, as_json: bool) -> int:
    names: list[str] = []
    code = run_inquiry(request, as_json=as_json, quiet=asked.quiet, began=names.append)
    case = request.where.load(names[0])
    if code == _INTERRUPTED:
        write_reports(case)
        write_files(case)
    if asked.out is not None and (code == _INTERRUPTED or case.state.closed is not None):
        put_reports(case, asked.out, overwrite=asked.overwrite)
        if not as_json:
            say(f"also in: {path_text(asked.out)}")
    return code


def _limits(plan: CasePlan) -> Iterator[str]:
    limits = plan.limits
    tokens = f"{limits.max_tokens} tokens" if limits.max_tokens else "no limit of tokens"
    why = " since a person sits here" if _seats_a_person(plan) else ""
    time = f"{plan.deadline_s} s" if plan.deadline_s else f"no limit of time{why}"
    yield f"at most {plan.calls} calls, {tokens}, {time}, {limits.call_timeout_s} s a call"
    yield "each is asked once: an answer that is not taken ends it"


@click.command(
    cls=Manual,
    exits={
        0: "saved, or there already",
        1: "nothing was written; the error says why",
        2: "the command line is wrong",
    },
    examples=[
        (
            "counterpoint propose setup --provider anthropic --model claude-opus-4-8 --reasoning-effort high",
            "one pair for every proposal to come",
        )
    ],
)
@where_options
@pair_options(without=("session_config",))
@click.option("--overwrite", is_flag=True, help="Replace a profile that differs.")
@json_option
def setup(*, where: Where, as_json: bool, overwrite: bool, **given: Any) -> int:
    """Save the pair of model and effort that both seats get where nothing else is said.

    It is written to `propose.json` among your settings, or to --config or DEBATE_CONFIG. It names the variable that
    holds the key, never the key. Nothing is asked over the network.
    """
    given_pair = PairOptions(**given)
    if missing := given_pair.missing:
        named = f"{', '.join(missing[:-1])} and {missing[-1]} are" if len(missing) > 1 else f"{missing[0]} is"
        raise click.UsageError(
            f"{named} missing; a profile is a provider, a model and its effort", click.get_current_context()
        )
    wanted = given_pair.wanted
    path = wanted.config or profile_path(os.environ, where.folders.config)
    pair = choose_pair(replace(wanted, config=None), environment={}, default=None)
    assert pair is not None, "model and effort were given"
    changed = save_profile(path, pair, overwrite=overwrite)
    if as_json:
        print_json({"profile": path_text(path), "changed": changed})
        return 0
    say(f"{'saved to' if changed else 'it is so already in'} {path_text(path)}")
    tell(f"next: counterpoint propose {shlex.quote('what is required')}")
    return 0


propose.add(setup)
