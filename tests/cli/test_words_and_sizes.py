"""Words on the command line that nothing can keep, and documents that their debate has made long."""

import os
from pathlib import Path
from typing import Final

import pytest

from tests.ballots import WHO, document
from tests.planned_seats import plan
from tests.reviewing import Project

NO_UTF8: Final = os.fsdecode(b"caf\xe9")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("answer", "--peers", "ann,ben", NO_UTF8), "the question"),
        (("answer", "--peers", "ann,ben", "--vote", "--option", NO_UTF8, "--option", "b", "which?"), "an option"),
        (("propose", "--proposer", "ann", "--critic", "ben", NO_UTF8), "the question"),
        (("ballot", NO_UTF8, *WHO), "the file's name"),
    ],
)
def test_words_that_are_no_utf8_are_refused_with_what_to_do(
    votes: Project, words: tuple[str, ...], what: str
) -> None:
    """STYLE 5: as they come from a shell whose locale is another; nothing is left of the case."""
    (votes.top / NO_UTF8).write_text("# Plan\n\nText.\n")
    called = votes.call(*words)
    error, hint = called.err.splitlines()
    assert (called.code, error) == (1, f"error: {what} holds a byte that is no UTF-8; nobody was asked")
    assert hint == "hint: write it in UTF-8, and let LC_ALL name a locale of UTF-8, such as C.UTF-8"
    assert votes.cases == []
    (votes.top / NO_UTF8).unlink()


def test_a_document_that_long_votes_have_made_long_is_checked_and_voted_on_again(
    votes: Project, tmp_path: Path
) -> None:
    """SPEC B-20: what a ballot has written, `verify` and the next ballot read."""
    program = (votes.bin / "ann").read_text()
    longer = """\
if phase == "voting" and told == "but":
    point = {"point": "y" * 20_000, "needs": "severe_risk"}
    print(json.dumps(reply_to(phase, payload, told) | {"reservations": [point] * 30}))
    sys.exit()
"""
    for name in ("ann", "ben"):
        (votes.bin / name).write_text(
            program.replace("print(json.dumps(reply_to", f"{longer}print(json.dumps(reply_to")
        )
    plan(votes, ann={"voting.1": "but"}, ben={"voting.1": "but"})
    assert votes.call("ballot", "DOC.md", *WHO).code == 0
    assert len(document(votes)) > 1 << 20
    assert votes.call("ballot", "verify", "DOC.md").code == 0
    plan(votes)
    again = votes.call("ballot", "DOC.md", *WHO)
    assert again.code == 0, again
