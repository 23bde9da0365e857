"""Nothing that a library began on our loop outlives it."""

from __future__ import annotations

import asyncio

from eval_skills.engine.evaluation.asyncio_support import cancel_pending_tasks
from eval_skills.tasks.runner import EventLoopTaskRunner

SEEN: list[str] = []


async def leave_a_task() -> None:
    async def stay() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            SEEN.append("cleaned up")

    asyncio.get_running_loop().kept = asyncio.create_task(stay())  # type: ignore[attr-defined] # as a library would keep it
    await asyncio.sleep(0)


async def test_what_is_left_is_cancelled_and_waited_for() -> None:
    SEEN.clear()
    await leave_a_task()
    await cancel_pending_tasks()
    assert SEEN == ["cleaned up"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_the_task_runners_loop_ends_with_nothing_on_it(prefect_url: str) -> None:
    SEEN.clear()
    with EventLoopTaskRunner() as runner:
        asyncio.run_coroutine_threadsafe(leave_a_task(), runner._running_loop()).result()
    assert SEEN == ["cleaned up"]
