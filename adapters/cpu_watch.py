"""Whether a program was seen to have computed for as long as it may, for when the system ends it without saying why."""

from __future__ import annotations

import asyncio
import os

from eval_skills.adapters.process_tree import below, cpu_seconds

_OFTEN_S = 0.05


class CpuWatch:
    """Looks at a process and those below it, each of which the limit of `limit_s` is for, as seldom as the limit can be missed.

    One that ignores the signal that comes at the limit computes for another second before it is killed: in that second it is
    seen. `reached` is true from then on. Nothing is ever seen where there is no ``/proc``.
    """

    def __init__(self, pid: int, limit_s: int) -> None:
        self.reached = False
        self._pid, self._limit_s = pid, limit_s
        self._next = self._wait(limit_s)

    def end(self) -> None:
        """Look no more."""
        self._next.cancel()

    def _wait(self, left_s: float) -> asyncio.TimerHandle:
        soonest_s = left_s / (os.cpu_count() or 1)  # if it uses every processor
        return asyncio.get_running_loop().call_later(max(soonest_s, _OFTEN_S), self._look)

    def _look(self) -> None:
        used_s = max(map(cpu_seconds, (self._pid, *(process.pid for process in below(self._pid)))))
        if used_s >= self._limit_s:
            self.reached = True
        else:
            self._next = self._wait(self._limit_s - used_s)
