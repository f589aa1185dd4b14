"""What a cassette brings of its seats' settings, and which case it is for (issue 5, point 6)."""

import tomllib
from pathlib import Path
from typing import Final

import pytest

from counterpoint.core.docket import Docket
from counterpoint.drive.cassettes import Taping
from counterpoint.drive.settings import Settings
from counterpoint.errors import ConfigError, SourceError
from tests.settings_files import loaded

SETTINGS: Final = """
[review]
effort = "low"
[agents.near]
kind = "command"
command = ["secret-program"]
destination = "acme"
environment = ["SECRET_KEY"]
set = { A = "secret-value" }
[agents.openai]
kind = "openai"
model = "gpt-5.5"
key_variable = "SECRET_KEY"
[agents.anthropic]
kind = "anthropic"
model = "claude-opus-4-8"
base_url = "http://127.0.0.1:1234"
[agents.chat]
kind = "chat"
model = "secret-sauce"
base_url = "https://acme.example/secret/v1"
destination = "acme"
controls = []
[agents.codex]
kind = "codex"
program = "/secret/codex"
environment = ["SECRET_KEY"]
[agents.opencode]
kind = "opencode"
model = "acme/large-2"
base_url = "https://acme.example/secret/v1"
environment = ["SECRET_KEY"]
[agents.script]
kind = "scripted"
file = "secret.toml"
[agents.local]
kind = "local"
model_file = "/secret/model.gguf"
"""
PARTIES: Final = (*tomllib.loads(SETTINGS)["agents"], "human", "checks")
CHANGE: Final = Docket(question="Is it right?", base="a" * 40, candidate="b" * 40)


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    """Return the settings of somebody who has an agent of nearly every kind."""
    (tmp_path / "config.toml").write_text(SETTINGS)
    return loaded(settings_file=tmp_path / "config.toml")


@pytest.fixture
def tape(own: Settings, tmp_path: Path) -> Path:
    """Return the folder of a cassette that has just been begun."""
    Taping(folder=tmp_path / "tape", is_replay=False).begin(own, CHANGE, PARTIES, "review-1")
    return tmp_path / "tape"


def test_every_kind_of_agent_sits_again_where_it_sat_and_brings_nothing_that_runs(own: Settings, tape: Path) -> None:
    """Kind, destination and what the person had set of the case's terms; no program, no address, no key, no value."""
    played = loaded(settings_file=tape / "config.toml")
    for name in PARTIES:
        was, now = own.agents[name], played.agents[name]
        assert (now.kind, now.destination) == (was.kind, was.destination)
    assert played.review.effort == "low"
    written = (tape / "config.toml").read_text().lower()
    assert "secret" not in written.replace("secret-sauce", "")
    assert "secret" not in (tape / "cassette.json").read_text().lower()


def test_a_cassette_is_played_for_what_was_recorded_and_goes_on_with_its_own_case(own: Settings, tape: Path) -> None:
    """Both values are said; nothing is begun."""
    recording, playing = Taping(folder=tape, is_replay=False), Taping(folder=tape, is_replay=True)
    other = Docket(question="Is it right?", base="a" * 40, candidate="c" * 40)
    playing.begin(own, CHANGE, PARTIES, "review-2")
    with pytest.raises(SourceError, match=f"the candidate is {'c' * 40}; recorded was {'b' * 40}"):
        playing.begin(own, other, PARTIES, "review-2")
    recording.check_case("review-1", CHANGE)
    with pytest.raises(ConfigError, match="expected the cassette of review-2; got 'review-1'"):
        recording.check_case("review-2", CHANGE)
    playing.check_case("review-2", CHANGE)
    with pytest.raises(SourceError, match=f"the case is about {'c' * 40}; recorded was {'b' * 40}"):
        playing.check_case("review-2", other)
    assert recording.unused([]) == playing.unused([]) == ()


def test_a_question_is_played_for_the_same_words_and_in_the_same_order(own: Settings, tmp_path: Path) -> None:
    """What has no commit is known by its digest, and what the record shuffled is shuffled alike."""
    asked = Docket(question="Tabs or spaces?")
    recording, playing = (Taping(folder=tmp_path / "tape", is_replay=is_replay) for is_replay in (False, True))
    recording.begin(own, asked, ("near",), "answer-1", protocol="answer")
    playing.begin(own, asked, ("near",), "answer-2", protocol="answer")
    assert playing.seed("answer-2") == recording.seed("answer-1") != recording.seed("answer-2")
    with pytest.raises(SourceError, match=r"the digest of the question and its texts is [0-9a-f]{64}; recorded was"):
        playing.begin(own, Docket(question="Tabs or blanks?"), ("near",), "answer-2", protocol="answer")
