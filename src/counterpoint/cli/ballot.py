"""`counterpoint ballot`: have a frozen roster vote on a document, and check a document that holds such a debate."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from counterpoint.cli.ballot_document import BallotDocument
from counterpoint.cli.completing import agent_option
from counterpoint.cli.inquiring import Common, Request, inquiry_options, read_text, run_inquiry
from counterpoint.cli.manual import CASE_EXITS, Manual, ManualWithMore, json_option
from counterpoint.cli.output import print_json, say
from counterpoint.cli.where import Where, where_options
from counterpoint.core.canonical import digest, visible
from counterpoint.core.docket import ChangedPath, PathState
from counterpoint.drive.cases import list_cases
from counterpoint.drive.document import MAX_DOCUMENT
from counterpoint.drive.inquiry import Inquiry
from counterpoint.drive.paths import path_text
from counterpoint.drive.plans import CasePlan
from counterpoint.protocols.ballot import candidate_of, claims_of
from counterpoint.protocols.ballot.layout import read_debate, read_document
from counterpoint.views.ballot_check import Checked, check_document
from counterpoint.views.markdown import counted

__all__ = ["ballot", "ballot_options", "ballot_request"]

_MAX_ROUNDS: Final = 3


_OPTIONS: Final = (
    click.argument("document", metavar="DOC.md", type=click.Path(path_type=Path)),
    where_options,
    agent_option("--orchestrator", metavar="NAME", help="The agent that alone writes the text, and has no vote."),
    agent_option("--voters", metavar="NAME,NAME", help="The agents that vote, in the order of the roster."),
    click.option(
        "--sources",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help='A folder of plain files: code looks up every "quotation" [source: path] of the text in it.',
    ),
    click.option(
        "--max-rounds",
        type=click.IntRange(1, _MAX_ROUNDS),
        metavar="N",
        help="How many versions are voted on at most.  [default: 3]",
    ),
    inquiry_options(without=("max_rounds",)),
)


def ballot_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `counterpoint ballot`; `ballot_request` makes one value of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def ballot_request(
    *,
    document: Path,
    where: Where,
    orchestrator: str | None,
    voters: str | None,
    sources: Path | None,
    max_rounds: int | None,
    common: Common,
) -> Request:
    """Return what is asked for.

    Raises:
        SourceError: the document cannot be voted on as it is.
    """
    given = tuple(name.strip() for name in voters.split(",")) if voters is not None else None
    read = BallotDocument.read(document)
    remarks = tuple(read.remarks(where))
    inquiry = Inquiry(
        protocol="ballot",
        folder=where.repo,
        flags={
            "ballot.orchestrator": orchestrator,
            "ballot.voters": given,
            "ballot.sources": path_text(sources.absolute()) if sources is not None else None,
            "ballot.max_rounds": max_rounds,
        },
        question=read.found.title,
        text=read.text,
        candidate=candidate_of(read.text),
        claims=partial(claims_of, read.text),
    )

    def arrange(plan: CasePlan) -> CasePlan:
        read.check_free(where)
        read.hold_to_rules(has_sources=bool(plan.terms.sources))
        unborne = read.unborne(plan.terms.sources, plan.evidence)
        place = os.path.relpath(document.absolute(), plan.ground.folder.absolute())
        docket = replace(
            plan.docket,
            paths=(ChangedPath(path=place, state=PathState.TEXT),),
            change=digest(read.content.encode()),
            remarks=(*remarks, *unborne, *plan.docket.remarks),
        )
        return replace(plan, docket=docket)

    def tell_text(plan: CasePlan) -> Iterator[str]:
        yield f"document: {visible(path_text(document))}, {visible(read.found.title)}"
        yield f"text: v1, SHA-256 {plan.docket.candidate}"

    return Request(where=where, inquiry=inquiry, common=common, arrange=arrange, say=tell_text)


@click.command(
    cls=ManualWithMore,
    exits=CASE_EXITS,
    examples=[
        ("counterpoint ballot DOC.md --orchestrator claude --voters codex,gemini", "vote on a document"),
        (
            "counterpoint ballot DOC.md --orchestrator claude --voters codex,me --deadline 2h",
            "with a person, in time",
        ),
        ("counterpoint ballot DOC.md --sources notes/", "who sits in it stands in the settings; look up quotations"),
        ("counterpoint ballot verify DOC.md", "is the debate in it what its case says?"),
    ],
)
@ballot_options
@json_option
def ballot(*, as_json: bool, **given: Any) -> int:
    """Have a frozen roster vote on a document, until all approve the same bytes or cannot.

    Each voter votes blind: Approved, Approved with reservations, or Rejected, bound to a version and to the SHA-256
    of its text. The orchestrator classifies reservations; every voter may challenge what it calls cosmetic. What is
    not approved is written again, up to three rounds. Then a person is asked: the program decides no deadlock.

    DOC.md is a plain text, whose first heading is the title and the rest version 1; or a document in the layout of a
    ballot, whose text is voted on anew. It is rewritten in that layout. An edit of yours is never written over.
    """
    return run_inquiry(ballot_request(**given), as_json=as_json)


@click.command(
    cls=Manual,
    exits={
        0: "everything holds that was there to be held against",
        1: "something does not hold, or the file holds no debate, or cannot be read",
        2: "the command line is wrong",
    },
    examples=[
        ("counterpoint ballot verify DOC.md", "against its case here: its record and its snapshots"),
        ("counterpoint ballot verify copy/DOC.md --snapshots copy/", "anybody's, with the files that came with it"),
    ],
)
@click.argument("document", metavar="FILE", type=click.Path(path_type=Path))
@where_options
@click.option(
    "--snapshots",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where ballot-1.json and its like are.  [default: the folder of the case that the debate names]",
)
@json_option
def verify(*, document: Path, where: Where, snapshots: Path | None, as_json: bool) -> int:
    """Check a document that holds a ballot's debate.

    The SHA-256 of the text is computed again and held against the last round's. Each round must have every vote of
    its roster, on its version, within its deadline, and the rounds must count from 1 to no more than were allowed.
    Where the snapshots are there, each of their texts is hashed again and its votes are compared. Where the case is
    here, the file must be what its record renders, byte for byte. `counterpoint verify` checks the record itself.
    """
    content = read_text(document, most=MAX_DOCUMENT)
    debate = read_debate(read_document(content, name=document.name).debate)
    name = debate[-1].case if debate else ""
    case = where.load(name) if name in list_cases(where.cases) else None
    folder = snapshots or (case.folder if case is not None else None)
    found = check_document(content, name=document.name, snapshots=folder, case=case)
    if as_json:
        print_json(found.fields())
    else:
        for line in _lines(document, found):
            say(line)
    return 1 if found.faults else 0


def _lines(document: Path, found: Checked) -> Iterator[str]:
    yield f"{path_text(document)}: {found.title}, v{found.version}, SHA-256 {found.candidate}"
    against = [counted(found.rounds, "round"), f"{counted(len(found.snapshots), 'snapshot')} here"]
    record = f"the record of {found.case}" if found.is_recorded else f"no record of {found.case} here"
    yield f"held against: {', '.join((*against, record))}"
    yield from (f"does not hold: {fault}" for fault in found.faults)
    if not found.faults:
        yield "it holds"


ballot.add(verify)
