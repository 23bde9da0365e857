"""The wait before another attempt grows, and is never the same for all."""

from __future__ import annotations

import random

import pytest

from eval_skills.engine.evaluation.retries import JITTER, delay_s
from eval_skills.scorers.judging.requests import TimeBudget
from eval_skills.tasks.evaluation import retry_delays
from tests.tables import each_row


@each_row("attempt", [1, 2, 3, 10])
def test_p20_the_delay_grows_by_a_second_and_has_jitter(attempt: int) -> None:
    delays = [delay_s(attempt) for _ in range(200)]
    assert min(delays) >= attempt * (1 - JITTER)
    assert max(delays) <= attempt * (1 + JITTER)
    assert len(set(delays)) > 100


def test_waits_draw_no_random_numbers_of_the_program() -> None:
    before = random.getstate()
    assert TimeBudget.of(60).wait_s(3, None) != TimeBudget.of(60).wait_s(3, None)
    assert delay_s(1) != delay_s(1)
    assert random.getstate() == before


@pytest.mark.parametrize(
    ("retries", "delays"), [pytest.param(0, [], id="none"), pytest.param(3, [1.0, 2.0, 3.0], id="one-for-each-retry")]
)
def test_prefect_gets_one_delay_for_each_retry(retries: int, delays: list[float]) -> None:
    assert retry_delays(retries) == {"retries": retries, "retry_delay_seconds": delays, "retry_jitter_factor": JITTER}
