"""What code looks up for a finding or a claim, and what may be said by it (DESIGN "Evidence")."""

from dataclasses import replace

import pytest

from counterpoint.core.checks import (
    CheckRequest,
    CommandCheck,
    Evidence,
    EvidenceStatus,
    PathCheck,
    Purpose,
    QuoteCheck,
)
from counterpoint.core.docket import ChangedPath, Docket, PathState
from counterpoint.core.findings import FindingStatus
from counterpoint.core.values import Severity
from counterpoint.protocols.review import CommandClaim, GiveVerdict, NameChecks, NamedFinding
from counterpoint.protocols.review.lookups import Place, located, requests_of, standing
from tests.review_case import BASE, CANDIDATE, DOCKET, Tree

CHANGED = ("src/timer.py", "timer.py", "my file.py", "odd:name.py", "Makefile", "win\\dir.py")


def named(location: str, quote: str | None = None) -> NamedFinding:
    return NamedFinding(
        own_id="F1",
        severity=Severity.MAJOR,
        location=location,
        issue="i",
        suggestion="s",
        status=FindingStatus.OPEN,
        quote=quote,
        reason="",
    )


def given(*findings: NamedFinding, claims: tuple[CommandClaim, ...] = ()) -> GiveVerdict:
    return GiveVerdict(
        summary="s", findings=findings, claims=claims, response_to_rebuttal="", candidate=None, approved=False
    )


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("src/timer.py", ("src/timer.py", None)),
        ("src/timer.py:12", ("src/timer.py", 12)),
        (" src/timer.py:12 ", ("src/timer.py", 12)),
        ("src/timer.py:12:5", ("src/timer.py", 12)),
        ("src/timer.py:12-20", ("src/timer.py", 12)),
        ("src/timer.py:0", ("src/timer.py", 0)),
        ("./src/timer.py:3", ("src/timer.py", 3)),
        ("./Makefile:3", ("Makefile", 3)),
        ("vendor/src/timer.py:3", ("vendor/src/timer.py", 3)),
        ("a/src/timer.py:3", ("src/timer.py", 3)),
        ("b/src/timer.py:3", ("src/timer.py", 3)),
        ("src\\timer.py:3", ("src/timer.py", 3)),
        ("/tmp/export-1/src/timer.py:3", ("src/timer.py", 3)),
        ("/tmp/export-1/timer.py:3", ("timer.py", 3)),
        ("my file.py:3", ("my file.py", 3)),
        ("odd:name.py:3", ("odd:name.py", 3)),
        ("Makefile", ("Makefile", None)),
        ("Makefile:7", ("Makefile", 7)),
        ("win\\dir.py:1", ("win\\dir.py", 1)),
        ("docs/unchanged.md", ("docs/unchanged.md", None)),
        ("./setup.cfg:3", ("setup.cfg", 3)),
        ("b/other.py:3", ("b/other.py", 3)),
        (".github", (".github", None)),
    ],
)
def test_a_location_that_names_a_file_is_found(location: str, place: tuple[str, int | None]) -> None:
    """However a reviewer spells it: as in a diff, in its own folder, with column or range."""
    assert located(location, CHANGED) == Place(path=place[0], line=place[1])


@pytest.mark.parametrize(
    "location",
    [
        "",
        "   ",
        "the retry loop",
        "README",
        "timer",
        "src/timer.py, line 12",
        "src/timer.py:",
        "src/timer.py:abc",
        "src/timer.py:12345678",
        "src/timer.py:-1",
        "src/timer.py:1:2:3",
        "see http://example.org/x.py:80",
        "http://example.org/x.py:80",
        "/etc/passwd",
        "/etc/passwd:1",
        "/other.py",
        "../secrets.txt:1",
        "src/../../secrets.txt",
        "other file.py:3",
    ],
)
def test_a_location_that_is_words_or_outside_the_tree_names_no_file(location: str) -> None:
    """Words are no claim that code could refute, and nothing outside the tree is looked at (SECURITY R20)."""
    assert located(location, CHANGED) is None


def test_the_longest_changed_path_is_the_one_meant() -> None:
    """Whatever the order of the docket."""
    for changed in (("timer.py", "src/timer.py"), ("src/timer.py", "timer.py")):
        assert located("/x/src/timer.py", changed) == Place(path="src/timer.py", line=None)


def here(path: str, line: int | None = None) -> PathCheck:
    return PathCheck(path=path, line=line, candidate=CANDIDATE)


def quoted(path: str, text: str, candidate: str = CANDIDATE) -> QuoteCheck:
    return QuoteCheck(path=path, text=text, candidate=candidate)


@pytest.mark.parametrize(
    ("finding", "requests"),
    [
        (named("the loop", "return 1"), ()),
        (named("src/timer.py"), (here("src/timer.py"),)),
        (named("src/timer.py:2"), (here("src/timer.py"), here("src/timer.py", 2))),
        (
            named("src/timer.py:2", "return 1"),
            (
                here("src/timer.py"),
                here("src/timer.py", 2),
                quoted("src/timer.py", "return 1"),
                quoted("src/timer.py", "return 1", BASE),
            ),
        ),
        (named("docs/x.md", "a"), (here("docs/x.md"), quoted("docs/x.md", "a"))),
    ],
    ids=["words", "path", "line", "quote", "unchanged"],
)
def test_place_and_quote_of_a_finding_are_looked_up(
    finding: NamedFinding, requests: tuple[CheckRequest, ...]
) -> None:
    """A quote of a changed file also in the base: the change may have taken it away."""
    assert requests_of(DOCKET, given(finding)) == requests


