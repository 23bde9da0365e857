"""Starting a skill's program without any of the project: the floor under one-shot evaluation."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter

from eval_skills.adapters.process.launch import child_environment


def bare_s(folder: Path, count: int, concurrency: int = 4) -> float:
    """How long, in s, it takes to spawn the program in `folder` so often, send each a request and read its answer."""
    began = perf_counter()
    asyncio.run(_spawn_all(folder, count, concurrency))
    return perf_counter() - began


async def _spawn_all(folder: Path, count: int, concurrency: int) -> None:
    limit, environment = asyncio.Semaphore(concurrency), child_environment({}, ())

    async def one(number: int) -> None:
        async with limit:
            await _ask(folder, number, environment)

    await asyncio.gather(*(one(number) for number in range(count)))


async def _ask(folder: Path, number: int, environment: dict[str, str]) -> None:
    pipe = asyncio.subprocess.PIPE
    # A session of its own, as the adapter gives it: the scheduler of a busy machine shares time out among sessions.
    process = await asyncio.create_subprocess_exec(
        sys.executable, "skill.py", cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    request = {"jsonrpc": "2.0", "method": "invoke", "params": {"n": number}, "id": number}
    answer, _ = await process.communicate(json.dumps(request).encode() + b"\n")
    if json.loads(answer)["id"] != number:
        raise RuntimeError(f"unexpected answer {answer!r}")
