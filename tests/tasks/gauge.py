"""How many work at a time, and what came of the futures of a task runner."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture


class Gauge:
    """How many are at work at the same time; `enough` is set when as many are as should be."""

    def __init__(self, should_be: int) -> None:
        self.now = self.most = 0
        self.enough = threading.Event()
        self._should_be = should_be
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now >= self._should_be:
                self.enough.set()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


async def together(gauge: Gauge) -> None:
    """Work until as many are at work as should be, and a little longer, so that more could be."""
    while not gauge.enough.is_set():
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)


def states(futures: list[PrefectFuture[Any]]) -> list[State[Any]]:
    for future in futures:
        future.wait()
    return [future.state for future in futures]


def results(futures: Any) -> list[Any]:
    return [future.result() for future in futures]
