from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest

from eval_skills.adapters import open_adapter
from eval_skills.adapters.base import Adapter
from eval_skills.adapters.call import Call, shield_cleanup, with_progress
from eval_skills.core.errors import InfraError, SkillTimeout, UsageError
from eval_skills.core.models import Skill, SkillResponse, ToolCall
from tests.tables import each_row

if TYPE_CHECKING:
    pass

MakeSkill = Callable[..., Skill]
AtWork = Callable[[], Awaitable[None]]
Running = Callable[[], list[str]]


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

    task = asyncio.create_task(shield_cleanup(work()))
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


async def test_chunks_of_messages_that_an_adapter_passes_on_are_joined(program_skill: MakeSkill) -> None:
    pieces = [{"type": "AIMessageChunk", "id": "r", "content": each} for each in ("Three ", "hotels")]

    async with Scripted(program_skill(""), lambda call: call.progress.add({"messages": pieces})) as adapter:
        response = await adapter.call({}, 60)
    assert [message["content"] for message in response.messages or []] == ["Three hotels"]


@each_row(
    ("called", "reported"),
    [
        pytest.param([], [{"role": "assistant", "tool_calls": [{"name": "pay", "args": {}}]}], id="a-call"),
        pytest.param([], [{"role": "tool", "name": "pay", "content": "paid"}], id="a-result"),
        pytest.param(["pay"], [{"role": "assistant", "tool_calls": [{"name": "pay", "args": {}}]}], id="listed"),
    ],
)
def test_what_messages_reported_was_called_is_not_undone_by_the_answer_s_own(called: list[str], reported: list[Any]) -> None:
    said = SkillResponse(
        output=1, messages=[{"role": "assistant", "content": "Done."}], tool_calls=[ToolCall(name=n) for n in called]
    )
    answer = with_progress(said, SkillResponse(messages=reported))
    assert ([call.name for call in answer.tool_calls or []], answer.messages) == (["pay"], said.messages)
    assert (
        with_progress(said.model_copy(update={"messages": reported}), SkillResponse(messages=reported)).tool_calls
        == said.tool_calls
    )
