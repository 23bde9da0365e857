"""Items by task: the counts that all figures but the percentiles are computed from, and the rows that reports show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from eval_skills.core.documents.loading import validate
from eval_skills.core.metrics.item_table import ERROR, FAIL, PASS, TIMEOUT, ItemTable
from eval_skills.core.models import Benchmark, ConfidenceInterval, EvalTask, StatusCounts, TaskResult, TurnResult
from eval_skills.core.models.report import MISSING_KINDS, is_missing
from eval_skills.core.models.result import STATUSES
from eval_skills.core.statistics.rates import FloatArray, IntArray, completion_interval, mean_over_tasks, pass_at_k, pass_hat_k


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """The tasks of one skill, or some of them, as arrays of equal length; `task` are indices into the table's tasks.

    `passed`, `failed`, `errors` and `timeouts` sum up to `items`; `missing` of the errors leave open if the skill would have
    passed. `earned` is the sum of the scores, `weighted` that of score × weight, and `weight` that of the weights.
    """

    task: IntArray
    items: IntArray
    passed: IntArray
    failed: IntArray
    errors: IntArray
    timeouts: IntArray
    missing: IntArray
    earned: FloatArray
    weighted: FloatArray
    weight: FloatArray

    def __getitem__(self, chosen: slice | npt.NDArray[np.bool_]) -> TaskCounts:
        """Only the chosen tasks."""
        return TaskCounts(*(getattr(self, name)[chosen] for name in self.__slots__))

    @property
    def total(self) -> int:
        """The number of items."""
        return int(self.items.sum())

    @property
    def completion_rate(self) -> float:
        """pass / items."""
        return float(self.passed.sum() / self.items.sum())

    @property
    def error_rate(self) -> float:
        """(error + timeout) / items."""
        return float((self.errors.sum() + self.timeouts.sum()) / self.items.sum())

    @property
    def has_verdict(self) -> bool:
        """Whether any item has a verdict on the skill."""
        return bool((self.items > self.missing).any())

    @property
    def flake_rate(self) -> float | None:
        """Of the tasks with at least two runs that have a verdict, the share of which some pass and some do not; None without
        such tasks. An item without a verdict says nothing of the skill, and so not that its task is flaky."""
        judged = self.items - self.missing
        repeated = judged >= 2
        mixed = (self.passed > 0) & (self.passed < judged)
        return float(mixed[repeated].mean()) if repeated.any() else None

    def status_counts(self) -> StatusCounts:
        """How many items ended how."""
        return StatusCounts(
            passed=int(self.passed.sum()),
            fail=int(self.failed.sum()),
            error=int(self.errors.sum()),
            timeout=int(self.timeouts.sum()),
        )

    def partial_score(self, benchmark: Benchmark) -> float | None:
        """By the benchmark's `scoring_method`; items that ended as error or timeout earned 0. None where no item has a verdict.

        ``mean``: Σs/N. ``weighted_mean``: Σw·s/Σw, None where all weights are 0. ``pass_at_k``: see `pass_at_k`.
        """
        if not self.has_verdict:
            return None
        if benchmark.scoring_method == "pass_at_k":
            return self.pass_at_k(benchmark.k)
        earned, possible = (
            (self.weighted, self.weight) if benchmark.scoring_method == "weighted_mean" else (self.earned, self.items)
        )
        return min(1.0, float(earned.sum() / possible.sum())) if possible.sum() > 0 else None

    def pass_at_k(self, k: int) -> float | None:
        """The mean over tasks of the chance that one of `k` runs passes.

        None where k exceeds the runs of a task, or no item has a verdict.
        """
        return None if not self.has_verdict else mean_over_tasks(pass_at_k, self.passed, self.items, k)

    def pass_hat_k(self, k: int) -> float | None:
        """The mean over tasks of the chance that all of `k` runs pass; None as `pass_at_k`."""
        return None if not self.has_verdict else mean_over_tasks(pass_hat_k, self.passed, self.items, k)

    def interval(self, level: float) -> ConfidenceInterval:
        """Of the completion rate, with the task as the unit."""
        return completion_interval(self.passed, self.items, level=level)


def count_tasks(table: ItemTable, task_weights: FloatArray) -> list[TaskCounts]:
    """For each skill of the table, its items counted per task; a `weight` column wins over the `task_weights`."""
    cell = table.skill * len(table.tasks) + table.task
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    weight = _weights(table, task_weights)
    missing = table.errors_of(MISSING_KINDS)
    counts = TaskCounts(
        task=table.task[starts],
        items=np.diff(starts, append=len(cell)),
        passed=np.add.reduceat(table.status == PASS, starts, dtype=np.int64),
        failed=np.add.reduceat(table.status == FAIL, starts, dtype=np.int64),
        errors=np.add.reduceat(table.status == ERROR, starts, dtype=np.int64),
        timeouts=np.add.reduceat(table.status == TIMEOUT, starts, dtype=np.int64),
        missing=np.zeros(len(starts), np.int64) if missing is None else np.add.reduceat(missing, starts, dtype=np.int64),
        earned=np.add.reduceat(table.score, starts),
        weighted=np.add.reduceat(table.score * weight, starts),
        weight=np.add.reduceat(weight, starts),
    )
    bounds = np.searchsorted(table.skill[starts], np.arange(len(table.skills) + 1))
    return [counts[int(start) : int(stop)] for start, stop in pairwise(bounds)]


def _weights(table: ItemTable, task_weights: FloatArray) -> FloatArray:
    by_task = task_weights[table.task]
    given = table.amounts("weight")
    return by_task if given is None else np.where(np.isnan(given), by_task, given)


Tallies = Mapping[str, "Tally"]
"""By task id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of items with a verdict; `missing` are those without one."""

    passed: int = 0
    failed: int = 0
    missing: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(passed=self.passed + other.passed, failed=self.failed + other.failed, missing=self.missing + other.missing)

    @property
    def rate(self) -> float | None:
        """The share of passed items among those with a verdict; None where there are none."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else None

    @property
    def always_passed(self) -> bool:
        """Whether it was asked, and never failed."""
        return self.passed > 0 and not self.failed

    @property
    def always_failed(self) -> bool:
        """Whether it was asked, and never passed."""
        return self.failed > 0 and not self.passed

    @property
    def mixed(self) -> bool:
        """Whether it did both."""
        return self.passed > 0 and self.failed > 0


