"""Example cases, each one way for a case to end or to be open. Those with an author are in `tests.example_rounds`."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose, QuoteCheck
from counterpoint.core.docket import ChangedPath, Docket, PathState, ProjectCommand
from counterpoint.core.entries import ConsentGranted, FailureReason, ObserverDropped
from counterpoint.core.limits import Limits
from counterpoint.core.rules import AddNote, Withdraw
from counterpoint.core.values import Usage
from counterpoint.record.store import Store
from tests.example_play import (
    BASE,
    CANDIDATE,
    CHECKS,
    CRITIC,
    DOCKET,
    FAILING,
    HOSTILE,
    LINT,
    NAMED,
    OUTSIDE,
    PASSING,
    START,
    TEST,
    Play,
    claim,
    finding,
    ran,
    verdict,
)
from tests.example_rounds import hostile_rounds, to_agreement, unresolved

__all__ = ["CHECKS", "CRITIC", "DOCKET", "EXAMPLES", "HOSTILE", "NAMED", "PASSING", "START", "Play", "play"]


def approved(store: Store, **more: Any) -> str:
    """Everybody approves, and a test that ran on the candidate passed."""
    case = Play(store, found=PASSING, **more)
    case.answer("checks", NAMED)
    claims = [claim("The tests cover the boundary and pass.", TEST, passes=True)]
    opinion = verdict("The boundary is right now, and a test holds it.", approved=True, claims=claims)
    case.answer("critic", opinion, usage=Usage(input_tokens=5200, output_tokens=240, known=True))
    case.settle()
    return case.name


def rejected(store: Store, **more: Any) -> str:
    """Findings of every severity, one settled, one with a quote that code cannot find, one untrue statement."""
    failing = (
        FAILING,
        ran(LINT, EvidenceStatus.REFUTED, "exit 1", output="E501 Line too long\n", exit_code=1, failing_before=True),
    )
    quotes = (
        ("    if quantity > 100:", EvidenceStatus.VERIFIED, "in the file at line 12"),
        ("    if quantity < 0:", EvidenceStatus.REFUTED, "not in the file"),
    )
    quoted = (
        Evidence(request=QuoteCheck(path="shop/price.py", text=t, candidate=tree), status=s, detail=d)
        for t, s, d in quotes
        for tree in (CANDIDATE, BASE)
    )
    case = Play(store, found=(*failing, *quoted), **more)
    case.answer("checks", NAMED)
    findings = [
        finding(
            "F1",
            "blocking",
            "The discount starts at 101, the contract says 100.",
            quote=quotes[0][0],
            suggestion="Compare with `>=`, and add a test for exactly 100.",
        ),
        finding("F2", "major", "A negative quantity gives a price.", quote=quotes[1][0], suggestion="Refuse it."),
        finding("F3", "minor", "The rate stands twice in this module.", location="shop/price.py"),
        finding("F4", "nit", "`calc` says little.", location="naming in general"),
        finding("F5", "major", "The currency was lost; the second commit mends it.", status="resolved"),
    ]
    claims = [
        claim("I ran the tests, they all pass.", TEST, passes=True),
        claim("The type checker is clean.", ("mypy", "shop"), passes=True),
    ]
    opinion = verdict("The comparison is off by one.", approved=False, findings=findings, claims=claims)
    case.answer("critic", opinion, model="my-model-2", usage=Usage(input_tokens=5200, output_tokens=810, known=True))
    case.settle()
    return case.name


def failed(store: Store, **more: Any) -> str:
    """The only reviewer sends prose twice."""
    case = Play(store, roster=(CRITIC,), **more)
    for begin in ("Looks good to me!", "```json"):
        case.fail(
            "critic",
            FailureReason.BAD_REPLY,
            f"the reply begins with {begin!r}; exactly one JSON object is asked for",
        )
    case.settle()
    return case.name


def budget_spent(store: Store, **more: Any) -> str:
    """One call is allowed, and the second reviewer is never asked."""
    case = Play(store, quorum=1, limits=Limits(max_calls=1), found=PASSING, **more)
    case.answer("checks", NAMED)
    case.settle()
    return case.name


def deadline_passed(store: Store, **more: Any) -> str:
    """Nobody answers before the deadline."""
    deadline = (more.get("start", START) + timedelta(hours=1)).isoformat()
    case = Play(store, roster=(CRITIC,), limits=Limits(deadline=deadline), **more)
    case.fail("critic", FailureReason.TIMEOUT, "no answer within 1800 s")
    case.clock.advance(3600)
    case.settle()
    return case.name


def withdrawn(store: Store, **more: Any) -> str:
    """The supervisor notes something, then ends the case."""
    case = Play(store, **more)
    case.say(AddNote(text="The branch is stale; I shall rebase it."))
    case.say(Withdraw(reason="superseded by another branch"))
    return case.name


def open_and_waiting(store: Store, **more: Any) -> str:
    """One seat has answered, one has failed once; a consent, a note and a lost observer beside it."""
    consent = ConsentGranted(
        destination="my-provider",
        by="owner",
        granted_at="2024-11-30T10:14:00+00:00",
        until="2024-12-01T10:14:00+00:00",
        scope="the change and the files it touches",
        digest="d" * 64,
    )
    case = Play(store, roster=(CHECKS, OUTSIDE), consents=(consent,), found=PASSING, **more)
    case.answer("checks", NAMED, usage=Usage())
    case.fail("critic", FailureReason.UNREACHABLE, "my-agent ended with exit code 2: no credit left")
    case.say(AddNote(text="Topped up; go on tomorrow."))
    case.append(ObserverDropped(detail="ValueError: progress bar is closed"))
    return case.name


def hostile(store: Store, **more: Any) -> str:
    """Every text that somebody else supplies tries to be more than text."""
    path = "a`b<!--\n# c](x).py"
    docket = Docket(
        question=HOSTILE.replace("## MSG-", "## MSG "),
        candidate=CANDIDATE,
        base=BASE,
        instructions=HOSTILE,
        rationale=HOSTILE,
        paths=(ChangedPath(path=path, state=PathState.WITHHELD),),
        commands=(ProjectCommand(argv=("sh", "-c", HOSTILE), purpose=Purpose.TEST, why=HOSTILE),),
        remarks=(HOSTILE,),
    )
    request = CommandCheck(argv=("sh", "-c", HOSTILE), purpose=Purpose.TEST, candidate=CANDIDATE)
    evidence = Evidence(request=request, status=EvidenceStatus.REFUTED, detail=HOSTILE, output=HOSTILE, exit_code=1)
    case = Play(store, docket=docket, found=(evidence,), **more)
    case.answer("checks", {"commands": [["sh", "-c", HOSTILE]]})
    case.fail("critic", FailureReason.BAD_REPLY, HOSTILE)
    case.say(AddNote(text=HOSTILE))
    named = finding("F1", "blocking", HOSTILE, location=HOSTILE[:900], suggestion=HOSTILE)
    claims = [claim(HOSTILE, ["echo", HOSTILE.replace("'", "")], passes=True)]
    claims[0]["command"] = "echo '" + HOSTILE[:200] + "'"
    case.answer("critic", verdict(HOSTILE, approved=False, findings=[named], claims=claims), model=HOSTILE)
    case.append(ObserverDropped(detail=HOSTILE))
    case.settle()
    return case.name


Example = Callable[..., str]
EXAMPLES: Final[Mapping[str, Example]] = MappingProxyType(
    {
        example.__name__.replace("_", "-"): example
        for example in (
            approved,
            rejected,
            failed,
            budget_spent,
            deadline_passed,
            withdrawn,
            open_and_waiting,
            hostile,
            to_agreement,
            unresolved,
            hostile_rounds,
        )
    }
)
"""By name: how to play each into a store."""


def play(example: str, store: Store, **more: Any) -> str:
    """Play one example into a store and return the case's name; `more` goes to `Play`."""
    return EXAMPLES[example](store, **more)
