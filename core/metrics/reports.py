"""From item rows to one report per skill, with the means of its dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from eval_skills.core.errors import InputError
from eval_skills.core.metrics.consumption import Consumption
from eval_skills.core.metrics.item_table import PASS, ItemTable, WholeRows, item_table
from eval_skills.core.metrics.tasks import TaskCounts, count_tasks, known_list, known_mapping, task_results_of
from eval_skills.core.models import Benchmark, DimensionSummary, SkillCompletionReport, Summary, TagSummary
from eval_skills.core.models.dimensions import DIMENSIONS
from eval_skills.core.models.report import SKILL_DIGESTS, in_order
from eval_skills.core.models.result import FORBIDDEN_TOOL_CALLED
from eval_skills.core.models.task import COMPLEXITIES
from eval_skills.core.statistics.rates import FloatArray, composite_score
from eval_skills.core.text import skill_key


@dataclass(frozen=True, slots=True)
class DimensionScores:
    """The scores of every item in the table's order, by dimension, NaN where an item was not scored on it.

    `forbidden` is how many forbidden tools each item called, `unknown` whether that is an open question, as 1 and 0; None where
    the table does not know.
    """

    scores: dict[str, FloatArray]
    forbidden: FloatArray | None
    unknown: FloatArray | None

    @classmethod
    def of(cls, table: ItemTable) -> DimensionScores:
        """What the columns `dimensions` and `reasons` say; without these, the columns that each hold one dimension, or a count.

        Raises:
            InputError: a score is not a number in [0, 1].
        """
        if "dimensions" in table.frame:
            scores = _spread(table)
        else:
            scores = {name: found for name in DIMENSIONS if (found := table.amounts(name)) is not None}
        for name, values in scores.items():
            if (outside := values[(values < 0) | (values > 1)]).size:
                raise InputError(f"dimension {name!r} must lie in [0, 1]; got {outside[0]:g}")
        return cls(scores, _forbidden(table), _flags(table, "forbidden_unknown"))

    def summaries(self, rows: slice) -> dict[str, DimensionSummary]:
        """The mean of each dimension over those of the rows that were scored on it; without any, it is left out."""
        return {name: found for name, values in self.scores.items() if (found := _summary(values[rows])) is not None}

    def forbidden_items(self, rows: slice) -> int | None:
        """How many of the rows called a forbidden tool; None where that is not known."""
        return None if self.forbidden is None else int(np.count_nonzero(self.forbidden[rows] > 0))

    def unknown_items(self, rows: slice) -> int | None:
        """Of how many of the rows it is not known whether they called a forbidden tool; None where that was not recorded."""
        return None if self.unknown is None else int(np.count_nonzero(self.unknown[rows] > 0))


def _flags(table: ItemTable, column: str) -> FloatArray | None:
    if column not in table.frame or table.frame[column].isna().all():  # written by a version that did not record it
        return None
    return np.array([value is True or value == 1 for value in table.frame[column].tolist()], dtype=np.float64)[table.order]


def _spread(table: ItemTable) -> dict[str, FloatArray]:
    cells = [known_mapping(cell) or {} for cell in table.frame["dimensions"].tolist()]
    names = in_order(name for index in table.order.tolist() for name in cells[index])
    scores = {name: np.full(len(cells), np.nan) for name in names}
    for index, cell in enumerate(cells):
        for name, value in cell.items():
            scores[name][index] = _number(name, value)
    return {name: values[table.order] for name, values in scores.items()}


def _number(name: str, value: object) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise InputError(f"dimension {name!r} must be a number in [0, 1]; got {value!r}")


def _forbidden(table: ItemTable) -> FloatArray | None:
    if "reasons" not in table.frame:
        return table.amounts("forbidden_tools_called")
    counts = [sum(_is_forbidden_call(each) for each in known_list(cell) or ()) for cell in table.frame["reasons"].tolist()]
    return np.array(counts, dtype=np.float64)[table.order]


def _is_forbidden_call(reason: Any) -> bool:
    return isinstance(reason, dict) and reason.get("code") == FORBIDDEN_TOOL_CALLED


def _summary(values: FloatArray) -> DimensionSummary | None:
    known = values[~np.isnan(values)]
    return DimensionSummary(mean=min(float(known.mean()), 1.0), items=len(known)) if len(known) else None


Groups = dict[str, npt.NDArray[np.bool_]]
"""Which of a table's tasks belong to each group."""


