"""The JSON Schema of `result.json`, which `docs/result.schema.json` is written from.

Closed at every level: a key that is not listed here is not in a result, and every listed key is.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from counterpoint.core.checks import EvidenceStatus, Purpose
from counterpoint.core.docket import Effort, PathState, SeatKind
from counterpoint.core.entries import FailureReason
from counterpoint.core.findings import Disposition, FindingStatus, Ruling
from counterpoint.core.outcome import SeatEnd
from counterpoint.core.values import Decision, Severity, StopReason

__all__ = ["RESULT_SCHEMA"]


def _said(kind: str | list[str], description: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **({"description": description} if description else {}), **more}


def _text(description: str = "", **more: Any) -> dict[str, Any]:
    return _said("string", description, **more)


def _maybe_text(description: str) -> dict[str, Any]:
    return _said(["string", "null"], description)


def _count(description: str = "") -> dict[str, Any]:
    return _said("integer", description, minimum=0)


def _flag(description: str) -> dict[str, Any]:
    return _said("boolean", description)


def _word(words: Iterable[StrEnum], description: str = "") -> dict[str, Any]:
    return _text(description, enum=[word.value for word in words])


def _list(items: Mapping[str, Any], description: str = "") -> dict[str, Any]:
    return _said("array", description, items=items)


def _object(description: str, **properties: Any) -> dict[str, Any]:
    return _said(
        "object", description, additionalProperties=False, required=sorted(properties), properties=properties
    )


_STAMP: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\+00:00$"
_DIGEST: Final = _text("SHA-256, lower-case hex.", pattern="^[0-9a-f]{64}$")
_STATUS: Final = _word(
    EvidenceStatus, "What code could tell: `verified` and `refuted` are only ever set by code that looked."
)
_SEAT: Final = _text("The seat's name in the roster.")

_PATHS: Final = _list(
    _object("A changed path.", path=_text(), state=_word(PathState, "What became of it.")), "Every changed path."
)
_DOCKET: Final = _object(
    "What the case is about, fixed when it opened.",
    question=_text("What is asked."),
    instructions=_text("What every seat was told beside the question."),
    rationale=_text("Why the change was made, in its author's words."),
    context=_text("What belongs to the question. In a review the author alone was told it."),
    text=_text("The text that the case opened with, where it is about no change."),
    tree=_text("Full id of the commit whose files every seat might read; empty where there is none."),
    pull_request=_text("The address of the pull request that is judged; empty where there is none."),
    base=_text("Full id of what the candidate is compared with."),
    candidate=_text("Full id of the commit or tree that the case opened with."),
    change=_text("SHA-256 of the change's text as shown to the seats."),
    paths=_PATHS,
    commands=_list(
        _object(
            "A command of the project.",
            argv=_list(_text()),
            purpose=_word(Purpose),
            why=_text("Where it comes from: configured, or found by what."),
        )
    ),
    remarks=_list(_text(), "What code noticed while it built the docket: what was withheld or too large to show."),
)
_TERMS: Final = _object(
    "What holds beside the limits, fixed when the case opened.",
    block_on=_word(Severity, "Findings of this severity and heavier must be settled."),
    commits=_flag("Whether the author's edits are committed; else a candidate is a tree of the files as they lie."),
    comments=_flag("Whether the outcome is posted on the pull request."),
    effort=_word(Effort, "How hard an agent is asked to think."),
    vote_only=_flag("Whether the case ended with the count of the sealed first answers."),
    sources=_text("Digest of the folder of sources that a text might quote from."),
    options=_list(_text(), "The answers that counted in a vote; empty where any text did."),
)
_FINDING: Final = _object(
    "A tracked defect claim.",
    id=_text("Unique in the case."),
    seat=_text("Who raised it, and alone may settle it."),
    round=_count(),
    candidate=_text("The commit or tree it was raised on."),
    severity=_word(Severity),
    location=_text("`path:line`, a path, a command, or words."),
    issue=_text("What is wrong, in the seat's words."),
    suggestion=_text("What would settle it, in the seat's words."),
    evidence=_STATUS,
    detail=_text("What code saw when it looked; may be empty."),
    status=_word(FindingStatus),
    reason=_text("Why it is in that status, in the raiser's words; empty until it ruled."),
    answers=_list(
        _object(
            "The author's answer of one round.", round=_count(), disposition=_word(Disposition), reasoning=_text()
        ),
        "What the author answered, the oldest first.",
    ),
    rulings=_list(
        _object("The raiser's ruling of one round.", round=_count(), ruling=_word(Ruling), reason=_text()),
        "What the raiser ruled, the oldest first.",
    ),
    blocks=_flag(
        "Whether it is open and not refuted by code; `terms.block_on` says from which severity that counts."
    ),
    disputed=_flag("Whether it is open and the author's newest answer denies it, wholly or in part."),
    unevidenced=_flag("Whether the raiser settled it without a reason although the author's answer was no fix."),
)
_CLAIM: Final = _object(
    "A seat's statement about a project command, held against the command itself.",
    seat=_SEAT,
    statement=_text("In the seat's words."),
    command=_text("The command as one would type it."),
    says_passes=_flag("Whether the seat says that it passes."),
    status=_STATUS,
    detail=_text("What code saw."),
)
_COMMAND: Final = _object(
    "What a project command returned on an export of the candidate.",
    argv=_list(_text()),
    purpose=_word(Purpose),
    candidate=_text("The commit or tree it ran on."),
    status=_word(EvidenceStatus, "`verified`: it ran and passed. `refuted`: it ran and failed."),
    detail=_text("One sentence by code."),
    exit_code=_said(["integer", "null"], "`null` where it did not run to an end."),
    failing_before=_said(
        ["boolean", "null"], "Whether it fails at the merge base too; `null` where that was not run."
    ),
    output=_text("The end of what it printed, bounded."),
    paths_unread={
        "type": ["array", "null"],
        "items": _text(),
        "description": "Changed paths that it did not open; `null` where the file system cannot tell.",
    },
)
_VERDICT: Final = _object(
    "A seat's judgement of one candidate.",
    seat=_SEAT,
    round=_count(),
    candidate=_text("The commit or tree it is bound to."),
    approved=_flag("As the rules compute it."),
    claimed=_flag("As the seat said."),
    summary=_text("In the seat's words."),
)
_ROUND: Final = _object(
    "A reading, and the author's answer to it.",
    number=_count("From 1."),
    candidate=_text("What was read."),
    verdicts=_list(_VERDICT),
    stood=_list(_text(), "Reviewers that were not asked: they had approved exactly this candidate."),
    answered=_flag("Whether the author answered; the last reading of a case has no answer."),
    offered=_maybe_text("The candidate that the author offered; `null` where it changed nothing."),
)
_OFFER: Final = _object(
    "An edit of the author's: a commit, or a tree where edits are not committed.",
    at=_text("When it was offered, UTC.", pattern=_STAMP),
    seat=_SEAT,
    round=_count("The round that it answers."),
    previous=_text("Full id of what it was made on."),
    candidate=_text("Full id of the commit or tree."),
    changed=_list(_text(), "The paths that this edit changed: exactly those that the author listed."),
    paths=_PATHS,
    change=_text("SHA-256 of the whole change's text, from the base, as shown to the seats."),
)
_VOTES: Final = _object("A count of verdicts.", approvals=_count(), verdicts=_count())
_SEAT_ENTRY: Final = _object(
    "A seat, who filled it, and how it ended.",
    name=_SEAT,
    party=_text("The name under which it speaks."),
    kind=_word(SeatKind),
    agent=_text("The kind of agent behind it: `scripted`, `command`, `human`, `checks`."),
    destination=_text("Where its briefs went: `local`, or a named provider."),
    given=_text("The agent's settings as JSON, where they were given for this case alone; else empty."),
    end=_word(SeatEnd, "A seat that did not answer is never an approval."),
    approved=_flag("Whether it approved the newest candidate, as the rules compute it."),
    attempts=_count("Questions put to it, the accepted one included."),
    model_requested=_maybe_text("`null` where no answer was accepted."),
    model_reported=_maybe_text("What the agent said answered, or that it does not say."),
    shown_paths=_list(_text(), "The changed paths that it was shown whole, as the newest candidate has them."),
    verdict=_VERDICT | {"type": ["object", "null"], "description": "Its newest verdict; `null` where it gave none."},
)
_OPENING: Final = _object(
    "A sealed answer that was revealed. The answer itself is in the record.",
    turn=_text("The id of the turn."),
    seat=_SEAT,
    round=_count(),
    digest=_DIGEST | {"description": "What it was sealed as: SHA-256 of salt and answer."},
)
_ATTEMPT: Final = _object(
    "A question that brought no accepted answer.",
    turn=_text("The id of the turn."),
    attempt=_count("Counts the claims on that turn, from 1."),
    reason=_word(FailureReason),
    detail=_text("What was wrong."),
    usage=_object("As reported.", input_tokens=_count(), output_tokens=_count(), known=_flag("Whether reported.")),
)
_COVERAGE: Final = _object(
    "Which changed paths were before whom, of the newest candidate.",
    changed=_list(_text()),
    unseen=_list(_text(), "No seat was shown them whole and no check had them before it."),
    unread={
        "type": ["array", "null"],
        "items": _text(),
        "description": "No command opened them; `null` where that cannot be told.",
    },
)
_LIMITS: Final = _object(
    "The limits that the case was opened with. Zero: no such limit.",
    max_rounds=_count(),
    min_rounds=_count(),
    stall_rounds=_count("After how many rounds in which nothing moved the case ends."),
    max_calls=_count(),
    max_output_tokens=_count("Of one answer, where its agent can be told."),
    max_tokens=_count("A threshold on reported usage; a call in flight may pass it."),
    call_timeout_s=_count(),
    max_asks=_count("How often one seat is asked in one round."),
    deadline=_maybe_text("Absolute instant, ISO 8601 with offset."),
)
_CONSENT: Final = _object(
    "A copy of the grant under which bytes left this machine.",
    destination=_text(),
    by=_text(),
    granted_at=_text(),
    until=_text(),
    scope=_text(),
    digest=_DIGEST | {"description": "SHA-256 of the grant as the person keeps it."},
)

RESULT_SCHEMA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "result.json of a Counterpoint case",
        **_object(
            "What a case came to, rendered from its record alone: the same record gives the same bytes.",
            v={"const": 2, "description": "The version of this shape."},
            case=_text("The case's name."),
            protocol=_text("The name of the rules."),
            rules_version=_count("Their version."),
            opened_at=_text("When the case was opened, UTC.", pattern=_STAMP),
            closed_at=_maybe_text("When it was closed, UTC; `null` while it is open.") | {"pattern": _STAMP},
            docket=_DOCKET,
            terms=_TERMS,
            candidate=_text("Full id of the commit or tree that is on the table: the newest."),
            rounds=_list(_ROUND, "The oldest first. Without an author there is one."),
            offers=_list(_OFFER, "What the author made of the candidate, the oldest first: the commits of the case."),
            decision=_word(Decision, "Computed by code from the entries; `undetermined` while the case is open."),
            stop_reason={
                "enum": [*(reason.value for reason in StopReason), None],
                "description": "Why the case ended; `null` while it is open.",
            },
            exit_code={
                "enum": [0, 1, 3, 4],
                "description": "0 approved; 1 failed; 3 not approved, unresolved or open; 4 a person is needed.",
            },
            reasons=_list(_text(), "Why the decision is what it is, in sentences by code."),
            evidence=_STATUS
            | {"description": "Of the case: `verified` only where a test of the project ran and passed."},
            findings=_list(_FINDING, "Every finding ever raised, in order; none is dropped."),
            deferred=_list(
                _text(), "The ids of findings that must be dealt with before this ships; they do not block."
            ),
            claims=_list(_CLAIM, "What seats stated about commands; a `refuted` one was untrue."),
            commands=_list(_COMMAND, "What the project's commands returned, each run once on each candidate."),
            seats=_list(_SEAT_ENTRY, "In the roster's order."),
            quorum=_count("How many reviewers had to answer; stated when the case opened."),
            openings=_list(_OPENING, "Every answer that was opened, with what it was sealed as."),
            debate=_object(
                "What debate changed of the vote.",
                opening=_VOTES | {"description": "Each reviewer's first verdict, given blind."},
                final=_VOTES | {"description": "Each reviewer's newest verdict that is on the newest candidate."},
                gain=_said("integer", "Approvals more than in the opening vote; negative where there are fewer."),
            ),
            failed_attempts=_list(_ATTEMPT, "Questions that were put in vain, in order."),
            coverage=_COVERAGE,
            limits=_LIMITS,
            usage=_object(
                "What was spent, as reported by the agents.",
                calls=_count("Questions that were put, failed ones included."),
                input_tokens=_count(),
                output_tokens=_count(),
                known=_flag("False where an agent did not report its tokens: the numbers are a lower bound then."),
            ),
            consents=_list(_CONSENT, "Under which bytes were allowed to leave this machine."),
            notes=_list(
                _object("One word.", at=_text(pattern=_STAMP), by=_text(), text=_text()), "Words of the supervisor's."
            ),
            observers_dropped=_list(
                _text(), "Event callbacks of an application that failed and were called no more."
            ),
            record=_object("The newest entry of the record that this was rendered from.", n=_count(), digest=_DIGEST),
        ),
    }
)
