"""Single items of a stored run, with what was asked and expected, and what asks it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eval_skills.core.differences import Difference, difference_of
from eval_skills.core.errors import UsageError
from eval_skills.core.models import EvalTask, ItemResult, TaskResult
from eval_skills.core.models.result import KEY_COLUMNS
from eval_skills.core.store.retention import pruned_words
from eval_skills.core.text import first_of, nearest, plural, skill_key_of
from eval_skills.core.viewer_pages import key_of
from eval_skills.engine.definition.request import EvaluateRequest
from eval_skills.engine.stored_runs.provenance import asked_words, option_words
from eval_skills.engine.stored_runs.reports import NoItemsError, benchmark_at_the_time, recorded_request, with_calls
from eval_skills.engine.stored_runs.run_ids import resolve_run_id

if TYPE_CHECKING:
    import pyarrow as pa

    from eval_skills.core.store import Manifest, Store

WITHOUT_TASKS = "what was asked and expected is not known"

NAMED = 10
"""How many skills or tasks an error names."""

_KEY = (*KEY_COLUMNS, "passed", "benchmark_id")
_FIRST = ("task_id", "skill_id", "skill_version", "run_index")


@dataclass(frozen=True, slots=True)
class StoredItem:
    """One item of a run; `task` is None where its benchmark is gone or changed since."""

    result: ItemResult
    task: EvalTask | None = None

    @property
    def expected(self) -> Any:
        """What the report of its run shows as expected; None where that is not known."""
        from eval_skills.core.metrics.tasks import expectation_of

        return None if self.task is None else expectation_of(self.task)

    @property
    def shown(self) -> TaskResult:
        """The item as the report of its run has it."""
        own = {name: getattr(self.result, name) for name in TaskResult.model_fields.keys() & ItemResult.model_fields.keys()}
        asked = {} if self.task is None else {"input": self.task.asked, "expected": self.expected}
        return TaskResult(**(own | asked | {"attempts": max(1, len(self.result.attempts))}))

    @property
    def difference(self) -> Difference | None:
        """How the answer differs from the expected value; see `difference_of`."""
        return difference_of(self.result, self.expected)

    @property
    def turn_differences(self) -> list[Difference | None]:
        """The same for each turn of a conversation; of one that a model led no value is expected of a turn."""
        from eval_skills.core.metrics.tasks import expectation_of

        turns = (self.task.turns if self.task else None) or []
        expected = [None if self.task is None else expectation_of(self.task.of_turn(turn)) for turn in turns]
        results = self.result.turns or []
        expected += [None] * max(0, len(results) - len(expected))
        return [difference_of(turn, value) for turn, value in zip(results, expected, strict=False)]


@dataclass(frozen=True)
class RunItems:
    """The items of a run in the `store` of this path, read once. `remarks` say what is not known of their tasks."""

    run_id: str
    store: str
    table: pa.Table
    manifest: Manifest | None
    request: EvaluateRequest | None
    tasks: dict[str, EvalTask] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @cached_property
    def identities(self) -> list[dict[str, Any]]:
        """What names each item, and whether it passed, under the names of its columns; by task, skill and run."""
        rows: list[dict[str, Any]] = self.table.select(list(_KEY)).to_pylist()
        return sorted(rows, key=lambda row: tuple(row[name] for name in _FIRST))

    def items(self, benchmark_id: str, task_id: str, skill: str | None = None) -> list[StoredItem]:
        """The items of one task, of all skills or one (``id@version``), by skill and run."""
        from eval_skills.core.store.rows import results_of

        table = self.table.take(self._rows.get((benchmark_id, task_id), []))
        results = [result for result in results_of(table) if skill in (None, result.skill_key)]
        task = self.tasks.get(task_id)
        return [StoredItem(with_calls(result), task) for result in sorted(results, key=lambda each: each.key)]

    @cached_property
    def items_by_page(self) -> dict[str, tuple[str, str, str, int]]:
        """The benchmark, task, skill (``id@version``) and run index of each item, by the key of its page."""
        rows = [(row["benchmark_id"], row["task_id"], skill_key_of(row), row["run_index"]) for row in self.identities]
        return {key_of(*row): row for row in rows}

    @cached_property
    def tasks_by_page(self) -> dict[str, tuple[str, str]]:
        """The benchmark and the task of each that was asked, by the key of its page."""
        return {key_of(*asked): asked for asked in dict.fromkeys(row[:2] for row in self.items_by_page.values())}

    @cached_property
    def _rows(self) -> dict[tuple[str, str], list[int]]:
        rows: dict[tuple[str, str], list[int]] = {}
        asked = zip(self.table["benchmark_id"].to_pylist(), self.table["task_id"].to_pylist(), strict=True)
        for row, task in enumerate(asked):
            rows.setdefault(task, []).append(row)
        return rows

    def again(self, item: StoredItem) -> list[str] | None:
        """The words of the command that asks one task of its skill again, into this store, wherever it was when the run was made.

        None where that cannot be called so: the skill was a function, or a trace.
        """
        request, manifest = self.request, self.manifest
        if request is None or manifest is None or request.traces or request.replay:
            return None
        skill = next((each for each in manifest.skills if each.key == item.result.skill_key), None)
        if skill is None or skill.path is None:
            return None
        words = ["eval-skills", "eval", "--skills", skill.path, *asked_words(request), "--filter", f"id={item.result.task_id}"]
        return [*words, *option_words(request), "--store", self.store]


def run_items(store: Store, given: str) -> RunItems:
    """The items of a run: an id, or ``latest``.

    Raises:
        UsageError: the store holds no such run.
        NoItemsError: the run has no items, as they were pruned or none has finished.
    """
    run_id = resolve_run_id(store, given, "no run to show; evaluate skills first, or name a run")
    manifest = store.find_manifest(run_id) if run_id in store.run_ids() else store.manifest(run_id)
    table = store.item_table(run_id)
    if not table.num_rows:
        raise NoItemsError(f"run {run_id} has no item to show: {pruned_words(store, run_id) or 'none has finished yet'}")
    request = recorded_request(manifest)
    benchmark, remarks = benchmark_at_the_time(manifest, request, table, WITHOUT_TASKS)
    tasks = {} if benchmark is None else {task.id: task for task in benchmark.tasks}
    return RunItems(run_id, store.path, table, manifest, request, tasks, remarks)


def find_item(items: RunItems, skill: str, task: str) -> StoredItem:
    """The item of a skill (its id, or ``id@version``) and a task, written as its id, or with the run as ``task#2``.

    Runs count from 1. Without one it is the first that did not pass, else the first.

    Raises:
        UsageError: the run has no such skill, task or run, or several versions of the skill; the message lists what
            it has.
    """
    keys = items.identities
    chosen = [row for row in keys if skill_key_of(row) == _skill_named(items.run_id, keys, skill)]
    task_id, number = _task_named(items.run_id, chosen, task)
    rows = [row for row in chosen if row["task_id"] == task_id]
    if number is not None:
        rows = [row for row in rows if row["run_index"] == number - 1]
        if not rows:
            most = sum(row["task_id"] == task_id for row in chosen)
            raise UsageError(f"{task}: this task has no run {number} in {items.run_id}; it has {plural(most, 'run')}, from 1")
    row = next((row for row in rows if not row["passed"]), rows[0])
    found = items.items(row["benchmark_id"], task_id, skill_key_of(row))
    return next(item for item in found if item.result.run_index == row["run_index"])


def _skill_named(run_id: str, keys: Sequence[dict[str, Any]], given: str) -> str:
    known = {skill_key_of(row): row["skill_id"] for row in keys}
    if given in known:
        return given
    found = [key for key, skill_id in known.items() if skill_id == given]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{given}: run {run_id} has {plural(len(found), 'version')} of this skill; name one: {', '.join(found)}")
    hint = nearest(given, [*known, *known.values()])
    raise UsageError(f"{given}: run {run_id} has no such skill{hint}; it has {first_of(list(known), NAMED)}")


def _task_named(run_id: str, keys: Sequence[dict[str, Any]], given: str) -> tuple[str, int | None]:
    """The task, and the number of its run where one is named. A task's own id may hold a ``#``."""
    known = dict.fromkeys(row["task_id"] for row in keys)
    if given in known:
        return given, None
    task_id, _, number = given.rpartition("#")
    if task_id in known:
        if not (number.isascii() and number.isdigit() and int(number)):
            raise UsageError(f"{given}: {number!r} is not a run; give its number from 1, as {task_id}#1")
        return task_id, int(number)
    raise UsageError(f"{given}: run {run_id} has no such task{nearest(given, known)}; it has {first_of(list(known), NAMED)}")
