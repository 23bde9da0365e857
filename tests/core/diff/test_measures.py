"""Latency, cost, tokens and scores: a change is called one only where its own test says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from eval_skills.core.diff.diff import diff_reports
from eval_skills.core.diff.model import DiffRow
from eval_skills.core.models import SkillCompletionReport
from tests.core.diff.test_diff import diff, each, reports

TASKS = 20
SPREAD = np.random.default_rng(3).lognormal(size=TASKS)
"""How much longer one task takes than another."""


def rows(before: list[SkillCompletionReport], after: list[SkillCompletionReport]) -> dict[str, DiffRow]:
    return {row.metric: row for row in diff_reports(before, after).skills[0].rows}


def passing(columns: Mapping[str, Any] | None = None) -> list[SkillCompletionReport]:
    return reports(each(TASKS, "p"), **(columns or {}))


@pytest.mark.parametrize(
    ("column", "metric"), [("latency_ms", "latencyMs"), ("cost_usd", "costUsd"), ("prompt_tokens", "tokens")]
)
def test_a_tenth_more_on_every_task_is_found_although_tasks_differ_much_more(column: str, metric: str) -> None:
    size, other = np.rint(1000 * SPREAD) + 10, {"completion_tokens": 1}
    found = rows(passing({column: size, **other}), passing({column: np.rint(size * 1.1), **other}))[metric]
    assert found.ratio == pytest.approx(1.1, abs=0.01)
    assert (found.arrow, found.good, found.significant) == ("↑", False, True)


def test_one_slow_answer_moves_the_p95_and_proves_nothing() -> None:
    slow = np.where(np.arange(TASKS) >= TASKS - 2, 900.0, 100.0)
    found = rows(passing(), passing({"latency_ms": slow}))
    assert found["p95Ms"].delta == 800
    assert [found[metric].significant for metric in ("p95Ms", "latencyMs", "compositeScore")] == [False, False, False]


def test_partial_scores_are_tested_where_there_are_any() -> None:
    assert "partialScore" not in rows(passing(), passing())
    better = rows(passing({"score": 0.8}), passing({"score": 0.9}))["partialScore"]
    assert better.delta == pytest.approx(0.1)
    assert (better.good, better.significant) == (True, True)


def test_tokens_of_which_a_part_is_unknown_are_no_fewer_tokens() -> None:
    whole, part = {"prompt_tokens": 900, "completion_tokens": 100}, {"completion_tokens": 100}
    assert rows(passing(whole), passing(whole))["tokens"].before == pytest.approx(1000)
    assert "tokens" not in rows(passing(whole), passing(part))


def test_unknown_and_zero_amounts_are_left_out() -> None:
    found = rows(passing({"latency_ms": None}), passing())
    assert "latencyMs" not in found
    assert "costUsd" not in rows(passing({"cost_usd": 0.0}), passing({"cost_usd": 0.0}))


@pytest.mark.parametrize(
    ("before", "mean"),
    [
        pytest.param(np.zeros(TASKS), 0.0, id="all-were-free"),
        pytest.param(np.where(np.arange(TASKS) < TASKS / 2, 0.0, 0.5), 0.25, id="some-were-free"),
    ],
)
def test_what_was_free_and_costs_now_is_a_change(before: Any, mean: float) -> None:
    found = rows(passing({"cost_usd": before}), passing({"cost_usd": 1.0}))["costUsd"]
    assert (found.before, found.after, found.delta, found.ratio) == (mean, 1.0, 1 - mean, None)
    assert (found.arrow, found.good, found.significant) == ("↑", False, True)
    back = rows(passing({"cost_usd": 1.0}), passing({"cost_usd": before}))["costUsd"]
    assert (back.arrow, back.good, back.significant) == ("↓", True, True)


def test_figures_of_several_skills_are_one_family() -> None:
    five = [f"s{index}" for index in range(5)]
    before = [report for name in five for report in reports(each(6, "p"), name)]
    after = [report for name in five for report in reports(each(6, "p"), name, latency_ms=110.0)]
    latencies = [row for skill in diff_reports(before, after).skills for row in skill.rows if row.metric == "latencyMs"]
    assert [row.p_value for row in latencies] == [pytest.approx(1 / 64)] * 5
    assert not any(row.significant for row in latencies)


def test_the_completion_rate_is_marked_as_the_verdict_says() -> None:
    lost, few = (diff(each(count, "p"), each(count, "f")).rows[0] for count in (6, 3))
    assert [(row.arrow, row.good, row.significant) for row in (lost, few)] == [("↓", False, True), ("↓", False, False)]


def test_more_errors_are_marked_only_where_that_is_more_than_chance() -> None:
    many, few = ({row.metric: row for row in diff(each(8, "pp"), each(8, "p" * 2) | each(count, "tt")).rows} for count in (8, 2))
    assert [rows["errorRate"].significant for rows in (many, few)] == [True, False]
