"""Whatever adapter a skill has: what it hangs in is ended at the deadline, by a cancellation and on leaving."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.core.errors import InfraError, SkillTimeout
from eval_skills.core.models import Skill
from tests.adapters.programs import in_time

if TYPE_CHECKING:
    from tests.adapters.misbehaving import LocalServer

pytestmark = pytest.mark.slow  # of seconds each, for whole evaluations

MakeSkill = Callable[..., Skill]
AtWork = Callable[[], Awaitable[None]]
Running = Callable[[], list[str]]

# It ignores SIGTERM, and so does the program it starts.
HANGING = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "leaf" not in sys.argv:
    subprocess.Popen([sys.executable, "-S", "-E", "skill.py", "leaf"])
print("hanging", flush=True)
print("for long", file=sys.stderr, flush=True)
if "leaf" in sys.argv:
    open("at-work", "x").close()
time.sleep(600)
"""

HANGING_AGENT = """
import os, signal, subprocess, sys, time
os.chdir(os.path.dirname(os.path.abspath(__file__)))
""" + HANGING.replace("import signal, subprocess, sys, time", "")

HANGING_SERVICE = """
import http.server, os, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        open("at-work", "x").close()
        time.sleep(600)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


HANGING_OBJECT = """
import signal, subprocess, sys, time
if "leaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open("at-work", "x").close()
    time.sleep(600)
class Runnable:
    def invoke(self, value):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-S", "-E", "skill.py", "leaf"])
        time.sleep(600)
runnable = Runnable()
run = runnable.invoke
"""


HANGING_MCP = """
import json, signal, subprocess, sys, time
if "leaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open("at-work", "x").close()
    time.sleep(600)
about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "hanging", "version": "1"}}
results = {"initialize": about, "tools/list": {"tools": [{"name": "probe", "inputSchema": {"type": "object"}}]}}
for message in map(json.loads, sys.stdin):
    if message["method"] == "tools/call":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-S", "-E", "skill.py", "leaf"])
        time.sleep(600)
    if message["method"] in results:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
"""


@pytest.fixture(params=["http", "served", "one-shot", "persistent", "custom", "langchain", "mcp", "agent"])
def hanging(request: pytest.FixtureRequest, http_skill: MakeSkill, program_skill: MakeSkill, python_skill: MakeSkill) -> Skill:
    """A skill of each kind that never answers."""
    if request.param in ("custom", "langchain"):
        entrypoint = "skill:run" if request.param == "custom" else "skill:runnable"
        return python_skill(HANGING_OBJECT, entrypoint, request.param)
    if request.param == "agent":
        skill = program_skill(HANGING_AGENT)
        assert skill.folder is not None
        config = {"command": skill.entrypoint}
        return skill.model_copy(update={"adapter_type": "agent", "entrypoint": "custom", "adapter_config": config}).located_in(
            skill.folder
        )
    if request.param == "mcp":
        skill = program_skill(HANGING_MCP, protocol="legacy")
        assert skill.folder is not None
        return skill.model_copy(update={"adapter_type": "mcp"}).located_in(skill.folder)
    if request.param == "http":
        return http_skill("/slow")
    if request.param == "served":
        command = program_skill(HANGING_SERVICE).entrypoint
        return http_skill("http://127.0.0.1:{port}/", serve={"command": command})
    return program_skill(HANGING, persistent=request.param == "persistent")


@pytest.fixture
def at_work(server: LocalServer, tmp_path: Path) -> Callable[[], Awaitable[None]]:
    """Waits until the skill that never answers has been asked, and what it starts has started."""

    async def waited() -> None:
        while not server.requests and not (tmp_path / "at-work").exists():
            await asyncio.sleep(0.01)

    return waited


async def test_p16_one_deadline_cuts_every_adapter_and_leaves_no_process(hanging: Skill, left_running: Running) -> None:
    async with open_adapter(hanging) as adapter:
        began = time.perf_counter()
        with pytest.raises(SkillTimeout, match=r"no answer within 0.3 s") as caught:
            await adapter.call({}, 0.3)
        took_ms = (time.perf_counter() - began) * 1000
    assert caught.value.latency_ms is not None
    assert 0 < caught.value.latency_ms <= took_ms < 60_000  # nobody waited for the end of what hangs
    assert left_running() == []


async def test_cancelling_a_call_stops_the_work(hanging: Skill, at_work: AtWork, left_running: Running) -> None:
    async with open_adapter(hanging) as adapter:
        call = asyncio.create_task(adapter.call({}, 600))
        await at_work()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert left_running() == []


async def test_cancelling_again_and_again_does_not_stop_the_stopping(
    program_skill: MakeSkill, at_work: AtWork, left_running: Running
) -> None:
    async with open_adapter(program_skill(HANGING)) as adapter:
        call = asyncio.create_task(adapter.call({}, 600))
        await at_work()
        while not call.done():
            call.cancel()
            await asyncio.wait([call], timeout=0.05)
    assert call.cancelled()
    assert left_running() == []


@pytest.mark.parametrize("persistent", [True, False])
async def test_leaving_the_adapter_ends_calls_in_flight(
    program_skill: MakeSkill, at_work: AtWork, left_running: Running, persistent: bool
) -> None:
    async with open_adapter(program_skill(HANGING, persistent=persistent)) as adapter:
        call = asyncio.create_task(adapter.call({}, 600))
        await at_work()
    with pytest.raises(InfraError):
        await call
    assert left_running() == []


@pytest.mark.parametrize("persistent", [True, False])
async def test_leaving_the_adapter_ends_a_call_whose_process_is_just_being_started(
    program_skill: MakeSkill, left_running: Running, persistent: bool
) -> None:
    async with open_adapter(program_skill(HANGING, persistent=persistent)) as adapter:
        call = asyncio.create_task(adapter.call({}, 10))
        await asyncio.sleep(0)
    with pytest.raises(InfraError, match="closed during the call"):
        await call
    assert left_running() == []


async def test_p29_a_timeout_keeps_its_latency_and_logs(program_skill: MakeSkill) -> None:
    async def timeout(limit_s: float) -> SkillTimeout:
        async with open_adapter(program_skill(HANGING)) as adapter:
            with pytest.raises(SkillTimeout) as caught:
                await adapter.call({}, limit_s)
        return caught.value

    error = await in_time(timeout, lambda error: "for long" in error.logs)
    assert "the last line on stdout is not an answer: not a JSON object: hanging" in str(error)
    assert "hanging" in error.logs
    assert "for long" in error.logs
    assert error.latency_ms is not None
