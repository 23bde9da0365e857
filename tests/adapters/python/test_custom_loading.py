"""When a Python skill is loaded, how long that may take, and what is found before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from eval_skills.adapters import check_skill, open_adapter
from eval_skills.core.errors import InfraError, InputError, ItemError, SkillCrashed, SkillNotStarted
from tests.adapters.programs import PATIENCE_S
from tests.adapters.python_calls import MakeSkill, Running, failure, output


@pytest.mark.slow
async def test_what_cannot_be_loaded_is_tried_once_and_every_call_says_so(python_skill: MakeSkill, tmp_path: Path) -> None:
    skill = python_skill("open('tries', 'a').write('x')\nprint('hint')\nraise OSError('no licence')")
    async with open_adapter(skill) as adapter:
        errors = await asyncio.gather(*(adapter.call(n, PATIENCE_S) for n in range(3)), return_exceptions=True)
    assert {type(error) for error in errors} == {SkillNotStarted}
    assert {str(error) for error in errors} == {"importing skill failed: OSError: no licence"}
    assert all("hint" in error.logs and "line 3" in error.logs for error in errors if isinstance(error, ItemError))
    assert (tmp_path / "tries").read_text() == "x"


@pytest.mark.slow
async def test_a_process_that_dies_while_it_loads_may_be_tried_again(python_skill: MakeSkill) -> None:
    source = """
        import os, pathlib
        if not pathlib.Path("tried").exists():
            pathlib.Path("tried").touch()
            os._exit(5)
        def run(value): return value
    """
    assert await output(python_skill(source), 1) == 1
    error = await failure(python_skill("import os; os._exit(5)"))
    assert isinstance(error, SkillCrashed)
    assert "loading skill:run: the process ended without an answer (exit code 5)" in str(error)


@pytest.mark.slow
async def test_p59_loading_has_a_limit_of_its_own(python_skill: MakeSkill, left_running: Running) -> None:
    error = await failure(python_skill("import time; time.sleep(600)", startTimeoutMs=300))
    assert type(error) is InfraError
    assert "skill:run was not loaded within 0.3 s (adapterConfig.startTimeoutMs)" in str(error)
    assert left_running() == []


@pytest.mark.slow
async def test_the_time_of_loading_is_no_part_of_any_items_time(python_skill: MakeSkill) -> None:
    limit_s = 4.0
    source = f"import time; time.sleep({limit_s} + 1)\nimport os\ndef run(value): time.sleep(0.1); return os.getpid()"
    async with open_adapter(python_skill(source)) as adapter:
        responses = await asyncio.gather(*(adapter.call(None, limit_s) for _ in range(2)))
    assert len({response.output for response in responses}) == 2  # one worker was loaded during the call
    assert all(100 <= (response.latency_ms or 0) < limit_s * 1000 for response in responses)


@pytest.mark.parametrize(
    ("entrypoint", "config", "message"),
    [
        pytest.param(
            "skill",
            {},
            "entrypoint: 'skill' does not name a Python object; write module:attribute, for example",
            id="no-attribute",
        ),
        pytest.param("skill:", {}, "does not name a Python object", id="empty-attribute"),
        pytest.param("python3 skill.py", {}, "does not name a Python object", id="a-command"),
        pytest.param("skill:run()", {}, "does not name a Python object", id="a-call"),
        pytest.param("lost.py:run", {}, "entrypoint: the skill's folder has no file 'lost.py'", id="no-file"),
        pytest.param("skill:run", {"spred": True}, "did you mean 'spread'", id="p60-misspelt"),
        pytest.param("skill:run", {"init": [1]}, r"adapterConfig.init", id="init-as-a-list"),
        pytest.param("skill:run", {"startTimeoutMs": 0}, "adapterConfig.startTimeoutMs", id="no-time"),
        pytest.param("skill:run", {"env": {"PYTHONPATH": "lib"}}, "PYTHONPATH has no effect", id="python-path"),
        pytest.param("skill:run", {"passEnv": ["PYTHONHOME"]}, "PYTHONHOME has no effect", id="python-home"),
    ],
)
def test_what_is_known_to_be_wrong_is_found_before_the_run(
    python_skill: MakeSkill, entrypoint: str, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check_skill(python_skill("", entrypoint, **config))


def test_checking_runs_nothing_of_the_skill(python_skill: MakeSkill, tmp_path: Path) -> None:
    check_skill(python_skill("open('ran', 'w')"))
    assert not (tmp_path / "ran").exists()
