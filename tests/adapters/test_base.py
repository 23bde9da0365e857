from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.base import Adapter, Call
from eval_skills.adapters.cancellation import uninterrupted
from eval_skills.core.errors import InfraError, SkillTimeout, UsageError
from eval_skills.core.models import Skill, SkillResponse
from tests.adapters.programs import in_time

if TYPE_CHECKING:
    from tests.adapters.conftest import LocalServer

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


@pytest.fixture(params=["http", "served", "one-shot", "persistent", "custom", "langchain", "mcp"])
def hanging(request: pytest.FixtureRequest, http_skill: MakeSkill, program_skill: MakeSkill, python_skill: MakeSkill) -> Skill:
    """A skill of each kind that never answers."""
    if request.param in ("custom", "langchain"):
        entrypoint = "skill:run" if request.param == "custom" else "skill:runnable"
        return python_skill(HANGING_OBJECT, entrypoint, request.param)
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


def answer_one(_: Call) -> int:
    return 1


class Scripted(Adapter):
    """An adapter that does what its test tells it to; with `answer_one` it cannot even be opened."""

    def __init__(self, skill: Skill, invoke: Callable[[Call], Any]) -> None:
        super().__init__(skill)
        self.script, self.closed = invoke, 0

    async def _open(self) -> None:
        if self.script is answer_one:
            raise OSError("no such device")

    async def _close(self) -> None:
        self.closed += 1

    async def _invoke(self, input_data: Any, call: Call) -> SkillResponse:
        answer = self.script(call)
        return SkillResponse(output=await answer if asyncio.iscoroutine(answer) else answer)


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


async def test_p29_a_timeout_keeps_its_latency_and_logs(program_skill: MakeSkill) -> None:
    async def timeout(limit_s: float) -> SkillTimeout:
        async with open_adapter(program_skill(HANGING)) as adapter:
            with pytest.raises(SkillTimeout) as caught:
                await adapter.call({}, limit_s)
        return caught.value

    error = await in_time(timeout, lambda error: "for long" in error.logs)
    assert "the last line on stdout is no answer: not a JSON object: hanging" in str(error)
    assert "hanging" in error.logs
    assert "for long" in error.logs
    assert error.latency_ms is not None


async def test_p12_an_error_that_speaks_of_a_timeout_is_none(program_skill: MakeSkill) -> None:
    def fail(_: Call) -> None:
        raise TimeoutError("the operation timed out")

    async with Scripted(program_skill(""), fail) as adapter:
        with pytest.raises(InfraError, match="TimeoutError: the operation timed out"):
            await adapter.call({}, 60)


async def test_p25_any_failure_of_a_call_stays_with_the_item(program_skill: MakeSkill) -> None:
    def fail(_: Call) -> None:
        raise KeyError("lost")

    async with Scripted(program_skill(""), fail) as adapter:
        with pytest.raises(InfraError, match=r"calling probe@1.2.3 failed: KeyError: 'lost'") as caught:
            await adapter.call({}, 60)
    assert caught.value.latency_ms is not None


async def test_p25_any_failure_to_open_stays_with_the_items(program_skill: MakeSkill) -> None:
    async with Scripted(program_skill(""), answer_one) as adapter:
        errors = []
        for _ in range(2):
            with pytest.raises(InfraError, match="could not be opened: OSError: no such device") as caught:
                await adapter.call({}, 60)
            errors.append(caught.value)
    assert errors[0] is not errors[1]
    assert adapter.closed == 1


async def test_the_response_carries_latency_and_logs(program_skill: MakeSkill) -> None:
    def answer(call: Call) -> int:
        call.logs = "said"
        return 1

    async with Scripted(program_skill(""), answer) as adapter:
        response = await adapter.call({}, 60)
    assert response.latency_ms is not None
    assert (response.output, response.logs, response.attempts) == (1, "said", 1)


async def test_the_clock_leaves_out_what_lies_before_start_and_after_stop(program_skill: MakeSkill) -> None:
    async def answer(call: Call) -> int:
        await asyncio.sleep(0.1)
        call.start()
        call.stop()
        await asyncio.sleep(0.1)
        return 1

    async with Scripted(program_skill(""), answer) as adapter:
        began = time.perf_counter()
        latency_ms = (await adapter.call({}, 60)).latency_ms
        took_ms = (time.perf_counter() - began) * 1000
    assert latency_ms is not None
    assert took_ms - latency_ms >= 2 * 100 - 20  # both sleeps; the event loop may wake up a little early


async def test_a_deadline_that_rests_begins_anew_at_the_start(program_skill: MakeSkill) -> None:
    async def start_slowly(call: Call, then_s: float) -> int:
        call.suspend()
        await asyncio.sleep(0.3)
        call.start()
        await asyncio.sleep(then_s)
        return 1

    async with Scripted(program_skill(""), lambda call: start_slowly(call, 0)) as adapter:
        assert (await adapter.call({}, 0.2)).output == 1
    async with Scripted(program_skill(""), lambda call: start_slowly(call, 600)) as adapter:
        with pytest.raises(SkillTimeout, match=r"no answer within 0.2 s"):
            await adapter.call({}, 0.2)


async def test_an_answer_that_is_there_is_not_lost_to_the_deadline(program_skill: MakeSkill) -> None:
    async def answer(call: Call) -> int:
        call.stop()
        await asyncio.sleep(0.3)
        return 1

    async with Scripted(program_skill(""), answer) as adapter:
        assert (await adapter.call({}, 0.1)).output == 1


@pytest.mark.parametrize("timeout_s", [0.0, -1.0])
async def test_a_deadline_that_has_passed_is_a_timeout(program_skill: MakeSkill, timeout_s: float) -> None:
    async with Scripted(program_skill(""), lambda _: asyncio.sleep(1)) as adapter:
        with pytest.raises(SkillTimeout):
            await adapter.call({}, timeout_s)


async def test_a_closed_adapter_cannot_be_called(program_skill: MakeSkill) -> None:
    adapter = Scripted(program_skill(""), lambda _: 1)
    with pytest.raises(UsageError, match="not open"):
        await adapter.call({}, 60)
    async with adapter:
        await adapter.call({}, 60)
    with pytest.raises(UsageError, match="not open"):
        await adapter.call({}, 60)


async def test_uninterrupted_work_ends_before_the_cancellation_is_raised() -> None:
    done = asyncio.Event()

    async def work() -> None:
        await asyncio.sleep(0.05)
        done.set()

    task = asyncio.create_task(uninterrupted(work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done.is_set()


async def test_an_adapter_works_on_an_event_loop_outside_the_main_thread(program_skill: MakeSkill) -> None:
    source = """
        import json, sys
        request = json.loads(sys.stdin.readline())
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]}))
    """

    async def ask() -> Any:
        async with open_adapter(program_skill(source)) as adapter:
            return (await adapter.call("hello", 60)).output

    assert await asyncio.to_thread(asyncio.run, ask()) == "hello"
