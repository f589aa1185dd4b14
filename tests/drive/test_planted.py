"""What appears in the vault without the driver is nobody's word, and what was sealed cannot change (DESIGN 4)."""

import asyncio
import json
from dataclasses import replace

from counterpoint.agents.base import Reply, Workspace
from counterpoint.core.briefs import Brief
from counterpoint.core.checks import Purpose
from counterpoint.core.docket import ProjectCommand
from counterpoint.core.entries import FailureReason
from counterpoint.core.values import Decision, StopReason
from counterpoint.drive.kept import KeptReply, put_reply
from counterpoint.record.memory import _MemoryVault
from tests.drive.driving import DOCKET, FINDING, ActingAgent, Case, verdict


def test_a_reply_planted_in_the_vault_is_nobodys_answer() -> None:
    """A reviewer that writes where another's answer is to be kept: the seat is asked again, and its word counts."""
    case: Case
    stored = KeptReply(
        salt="0" * 32,
        attempt=1,
        shown_paths=("a.py",),
        reply=Reply(content=verdict(), model_requested="m", model_reported="m"),
    )

    async def planted_on(brief: Brief, workspace: Workspace) -> bytes:
        put_reply(case.store.vault(case.name), workspace.turn.id, stored)
        return verdict(approved=False, findings=[FINDING])

    honest = ActingAgent(planted_on, verdict(approved=False, findings=[FINDING]))
    case = Case({"honest": honest, "other": ActingAgent(verdict())})
    loaded = case.run()
    assert [f.reason for f in loaded.state.failures] == [FailureReason.VAULT_TOUCHED]
    assert honest.calls == 2
    assert loaded.outcome.decision is Decision.REJECTED


def test_a_reply_that_nobody_had_asked_for_is_not_taken_on_resuming() -> None:
    """Only what an earlier driver had claimed can be its answer."""
    agent = ActingAgent(verdict(approved=False, findings=[FINDING]))
    case = Case({"one": agent})
    stored = KeptReply(
        salt="0" * 32,
        attempt=1,
        shown_paths=("a.py",),
        reply=Reply(content=verdict(), model_requested="m", model_reported="m"),
    )
    put_reply(case.store.vault(case.name), "reviewing.1.one.1", stored)
    loaded = case.run()
    assert agent.calls == 2
    assert loaded.outcome.decision is Decision.REJECTED


def test_evidence_that_was_changed_in_the_vault_fails_the_case() -> None:
    """The seal commits to what code found as well: a failing test does not become a passing one."""
    claim = {"statement": "They pass.", "command": "make test", "passes": True}
    answer = json.dumps({**json.loads(verdict()), "claims": [claim]}).encode()
    docket = replace(DOCKET, commands=(ProjectCommand(argv=("make", "test"), purpose=Purpose.TEST, why="set"),))
    case = Case({"one": ActingAgent(answer)}, docket=docket)
    asyncio.run(case.driver().advance())
    vault = case.store.vault(case.name)
    assert isinstance(vault, _MemoryVault)
    (name,) = [name for name in vault.names() if name.startswith("evidence-")]
    vault.channel.sealed[name] = vault.channel.sealed[name].replace(b"not_checked", b"verified")
    loaded = case.run()
    assert loaded.outcome.stop_reason is StopReason.FAILED
