"""The controller, on a clock of its own: what services that refuse in the usual ways get of what they allow."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

import pytest

from eval_skills.core.rate_limits.pace import FORGOTTEN_S, MAX_WAIT_S, SIZE, Pace
from tests.tables import each_row

Service = Callable[[float], float]
"""0 where a request at this moment is allowed, else how long it has to wait."""


def bucket(per_s: float, burst: float) -> Service:
    left, at = burst, 0.0

    def ask(now: float) -> float:
        nonlocal left, at
        left, at = min(burst, left + (now - at) * per_s), now
        if left < 1:
            return (1 - left) / per_s
        left -= 1
        return 0.0

    return ask


def window(allowed: int, length_s: float) -> Service:
    began, used = -1.0, 0

    def ask(now: float) -> float:
        nonlocal began, used
        if now // length_s != began:
            began, used = now // length_s, 0
        used += 1
        return 0.0 if used <= allowed else (began + 1) * length_s - now

    return ask


def took_s(service: Service, requests: int, *, says: Callable[[float], float | None], workers: int = 32) -> float:
    """How long so many requests take that are made at one pace; each takes about 50 ms."""
    pace, chance, order = Pace(), random.Random(3), count()
    events: list[tuple[float, int, Callable[[float], None]]] = []
    answered: list[float] = []

    def at(moment: float, what: Callable[[float], None]) -> None:
        heappush(events, (moment, next(order), what))

    def begin(now: float) -> None:
        start = pace.claim(now)
        at(start + chance.uniform(0, 0.003), lambda moment: send(moment, waited=start > now))

    def send(now: float, *, waited: bool) -> None:
        if now < pace.held_until:
            at(now, begin)
            return
        wait_s = service(now)
        at(now + chance.uniform(0.025, 0.075), lambda moment: receive(moment, now, wait_s, waited=waited))

    def receive(now: float, sent_at: float, wait_s: float, *, waited: bool) -> None:
        if wait_s:
            pace.refused(now, sent_at, says(wait_s))
        else:
            pace.answered(now, sent_at, waited=waited)
            answered.append(now)
        at(now, begin)

    began = 1000.0
    for _ in range(workers):
        at(began, begin)
    while len(answered) < requests:
        moment, _, what = heappop(events)
        what(moment)
    return answered[-1] - began


@each_row(
    ("service", "says", "requests", "allowed_s"),
    [
        pytest.param(bucket(20, 20), math.ceil, 2000, 100, id="bucket"),
        pytest.param(bucket(20, 20), float, 2000, 100, id="bucket-that-knows-to-the-ms"),
        pytest.param(bucket(20, 20), lambda _: None, 2000, 100, id="bucket-without-retry-after"),
        pytest.param(window(20, 1), math.ceil, 2000, 100, id="window-of-a-second"),
        pytest.param(window(20, 1), lambda _: None, 2000, 100, id="window-without-retry-after"),
        pytest.param(window(60, 60), math.ceil, 300, 270, id="window-of-a-minute"),
        pytest.param(window(60, 60), lambda _: None, 300, 270, id="window-of-a-minute-without-retry-after"),
    ],
)
def test_nine_tenths_of_what_a_service_allows_are_asked(
    service: Service, says: Callable[[float], float | None], requests: int, allowed_s: float
) -> None:
    assert took_s(service, requests, says=says) <= allowed_s / 0.9


def test_a_limit_that_is_raised_is_found() -> None:
    """From a tenth of what is allowed on; so is that of a service whose first refusal came after a single answer."""
    pace, now = Pace(), 1000.0
    pace.claim(now)
    pace.answered(now, now, waited=False)
    pace.refused(now + 0.1, now + 0.1, 1)
    for _ in range(2000):
        sent_at = now = max(now, pace.claim(now))
        pace.answered(now, sent_at, waited=True)
    assert pace.rate > 20
    assert now < 1000 + 60


def test_refusals_of_what_was_under_way_count_once_and_slow_down_once() -> None:
    pace = Pace()
    for _ in range(30):
        pace.claim(1000.0)
    for _ in range(20):
        pace.answered(1000.1, 1000.0, waited=False)
    pace.refused(1000.1, 1000.0, 1)
    once = pace.rate
    for _ in range(9):
        pace.refused(1000.2, 1000.0, 1)
    assert pace.rate == pytest.approx(20 / 1.2)
    assert once == pytest.approx(20 / 1.1)
    assert pace.held_until == pytest.approx(1001.2)


def test_no_service_holds_a_run_longer_than_the_longest_wait() -> None:
    pace = Pace()
    pace.claim(1000.0)
    for round_ in range(40):
        pace.refused(now := 2000.0 + 10 * round_, now, None)
    assert 60 < pace.held_until - now <= MAX_WAIT_S


def test_a_declared_rate_holds_from_the_first_request_in_equal_steps() -> None:
    pace = Pace()
    assert [pace.claim(1000.0, declared=2.0) for _ in range(4)] == [1000.0, 1000.5, 1001.0, 1001.5]
    assert pace.claim(1010.0, declared=2.0) == 1010.0, "what was not used is not made up for"


@each_row(
    ("later_s", "is_known"),
    [
        pytest.param(FORGOTTEN_S - 1, True, id="in-a-minute"),
        pytest.param(FORGOTTEN_S + 2, False, id="later"),
        pytest.param(-5.0, False, id="the-clock-was-set-back"),
    ],
)
def test_what_was_learnt_is_known_for_a_while(later_s: float, is_known: bool) -> None:
    pace = Pace()
    pace.claim(1000.0)
    pace.answered(1000.0, 1000.0, waited=False)
    pace.refused(1000.0, 1000.0, 0.5)
    pace.claim(1000.0 + later_s)
    assert bool(pace.rate) is is_known


def test_a_slow_declared_rate_is_not_forgotten_between_two_requests() -> None:
    pace = Pace()
    assert [pace.claim(1000.0, declared=1 / 3600), pace.claim(1100.0, declared=1 / 3600)] == [1000.0, 4600.0]


def test_a_pace_is_kept_in_bytes() -> None:
    pace = Pace()
    pace.claim(1000.0, declared=2.0)
    pace.refused(1000.0, 1000.0, 1)
    assert Pace.unpacked(pace.packed()) == pace
    assert Pace.unpacked(b"") is None
    assert Pace.unpacked(b"x" * SIZE) is None
    assert Pace.unpacked(Pace(held_until=math.inf).packed()) is None


def test_a_hold_that_nobody_can_have_asked_for_is_forgotten() -> None:
    assert Pace(held_until=9e9, used_at=1000.0).claim(1000.0) == 1000.0