def count_tallies(results: Iterable[TaskResult]) -> dict[str, Tally]:
    """The tallies of a report's items."""
    found: dict[str, Tally] = {}
    for result in results:
        counted = Tally(missing=1) if is_missing(result) else Tally(passed=1) if result.passed else Tally(failed=1)
        found[result.task_id] = found.get(result.task_id, Tally()) + counted
    return found


def merge_tallies(*several: Tallies) -> dict[str, Tally]:
    """The sums by task."""
    counts: dict[str, list[int]] = {}  # not sums of tallies: a year of nights is many
    for tallies in several:
        for task, tally in tallies.items():
            counted = counts.setdefault(task, [0, 0, 0])
            counted[0] += tally.passed
            counted[1] += tally.failed
            counted[2] += tally.missing
    return {task: Tally(passed=passed, failed=failed, missing=missing) for task, (passed, failed, missing) in counts.items()}


Decoder = Callable[[Any], Any]

_ROWS_AT_ONCE = 5_000
"""How many rows are in memory with all their columns while results are made of them."""


def task_results_of(table: ItemTable, rows: slice, benchmark: Benchmark) -> list[TaskResult]:
    """The items of one skill, by the benchmark's order of tasks and run; what a row does not know stays at its default.

    Raises:
        InputError: a value of the row does not fit the field of its name.
    """
    tasks, results = {task.id: task for task in benchmark.tasks}, list[TaskResult]()
    for task_id, same in groupby(_rows(table, rows), key=itemgetter("task_id")):
        asked = _asked(tasks.get(task_id))
        results += (_compact(validate(TaskResult, asked | row, source="items")) for row in same)
    return results


def _asked(task: EvalTask | None) -> dict[str, Any]:
    """What all results of a task show of it; nothing of one that is not known any more."""
    return {} if task is None else {"tags": task.tags, "input": task.asked, "expected": expectation_of(task)}


def _compact(result: TaskResult) -> TaskResult:
    for reason in result.reasons:
        reason.compact()
    return result.compact()


def known_list(value: Any) -> list[Any] | None:
    """A cell that holds a list, in whichever of the shapes that Parquet, DuckDB and pandas give it; None where unknown."""
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else None


def expectation_of(task: EvalTask) -> Any:
    """What was written of ``expectedOutput``, else of ``expected``; where neither is given the evaluators with what they expect,
    under the key that a task has for them, and None where there are none.
    """
    if (expected := task.expected_output or task.expected) is not None:
        return expected.model_dump(mode="json", by_alias=True, exclude_unset=True)
    written = task.model_dump(mode="json", by_alias=True, exclude_unset=True, include={"evaluator", "evaluators", "combine"})
    return written or None


