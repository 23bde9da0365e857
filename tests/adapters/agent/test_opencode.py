"""The real opencode against a scripted model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from eval_skills.core.errors import SkillError
from tests.adapters.agent.model_server import Turn
from tests.adapters.agent.real_agents import OPENCODE, has_worked, play, working

pytestmark = pytest.mark.slow


@pytest.mark.skipif(shutil.which("rg") is None, reason="opencode's tool `skill` needs rg on PATH; install ripgrep")
async def test_opencode_works_with_a_skill_and_fails_as_its_model_does(tmp_path: Path) -> None:
    scripts = {
        "TASK-WORK": (Turn(status=429), *working(OPENCODE)),  # it asks again, as soon as the model allows it
        "TASK-WITHOUT": (Turn(status=401),) * 4,
    }
    played = await play(OPENCODE, tmp_path, scripts)
    played.model.turns.remove(played.asked("TASK-WORK")[0])
    has_worked(OPENCODE, played, "TASK-WORK")
    assert "greeter" not in played.asked("TASK-WITHOUT")[0].text
    assert type(played.error("TASK-WITHOUT")) is SkillError
    assert "401" in str(played.error("TASK-WITHOUT"))
