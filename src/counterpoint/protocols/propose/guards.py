"""What an answer may say: the rules by their ids, each returning the reason why it refuses, or None.

Ids are headings in `docs/protocols/propose.md`. A guard rests on what the seat itself was shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.conduct import Said
from counterpoint.protocols.propose.forms import Action, Clarifying, Standing
from counterpoint.protocols.propose.ledger import Tracked
from counterpoint.protocols.propose.state import ProposeState

__all__ = ["GUARDS_OF_CANDIDATES", "GUARDS_OF_REVIEWS", "GUARDS_OF_SCANS"]

Guard = Callable[[Said[ProposeState]], str | None]

_NEVER_RESOLVED: Final = frozenset({Action.ACCEPT_RISK, Action.REQUEST_CLARIFICATION})
_AFTER_AN_ANSWER: Final = frozenset({Standing.RESOLVED, Standing.ACCEPTED_RISK})


def _twice(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _questions_go_with_the_flag(said: Said[ProposeState]) -> str | None:
    submission: Clarifying = said.submission
    asked = submission.clarification_questions
    if any(not question.strip() for question in asked):
        return "a clarification question is blank"
    if submission.needs_clarification == bool(asked):
        return None
    return f"clarification is {'asked for' if not asked else 'not asked for'}, with {len(asked)} questions"


def _options_are_told_apart(said: Said[ProposeState]) -> str | None:
    text = said.submission
    ids = [option.id for option in text.options]
    if (twice := _twice(ids)) is not None:
        return f"option {twice!r} stands twice"
    if text.recommended_option_id and text.recommended_option_id not in ids:
        return f"{text.recommended_option_id!r} is recommended; the options are {', '.join(ids) or 'none'}"
    return None


_CONCRETE: Final = (
    "recommended_option_id",
    "problem_statement",
    "goal",
    "recommendation",
    "success_criteria",
    "implementation_steps",
    "validation_steps",
)


def _is_concrete(said: Said[ProposeState]) -> str | None:
    if said.submission.needs_clarification:
        return None
    bare = [name for name in _CONCRETE if _says_nothing(getattr(said.submission, name))]
    return f"{bare[0]} says nothing, and nothing is asked" if bare else None


def _says_nothing(value: Any) -> bool:
    return not value.strip() if isinstance(value, str) else not any(item.strip() for item in value)


def _every_finding_is_answered(said: Said[ProposeState]) -> str | None:
    answered = [answer.issue_id for answer in said.submission.responses]
    known = {finding.id: finding for finding in said.state.findings}
    if (unknown := next((name for name in answered if name not in known), None)) is not None:
        return f"{unknown!r} is answered, and no such issue was raised"
    if (twice := _twice(answered)) is not None:
        return f"{twice} is answered twice"
    left = [name for name, finding in known.items() if not finding.is_resolved and name not in answered]
    return f"{', '.join(left)} is not answered" if left else None


def _a_fix_names_its_change(said: Said[ProposeState]) -> str | None:
    bare = [a.issue_id for a in said.submission.responses if a.action is Action.FIX and not a.change.strip()]
    return f"{bare[0]} is fixed by no change" if bare else None


def _whoever_asks_says_so(said: Said[ProposeState]) -> str | None:
    asking = [a.issue_id for a in said.submission.responses if a.action is Action.REQUEST_CLARIFICATION]
    if not asking or said.submission.needs_clarification:
        return None
    return f"{asking[0]} is answered with request_clarification, and needs_clarification is false"


def _risks_are_told_apart(said: Said[ProposeState]) -> str | None:
    twice = _twice(area.id for area in said.submission.risk_areas)
    return None if twice is None else f"risk area {twice!r} stands twice"


def _the_version_on_the_table(said: Said[ProposeState]) -> str | None:
    given, current = said.submission.reviewed_version, said.state.offered[-1].revision
    return None if given == current else f"version {given} is reviewed; version {current} is on the table"


def _every_own_finding_is_ruled_on(said: Said[ProposeState]) -> str | None:
    own = said.state.own(said.speaker)
    ruled = [ruling.issue_id for ruling in said.submission.issue_evaluations]
    if (unknown := next((name for name in ruled if name not in own), None)) is not None:
        return f"{unknown!r} is ruled on, and {said.speaker!r} has not raised it before"
    if (twice := _twice(ruled)) is not None:
        return f"{twice} is ruled on twice"
    left = [] if said.submission.needs_clarification else [name for name in own if name not in ruled]
    return f"{', '.join(left)} is not ruled on" if left else None


def _nothing_is_settled_without_an_answer(said: Said[ProposeState]) -> str | None:
    own, version = said.state.own(said.speaker), said.state.offered[-1].revision
    faults = (
        _unearned(own[ruling.issue_id], ruling.status, version)
        for ruling in said.submission.issue_evaluations
        if ruling.status is not own[ruling.issue_id].standing
    )
    return next((fault for fault in faults if fault), None)


def _unearned(finding: Tracked, after: Standing, version: int) -> str | None:
    if after not in _AFTER_AN_ANSWER:
        return None
    answer = finding.answer_in(version)
    if answer is None:
        return f"{finding.own_id} is {after}, and version {version} has no answer to it"
    if after is Standing.RESOLVED and answer in _NEVER_RESOLVED:
        return f"{finding.own_id} is resolved, and its answer is {answer}"
    return None


def _new_findings_are_new(said: Said[ProposeState]) -> str | None:
    own = said.state.own(said.speaker)
    named = [new.id for new in said.submission.new_issues]
    if (twice := _twice(named)) is not None:
        return f"{twice} is raised twice"
    old = next((name for name in named if name in own), None)
    return None if old is None else f"{old} is raised as new, and stands in the ledger"


GUARDS_OF_CANDIDATES: Final[Mapping[str, Guard]] = MappingProxyType(
    {
        "CLARIFY-1": _questions_go_with_the_flag,
        "CLARIFY-2": _whoever_asks_says_so,
        "PROPOSAL-1": _options_are_told_apart,
        "PROPOSAL-2": _is_concrete,
        "PROPOSAL-3": _every_finding_is_answered,
        "PROPOSAL-4": _a_fix_names_its_change,
    }
)
GUARDS_OF_SCANS: Final[Mapping[str, Guard]] = MappingProxyType(
    {"CLARIFY-1": _questions_go_with_the_flag, "SCAN-1": _risks_are_told_apart}
)
GUARDS_OF_REVIEWS: Final[Mapping[str, Guard]] = MappingProxyType(
    {
        "CLARIFY-1": _questions_go_with_the_flag,
        "ASSESS-1": _the_version_on_the_table,
        "ISSUE-1": _every_own_finding_is_ruled_on,
        "ISSUE-2": _nothing_is_settled_without_an_answer,
        "ISSUE-3": _new_findings_are_new,
    }
)
