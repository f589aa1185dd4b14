"""Which session an agent is told to go on with: the one of its own seat's last accepted answer, or none."""

import asyncio
import json
from datetime import datetime

from counterpoint.agents.base import Progress, Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.limits import Limits
from tests.drive.driving import FINDING, ActingAgent, Case, verdict


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
    rebuts = {"finding": "F1", "reasoning": "It is right.", "disposition": "rebut"}
    answer = json.dumps({"summary": "Answer", "dispositions": [rebuts], "changed": []}).encode()
    stands = verdict(approved=False, findings=[FINDING])
    author = Remembering("ana", answer)
    critic = Remembering("critic", stands, b"prose", stands)
    case = Case({"ana": author, "critic": critic}, author="ana", limits=Limits(max_rounds=2))
    asyncio.run(asyncio.wait_for(case.driver().run(), 5))
    assert critic.told == ["", "critic-1", "critic-1", "critic-3"]
    assert author.told == ["", "ana-1"]
