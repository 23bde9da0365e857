"""Decisions of a person about generated tasks, written into the benchmark's own file one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

from eval_skills.core.documents.loading import read_document, read_text, validate
from eval_skills.core.errors import InputError, UsageError
from eval_skills.core.models import Benchmark, EvalTask
from eval_skills.core.store.files import explained, write_whole
from eval_skills.core.text import nearest, readable_json

Task = dict[str, Any]


class Review:
    """A JSON file of tasks under review: a benchmark, or an array of tasks.

    Every decision is one method. It is checked, then the file is replaced as a whole: stopping at any moment loses nothing, and a
    later review goes on where this one ended. The file's other content stays as it was written; its layout does not.

    Raises:
        InputError: the file cannot be read, is not JSON, or is not a benchmark.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.suffix.lower() not in {"", ".json"} and path.is_file():
            raise InputError("only JSON files can be reviewed here; convert it to JSON first", source=path)
        self._data = read_document(path)
        self._digest = _digest(path)
        self.check(self._data)

    @property
    def tasks(self) -> list[Task]:
        """All tasks, as they are written."""
        return _tasks_in(self._data)

    def pending(self) -> list[str]:
        """The ids of the tasks that are generated and not reviewed, in their order."""
        return [task["id"] for task in self.tasks if validate(EvalTask, task).is_unreviewed]

    def without_expectation(self, besides: Iterable[str] = ()) -> list[str]:
        """The ids of those of which nothing is expected, so that they cannot be accepted as they are."""
        left = {*besides}
        return [task["id"] for task in self.tasks if task["id"] not in left and validate(EvalTask, task).lacks_expectation]

    def task(self, task_id: str) -> Task:
        """One task, as it is written.

        Raises:
            UsageError: there is none of that id.
        """
        return self.tasks[self._place(task_id)]

    def accept(self, *task_ids: str) -> None:
        """Say that these tasks are right as they are.

        Raises:
            UsageError: there is no such task, nothing is expected of it, or the file cannot be written.
            InputError: it could not be scored.
        """
        self._change(lambda tasks: [self._accepted(task) if task["id"] in task_ids else task for task in tasks], task_ids)

    def drop(self, *task_ids: str) -> None:
        """Delete these tasks.

        Raises:
            UsageError: there is no such task, no other task is left, or the file cannot be written.
        """
        self._change(lambda tasks: [task for task in tasks if task["id"] not in task_ids], task_ids)

    def decide(self, accept: Iterable[str], drop: Iterable[str]) -> None:
        """Both at once, or, where one of them is refused, none."""
        kept, gone = set(accept), set(drop)
        self._change(
            lambda tasks: [
                self._accepted(task) if task["id"] in kept else task for task in tasks if task["id"] not in gone
            ],
            [*kept, *gone],
        )  # fmt: skip

    def expect(self, task_id: str, value: Any) -> None:
        """Accept a task with this value as the answer that is expected exactly, in place of what it expected before."""
        changed = {name: part for name, part in self.task(task_id).items() if name not in _EXPECTATIONS}
        self.replace(task_id, changed | {"expectedOutput": {"type": "exact_match", "value": value}})

    def replace(self, task_id: str, task: Any) -> None:
        """Accept another version of a task, which may have another id.

        Raises:
            InputError: it is not a task, or could not be scored.
            UsageError: nothing is expected of it, or the file cannot be written.
        """
        if not isinstance(task, dict) or not isinstance(task.get("id"), str):
            raise InputError("a task is an object with an id")
        validate(EvalTask, task)
        accepted = self._accepted(task)
        self._change(lambda tasks: [accepted if each["id"] == task_id else each for each in tasks], [task_id])

    def check(self, data: Any) -> None:
        """Refuse data that is not a benchmark, or an array of tasks, that could be read again."""
        if not isinstance(data, dict | list):
            raise InputError("expected a benchmark, or an array of tasks", source=self.path)
        whole = {"id": "tasks", "name": "tasks", "version": "0.0.0", "tasks": data} if isinstance(data, list) else data
        benchmark = validate(Benchmark, whole, source=self.path)
        if not benchmark.tasks:
            raise UsageError(f"{self.path}: no task would be left; delete the file if none is any good")

    def _place(self, task_id: str) -> int:
        ids = [task["id"] for task in self.tasks]
        if task_id not in ids:
            raise UsageError(f"{self.path} has no task {task_id!r}{nearest(task_id, ids)}")
        return ids.index(task_id)

    def _accepted(self, task: Task) -> Task:
        """The task, marked as reviewed, once it is known that it can be scored."""
        from eval_skills.scorers import ScoringSettings, TaskScoring

        marked = deepcopy(task)
        metadata = marked.setdefault("metadata", {})
        metadata["reviewed"] = True
        if isinstance(metadata.get("generated"), dict):
            metadata["generated"].pop("needs", None)
        if validate(EvalTask, task).lacks_expectation:
            raise UsageError(f"task {task['id']!r} expects nothing yet; say what the right answer is, or delete it")
        checked = validate(EvalTask, marked)
        TaskScoring(checked, ScoringSettings(allow_custom_code=True, benchmark_folder=self.path.parent))
        return marked

    def _change(self, change: Callable[[list[Task]], list[Task]], task_ids: Iterable[str]) -> None:
        for task_id in task_ids:
            self._place(task_id)
        tasks = change(self.tasks)
        data = tasks if isinstance(self._data, list) else {**self._data, "tasks": tasks}
        self.check(data)
        self._save(data)

    def _save(self, data: Any) -> None:
        if _digest(self.path) != self._digest:
            raise UsageError(f"{self.path} was changed by somebody else meanwhile; start the review again: it goes on from there")
        with explained(self.path, "the file is as it was"):
            write_whole(self.path, readable_json(data).encode())
        self._data, self._digest = data, _digest(self.path)


_EXPECTATIONS = frozenset(
    {"expectedOutput", "expected_output", "evaluator", "evaluators", "combine", "threshold", "costOrder", "cost_order"}
)


def _tasks_in(data: Any) -> list[Task]:
    tasks: list[Task] = data if isinstance(data, list) else data["tasks"]
    return tasks


def _digest(path: Path) -> str:
    return sha256(read_text(path).encode()).hexdigest()