def skill_reports(
    items: pd.DataFrame,
    benchmark: Benchmark,
    timeout_ms: float,
    *,
    task_results: bool = True,
    whole: WholeRows | None = None,
    level: float = 0.95,
) -> list[SkillCompletionReport]:
    """One report per skill (``id@version``) in `items`, by id and version; no items, no reports.

    `items` has one row per skill, task and run, with the columns skill_id, skill_version, task_id, run_index, status, score (of
    errors and timeouts it may be unknown: they earn 0), latency_ms (ms, NaN where unknown) and, where known, the other columns of
    the store's items. Neither the order of the rows nor the frame's index changes a figure. `timeout_ms` scales the latency in
    the composite score where the benchmark has no `max_latency_ms`; `level` is that of the intervals. With `task_results` false
    the reports hold the figures alone, which is what large tables want; `whole` gives the rows that they show where `items` has
    but the columns of figures, a part at a time.

    Raises:
        InputError: a column is missing, an item is given twice, a status is unknown, a score is missing or outside [0, 1], a
            number is negative, or `timeout_ms` is not above 0.
    """
    if not (timeout_ms > 0 and np.isfinite(timeout_ms)):
        raise InputError(f"the timeout must be a finite number of ms above 0; got {timeout_ms}")
    if items.empty:
        return []
    table = item_table(items, [task.id for task in benchmark.tasks], whole)
    aggregation = _Aggregation(
        table=table,
        counts=count_tasks(table, _task_weights(table, benchmark)),
        consumption=Consumption.of(table),
        dimensions=DimensionScores.of(table),
        tagged=_tagged(table, benchmark),
        rated=_rated(table, benchmark),
        benchmark=benchmark,
        timeout_ms=timeout_ms,
        level=level,
    )
    return [aggregation.report(index, rows, with_results=task_results) for index, rows in enumerate(table.rows_of_skills())]


def consistency_score(run_rates: FloatArray) -> float | None:
    """max(0, 1 − the population standard deviation of the runs' completion rates); None after a single run, which cannot tell.

    It is blind to runs that pass different tasks equally often, which is why the flake rate stands beside it.
    """
    return max(0.0, 1 - float(np.std(run_rates))) if len(run_rates) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Aggregation:
    """Everything the reports are made of; `tagged` and `rated` say which of the table's tasks have each tag and complexity."""

    table: ItemTable
    counts: list[TaskCounts]
    consumption: Consumption
    dimensions: DimensionScores
    tagged: Groups
    rated: Groups
    benchmark: Benchmark
    timeout_ms: float
    level: float

    def report(self, index: int, rows: slice, *, with_results: bool) -> SkillCompletionReport:
        skill_id, version = self.table.skills[index]
        asked, latency = self.benchmark.part_of(skill_key(skill_id, version)), self.consumption.latency(rows)
        max_latency_ms = asked.max_latency_ms or self.timeout_ms
        runs = int(np.count_nonzero(np.bincount(self.table.run[rows])))
        return SkillCompletionReport(
            skill_id=skill_id,
            skill_version=version,
            benchmark_id=self.benchmark.id,
            timestamp=self.consumption.latest_start(rows),
            summary=self._summary(index, rows, runs, asked, latency.p95_ms),
            latency=latency,
            token_cost=self.consumption.token_cost(rows),
            by_tag=self._by_group(self.counts[index], self.tagged, asked),
            by_complexity=self._by_group(self.counts[index], self.rated, asked),
            dimensions=self.dimensions.summaries(rows),
            task_results=task_results_of(self.table, rows, asked) if with_results else [],
            evaluator_metadata={
                "benchmarkVersion": self.benchmark.version,
                "scoringMethod": asked.scoring_method,
                "k": asked.k,
                "runs": runs,
                "maxLatencyMs": max_latency_ms,
                **_unreviewed(asked),
                **self._several_versions(rows),
            },
        )

    def _several_versions(self, rows: slice) -> dict[str, dict[str, int]]:
        """Of a run that was continued with other files: the digests of these, and how many items are of each."""
        if "skill_digest" not in self.table.frame:
            return {}
        counts = self.table.frame["skill_digest"].iloc[self.table.order[rows]].value_counts(sort=False)
        return {SKILL_DIGESTS: {str(digest): int(count) for digest, count in counts.items()}} if len(counts) > 1 else {}

    def _summary(self, index: int, rows: slice, runs: int, asked: Benchmark, p95_ms: float | None) -> Summary:
        counts, k = self.counts[index], asked.k
        max_latency_ms = asked.max_latency_ms or self.timeout_ms
        return Summary(
            completion_rate=counts.completion_rate,
            partial_score=counts.partial_score(asked),
            error_rate=counts.error_rate,
            consistency_score=consistency_score(self._run_rates(rows)) if counts.has_verdict else None,
            composite_score=composite_score(counts.completion_rate, counts.error_rate, p95_ms, max_latency_ms),
            confidence_interval=counts.interval(self.level),
            pass_at_k=counts.pass_at_k(k),
            pass_hat_k=counts.pass_hat_k(k),
            flake_rate=counts.flake_rate,
            items=counts.total,
            tasks=len(counts.task),
            runs=runs,
            counts=counts.status_counts(),
            throughput=self.consumption.throughput(rows),
            forbidden_items=self.dimensions.forbidden_items(rows),
            forbidden_unknown_items=self.dimensions.unknown_items(rows),
            unjudged_items=self.consumption.unjudged_items(rows),
            **_judged_figures(counts, self.consumption.missing_items(rows)),
        )

    def _run_rates(self, rows: slice) -> FloatArray:
        """The completion rate of each run that has items; a task that is missing in a run does not count there."""
        run = self.table.run[rows]
        items = np.bincount(run)
        passed = np.bincount(run, weights=self.table.status[rows] == PASS, minlength=len(items))
        return passed[items > 0] / items[items > 0]

    def _by_group(self, counts: TaskCounts, groups: Groups, asked: Benchmark) -> dict[str, TagSummary]:
        chosen = {name: counts[is_in[counts.task]] for name, is_in in groups.items()}
        return {name: self._group_summary(tasks, asked) for name, tasks in chosen.items() if tasks.total}

    def _group_summary(self, counts: TaskCounts, asked: Benchmark) -> TagSummary:
        return TagSummary(
            completion_rate=counts.completion_rate,
            partial_score=counts.partial_score(asked),
            error_rate=counts.error_rate,
            confidence_interval=counts.interval(self.level),
            items=counts.total,
            tasks=len(counts.task),
            missing_items=int(counts.missing.sum()),
        )


