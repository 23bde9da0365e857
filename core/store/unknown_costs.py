"""Of how many items of a run cost or tokens are unknown: the table of reports has the sums of those that are known alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval_skills.core.store.store import Store

ReportKey = tuple[str, str, str, str]
"""The run, the skill, its version and the benchmark of a report."""

_UNKNOWN = """
SELECT run_id, skill_id, skill_version, benchmark_id, count(*) AS items, count(*) FILTER (cost_usd IS NULL) AS cost,
    count(*) FILTER (prompt_tokens IS NULL OR completion_tokens IS NULL) AS tokens
FROM items_all GROUP BY ALL HAVING cost > 0 OR tokens > 0
"""


def unknown_costs(store: Store, run_ids: Collection[str] | None = None) -> dict[ReportKey, dict[str, int]]:
    """By report, how many `items` it is of, and of how many the `cost` and the number of `tokens` are unknown.

    All runs, or those named. Reports without an unknown figure are left out, and those whose items are gone.
    """
    from eval_skills.core.store.sql import query

    rows: list[dict[str, Any]] = query(store, _UNKNOWN, of_runs=run_ids).to_pylist()
    return {report_key(row): {name: row[name] for name in ("items", "cost", "tokens")} for row in rows}


def report_key(row: Mapping[str, Any]) -> ReportKey:
    """The key of a row of the table of reports."""
    return row["run_id"], row["skill_id"], row["skill_version"], row["benchmark_id"]
