"""Limits are passed at equality; what is unknown is not within them."""

from __future__ import annotations

import pytest

from eval_skills.core.models import SkillResponse, Thresholds
from eval_skills.scorers.task_scoring.verdict import below_min, limit_reasons, reaches
from tests.tables import each_row


@each_row(
    ("limit", "cost", "codes"),
    [
        pytest.param(1.0, 1.0, [], id="equal"),
        pytest.param(1.0, 1.0001, ["COST_ABOVE_MAX"], id="above"),
        pytest.param(0.3, 0.1 + 0.2, [], id="float-dust"),
        pytest.param(0.3, 0.3000001, ["COST_ABOVE_MAX"], id="a-ten-millionth-above"),
        pytest.param(0.0, 0.01, ["COST_ABOVE_MAX"], id="0-is-a-limit"),
        pytest.param(0.0, 0.0, [], id="0-holds-0"),
        pytest.param(1.0, None, ["COST_UNKNOWN"], id="p38-unknown-is-not-0"),
        pytest.param(None, None, [], id="no-limit"),
    ],
)
def test_cost(limit: float | None, cost: float | None, codes: list[str]) -> None:
    reasons = limit_reasons(Thresholds(max_cost=limit), SkillResponse(cost_usd=cost))
    assert [each.code for each in reasons] == codes


@each_row(
    ("limit", "latency", "codes"),
    [(10.0, 10.0, []), (10.0, 10.1, ["LATENCY_ABOVE_MAX"]), (10.0, None, ["LATENCY_UNKNOWN"]), (None, 9e9, [])],
)
def test_latency(limit: float | None, latency: float | None, codes: list[str]) -> None:
    reasons = limit_reasons(Thresholds(max_latency=limit), SkillResponse(latency_ms=latency))
    assert [each.code for each in reasons] == codes


@each_row(
    ("score", "limit", "reached"),
    [(0.95, 95, True), (0.1 + 0.2, 30, True), (0.29999, 30, False), (0.0, 0, True), (1.0, 100, True)],
)
def test_min_score_is_reached_at_equality_despite_float_dust(score: float, limit: float, reached: bool) -> None:
    assert reaches(score, limit) is reached


def test_the_reason_shows_both_numbers() -> None:
    assert below_min(0.5, 80).message == "expected a score of at least 80 of 100, got 50"


def test_a_limit_of_many_digits_never_looks_lower_than_the_score() -> None:
    assert below_min(0.98765431, 98.7654324).message == "expected a score of at least 98.7654324 of 100, got 98.765431"


def test_a_value_that_looks_like_its_limit_is_told_in_full() -> None:
    [reason] = limit_reasons(Thresholds(max_cost=0.3), SkillResponse(cost_usd=0.3000001))
    assert reason.message == "expected a cost of at most 0.3 USD, got 0.3000001 USD"
