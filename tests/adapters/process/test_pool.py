from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eval_skills.adapters.process.launch import Launch
from eval_skills.adapters.process.worker import WorkerPool
from eval_skills.core.errors import InfraError


@pytest.fixture
def pool(tmp_path: Path) -> WorkerPool:
    argv = (sys.executable, "-S", "-E", "-c", "import sys; sys.stdin.read()")
    return WorkerPool(Launch(argv=argv, cwd=tmp_path, env={}), 1000)


async def test_the_worker_used_last_is_handed_out_first(pool: WorkerPool) -> None:
    first, second = await pool.take(), await pool.take()
    pool.give_back(first)
    pool.give_back(second)
    assert await pool.take() is second
    assert await pool.take() is first
    await pool.close()
    assert not first.alive
    assert not second.alive


async def test_a_worker_that_starts_while_the_pool_closes_is_ended(
    pool: WorkerPool, left_running: Callable[[], list[str]]
) -> None:
    taking = asyncio.create_task(pool.take())
    await asyncio.sleep(0)
    await pool.close()
    with pytest.raises(InfraError, match="closed during the call"):
        await taking
    assert left_running() == []
