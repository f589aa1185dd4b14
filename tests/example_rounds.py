"""Example cases with an author: one comes to agreement, one does not, and in one every text is hostile."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from counterpoint.core.checks import EvidenceStatus
from counterpoint.core.docket import ChangedPath, Effort, PathState, Seat, SeatKind, Terms
from counterpoint.core.edits import Made
from counterpoint.core.entries import FailureReason
from counterpoint.core.limits import Limits
from counterpoint.core.values import Severity, Usage
from counterpoint.record.store import Store
from tests.example_play import (
    CHECKS,
    DOCKET,
    FAILING,
    HOSTILE,
    LINT,
    NAMED,
    PASSING,
    SHOWN,
    Play,
    finding,
    passing_on,
    ran,
    verdict,
)

__all__ = ["ANA", "COMMITS", "READER", "answers", "hostile_rounds", "to_agreement", "unresolved"]

ANA: Final = Seat(name="ana", party="claude", kind=SeatKind.AUTHOR, agent="command", destination="my-provider")
READER: Final = Seat(name="critic", party="codex", agent="command", destination="other-provider")
COMMITS: Final = ("a1c3e5f7" * 5, "b2d4f608" * 5)


def answers(summary: str, *given: tuple[str, str, str], changed: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """Return an author's answer: finding, disposition and reasoning of each."""
    named = [{"finding": own, "disposition": word, "reasoning": why} for own, word, why in given]
    return {"summary": summary, "dispositions": named, "changed": list(changed)}


def _ruled(own_id: str, severity: str, status: str, **more: str) -> dict[str, str]:
    return finding(own_id, severity, _ISSUES[own_id], status=status, **more)


_ISSUES: Final = {
    "F1": "The discount starts at 101. The contract says 100.",
    "F2": "A negative quantity gives a price.",
    "F3": "The rate stands twice in this module.",
    "F4": "The new terms have to be signed off before they are sold.",
    "F10": "`calc` says little.",
    "F11": "The refusal of negative quantities refuses zero, too.",
}


_KNOWN: Final = Usage(input_tokens=5200, output_tokens=240, known=True)


def to_agreement(store: Store, **more: Any) -> str:
    """Three readings and two commits: fixed, disputed, given up without a reason, deferred, raised as resolved."""
    pull_request = "https://github.com/acme/shop/pull/12"
    case = Play(
        store,
        roster=(ANA, CHECKS, READER),
        docket=replace(DOCKET, context="The contract is in the drawer.", pull_request=pull_request),
        limits=Limits(max_rounds=3),
        terms=Terms(comments=True),
        found=(FAILING, PASSING[1], *passing_on(COMMITS[0]), *passing_on(COMMITS[1])),
        made=tuple(Made(candidate=each, paths=DOCKET.paths, change=each[0] * 64) for each in COMMITS),
        **more,
    )
    _first_round(case)
    _second_round(case)
    case.answer("checks", NAMED)
    last = [
        _ruled("F2", "major", "resolved", reason="Both ways refuse it now."),
        _ruled("F11", "minor", "resolved", reason="I had misread the comparison."),
    ]
    words = "The form is enough where there is one."
    reply = verdict("Nothing is left.", approved=True, findings=last, responseToRebuttal=words)
    case.answer("critic", reply, model="my-model-2", usage=_KNOWN)
    case.settle()
    return case.name


def _first_round(case: Play) -> None:
    case.answer("checks", NAMED)
    raised = [
        _ruled("F1", "blocking", "open", suggestion="Compare with `>=`."),
        _ruled("F2", "major", "open", suggestion="Refuse it."),
        _ruled("F3", "minor", "open", location="shop/price.py"),
        _ruled("F4", "minor", "open", location="terms of sale"),
        _ruled("F10", "nit", "open", location="naming in general"),
    ]
    case.answer("critic", verdict("The comparison is off by one.", approved=False, findings=raised), usage=_KNOWN)
    case.settle()
    case.fail("ana", FailureReason.REFUSED, "'shop/tax.py' changed and was not listed")
    given = (
        ("checks-F1", "fix", "The test passes now."),
        ("critic-F1", "fix", "It compares with `>=`, and a test holds exactly 100."),
        ("critic-F2", "rebut", "The form refuses it before it gets here."),
        ("critic-F3", "rebut", "They are two rates that happen to be equal."),
        ("critic-F4", "clarify", "That is not for this change to settle."),
        ("critic-F10", "clarify", "The name is the contract's own word."),
    )
    case.answer("ana", answers("Start the discount at 100", *given, changed=SHOWN[:2]), usage=_KNOWN)
    case.settle()