def _unreviewed(asked: Benchmark) -> dict[str, int]:
    """How many of the tasks were generated and not accepted by anybody, where there are any."""
    unread = sum(task.is_unreviewed for task in asked.tasks)
    return {"tasks": len(asked.tasks), "unreviewedTasks": unread} if unread else {}


def _judged_figures(counts: TaskCounts, missing: int | None) -> dict[str, Any]:
    if missing is None:
        return {}
    passed, judged = int(counts.passed.sum()), counts.total - missing
    return {
        "missing_items": missing,
        "judged_completion_rate": passed / judged if judged else None,
        "completion_upper_bound": (passed + missing) / counts.total,
    }


def _task_weights(table: ItemTable, benchmark: Benchmark) -> FloatArray:
    weights = {task.id: task.weight for task in benchmark.tasks}
    return np.array([weights.get(task, 1.0) for task in table.tasks])


def _tagged(table: ItemTable, benchmark: Benchmark) -> Groups:
    """For each tag, by name, which tasks have it: by the items where they know their tags, else by the benchmark."""
    recorded = {task: known for task, cell in _first_cells(table, "tags") if (known := known_list(cell)) is not None}
    tags = {task.id: task.tags for task in benchmark.tasks} | {
        task: [str(tag) for tag in known] for task, known in recorded.items()
    }
    return _groups(table, tags, sorted({tag for task in table.tasks for tag in tags.get(task, ())}))


def _rated(table: ItemTable, benchmark: Benchmark) -> Groups:
    """The same for each complexity, from simple on; tasks that say none are in no group."""
    recorded = {task: [cell] for task, cell in _first_cells(table, "complexity") if isinstance(cell, str)}
    rated = {task.id: [task.complexity] for task in benchmark.tasks if task.complexity is not None} | recorded
    found = {name for task in table.tasks for name in rated.get(task, ())}
    known = [name for name in COMPLEXITIES if name in found]
    return _groups(table, rated, [*known, *sorted(found.difference(known))])


def _groups(table: ItemTable, labels: Mapping[str, Sequence[str]], names: Sequence[str]) -> Groups:
    groups = {name: np.zeros(len(table.tasks), dtype=bool) for name in names}
    for index, task in enumerate(table.tasks):
        for name in labels.get(task, ()):
            groups[name][index] = True
    return groups


def _first_cells(table: ItemTable, column: str) -> list[tuple[str, Any]]:
    """Each task with what its first item has in that column; none where there is no such column."""
    if column not in table.frame:
        return []
    first = np.zeros(len(table.tasks), dtype=np.int64)
    first[table.task[::-1]] = table.order[::-1]
    return list(zip(table.tasks, table.frame[column].iloc[first], strict=True))