def _rows(table: ItemTable, rows: slice) -> Iterator[dict[str, Any]]:
    """The known cells of each item, under the names of `TaskResult`."""
    for start in range(rows.start, rows.stop, _ROWS_AT_ONCE):
        yield from _part(table, slice(start, min(start + _ROWS_AT_ONCE, rows.stop)))


def _part(table: ItemTable, rows: slice) -> Iterator[dict[str, Any]]:
    columns = table.columns_at(table.order[rows], ("run_index", "score", "latency_ms", *_DECODERS))
    runs, figures = columns.pop("run_index"), {name: columns.pop(name) for name in ("score", "latency_ms")}
    for index, (task, run, status) in enumerate(zip(table.task[rows].tolist(), runs, table.status[rows].tolist(), strict=True)):
        row = {"task_id": table.tasks[task], "run_index": int(run), "status": STATUSES[status], "passed": status == 0}
        for name, values in figures.items():
            row[name] = _number(values[index])
        for name, values in columns.items():
            if (value := _DECODERS[name](values[index])) is not None:
                row[name] = value
        yield row


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _whole_number(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def known_mapping(value: Any) -> dict[str, float] | None:
    """A cell that holds a map, which Arrow gives as a dict or as a list of pairs; None where unknown."""
    if isinstance(value, Mapping):
        return dict(value)
    pairs = known_list(value)
    return None if pairs is None else dict(pairs)


def _reasons(value: Any) -> list[dict[str, Any]] | None:
    reasons = known_list(value)
    if reasons is None:
        return None
    return [{key: part for key, part in dict(reason).items() if part is not None} for reason in reasons]


def _attempts(value: Any) -> int | None:
    attempts = known_list(value)
    if attempts is None:
        return _whole_number(value) if isinstance(value, (int, float)) else None
    return max(1, len(attempts))


def _output(value: Any) -> Any:
    """JSON text as what it stands for; text that was cut to its limit, and so no longer is JSON, stays text."""
    if not isinstance(value, str):
        return None if isinstance(value, float) and value != value else value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _moment(value: Any) -> datetime | None:
    """A time in UTC, also where it is text (ISO 8601) or has no zone; None where it is not known, as pandas' NaT."""
    if not isinstance(value, str | datetime) or value != value:
        return None
    found = datetime.fromisoformat(value if isinstance(value, str) else value.isoformat())
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _texts(value: Any) -> list[str] | None:
    texts = known_list(value)
    return None if texts is None else [str(text) for text in texts]


def _messages(value: Any) -> list[Any] | None:
    messages = _output(value)
    return known_list(messages)


def _tool_calls(value: Any) -> list[dict[str, Any]] | None:
    calls = known_list(value)
    if calls is None:
        return None
    return [{**dict(call), "arguments": _output(call["arguments"]), "result": _output(call["result"])} for call in calls]


def _files(value: Any) -> list[dict[str, Any]] | None:
    """Without their contents, which would be most of a report."""
    files = _messages(value)
    return None if files is None else [{key: part for key, part in file.items() if key != "content"} for file in files]


def _turns(value: Any) -> list[dict[str, Any]] | None:
    turns = known_list(value)
    return None if turns is None else [_turn(dict(turn)) for turn in turns]


def _turn(row: Mapping[str, Any]) -> dict[str, Any]:
    """The known cells of a turn, under the names of `TurnResult`."""
    cells = {name: _DECODERS.get(name, _as_it_is)(row.get(name)) for name in TurnResult.model_fields}
    cells |= {
        "input": _output(row.get("input")),
        "score": _number(row.get("score")),
        "latency_ms": _number(row.get("latency_ms")),
    }
    return {name: value for name, value in cells.items() if value is not None}


def _as_it_is(value: Any) -> Any:
    return value


_DECODERS: dict[str, Decoder] = {
    "scorer": _text,
    "dimensions": known_mapping,
    "reasons": _reasons,
    "attempts": _attempts,
    "error_kind": _text,
    "error_message": _text,
    "output": _output,
    "tags": _texts,
    "prompt_tokens": _whole_number,
    "completion_tokens": _whole_number,
    "cost_usd": _number,
    "task_run_id": _text,
    "task_digest": _text,
    "tool_calls": _tool_calls,
    "messages": _messages,
    "time_to_first_token_ms": _number,
    "content": _messages,
    "finish_reason": _text,
    "turns": _turns,
    "files": _files,
    "skills_loaded": _texts,
    "steps": _whole_number,
    "scoring_digest": _text,
    "started_at": _moment,
}
