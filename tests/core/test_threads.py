"""Threads that keep nobody waiting."""

from __future__ import annotations

import threading
from time import monotonic

import pytest

from eval_skills.core.threads import DaemonThreads


def test_what_is_done_is_returned_or_raised_and_no_more_threads_than_allowed_do_it() -> None:
    threads = DaemonThreads(3)
    seen: set[int] = set()
    together = threading.Barrier(3)

    def work(number: int) -> int:
        seen.add(threading.get_ident())
        if number < 3:
            together.wait(10)
        return 10 // (5 - number)

    futures = [threads.submit(work, number) for number in range(20)]
    assert [future.result(10) for future in futures[:5]] == [2, 2, 3, 5, 10]
    with pytest.raises(ZeroDivisionError):
        futures[5].result(10)
    assert futures[19].result(10) == -1
    assert len(seen) == 3
    threads.end(10)


def test_one_that_hangs_holds_up_neither_the_others_nor_the_end() -> None:
    threads = DaemonThreads(2)
    hanging = threads.submit(threading.Event().wait)
    assert [threads.submit(int, number).result(10) for number in range(50)] == list(range(50))
    began = monotonic()
    threads.end(0.01)
    assert monotonic() - began < 5
    assert not hanging.done()


def test_idle_threads_go_at_the_end() -> None:
    threads = DaemonThreads()
    where = threads.submit(threading.current_thread).result(10)
    assert where.daemon
    threads.end(10)
    where.join(10)
    assert not where.is_alive()
