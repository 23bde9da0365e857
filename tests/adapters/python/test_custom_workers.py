"""The workers of a Python skill: one for each call under way, none after its time."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.errors import SkillTimeout
from tests.adapters.programs import PATIENCE_S
from tests.adapters.python_calls import MakeSkill, Running

WORKING = """
import os, signal, subprocess, sys, time
def run(value):
    if value == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"])
        print("hanging")
        open("at-work", "w").close()
        time.sleep(600)
    return os.getpid()
"""


@pytest.mark.slow
async def test_p16_a_timeout_ends_the_worker_and_its_tree_and_the_next_call_has_a_new_one(
    python_skill: MakeSkill, left_running: Running
) -> None:
    async with open_adapter(python_skill(WORKING)) as adapter:
        first = (await adapter.call(None, PATIENCE_S)).output
        with pytest.raises(SkillTimeout, match=r"^no answer within 0.5 s$") as caught:
            await adapter.call("hang", 0.5)
        assert caught.value.latency_ms is not None
        assert (await adapter.call(None, PATIENCE_S)).output != first
    assert left_running() == []


@pytest.mark.slow
async def test_calls_at_the_same_time_have_a_worker_each(python_skill: MakeSkill, left_running: Running) -> None:
    source = """
        import os, pathlib, time
        def run(value):  # comes back when all four are here
            pathlib.Path(f"here-{os.getpid()}").touch()
            while len(list(pathlib.Path().glob("here-*"))) < 4:
                time.sleep(0.01)
            return os.getpid()
    """
    async with open_adapter(python_skill(source)) as adapter:
        responses = await asyncio.gather(*(adapter.call(n, PATIENCE_S) for n in range(4)))
        again = {(await adapter.call(n, PATIENCE_S)).output for n in range(3)}
    pids = {response.output for response in responses}
    assert len(pids) == 4
    assert len(again) == 1
    assert again < pids
    assert left_running() == []


RUN = """
import asyncio, sys
from pathlib import Path
from eval_skills.adapters import open_adapter
from eval_skills.core.skills import load_skill
async def main():
    async with open_adapter(load_skill(Path(sys.argv[1]))) as adapter:
        await adapter.call(None, 600)
        await adapter.call("hang", 600)
asyncio.run(main())
"""


@pytest.mark.slow
async def test_no_worker_outlives_a_run_that_was_killed(python_skill: MakeSkill, tmp_path: Path, left_running: Running) -> None:
    skill = python_skill(WORKING)
    (tmp_path / "skill.json").write_text(skill.model_dump_json(by_alias=True))
    run = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], stderr=subprocess.PIPE)
    end = time.monotonic() + PATIENCE_S
    while not (tmp_path / "at-work").exists() and time.monotonic() < end:
        await asyncio.sleep(0.01)
    assert (tmp_path / "at-work").exists()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert left_running() == []
