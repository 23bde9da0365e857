"""The reports of a stored run, recomputed with today's formulas and weights."""

from __future__ import annotations

import math
from typing import Any

from eval_skills.core.errors import UserError
from eval_skills.core.models import Benchmark, Ranking, SkillCompletionReport
from eval_skills.core.models.report import MAX_DETAILED_ITEMS
from eval_skills.core.store import Store, derived_run_id, land_recomputed, started_at
from eval_skills.engine.definition.benchmark import EVERY_TASK, resolve_benchmark, searched_for
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.rescoring.request import ScoringOptions
from eval_skills.engine.stored_runs.reports import bare_benchmark, recorded_request, skill_reports_of

COLUMNS = [
    "skill_id", "skill_version", "benchmark_id", "benchmark_version", "task_id", "run_index", "status", "score", "latency_ms",
    "weight", "tags", "complexity", "prompt_tokens", "completion_tokens", "cost_usd", "judge_tokens", "judge_cost_usd",
    "started_at", "attempts", "error_kind", "dimensions", "reasons", "forbidden_unknown", "judge_requests", "flow_run_id",
    "origin", "task_digest", "scoring_digest", "skill_digest", "user_requests", "user_tokens", "user_cost_usd",
]  # fmt: skip
"""The columns that figures and comparisons by task need: everything but the answers."""

_NO_FIGURES = frozenset(
    {
        "run_id", "timestamp", "benchmark_version", "origin", "judge_requests", "judge_tokens", "judge_cost_usd",
        "unjudged_items", "missing_items", "judged_completion_rate", "completion_upper_bound", *Ranking.model_fields,
    }
)  # fmt: skip
"""Columns that today's formulas cannot change."""


def todays_benchmark(then: EvaluateRequest | None, options: ScoringOptions) -> Benchmark | None:
    """The benchmark of a run as it is today (or the one that is named instead); None where it is gone."""
    given = {name: getattr(options, name) for name in ("benchmark", "tasks") if getattr(options, name)}
    if directory := searched_for(options.benchmark, options.benchmarks_dir):
        given["benchmarks_dir"] = directory
    if then is None and not given:
        return None
    try:
        return resolve_benchmark((then or EvaluateRequest()).model_copy(update={**EVERY_TASK, **given}))[0]
    except UserError:
        return None


def run_reports(store: Store, run_id: str, options: ScoringOptions | None = None) -> list[SkillCompletionReport]:
    """The reports of a landed run, one per skill, with its items but without their answers.

    Tasks have today's weights; where the benchmark is gone, or another one has its place, those that are stored with the items.
    """
    items = store.items(run_id=run_id, columns=COLUMNS)
    if items.empty:
        return []
    then = recorded_request(store.find_manifest(run_id))
    benchmark = todays_benchmark(then, options or ScoringOptions())
    if benchmark is None or benchmark.id != str(items["benchmark_id"].iloc[0]):
        benchmark = bare_benchmark(items)
    weights = {task.id: task.weight for task in benchmark.tasks}
    items["weight"] = items["task_id"].map(weights).fillna(items["weight"])
    timeout_ms = (then or EvaluateRequest()).timeout_ms
    return skill_reports_of(items, benchmark, timeout_ms, detailed=len(items) <= MAX_DETAILED_ITEMS)


def land_if_changed(store: Store, run_id: str, reports: list[SkillCompletionReport], digest: str) -> str | None:
    """Land recomputed reports beside those of the run if a figure differs; the file's id, or None where all are equal.

    Landing the same content again replaces the file by an equal one.
    """
    from eval_skills.core.store.rows import report_row

    version = next((str(report.evaluator_metadata.get("benchmarkVersion", "")) for report in reports), "")
    rows = [report_row(report, run_id=run_id, benchmark_version=version, origin="recompute") for report in reports]
    known = store.tables.dataset("reports", [run_id]).to_table().to_pylist()
    if len(known) == len(rows) and all(any(_is_same(row, old) for old in known) for row in rows):
        return None
    file_id = _file_id(store, run_id, digest)
    land_recomputed(store, file_id, run_id, reports, benchmark_version=version)
    return file_id


def _file_id(store: Store, run_id: str, digest: str) -> str:
    files = store.tables.files("reports")
    taken = set(store.run_ids())
    while True:
        file_id = derived_run_id(started_at(run_id), f"recompute {digest}", taken)
        rows = store.tables.dataset("reports", [file_id]).to_table(columns=["run_id", "origin"]).to_pylist()
        if file_id not in files or all((row["run_id"], row["origin"]) == (run_id, "recompute") for row in rows):
            return file_id
        taken.add(file_id)


def _is_same(row: dict[str, Any], old: dict[str, Any]) -> bool:
    figures = ((value, old.get(name)) for name, value in row.items() if name not in _NO_FIGURES)
    return all(
        math.isclose(new, then, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(new, float) and isinstance(then, int | float)
        else new == then
        for new, then in figures
    )
