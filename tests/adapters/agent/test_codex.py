"""The real Codex against a scripted model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_skills.adapters.registry import open_adapter
from eval_skills.core.errors import SkillError, SkillTimeout, SkillUnavailable
from tests.adapters.agent.model_server import AgentModel, Turn
from tests.adapters.agent.real_agents import (
    CODEX,
    KEY,
    TOO_LONG_S,
    Played,
    asleep,
    callers_environment,
    greeter,
    has_worked,
    play,
    sleeping,
    working,
)
from tests.adapters.sandboxed import needs_sandbox

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def nothing_is_left_in_tmp() -> Iterator[None]:
    """Codex's own sandbox would make an empty ``/tmp/.git``, by which all of ``/tmp`` would seem to be in a repository."""
    was_there = Path("/tmp/.git").exists()
    yield
    assert Path("/tmp/.git").exists() == was_there


async def test_codex_works_with_a_skill_and_fails_as_its_model_does(tmp_path: Path) -> None:
    scripts = {
        "TASK-WORK": working(CODEX),
        "TASK-WITHOUT": (Turn(status=401),) * 9,
        "TASK-LIMITED": (Turn(status=429),) * 4,
        "TASK-BROKEN": (Turn(status=500),) * 18,
    }
    played = await play(CODEX, tmp_path, scripts)
    has_worked(CODEX, played, "TASK-WORK")
    assert KEY not in played.asked("TASK-WORK")[-1].text  # its commands do not see it
    assert "greeter" not in played.asked("TASK-WITHOUT")[0].text
    assert type(played.error("TASK-WITHOUT")) is SkillError
    assert "401" in str(played.error("TASK-WITHOUT"))
    assert isinstance(played.error("TASK-LIMITED"), SkillUnavailable)
    assert isinstance(played.error("TASK-BROKEN"), SkillUnavailable)


@needs_sandbox
async def test_codex_works_the_same_in_our_sandbox(tmp_path: Path) -> None:
    greeter(tmp_path)
    with callers_environment(), AgentModel() as model:
        model.script("TASK-WORK", *working(CODEX))
        async with open_adapter(CODEX.skill(model, tmp_path, "greeter", sandbox="bwrap", network=True)) as adapter:
            response = await adapter.call({"prompt": "TASK-WORK", "files": ["names.csv"]}, TOO_LONG_S)
    has_worked(CODEX, Played(model, {"TASK-WORK": response}), "TASK-WORK")


async def test_codex_is_ended_at_the_time_limit_with_all_that_it_started(tmp_path: Path) -> None:
    turn, word = sleeping(CODEX)
    never = threading.Event()
    with callers_environment(), AgentModel() as model:
        model.script("TASK-SLEEP", turn)
        model.script("TASK-HANG", Turn(hold=never))
        async with open_adapter(CODEX.skill(model, tmp_path)) as adapter:
            calls = [adapter.call(prompt, 5) for prompt in ("TASK-SLEEP", "TASK-HANG")]
            slept, hung = await asyncio.gather(*calls, return_exceptions=True)
        never.set()
    assert isinstance(slept, SkillTimeout)
    assert isinstance(hung, SkillTimeout)
    assert slept.known is not None
    assert asleep(word) == []
