"""The real Gemini CLI against a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_skills.core.errors import SkillError, SkillUnavailable
from tests.adapters.agent.model_server import Turn
from tests.adapters.agent.real_agents import GEMINI, KEY, has_worked, play, working

pytestmark = pytest.mark.slow


async def test_gemini_works_with_a_skill_and_fails_as_its_model_does(tmp_path: Path) -> None:
    scripts = {
        "TASK-WORK": working(GEMINI),
        "TASK-WITHOUT": (Turn(status=401),) * 4,
        "TASK-LIMITED": (Turn(status=429),) * 4,
    }
    played = await play(GEMINI, tmp_path, scripts)
    has_worked(GEMINI, played, "TASK-WORK")
    assert KEY not in played.asked("TASK-WORK")[-1].text  # its commands do not see it
    assert "greeter" not in played.asked("TASK-WITHOUT")[0].text
    assert type(played.error("TASK-WITHOUT")) is SkillError
    assert "401" in str(played.error("TASK-WITHOUT"))
    assert isinstance(played.error("TASK-LIMITED"), SkillUnavailable)
