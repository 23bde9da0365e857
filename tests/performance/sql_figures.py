"""The figures of `skill_reports` in DuckDB's SQL: the yardstick of the metrics, and a check on them."""

from __future__ import annotations

from math import isclose
from typing import Any

from eval_skills.core.models import SkillCompletionReport

PER_SKILL = """
select skill_id, skill_version,
       count(*) as items,
       avg((status = 'pass')::int) as completion_rate,
       avg((status in ('error', 'timeout'))::int) as error_rate,
       sum(case when status in ('pass', 'fail') then score else 0 end) / count(*) as partial_score,
       quantile_disc(latency_ms, 0.5) as p50_ms,
       quantile_disc(latency_ms, 0.95) as p95_ms,
       quantile_disc(latency_ms, 0.99) as p99_ms,
       sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(cost_usd) as cost_usd
from items group by all order by all
"""
PER_RUN = """
select skill_id, skill_version, greatest(0, 1 - stddev_pop(rate)) as consistency_score
from (select skill_id, skill_version, run_index, avg((status = 'pass')::int) as rate from items group by all)
group by all order by all
"""
PER_TASK = """
select skill_id, skill_version, count(*) as tasks, avg((passed between 1 and items - 1)::int) as flake_rate
from (select skill_id, skill_version, task_id, count(*) as items, sum((status = 'pass')::int) as passed,
             sum((status = 'fail')::int) as failed, sum((status = 'error')::int) as errors,
             sum((status = 'timeout')::int) as timeouts, sum(score) as earned
      from items group by all)
group by all order by all
"""


def sql_figures(connection: Any) -> list[dict[str, Any]]:
    """One dict of figures for each skill of the table (or view) `items`, by id."""
    parts = [connection.sql(query).fetchall() for query in (PER_SKILL, PER_RUN, PER_TASK)]
    names = ["items", "completion_rate", "error_rate", "partial_score", "p50_ms", "p95_ms", "p99_ms"]
    names += ["prompt_tokens", "completion_tokens", "cost_usd", "consistency_score", "tasks", "flake_rate"]
    figures = zip(*parts, strict=True)
    return [dict(zip(names, [*skill[2:], *run[2:], *task[2:]], strict=True)) for skill, run, task in figures]


def refuse_difference(reports: list[SkillCompletionReport], figures: list[dict[str, Any]]) -> None:
    """Two ways that do not agree were not doing the same work.

    Raises:
        RuntimeError: a figure differs.
    """
    for report, expected in zip(reports, figures, strict=True):
        cost = {"cost_usd": report.token_cost.estimated_usd}
        known = report.summary.model_dump() | report.latency.model_dump() | report.token_cost.model_dump() | cost
        for name, value in expected.items():
            if not isclose(known[name], value, rel_tol=1e-9):
                raise RuntimeError(f"{report.skill_id}: {name} is {known[name]} here and {value} in DuckDB")
