"""Reports with the ranking of their skills."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from eval_skills.core.models import Ranking, SkillCompletionReport
from eval_skills.core.ranking import Outcomes, rank_by_task_results, rank_reports
from eval_skills.core.ranking.ranking import pareto_set
from tests.core.test_selection import report


def ran(skill_id: str, statuses: str, *, benchmark: str = "b", p95: float | None = 100.0, **more: Any) -> SkillCompletionReport:
    """A skill with an item per letter: p(ass), f(ail), i(nfra)."""
    items = [
        {
            "taskId": f"t{task}",
            "runIndex": 0,
            "status": {"p": "pass", "f": "fail", "i": "error"}[letter],
            "passed": letter == "p",
            "errorKind": "infra" if letter == "i" else None,
            "latencyMs": p95,
            **more,
        }
        for task, letter in enumerate(statuses)
    ]
    limits = {"lower": 0.0, "upper": 1.0}
    made = report(skill_id, p95, completionRate=statuses.count("p") / len(statuses), confidenceInterval=limits).to_json()
    return SkillCompletionReport.model_validate(made | {"benchmarkId": benchmark, "taskResults": items})


def ranking_of(reports: list[SkillCompletionReport]) -> dict[str, Ranking | None]:
    return {each.skill_id: each.ranking for each in rank_by_task_results(reports)}


def ranks_of(reports: list[SkillCompletionReport]) -> dict[str, tuple[int, int] | None]:
    return {name: (found.rank, found.last_rank) if found else None for name, found in ranking_of(reports).items()}


GOOD, ALMOST, BAD = "p" * 20, "f" + "p" * 19, "p" * 8 + "f" * 12


def test_ranks_are_shared_and_counted_on_whatever_the_order_given() -> None:
    reports = [ran("bad", BAD), ran("almost", ALMOST), ran("good", GOOD)]
    assert ranks_of(reports) == {"bad": (3, 3), "almost": (1, 2), "good": (1, 2)}
    found = ranking_of(reports)
    assert [each and (each.ranked_skills, each.adjusted_p is None) for each in found.values()] == [
        (3, False),
        (3, False),
        (3, True),
    ]


def test_a_skill_without_any_verdict_has_no_rank_and_takes_none() -> None:
    assert ranks_of([ran("good", GOOD), ran("down", "i" * 20), ran("bad", BAD)]) == {"good": (1, 1), "down": None, "bad": (2, 2)}


@pytest.mark.parametrize(
    "reports",
    [
        pytest.param([ran("only", GOOD)], id="one"),
        pytest.param([ran("a", GOOD), ran("a", BAD)], id="twice"),
        pytest.param([ran("a", GOOD), ran("b", BAD, benchmark="other")], id="two-benchmarks"),
        pytest.param([report("a"), report("b")], id="figures-only"),
    ],
)
def test_there_is_no_ranking_of_what_cannot_be_compared(reports: list[SkillCompletionReport]) -> None:
    assert [each.ranking for each in rank_by_task_results(reports)] == [None] * len(reports)


def test_a_task_that_changed_is_another_task() -> None:
    then, now = ran("a", GOOD, taskDigest="1"), ran("b", BAD, taskDigest="2")
    assert ranks_of([then, now]) == {"a": (1, 2), "b": (1, 2)}


def test_few_tasks_say_nothing_of_chances() -> None:
    found = ranking_of([ran("a", "pppp"), ran("b", "ffff")])["a"]
    assert found is not None
    assert (found.probability_best, found.rank_lower, found.rank_upper) == (None, None, None)


def test_rows_of_the_store_give_the_same_ranking() -> None:
    reports = [ran("a", GOOD), ran("b", BAD)]
    rows = [
        {"skill_id": each.skill_id, "skill_version": "1.0.0", "task_id": item.task_id, "status": item.status, "error_kind": None}
        for each in reports
        for item in each.task_results
    ]
    assert rank_reports(reports, Outcomes.of_items(pd.DataFrame(rows))) == rank_by_task_results(reports)


def test_the_pareto_set_is_what_nothing_beats() -> None:
    figures = np.array(
        [[-0.9, 100, 1], [-0.9, 100, 1], [-0.8, 50, 1], [-0.8, 60, 1], [-0.7, np.inf, 0.5], [-0.7, np.inf, np.inf]]
    )
    assert pareto_set(figures).tolist() == [True, True, True, False, True, False]


def test_what_passed_nothing_is_no_trade_off() -> None:
    found = ranking_of([ran("good", GOOD, p95=500.0), ran("quickly-wrong", GOOD.replace("p", "f"), p95=1.0)])
    assert [each and each.pareto_optimal for each in found.values()] == [True, False]


@pytest.mark.parametrize("is_said", [True, False], ids=["said-by-the-report", "seen-in-its-items"])
def test_a_cost_that_is_unknown_of_some_items_is_the_worst(is_said: bool) -> None:
    honest, quiet = ran("honest", GOOD, costUsd=0.01), ran("quiet", GOOD, costUsd=0.0005)
    quiet.task_results[0] = quiet.task_results[0].model_copy(update={"cost_usd": None})
    costs: dict[str, dict[str, Any]] = {
        "honest": {"estimated_usd": 0.2},
        "quiet": {"estimated_usd": 0.01, "cost_unknown_items": 1 if is_said else None},
    }
    reports = [
        each.model_copy(update={"token_cost": each.token_cost.model_copy(update=costs[each.skill_id])})
        for each in (honest, quiet)
    ]
    assert {name: found and found.pareto_optimal for name, found in ranking_of(reports).items()} == {
        "honest": True,
        "quiet": False,
    }


def test_an_unknown_latency_is_the_worst() -> None:
    found = ranking_of([ran("known", GOOD), ran("unknown", GOOD, p95=None)])
    assert [each and each.pareto_optimal for each in found.values()] == [True, False]