def _second_round(case: Play) -> None:
    case.answer("checks", NAMED)
    ruled = [
        _ruled("F1", "blocking", "resolved", reason="`>=`, and a test of the boundary."),
        _ruled("F2", "major", "open", reason="The import does not go through the form."),
        _ruled("F3", "minor", "resolved"),
        _ruled("F4", "minor", "deferred", reason="The legal sign-off of the release settles it."),
        _ruled("F10", "nit", "resolved", reason="The contract does say `calc`."),
    ]
    case.answer("critic", verdict("One is left.", approved=False, findings=ruled), usage=_KNOWN)
    case.settle()
    given = ("critic-F2", "partial", "Refused at the import; the form still does it by itself.")
    case.answer("ana", answers("Refuse a negative quantity", given, changed=SHOWN[:1]), usage=_KNOWN)
    case.settle()


def unresolved(store: Store, **more: Any) -> str:
    """A dispute that nobody can settle: nothing edited, one reviewer not asked again, a nit below what blocks."""
    case = Play(
        store,
        roster=(ANA, CHECKS, READER),
        limits=Limits(max_rounds=1),
        terms=Terms(block_on=Severity.MAJOR, commits=False, effort=Effort.LOW),
        found=PASSING,
        **more,
    )
    case.answer("checks", NAMED)
    raised = [_ruled("F2", "major", "open"), _ruled("F10", "nit", "open")]
    case.answer("critic", verdict("It takes any number.", approved=False, findings=raised))
    case.settle()
    case.answer(
        "ana", answers("Nothing is wrong", ("critic-F2", "rebut", "The form refuses it before it gets here."))
    )
    case.settle()
    stands = [_ruled("F2", "major", "open", reason="The import does not go through the form.")]
    words = "A form is no guard."
    case.answer("critic", verdict("It still does.", approved=False, findings=stands, responseToRebuttal=words))
    case.settle()
    return case.name


def hostile_rounds(store: Store, **more: Any) -> str:
    """Answers, rulings, paths and the pull request's address try to be more than text."""
    path = "a`b<!--\n# c](x)|@all #12.py"
    shown = (ChangedPath(path=path, state=PathState.WITHHELD), *DOCKET.paths)
    case = Play(
        store,
        roster=(ANA, READER),
        docket=replace(DOCKET, context=HOSTILE, pull_request=HOSTILE),
        limits=Limits(max_rounds=1),
        found=(ran(LINT, EvidenceStatus.VERIFIED, HOSTILE),),
        made=(Made(candidate=COMMITS[0], paths=shown, change="a" * 64),),
        **more,
    )
    raised = [
        finding("F1", "blocking", f"fixes #12 for @somebody, see https://example.org.\n{HOSTILE}"),
        finding("GH-12", "nit", "closes GH-7 and reverts deadbeef"),
    ]
    case.answer("critic", verdict(HOSTILE, approved=False, findings=raised))
    case.settle()
    case.fail("ana", FailureReason.BAD_REPLY, HOSTILE)
    given = (("F1", "rebut", HOSTILE), ("GH-12", "clarify", HOSTILE))
    case.answer("ana", answers(HOSTILE[:1900], *given, changed=(path,)))
    case.settle()
    ruled = [
        finding("F1", "blocking", HOSTILE, status="open", reason=HOSTILE),
        finding("GH-12", "nit", HOSTILE, status="deferred", reason=HOSTILE),
    ]
    case.answer("critic", verdict(HOSTILE, approved=False, findings=ruled, responseToRebuttal=HOSTILE))
    case.settle()
    return case.name
