"""Which session an agent is told to go on with: the one of its own seat's last accepted answer, or none."""

import asyncio
import json
from datetime import datetime

from counterpoint.agents.base import Progress, Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.limits import Limits
from counterpoint.drive.kept import Voucher
from counterpoint.record.memory import _MemoryVault
from counterpoint.record.signing import load_key, make_key
from tests.drive.driving import FINDING, ActingAgent, Case, verdict

STANDS = verdict(approved=False, findings=[FINDING])
REBUTTAL = json.dumps(
    {
        "summary": "Answer",
        "dispositions": [{"finding": "F1", "reasoning": "It is right.", "disposition": "rebut"}],
        "changed": [],
    }
).encode()


class Remembering(ActingAgent):
    """Reports a session for each answer, and keeps which one it was told."""

    def __init__(self, name: str, *acts: bytes) -> None:
        super().__init__(*acts)
        self.name = name
        self.told: list[str] = []

    async def ask(self, brief: Brief, *, workspace: Workspace, deadline: datetime, on_progress: Progress) -> Reply:
        self.told.append(workspace.session)
        reply = await super().ask(brief, workspace=workspace, deadline=deadline, on_progress=on_progress)
        return Reply(
            content=reply.content,
            model_requested=reply.model_requested,
            model_reported=reply.model_reported,
            usage=reply.usage,
            session=f"{self.name}-{self.calls}",
        )


def test_a_seat_goes_on_with_the_session_of_its_own_last_accepted_answer() -> None:
    """Never another seat's, and not one whose answer was refused (FIELD-FAULTS F31)."""
    author = Remembering("ana", REBUTTAL)
    critic = Remembering("critic", STANDS, b"prose", STANDS)
    case = Case({"ana": author, "critic": critic}, author="ana", limits=Limits(max_rounds=2))
    asyncio.run(asyncio.wait_for(case.driver().run(), 5))
    assert critic.told == ["", "critic-1", "critic-1", "critic-3"]
    assert author.told == ["", "ana-1"]


def rewrite(case: Case, turn: str, session: str, other: str) -> None:
    """Write another session beside the answer that the vault keeps for a turn, as an agent could."""
    vault = case.store.vault(case.name)
    assert isinstance(vault, _MemoryVault)
    kept = vault.channel.sealed[f"reply-{turn}"]
    assert session.encode() in kept
    vault.channel.sealed[f"reply-{turn}"] = kept.replace(session.encode(), other.encode())


def test_a_session_that_an_agent_writes_into_the_vault_is_nobodys() -> None:
    """A driver goes by what it was told itself: an author cannot have the critic go on with its own (F31)."""
    case: Case

    async def forge(brief: Brief, workspace: Workspace) -> bytes:
        rewrite(case, "reviewing.1.critic.1", "critic-1", "author-1")
        return REBUTTAL

    critic = Remembering("critic", STANDS)
    case = Case({"ana": ActingAgent(forge), "critic": critic}, author="ana", limits=Limits(max_rounds=1))
    asyncio.run(asyncio.wait_for(case.driver().run(), 5))
    assert critic.told == ["", "critic-1"]


def test_a_driver_that_resumes_goes_on_with_a_session_that_a_driver_had_signed_alone() -> None:
    """What the last driver kept is told; where somebody has changed it since, the agent begins anew (F31)."""
    signer = load_key(make_key(b"\x07" * 32), source="a fixed key")
    for is_forged, told in ((False, "critic-1"), (True, "")):
        critic = Remembering("critic", STANDS)
        seats = {"ana": ActingAgent(REBUTTAL), "critic": critic}
        case = Case(seats, author="ana", limits=Limits(max_rounds=1))
        voucher = Voucher(case=case.name, signer=lambda: signer)
        asyncio.run(asyncio.wait_for(case.driver(voucher=voucher).advance(), 5))
        if is_forged:
            rewrite(case, "reviewing.1.critic.1", "critic-1", "author-1")
        asyncio.run(asyncio.wait_for(case.driver(voucher=voucher).run(), 5))
        assert critic.told == ["", told], is_forged
