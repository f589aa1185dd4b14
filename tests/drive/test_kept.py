"""Replies in the vault: kept whole, opened only where they are what was sealed (DESIGN 4, "sealing")."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.agents.base import Reply
from counterpoint.core.checks import CommandCheck, Evidence, EvidenceStatus, Purpose
from counterpoint.core.entries import SubmissionSealed
from counterpoint.core.sealing import seal, seal_evidence
from counterpoint.core.values import Turn, Usage
from counterpoint.drive.kept import KeptReply, Openings, get_evidence, get_reply, put_evidence, put_reply
from counterpoint.errors import RecordError
from counterpoint.protocols.review import REVIEW
from counterpoint.record.store import Vault
from tests.review_case import CRITIC, SALT, Play, as_bytes, claim, verdict

_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
_COUNT = st.integers(0, 10**9)
_USAGE = st.builds(Usage, input_tokens=_COUNT, output_tokens=_COUNT, known=st.booleans())
_REPLIES = st.builds(
    KeptReply,
    salt=st.text("0123456789abcdef", min_size=32, max_size=32),
    attempt=st.integers(1, 100),
    shown_paths=st.lists(_TEXT, max_size=3).map(tuple),
    touched=st.lists(_TEXT, max_size=3).map(tuple),
    reply=st.builds(
        Reply,
        content=st.binary(max_size=200),
        model_requested=_TEXT,
        model_reported=_TEXT,
        usage=_USAGE,
        session=_TEXT,
    ),
)
REQUEST = CommandCheck(argv=("pytest", "-q"), purpose=Purpose.TEST, candidate="c" * 40)


class Drawer(Vault):
    """A vault in a dictionary."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        self.held[name] = content

    def get(self, name: str) -> bytes | None:
        return self.held.get(name)

    def names(self) -> tuple[str, ...]:
        return tuple(self.held)


@given(_REPLIES)
def test_a_kept_reply_comes_back_as_it_was(kept: KeptReply) -> None:
    """Whatever bytes an agent answered with, line ends and all."""
    vault = Drawer()
    put_reply(vault, "reviewing.1.one.1", kept)
    assert get_reply(vault, "reviewing.1.one.1") == kept
    assert get_reply(vault, "reviewing.1.one.2") is None


@pytest.mark.parametrize("stored", [b"", b"no JSON\nreply", b"{}\nreply", b'{"salt": 1}\n', b"[]\n"])
def test_what_is_no_kept_reply_is_a_record_error(stored: bytes) -> None:
    """It names the turn and says what to do; nothing of it is believed."""
    vault = Drawer()
    vault.put("reply-t", stored)
    with pytest.raises(RecordError, match="the reply kept for t cannot be read") as caught:
        get_reply(vault, "t")
    assert caught.value.hint.startswith("put the file back as it was")


def test_evidence_is_kept_for_its_request_alone() -> None:
    """A command runs once per candidate; another candidate is another request."""
    vault = Drawer()
    evidence = Evidence(request=REQUEST, status=EvidenceStatus.VERIFIED, detail="exit 0", exit_code=0, output="1\n")
    put_evidence(vault, evidence)
    assert get_evidence(vault, REQUEST) == evidence
    other = CommandCheck(argv=REQUEST.argv, purpose=REQUEST.purpose, candidate="d" * 40)
    assert get_evidence(vault, other) is None
    (name,) = vault.names()
    put_evidence(vault, Evidence(request=other, status=EvidenceStatus.VERIFIED, detail=""))
    moved = next(content for key, content in vault.held.items() if key != name)
    vault.put(name, moved)
    assert get_evidence(vault, REQUEST) is None


def test_evidence_that_cannot_be_read_is_a_record_error() -> None:
    """It names the file and says what to do."""
    vault = Drawer()
    put_evidence(vault, Evidence(request=REQUEST, status=EvidenceStatus.VERIFIED, detail=""))
    (name,) = vault.names()
    for stored in (b"{", b'{"status": "maybe"}'):
        vault.put(name, stored)
        with pytest.raises(RecordError, match="cannot be read") as caught:
            get_evidence(vault, REQUEST)
        assert caught.value.hint.startswith("put the file back as it was")


def sealed_case(content: bytes, *evidence: Evidence) -> tuple[Play, Drawer, Turn]:
    """Return a case whose one seat has sealed these bytes, and the vault that holds them."""
    case, vault = Play(CRITIC), Drawer()
    turn = case.owed("critic")
    kept = KeptReply(
        salt=SALT,
        attempt=1,
        shown_paths=(),
        reply=Reply(content=content, model_requested="m", model_reported="m"),
    )
    put_reply(vault, turn.id, kept)
    case.append(
        SubmissionSealed(
            turn=turn,
            digest=seal(SALT, content),
            evidence=seal_evidence(SALT, evidence),
            model_requested="m",
            model_reported="m",
            usage=Usage(),
            shown_paths=(),
        )
    )
    return case, vault, turn


def test_a_sealed_reply_is_opened_with_what_code_found() -> None:
    """Salt, text, submission and evidence, as the reveal needs them."""
    content = as_bytes(verdict(claims=[claim("pytest -q", passes=True)]))
    evidence = Evidence(request=REQUEST, status=EvidenceStatus.VERIFIED, detail="exit 0")
    case, vault, turn = sealed_case(content, evidence)
    put_evidence(vault, evidence)
    openings = Openings(vault, REVIEW, case.state)
    assert (list(openings), len(openings)) == ([turn.id], 1)
    opened = openings[turn.id]
    assert (opened.salt, opened.content, opened.evidence) == (SALT, content.decode(), (evidence,))


def test_a_reply_without_its_evidence_is_not_opened() -> None:
    """What it rests on is gone: it is not judged by less than it was sealed with."""
    case, vault, turn = sealed_case(as_bytes(verdict(claims=[claim("pytest -q", passes=True)])))
    assert Openings(vault, REVIEW, case.state).get(turn.id) is None


def test_bytes_that_are_no_reply_are_not_opened_whoever_sealed_them() -> None:
    """A driver that sealed what it had not read is no reason to read it less strictly."""
    case, vault, turn = sealed_case(b"LGTM")
    assert Openings(vault, REVIEW, case.state).get(turn.id) is None
