"""What libraries leave running on an event loop of ours."""

from __future__ import annotations

import asyncio


async def end_stray_tasks() -> None:
    """Cancel every other task of the running loop, and wait until each has cleaned up: a loop that closes before would drop them,
    and Python complains of that wherever it next collects garbage."""
    stray = asyncio.all_tasks() - {asyncio.current_task()}
    for task in stray:
        task.cancel()
    await asyncio.gather(*stray, return_exceptions=True)