def test_without_a_base_nothing_is_looked_up_in_it() -> None:
    """The first commit of a repository has nothing before it."""
    docket = replace(DOCKET, base="")
    assert requests_of(docket, given(named("src/timer.py", "x"))) == (
        here("src/timer.py"),
        quoted("src/timer.py", "x"),
    )


def test_only_commands_of_the_docket_are_run_and_each_once() -> None:
    """With the docket's purpose, on exactly the candidate, whatever a reviewer asks for (SECURITY T7)."""
    pytest_check = CommandCheck(argv=("pytest", "-q"), purpose=Purpose.TEST, candidate=CANDIDATE)
    ruff_check = CommandCheck(argv=("ruff", "check"), purpose=Purpose.LINT, candidate=CANDIDATE)
    claims = tuple(
        CommandClaim(statement="s", argv=argv, passes=True)
        for argv in (("ruff", "check"), ("rm", "-rf", "/"), ("pytest", "-q"), ("ruff", "check"))
    )
    named_twice = given(named("src/timer.py"), replace(named("src/timer.py"), own_id="F2"), claims=claims)
    assert requests_of(DOCKET, named_twice) == (here("src/timer.py"), ruff_check, pytest_check)
    checks = NameChecks(commands=(("pytest", "-q"), ("ruff", "check")))
    assert requests_of(DOCKET, checks) == (pytest_check, ruff_check)


VERIFIED, REFUTED, NOT_CHECKED = EvidenceStatus.VERIFIED, EvidenceStatus.REFUTED, EvidenceStatus.NOT_CHECKED
STATES = Docket(
    question="q",
    candidate=CANDIDATE,
    base=BASE,
    paths=(
        ChangedPath(path="src/timer.py", state=PathState.TEXT),
        ChangedPath(path="old.py", state=PathState.DELETED),
        ChangedPath(path="vendor/lib", state=PathState.SUBMODULE),
        ChangedPath(path="big.bin", state=PathState.WITHHELD),
    ),
)


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (named("the loop", "return 1"), (NOT_CHECKED, "the location names no file of the candidate")),
        (named("src/timer.py"), (NOT_CHECKED, "")),
        (named("src/timer.py:2"), (NOT_CHECKED, "")),
        (named("src/timer.py:99"), (NOT_CHECKED, "no such line")),
        (named("src/timer.py:2", "return 1"), (VERIFIED, "found")),
        (named("src/timer.py:99", "return 1"), (VERIFIED, "found")),
        (named("src/timer.py:2", "return 7"), (REFUTED, "not in the file")),
        (
            named("src/timer.py:2", "return None"),
            (NOT_CHECKED, "the quote stands in the base; the change took it away"),
        ),
        (named("no/such.py:2"), (REFUTED, "no such file")),
        (named("no/such.py:2", "return 1"), (REFUTED, "no such file")),
        (named("no/such.py", "return 1"), (NOT_CHECKED, "no such file")),
        (named("n/a"), (NOT_CHECKED, "no such file")),
        (named("old.py:1", "x = 1"), (NOT_CHECKED, "the change deletes the file")),
        (
            named("vendor/lib:1"),
            (NOT_CHECKED, "the change has the file (submodule), but it could not be looked at"),
        ),
        (
            named("big.bin:1", "x"),
            (NOT_CHECKED, "the change has the file (withheld), but it could not be looked at"),
        ),
    ],
)
def test_code_says_of_a_finding_what_it_saw_and_no_more(
    finding: NamedFinding, expected: tuple[EvidenceStatus, str]
) -> None:
    """Refuted is said only of what could be looked at: a real finding is not dropped for its spelling."""
    found = {request: Tree().look_up(request) for request in requests_of(STATES, given(finding))}
    assert standing(STATES, finding, found) == expected


@pytest.mark.parametrize(
    ("in_candidate", "in_base", "expected"),
    [
        (NOT_CHECKED, REFUTED, (NOT_CHECKED, "candidate")),
        (REFUTED, NOT_CHECKED, (NOT_CHECKED, "base")),
        (REFUTED, VERIFIED, (NOT_CHECKED, "the quote stands in the base; the change took it away")),
        (REFUTED, REFUTED, (REFUTED, "candidate")),
        (REFUTED, None, (REFUTED, "candidate")),
        (VERIFIED, REFUTED, (VERIFIED, "candidate")),
        (VERIFIED, VERIFIED, (VERIFIED, "candidate")),
        (NOT_CHECKED, VERIFIED, (NOT_CHECKED, "candidate")),
    ],
)
def test_a_quote_is_refuted_only_where_both_sides_were_looked_at(
    in_candidate: EvidenceStatus, in_base: EvidenceStatus | None, expected: tuple[EvidenceStatus, str]
) -> None:
    """A side that could not be looked at refutes nothing (FIELD-FAULTS F9: left out is not neutral)."""
    docket = STATES if in_base is not None else replace(STATES, base="")
    finding = named("src/timer.py", "return 1")
    said = {
        here("src/timer.py"): (VERIFIED, "found"),
        quoted("src/timer.py", "return 1"): (in_candidate, "candidate"),
    }
    if in_base is not None:
        said[quoted("src/timer.py", "return 1", BASE)] = (in_base, "base")
    found = {
        request: Evidence(request=request, status=said[request][0], detail=said[request][1])
        for request in requests_of(docket, given(finding))
    }
    assert standing(docket, finding, found) == expected
