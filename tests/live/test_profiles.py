"""The real coding agents name, in their own help, everything that their profiles hold (issue 5, drift).

`make test-agents` sets them up and runs this. Nothing is asked of a model.
"""

from pathlib import Path

import pytest

from counterpoint.agents.probes import PROBES
from counterpoint.drive.probing import SignedIn
from counterpoint.drive.settings import AgentKind, CodingAgent, Home, Settings
from counterpoint.drive.surveying import survey
from tests import need

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]


@pytest.mark.parametrize("kind", sorted(PROBES))
def test_a_real_client_is_told_as_what_it_is(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version is the pinned one, its help names its whole profile, and in an empty home nobody is signed in."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    agent = CodingAgent(kind=AgentKind(kind), destination="somewhere", program=str(need.client(kind)), home=Home.USER)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    (found,) = survey(Settings(agents={kind: agent}), environment=environment, only=[kind])
    assert (found.version, found.drift, found.faults) == (PROBES[kind].tried, (), ())
    assert found.signed_in in {SignedIn.NO, SignedIn.UNKNOWN}
